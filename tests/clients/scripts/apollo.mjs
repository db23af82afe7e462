// Apollo Client with useGETForQueries.
import assert from "node:assert/strict";
import { ApolloClient, HttpLink, InMemoryCache, gql } from "@apollo/client/core";
import { graphs, invalid, isAnswer, isInvalid, item, key, noted, url } from "./operations.mjs";

const { fetch, seen } = noted();
const client = new ApolloClient({
  cache: new InMemoryCache(),
  link: new HttpLink({ uri: url, fetch, useGETForQueries: true, headers: { "x-api-key": key } }),
});
for (const operation of [graphs, item]) {
  const query = gql(operation.document);
  const result = await client.query({ query, variables: operation.variables });
  isAnswer(result.data, operation);
}
await assert.rejects(client.query({ query: gql(invalid.document) }), (error) => {
  isInvalid(error.errors);
  return true;
});
assert.deepEqual(seen, [
  "GET 200 application/graphql-response+json",
  "GET 200 application/graphql-response+json",
  "GET 400 application/graphql-response+json",
]);
