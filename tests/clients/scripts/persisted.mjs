// Apollo Client sends ids of a persisted query manifest, to a server that answers no other documents.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { ApolloClient, ApolloLink, HttpLink, InMemoryCache, gql } from "@apollo/client/core";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { generatePersistedQueryIdsFromManifest } from "@apollo/persisted-query-lists";
import { graphs, isAnswer, item, key } from "./operations.mjs";

const manifest = JSON.parse(readFileSync(process.env.MANIFEST, "utf8"));
const uri = process.env.LISTED;
const sent = [];
const noting = async (address, options) => {
  sent.push(JSON.parse(options.body));
  return fetch(address, options);
};
const http = { uri, fetch: noting, headers: { "x-api-key": key } };
const byId = new PersistedQueryLink(
  generatePersistedQueryIdsFromManifest({ loadManifest: async () => manifest }),
);
const client = new ApolloClient({
  cache: new InMemoryCache(),
  link: ApolloLink.from([byId, new HttpLink(http)]),
});
for (const operation of [graphs, item]) {
  const query = gql(operation.document);
  const result = await client.query({ query, variables: operation.variables });
  isAnswer(result.data, operation);
}
assert.equal(sent.length, 2);
for (const body of sent) {
  assert.ok(!("query" in body), JSON.stringify(body));
  const operation = manifest.operations.find((one) => one.name === body.operationName);
  assert.equal(body.extensions.persistedQuery.sha256Hash, operation.id);
}

// The same operations in full, under a name that the manifest has not, are refused.
const plain = new ApolloClient({ cache: new InMemoryCache(), link: new HttpLink(http) });
await assert.rejects(plain.query({ query: gql("query Other { graphs { nodes { name } } }") }), (error) => {
  assert.equal(error.errors[0].extensions.code, "DOCUMENT_NOT_FOUND");
  return true;
});
