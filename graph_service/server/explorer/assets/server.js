// What both pages say of the server: that it asks for a key, or does not answer.

import { ApiError, listen } from "./api.js";
import { byId } from "./dom.js";

/** Lets the page ask for a key, and say when the server is away. */
export function connect() {
  listen({ needKey, away });
}

/**
 * @param {boolean} refused
 * @returns {Promise<string>}
 */
function needKey(refused) {
  const dialog = byId("key-dialog");
  const field = byId("key");
  byId("key-refused").hidden = !refused;
  field.value = "";
  if (!dialog.open) dialog.showModal();
  field.focus();
  return new Promise((resolve, reject) => {
    const told = new AbortController();
    byId("key-form").addEventListener(
      "submit",
      (/** @type {Event} */ event) => {
        event.preventDefault();
        const key = field.value.trim();
        if (!key) return;
        told.abort();
        field.value = "";
        dialog.close();
        resolve(key);
      },
      { signal: told.signal },
    );
    dialog.addEventListener(
      "close",
      () => {
        told.abort();
        reject(new ApiError("FORBIDDEN", "The server asks for a key.", "Load the page again to give it."));
      },
      { signal: told.signal },
    );
  });
}

/**
 * @param {(() => void) | null} again
 * @param {number} seconds
 * @param {string} why
 */
function away(again, seconds, why) {
  const banner = byId("away");
  banner.hidden = !again;
  if (!again) return;
  byId("away-said").textContent = `${why} Asking again in ${Math.ceil(seconds)} s.`;
  byId("away-now").onclick = () => again();
}
