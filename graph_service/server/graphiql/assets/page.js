// Shows GraphiQL, and sends the API key that the reader gives with each query. The key stays in
// the session storage of this tab: it goes when the tab is closed.
"use strict";

(() => {
  const STORED = "graph-service:api-key";
  const EXAMPLE = `# Ask, with Ctrl-Enter. The graphs of this server:
{
  graphs {
    nodes {
      name
    }
  }
}
`;
  const needsKey = document.body.dataset.needsKey === "yes";
  const field = document.getElementById("key-field");
  const said = document.getElementById("said");
  const root = ReactDOM.createRoot(document.getElementById("graphiql"));
  const asked = new URLSearchParams(location.search);
  let shown = 0;

  async function ask(parameters, options = {}) {
    const headers = {
      accept: "application/graphql-response+json, application/json;q=0.9",
      "content-type": "application/json",
      ...options.headers,
    };
    const key = sessionStorage.getItem(STORED);
    if (key) {
      // Header values are bytes; fetch takes each character as one.
      headers["x-api-key"] = String.fromCharCode(...new TextEncoder().encode(key));
    }
    const response = await fetch(location.pathname, {
      method: "POST",
      headers,
      body: JSON.stringify(parameters),
    });
    if (response.status === 401) {
      said.value = "The server refused this key.";
    } else if (key) {
      said.value = "The key is kept until this tab is closed.";
    }
    return response.json();
  }

  function show() {
    if (needsKey && !sessionStorage.getItem(STORED)) {
      said.value = "This server asks for a key.";
      root.render(null);
      field.focus();
      return;
    }
    // Another number mounts GraphiQL anew, which asks for the schema with the new key.
    shown += 1;
    root.render(
      React.createElement(GraphiQL, {
        key: shown,
        fetcher: ask,
        defaultQuery: EXAMPLE,
        query: asked.get("query") ?? undefined,
        variables: asked.get("variables") ?? undefined,
        shouldPersistHeaders: false,
      }),
    );
  }

  document.getElementById("key").addEventListener("submit", (event) => {
    event.preventDefault();
    sessionStorage.setItem(STORED, field.value.trim());
    field.value = "";
    said.value = "";
    show();
  });
  document.getElementById("forget").addEventListener("click", () => {
    sessionStorage.removeItem(STORED);
    show();
  });
  show();
})();
