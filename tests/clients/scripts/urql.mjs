// urql as it comes: queries by GET as long as the address is short.
import assert from "node:assert/strict";
import { Client, cacheExchange, fetchExchange } from "@urql/core";
import { graphs, invalid, isAnswer, isInvalid, item, key, noted, url } from "./operations.mjs";

const { fetch, seen } = noted();
const client = new Client({
  url,
  fetch,
  exchanges: [cacheExchange, fetchExchange],
  fetchOptions: { headers: { authorization: `Bearer ${key}` } },
});
for (const operation of [graphs, item]) {
  const result = await client.query(operation.document, operation.variables).toPromise();
  assert.equal(result.error, undefined);
  isAnswer(result.data, operation);
}
const refused = await client.query(invalid.document, {}).toPromise();
isInvalid(refused.error.graphQLErrors);
assert.deepEqual(seen, [
  "GET 200 application/graphql-response+json",
  "GET 200 application/graphql-response+json",
  "GET 400 application/graphql-response+json",
]);
