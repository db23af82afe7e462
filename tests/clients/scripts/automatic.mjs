// Automatic persisted queries: urql and Apollo send a hash, learn that the server knows none, and
// send texts from then on.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { ApolloClient, ApolloLink, HttpLink, InMemoryCache, gql } from "@apollo/client/core";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { Client, fetchExchange } from "@urql/core";
import { persistedExchange } from "@urql/exchange-persisted";
import { graphs, isAnswer, item, key, url } from "./operations.mjs";

function counting() {
  const sent = [];
  const fetcher = async (address, options) => {
    const body = options?.body ?? new URL(address).searchParams.get("query");
    sent.push(body !== null && (!options?.body || "query" in JSON.parse(body)) ? "text" : "hash");
    const response = await fetch(address, options);
    assert.equal(response.status, 200);
    return response;
  };
  return { fetch: fetcher, sent };
}

for (const preferGetForPersistedQueries of [false, true]) {
  const { fetch, sent } = counting();
  const client = new Client({
    url,
    fetch,
    preferGetMethod: false,
    exchanges: [persistedExchange({ preferGetForPersistedQueries }), fetchExchange],
    fetchOptions: { headers: { "x-api-key": key } },
  });
  for (const operation of [graphs, item]) {
    const result = await client.query(operation.document, operation.variables).toPromise();
    assert.equal(result.error, undefined);
    isAnswer(result.data, operation);
  }
  assert.deepEqual(sent, ["hash", "text", "text"]);
}

const sha256 = (text) => createHash("sha256").update(text).digest("hex");
for (const useGETForHashedQueries of [false, true]) {
  const { fetch, sent } = counting();
  const http = new HttpLink({ uri: url, fetch, headers: { "x-api-key": key } });
  const client = new ApolloClient({
    cache: new InMemoryCache(),
    link: ApolloLink.from([new PersistedQueryLink({ sha256, useGETForHashedQueries }), http]),
  });
  for (const operation of [graphs, item]) {
    const query = gql(operation.document);
    const result = await client.query({ query, variables: operation.variables });
    isAnswer(result.data, operation);
  }
  assert.deepEqual(sent, ["hash", "text", "text"]);
}
