// Asks two servers through a proxy until standard input ends.
//
// The proxy sends requests to the servers whose /health/ready says 200, in turn, over connections
// that it keeps. It sends none twice: what a server does not answer is an error.
import http from "node:http";
import autocannon from "autocannon";
import { graphs, item, key } from "./operations.mjs";

const LOOK_MS = 50;
const servers = process.env.SERVERS.split(" ").map((port) => ({
  port: Number(port),
  agent: new http.Agent({ keepAlive: true }),
  isReady: false,
  said: [],
  answered: 0,
}));

function look(server) {
  return new Promise((resolve) => {
    const options = { port: server.port, host: "127.0.0.1", path: "/health/ready", agent: false };
    const request = http.get({ ...options, timeout: 5000 }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve(0));
  });
}

async function watch(server) {
  for (;;) {
    const status = await look(server);
    server.isReady = status === 200;
    if (server.said.at(-1) !== status) server.said.push(status);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

let turn = 0;
const faults = [];
const proxy = http.createServer((asked, answer) => {
  const ready = servers.filter((server) => server.isReady);
  const server = ready[turn++ % ready.length];
  if (server === undefined) {
    answer.writeHead(503).end("{}");
    return;
  }
  const { method, url, headers } = asked;
  const { port, agent } = server;
  const sent = http.request({ host: "127.0.0.1", port, agent, method, path: url, headers });
  sent.on("response", (got) => {
    server.answered += 1;
    answer.writeHead(got.statusCode, got.headers);
    got.pipe(answer);
  });
  sent.on("error", (error) => {
    faults.push(`${server.port}: ${error.message}`);
    answer.writeHead(502).end("{}");
  });
  asked.pipe(sent);
});

await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
for (const server of servers) watch(server);
while (!servers.every((server) => server.isReady)) {
  await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}
const body = ({ document, variables }) => JSON.stringify({ query: document, variables });
const question = `{ paths(input: {question: "Who is the spouse of Maria Shriver?"}) { status } }`;
const run = autocannon({
  url: `http://127.0.0.1:${proxy.address().port}/graphql`,
  connections: 4,
  duration: 600,
  // The servers that start again need the processors too.
  overallRate: 80,
  method: "POST",
  headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
  requests: [
    { body: body(graphs) },
    { body: body(item) },
    { body: JSON.stringify({ query: question }) },
  ],
  verifyBody: (text) => JSON.parse(text).errors === undefined,
});
const answers = () => servers.map((server) => server.answered);
console.log("running");
// Each line that comes asks for the next requests to be answered by every server.
let enough = Promise.resolve();
process.stdin.on("data", () => {
  const before = answers();
  enough = enough.then(async () => {
    while (answers().some((count, number) => count < before[number] + 20)) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    console.log("both answer");
  });
});
await new Promise((resolve) => process.stdin.on("end", resolve));
await enough;
run.stop();
const result = await run;
const said = Object.fromEntries(servers.map((server) => [server.port, server.said]));
const { errors, timeouts, non2xx, mismatches } = result;
const report = { requests: result.requests.total, errors, timeouts, non2xx, mismatches };
console.log(JSON.stringify({ ...report, faults, said }));
process.exit(0);
