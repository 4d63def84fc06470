//! Requests over the tools of a person's own service, offline: an HTTP API by its OpenAPI document.

use jarvis_testing::stub::{Canned, Stub};
use serde_json::{Value, json};

use crate::harness::Harness;

const API: &str = r#"{
  "openapi": "3.0.0", "info": {"title": "Shop", "version": "1"},
  "paths": {
    "/articles": {"get": {"operationId": "find_article", "summary": "Searches the catalogue for articles.", "parameters": [
      {"name": "query", "in": "query", "required": true, "schema": {"type": "string"}},
      {"name": "max_price", "in": "query", "schema": {"type": "number"}}],
      "responses": {"200": {"description": "Articles"}}}},
    "/reservations": {"post": {"operationId": "reserve", "summary": "Reserves an article for a customer.",
      "requestBody": {"required": true, "content": {"application/json": {"schema": {"type": "object", "required": ["article"],
        "properties": {"article": {"type": "string", "description": "The article to reserve"},
          "quantity": {"type": "integer"}, "gift": {"type": "boolean"}}}}}},
      "responses": {"200": {"description": "A reservation"}}}},
    "/imports": {"post": {"operationId": "import_list", "summary": "Imports a list of articles.",
      "requestBody": {"required": true, "content": {"application/json": {"schema": {"type": "object", "required": ["path"],
        "properties": {"path": {"type": "string"}}}}}},
      "responses": {"200": {"description": "Done"}}}}
  }
}"#;

/// Method, path, query and body of a call.
type Called = (String, String, String, Value);

struct Shop {
    harness: Harness,
    server: Stub,
    runtime: tokio::runtime::Runtime,
}

impl Shop {
    fn open() -> Shop {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let server = runtime.block_on(Stub::start(|_| Canned::json(&json!({"ok": true})))).expect("a server");
        let harness = Harness::new();
        harness.file("api.json", API);
        harness.file(
            "jarvis.yaml",
            format!(
                "tools:\n  - name: shop\n    description: A shop.\n    when: articles are wanted\n    \
                 openapi: {{document: api.json, base_url: '{}'}}\n  - name: broken\n    effect: sometimes\n",
                server.url("")
            ),
        );
        Shop { harness, server, runtime }
    }

    /// The exit code, what was said, and the calls that the request came to: method, path, query and body.
    fn run(&self, text: &str) -> (i32, String, Vec<Called>) {
        let before = self.server.requests().len();
        let ended = self.harness.run(&["run", text, "--yes", "--config", "jarvis.yaml"]);
        let calls = self.server.requests().into_iter().skip(before);
        let calls =
            calls.map(|call| (call.method.clone(), call.path.clone(), call.query.clone(), call.json())).collect();
        (ended.code, format!("{}{}", ended.stdout, ended.stderr), calls)
    }
}

#[test]
fn a_request_becomes_the_right_call_or_a_question() {
    let shop = Shop::open();
    let call = |method: &str, path: &str, query: &str, body: Value| {
        vec![(method.to_owned(), path.to_owned(), query.to_owned(), body)]
    };
    let reserved = json!({"article": "A-17", "quantity": 2, "gift": true});
    shop.harness.file("list.txt", "lamp\ndesk\n");
    for (text, expected) in [
        ("find a red lamp", call("GET", "/articles", "query=red+lamp", Value::Null)),
        ("use find_article to look for a desk", call("GET", "/articles", "query=desk", Value::Null)),
        ("reserve two of article A-17 as a gift", call("POST", "/reservations", "", reserved)),
        // The service opens the file itself.
        ("import the list of articles list.txt", call("POST", "/imports", "", json!({"path": "list.txt"}))),
    ] {
        let (code, said, calls) = shop.run(text);
        let calls: Vec<_> = calls
            .into_iter()
            .map(|(method, path, query, body)| (method, path, query.replace("%20", "+"), body))
            .collect();
        assert_eq!((code, &calls), (0, &expected), "{text}: {said}");
    }
    for (text, asked) in [
        ("reserve", "article"),
        ("reserve it", "article"),
        ("find an article and reserve it", "article"),
        ("reserve two as a gift", "article"),
    ] {
        let (code, said, calls) = shop.run(text);
        assert!(code == 1 && said.contains(asked), "{text}: {code} {said}");
        assert!(calls.is_empty(), "{text}: {calls:?}");
    }
    // One entry that cannot be read leaves out its own tool, and is told.
    let (_, said, _) = shop.run("find a red lamp");
    assert!(said.contains("`broken`") && said.contains("left out"), "{said}");
    let listed = shop.harness.run(&["tools", "list", "--config", "jarvis.yaml"]).stdout;
    assert!(listed.contains("broken") && listed.contains("unavailable"), "{listed}");
    assert!(listed.contains("shop.reserve") && listed.contains("writes"), "{listed}");
    let shown = shop.harness.run(&["tools", "show", "reserve", "--config", "jarvis.yaml"]).stdout;
    assert!(shown.contains("article  required, text") && shown.contains("quantity  optional, an integer"), "{shown}");
    let Shop { server, runtime, .. } = shop;
    drop(server);
    drop(runtime);
}
