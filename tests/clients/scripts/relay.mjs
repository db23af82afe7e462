// relay-compiler on the schema, and relay-runtime with what it compiled: whole operations, and each
// connection page by page, asked for again by @refetchable.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import runtime from "relay-runtime";
import { graphs, isAnswer, item, key, url } from "./operations.mjs";

rmSync("relay", { recursive: true, force: true });
mkdirSync("relay/src", { recursive: true });
// What it compiles names modules without their ending, as CommonJS may.
writeFileSync("relay/package.json", JSON.stringify({ type: "commonjs" }));
// Relay names an operation after its module.
const named = (document, name) => document.replace(/query \w+/, `query ${name}Query`);
for (const [name, { document }] of Object.entries({ graphs, item })) {
  writeFileSync(`relay/src/${name}.js`, `graphql\`${named(document, name)}\`;\n`);
}
writeFileSync("relay/src/wanted.js", `graphql\`
  query wantedQuery($wanted: ID!) { item(itemId: $wanted) { id } }
\`;
`);
const paged = {
  graphs: ["Query", "", "id name"],
  searchItems: ["Query", 'query: "Schwarzenegger", ', "id itemId"],
  views: ["Query", "", "id name"],
  statements: ["Item", "", "id statementId"],
  neighbours: ["Item", "", "id itemId"],
  diff: ["View", "", "__typename"],
};
for (const [field, [type, given, wanted]] of Object.entries(paged)) {
  writeFileSync(`relay/src/${field}Pages.js`, `graphql\`
  fragment ${field}Pages_of on ${type}
  @argumentDefinitions(first: { type: "Int", defaultValue: 2 }, after: { type: "String" })
  @refetchable(queryName: "${field}PagesQuery") {
    ${field}(${given}first: $first, after: $after) @connection(key: "${field}Pages_${field}") {
      edges { node { ${wanted} } }
    }
  }
\`;
`);
}
const config = { src: "relay/src", schema: "schema.graphql", language: "javascript", eagerEsModules: false };
writeFileSync("relay.config.json", JSON.stringify(config));
execFileSync("node_modules/.bin/relay-compiler", ["relay.config.json", "--repersist"], { stdio: "inherit" });

const { Environment, Network, RecordSource, Store, fetchQuery, getSingularSelector } = runtime;
const network = Network.create(async (parameters, variables) => {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ query: parameters.text, variables }),
  });
  return response.json();
});
const environment = new Environment({ network, store: new Store(new RecordSource()) });
for (const [name, operation] of Object.entries({ graphs, item })) {
  const artifact = await import(`./relay/src/__generated__/${name}Query.graphql.js`);
  const data = await fetchQuery(environment, artifact.default, operation.variables).toPromise();
  isAnswer(data, operation);
}
assert.ok(environment.getStore().getSource().size() > 1);

const compiled = async (name) =>
  (await import(`./relay/src/__generated__/${name}.graphql.js`)).default;
const { item: wanted } = await fetchQuery(environment, await compiled("wantedQuery"), item.variables).toPromise();

// Asks for pages of two until there are no more, or four; the runtime joins them to one list.
async function edgesOf(field) {
  const [query, fragment] = [await compiled(`${field}PagesQuery`), await compiled(`${field}Pages_of`)];
  let after = null;
  for (let pages = 1; ; pages += 1) {
    const data = await fetchQuery(environment, query, { id: wanted.id, first: 2, after }).toPromise();
    const selector = getSingularSelector(fragment, data.node ?? data);
    const { edges, pageInfo } = environment.lookup(selector).data[field];
    assert.ok(pageInfo.hasNextPage ? edges.length === 2 * pages : edges.length <= 2 * pages);
    if (!pageInfo.hasNextPage || pages === 4) return edges;
    after = pageInfo.endCursor;
  }
}
const found = {};
for (const field of ["graphs", "searchItems", "views", "statements", "neighbours"]) {
  const edges = await edgesOf(field);
  found[field] = edges.length;
  assert.equal(new Set(edges.map(({ cursor }) => cursor)).size, edges.length);
}
assert.deepEqual([found.graphs, found.views, found.statements, found.neighbours], [1, 0, 8, 8]);
assert.ok(found.searchItems > 2);
