// What every client is asked: the operations of operations.json, of the server at URL with KEY.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

export const url = process.env.URL;
export const key = process.env.KEY;
export const operations = JSON.parse(readFileSync("operations.json", "utf8"));
export const { graphs, item, invalid } = operations;

// Some clients ask for __typename beside what is asked.
function withoutTypes(value) {
  if (Array.isArray(value)) return value.map(withoutTypes);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).filter(([name]) => name !== "__typename");
  return Object.fromEntries(entries.map(([name, one]) => [name, withoutTypes(one)]));
}

export function isAnswer(data, operation) {
  assert.deepEqual(withoutTypes(data), operation.data);
}

export function isInvalid(errors) {
  assert.equal(errors[0].extensions.code, invalid.code);
}

// A fetch that notes the methods and the media types of answers.
export function noted() {
  const seen = [];
  const fetcher = async (address, options) => {
    const response = await fetch(address, options);
    const type = response.headers.get("content-type");
    seen.push(`${options?.method ?? "GET"} ${response.status} ${type}`);
    return response;
  };
  return { fetch: fetcher, seen };
}
