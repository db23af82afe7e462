// Speaks GraphQL with the server of this page. A key stays in a variable of this file: it goes when
// the page is left or loaded again.

const PAUSES_S = [1, 2, 4, 8, 15];

/** What the server refuses, or could not do. */
export class ApiError extends Error {
  /**
   * @param {string} code
   * @param {string} message
   * @param {string} [hint]
   */
  constructor(code, message, hint = "") {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/**
 * @typedef {object} Listener
 * @property {(refused: boolean) => Promise<string>} needKey gives a key, when a person has typed it
 * @property {(again: (() => void) | null, seconds: number, why: string) => void} away is told that
 *   the server does not answer, with what asks it at once; null when it answers again
 */

/** @type {Promise<Map<string, string>> | null} */
let documents = null;
let key = "";
/** @type {Promise<string> | null} */
let asking = null;
/** @type {Listener | null} */
let listener = null;
/** @type {Map<string, any>} */
const kept = new Map();
const KEPT = 60;

/** @param {Listener} one */
export function listen(one) {
  listener = one;
}

/** Forgets the answers that were kept, so that the next questions are asked again. */
export function forget() {
  kept.clear();
}

/**
 * Returns the text of the operation of a name.
 * @param {string} name
 */
export async function documentOf(name) {
  documents ??= fetchDocuments();
  const text = (await documents).get(name);
  if (!text) throw new Error(`there is no document ${name}`);
  return text;
}

/**
 * Returns the data of an operation; reads that were answered before are not sent again.
 * @param {string} name
 * @param {Record<string, unknown>} variables
 * @param {{signal?: AbortSignal, fresh?: boolean}} [options]
 * @returns {Promise<any>}
 */
export async function ask(name, variables, options = {}) {
  const place = JSON.stringify([name, variables]);
  const before = options.fresh ? undefined : kept.get(place);
  if (before) return before;
  const query = await documentOf(name);
  const body = JSON.stringify({ query, variables, operationName: name });
  const data = await send(body, options.signal);
  if (!query.startsWith("mutation")) {
    kept.set(place, data);
    if (kept.size > KEPT) kept.delete(/** @type {string} */ (kept.keys().next().value));
  }
  return data;
}

/**
 * @param {string} body
 * @param {AbortSignal | undefined} signal
 */
async function send(body, signal) {
  for (let attempt = 0; ; attempt += 1) {
    let response;
    try {
      response = await fetch("graphql", { method: "POST", headers: headers(), body, signal });
    } catch (error) {
      if (signal?.aborted) throw error;
      await pause(attempt, 0, "The server does not answer.", signal);
      continue;
    }
    if (response.status === 401) {
      await getKey();
      signal?.throwIfAborted();
      continue;
    }
    if (response.status === 429 || (response.status >= 502 && response.status <= 504)) {
      const after = Number(response.headers.get("retry-after") ?? 0);
      const why = response.status === 429 ? "The server lets this page wait." : "The server is busy.";
      await pause(attempt, after, why, signal);
      continue;
    }
    listener?.away(null, 0, "");
    return dataOf(await read(response));
  }
}

/** @param {Response} response */
async function read(response) {
  try {
    return await response.json();
  } catch {
    throw new ApiError("INTERNAL", `The server answered with HTTP ${response.status} and no JSON.`);
  }
}

/** @param {any} answer */
function dataOf(answer) {
  const error = answer.errors?.[0];
  if (error) {
    const told = error.extensions ?? {};
    throw new ApiError(told.code ?? "INTERNAL", error.message, told.hint ?? "");
  }
  return answer.data;
}

function headers() {
  /** @type {Record<string, string>} */
  const given = { accept: "application/json", "content-type": "application/json" };
  // Header values are bytes; fetch takes each character as one.
  if (key) given["x-api-key"] = String.fromCharCode(...new TextEncoder().encode(key));
  return given;
}

/** Asks for a key, once for all requests that wait for it. */
async function getKey() {
  if (!listener) throw new ApiError("FORBIDDEN", "The server asks for a key.");
  asking ??= listener.needKey(key !== "").finally(() => {
    asking = null;
  });
  key = await asking;
}

/**
 * @param {number} attempt
 * @param {number} least seconds
 * @param {string} why
 * @param {AbortSignal | undefined} signal
 */
async function pause(attempt, least, why, signal) {
  const seconds = Math.max(least, PAUSES_S[Math.min(attempt, PAUSES_S.length - 1)]);
  await /** @type {Promise<void>} */ (
    new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, 1000 * seconds);
      signal?.addEventListener("abort", () => {
        clearTimeout(timer);
        listener?.away(null, 0, "");
        reject(signal.reason);
      });
      listener?.away(resolve, seconds, why);
    })
  );
}

async function fetchDocuments() {
  const response = await fetch(new URL("documents.json", import.meta.url));
  /** @type {Record<string, string>} */
  const listed = await response.json();
  const found = new Map();
  for (const text of Object.values(listed)) {
    const name = /^(?:query|mutation) (\w+)/m.exec(text);
    if (name) found.set(name[1], text);
  }
  return found;
}
