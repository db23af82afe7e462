// graphql-request.
import assert from "node:assert/strict";
import { GraphQLClient } from "graphql-request";
import { graphs, invalid, isAnswer, isInvalid, item, key, url } from "./operations.mjs";

const client = new GraphQLClient(url, { headers: { authorization: `bearer ${key}` } });
for (const operation of [graphs, item]) {
  isAnswer(await client.request(operation.document, operation.variables), operation);
}
await assert.rejects(client.request(invalid.document), (error) => {
  isInvalid(error.response.errors);
  return true;
});
