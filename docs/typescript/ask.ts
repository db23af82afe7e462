import { Client, fetchExchange } from "@urql/core";
import { AskDocument } from "./ask.generated.js";

const key = process.env.GRAPH_SERVICE_API_KEY;
const client = new Client({
  url: process.env.GRAPH_SERVICE_URL ?? "http://127.0.0.1:8000/graphql",
  exchanges: [fetchExchange],
  preferGetMethod: false,
  fetchOptions: { headers: key ? { authorization: `Bearer ${key}` } : {} },
});

const question = process.argv[2] ?? "Who is the mother of Maria Shriver's husband?";
const { data, error } = await client.query(AskDocument, { question }).toPromise();
if (error) {
  throw error;
}
console.log(`${data?.paths?.status}: ${data?.paths?.text}`);
