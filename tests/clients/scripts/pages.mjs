// Chromium: a page on another port that may call and one that may not, and GraphiQL without a
// network. Everything but 127.0.0.1 resolves to nothing.
import assert from "node:assert/strict";
import { chromium } from "playwright-core";
import { graphs, isAnswer, key, url } from "./operations.mjs";

const { ALLOWED, OTHER, CHROMIUM } = process.env;
const browser = await chromium.launch({
  executablePath: CHROMIUM,
  args: ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
});

async function ask(origin, headers, method = "POST") {
  const page = await browser.newPage();
  await page.goto(origin);
  const found = await page.evaluate(
    async ([address, sent, how, document]) => {
      const read = how === "GET";
      const target = read ? `${address}?query=${encodeURIComponent(document)}` : address;
      const body = read ? undefined : JSON.stringify({ query: document });
      const type = read ? {} : { "content-type": "application/json" };
      try {
        const response = await fetch(target, { method: how, headers: { ...type, ...sent }, body });
        return { status: response.status, body: await response.json() };
      } catch (error) {
        return { blocked: error.name };
      }
    },
    [url, headers, method, graphs.document],
  );
  await page.close();
  return found;
}

async function testPages() {
  for (const headers of [{ authorization: `Bearer ${key}` }, { "x-api-key": key }]) {
    for (const method of ["POST", "GET"]) {
      const answer = await ask(ALLOWED, headers, method);
      assert.equal(answer.status, 200);
      isAnswer(answer.body.data, graphs);
      assert.deepEqual(await ask(OTHER, headers, method), { blocked: "TypeError" });
    }
  }
  // A page of an allowed origin reads why it was refused.
  const refused = await ask(ALLOWED, {});
  assert.equal(refused.status, 401);
  assert.equal(refused.body.errors[0].extensions.code, "FORBIDDEN");
}

async function testGraphiql() {
  const page = await browser.newPage();
  const complaints = [];
  const hosts = new Set();
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("request", (one) => one.url().startsWith("data:") || hosts.add(new URL(one.url()).host));
  await page.goto(url);
  assert.equal(await page.textContent("#said"), "This server asks for a key.");
  await page.fill("#key-field", key);
  await page.click("#key button[type=submit]");
  await page.click(".graphiql-execute-button");
  const answered = page.locator(".result-window .CodeMirror-code");
  await answered.filter({ hasText: `"name": "demo"` }).waitFor({ timeout: 20_000 });
  // The schema came too: the explorer lists its types.
  await page.click('[aria-label="Show Documentation Explorer"]');
  await page.locator(".graphiql-doc-explorer", { hasText: "TripletsResult" }).waitFor();
  await page.screenshot({ path: "graphiql.png" });
  // Its dialogs set styles by elements, which the policy has to allow.
  await page.click('[aria-label="Open settings dialog"]');
  await page.locator("[role=dialog]", { hasText: "Theme" }).waitFor();
  const kept = await page.evaluate(() => [{ ...sessionStorage }, { ...localStorage }]);
  assert.deepEqual(kept[0], { "graph-service:api-key": key });
  assert.ok(!JSON.stringify(kept[1]).includes(key));
  assert.deepEqual([...hosts], [new URL(url).host]);
  assert.deepEqual(complaints, []);
  await page.close();
}

try {
  await testPages();
  await testGraphiql();
} finally {
  await browser.close();
}
