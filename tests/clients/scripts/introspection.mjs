// The schema as graphql-js 16 and 17 read it over HTTP; written for the tools that need a file.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import * as v16 from "graphql";
import * as v17 from "graphql-17";
import { key, url } from "./operations.mjs";

async function introspect(query) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": key },
    body: JSON.stringify({ query }),
  });
  const { data, errors } = await response.json();
  assert.equal(errors, undefined);
  return data;
}

const everything = {
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
};
const found = await introspect(v16.getIntrospectionQuery(everything));
for (const [graphql, version] of [
  [v16, "16.12.0"],
  [v17, "17.1.0"],
]) {
  assert.equal(graphql.version, version);
  const schema = graphql.buildClientSchema(
    await introspect(graphql.getIntrospectionQuery(everything)),
  );
  assert.deepEqual(graphql.validateSchema(schema), []);
  const printed = graphql.printSchema(schema);
  // Each reads what it printed itself.
  assert.deepEqual(graphql.validateSchema(graphql.buildSchema(printed)), []);
  assert.match(printed, /input ViewRefInput @oneOf/);
}
const draft = v17.getIntrospectionQuery({ ...everything, experimentalDirectiveDeprecation: true });
assert.ok(v17.buildClientSchema(await introspect(draft)));
writeFileSync("introspection.json", JSON.stringify({ data: found }));
writeFileSync("schema.graphql", v16.printSchema(v16.buildClientSchema(found)));
