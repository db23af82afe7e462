// The audit of the GraphQL over HTTP specification; every check has to pass.
import assert from "node:assert/strict";
import { auditServer } from "graphql-http";
import { key, url } from "./operations.mjs";

const fetchFn = (address, options = {}) =>
  fetch(address, { ...options, headers: { ...options.headers, "x-api-key": key } });
const results = await auditServer({ url, fetchFn });
for (const one of results) {
  if (one.status !== "ok") console.log(`${one.status} ${one.id} ${one.name}: ${one.reason}`);
}
assert.equal(results.length, 61);
assert.equal(results.filter((one) => one.status === "ok").length, 61);
