// graphql-codegen on the introspection and our operations; TypeScript then checks what it wrote.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { generate } from "@graphql-codegen/cli";
import { graphs, item } from "./operations.mjs";

mkdirSync("typescript", { recursive: true });
writeFileSync("typescript/operations.graphql", `${graphs.document}\n${item.document}\n`);
await generate(
  {
    schema: "introspection.json",
    documents: "typescript/operations.graphql",
    generates: { "typescript/types.ts": { plugins: ["typescript", "typescript-operations"] } },
    silent: true,
  },
  true,
);
assert.match(readFileSync("typescript/types.ts", "utf8"), /export type ViewRefInput/);
writeFileSync(
  "typescript/use.ts",
  `import type { GraphsQuery, ItemQueryVariables, ViewRefInput } from "./types";
export const answer: GraphsQuery = ${JSON.stringify(graphs.data)};
export const variables: ItemQueryVariables = ${JSON.stringify(item.variables)};
// @ts-expect-error A view is named by its id or by its name, not by both.
export const both: ViewRefInput = { id: "1", name: "one" };
`,
);
execFileSync("node_modules/.bin/tsc", ["--noEmit", "--strict", "--skipLibCheck", "typescript/use.ts"], {
  stdio: "inherit",
});
