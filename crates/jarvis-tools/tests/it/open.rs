//! Registries out of configurations.

use std::path::Path;
use std::sync::Arc;

use jarvis_testing::rows;
use jarvis_testing::stub::{Canned, Stub};
use jarvis_tools::config::{GrpcEntry, McpEntry, OpenApiEntry, ToolEntry, ToolsConfig};
use jarvis_tools::{OpenOptions, Opened, Registry, Scope, ToolErrorKind, open};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::math::{Adder, Reflection, Running, serve};
use crate::mcp_server::{Kind, StandIn, over_http};

fn add(server: &str) -> ToolEntry {
    ToolEntry {
        name: "add".into(),
        description: "Adds two whole numbers.".into(),
        when: "two numbers are to be added".into(),
        observation: Some("Addition Result: {result}".into()),
        grpc: Some(GrpcEntry { endpoint: server.into(), method: "Math/Add".into(), ..GrpcEntry::default() }),
        ..ToolEntry::default()
    }
}

fn options(folder: &Path) -> OpenOptions {
    OpenOptions { env: Arc::new(|_| None), ..OpenOptions::new(folder.join("approvals.json"), folder) }
}

async fn opened(folder: &Path, tools: Vec<ToolEntry>) -> Result<Opened, String> {
    let config = ToolsConfig { tools, ..ToolsConfig::default() };
    open(&config, Registry::new(), options(folder)).await.map_err(|error| {
        // As the program tells it: with what caused it.
        let mut text = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(inner) = cause {
            text = format!("{text}: {inner}");
            cause = inner.source();
        }
        text
    })
}

async fn call(opened: &Opened, tool: &str, input: Value) -> Result<String, (ToolErrorKind, String)> {
    let called = opened.registry.call(tool, &input, &Scope::default()).await;
    called.map(|observation| observation.text).map_err(|error| (error.kind, error.message))
}

async fn math() -> Running {
    serve(Adder::default(), Reflection::Both).await
}

#[tokio::test]
async fn a_method_is_described_by_its_service() {
    let folder = TempDir::new().unwrap();
    let server = math().await;
    let opened = opened(folder.path(), vec![add(&server.address)]).await.unwrap();
    let spec = opened.registry.spec("add").unwrap();
    let properties = json!({"a": {"type": "integer"}, "b": {"type": "integer"}});
    assert_eq!(spec.input_schema, json!({"type": "object", "properties": properties, "additionalProperties": false}));
    assert_eq!(spec.example, json!({"a": 1, "b": 1}));
    assert_eq!(call(&opened, "add", json!({"a": 5, "b": 10})).await.unwrap(), "Addition Result: 15");
    assert_eq!((opened.planned[0].name.as_str(), opened.notes.len()), ("add", 1));
    // What is known needs no server to be opened; and a call says that it is down.
    let address = server.address.clone();
    drop(server);
    let again = self::opened(folder.path(), vec![add(&address)]).await.unwrap();
    assert!(again.warnings.is_empty() && again.registry.spec("add").is_some(), "{:?}", again.warnings);
    assert_eq!(call(&again, "add", json!({"a": 5})).await.unwrap_err().0, ToolErrorKind::Transport);
    // The operator may word the description anew; that is no change of the service.
    let server = math().await;
    let worded = ToolEntry { description: "Sums up.".into(), ..add(&server.address) };
    let reworded = self::opened(folder.path(), vec![worded]).await.unwrap();
    assert!(reworded.warnings.is_empty(), "{:?}", reworded.warnings);
    assert_eq!(call(&reworded, "add", json!({"a": 5})).await.unwrap(), "Addition Result: 5");
}

#[tokio::test]
async fn the_key_of_a_call_reaches_a_method_that_takes_one() {
    let check = async |metadata: Option<&str>, keys: [Option<&str>; 3], arrives: [Option<&str>; 3]| {
        let folder = TempDir::new().unwrap();
        let adder = Adder::default();
        let server = serve(adder.clone(), Reflection::Both).await;
        let mut entry = add(&server.address);
        entry.grpc.as_mut().unwrap().idempotency_metadata = metadata.map(str::to_owned);
        let opened = opened(folder.path(), vec![entry]).await.unwrap();
        assert_eq!(opened.registry.takes_key("add"), metadata.is_some());
        for key in keys {
            let scope = Scope { key: key.map(str::to_owned), ..Scope::default() };
            let called = opened.registry.call("add", &json!({"a": 5}), &scope).await.unwrap();
            assert_eq!(called.text, "Addition Result: 5");
        }
        assert_eq!(*adder.keys.lock().unwrap(), arrives.map(|key| key.map(str::to_owned)), "{metadata:?}");
    };
    let run = "0199d1f2-7c1e-7000-8000-000000000000";
    let (first, second) = (&*format!("{run}/3"), &*format!("{run}/4"));
    // A call that is made again has the same key, another call has another one.
    let keys = [Some(first), Some(first), Some(second)];
    check(Some("idempotency-key"), keys, keys).await;
    // The keys of calls for the elements of a list, and calls outside of a run, which have none.
    let keys = [Some("run/3/1"), Some("run/3/2"), None];
    check(Some("idempotency-key"), keys, keys).await;
    // A method that takes none, or takes it elsewhere.
    check(None, [Some(first), Some(first), Some(second)], [None; 3]).await;
    check(Some("x-request-id"), [Some(first), Some(first), Some(second)], [None; 3]).await;

    for name in ["Not a name", "key-bin", ""] {
        let folder = TempDir::new().unwrap();
        let mut entry = add("127.0.0.1:1");
        entry.grpc.as_mut().unwrap().idempotency_metadata = Some(name.to_owned());
        entry.input_schema = Some(json!({"type": "object"}));
        entry.example = Some(json!({"a": 1}));
        let opened = opened(folder.path(), vec![entry]).await.unwrap();
        let told = opened.warnings.join("; ");
        assert!(told.contains("`idempotency_metadata` is not the name of metadata"), "{name}: {told}");
        assert!(opened.registry.spec("add").is_none(), "{name}");
    }
}

#[tokio::test]
async fn a_schema_of_a_service_that_changed_is_refused_until_it_is_approved() {
    let folder = TempDir::new().unwrap();
    let server = math().await;
    let entry = add(&server.address);
    drop(opened(folder.path(), vec![entry.clone()]).await.unwrap());
    // As if the service had been another one when it was approved.
    let path = folder.path().join("approvals.json");
    let mut kept: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let tool = &mut kept["sources"]["grpc:add"]["tools"]["add"];
    tool["approved"]["schema"]["properties"] = json!({"x": {"type": "string"}});
    let described = serde_json::from_value::<jarvis_tools::approvals::Described>(tool["approved"].clone()).unwrap();
    tool["sha256"] = described.sha256("add").into();
    std::fs::write(&path, kept.to_string()).unwrap();
    let before = opened(folder.path(), vec![entry.clone()]).await.unwrap();
    let (kind, words) = call(&before, "add", json!({"x": "1"})).await.unwrap_err();
    assert_eq!(kind, ToolErrorKind::Unauthorized);
    assert!(words.contains("jarvis tools approve add"), "{words}");
    assert!(before.approval("add").unwrap().offered.is_some());
    let changes = before.changes("add").unwrap();
    assert_eq!(before.approvals.accept(&changes).unwrap(), ["add"]);
    let after = opened(folder.path(), vec![entry]).await.unwrap();
    assert_eq!(call(&after, "add", json!({"a": 1})).await.unwrap(), "Addition Result: 1");
}

#[tokio::test]
async fn a_worded_anew_method_approves_nothing_of_a_server_of_its_name() {
    let folder = TempDir::new().unwrap();
    let (server, stand_in) = (math().await, StandIn::new(Kind::Usual));
    let web = over_http(stand_in.clone()).await;
    let opened = async |description: &str, refresh: bool| {
        let entry = McpEntry { url: Some(web.url.clone()), ..McpEntry::default() };
        let method = ToolEntry { name: "math".into(), description: description.into(), ..add(&server.address) };
        let config =
            ToolsConfig { tools: vec![method], mcp_servers: [("math".to_owned(), entry)].into_iter().collect() };
        open(&config, Registry::new(), OpenOptions { refresh, ..options(folder.path()) }).await.unwrap()
    };
    drop(opened("Adds.", false).await);
    stand_in.described.send_replace("Something else.".into());
    drop(opened("Adds.", true).await);
    let worded = opened("Sums up.", false).await;
    assert_eq!(call(&worded, "math", json!({"a": 5})).await.unwrap(), "Addition Result: 5");
    let refused = call(&worded, "math/echo", json!({"message": "x"})).await.unwrap_err();
    assert_eq!(refused.0, ToolErrorKind::Unauthorized, "{}", refused.1);
    // Nor does the name of the one mean the other.
    assert!(worded.changes("math").unwrap().is_empty());
    assert_eq!(worded.changes("math/").unwrap()[0].name, "math/echo");
    assert!(worded.changes("other").is_err());
}

#[tokio::test]
async fn descriptors_in_a_file_need_no_service_to_open() {
    let folder = TempDir::new().unwrap();
    std::fs::write(
        folder.path().join("math.proto"),
        "syntax = \"proto3\"; service Math { rpc Add (AddRequest) returns (AddReply); }
         message AddRequest { /* the first number */ int32 a = 1; int32 b = 2; } message AddReply { int32 result = 1; }",
    )
    .unwrap();
    let server = serve(Adder::default(), Reflection::None).await;
    let mut entry = add(&server.address);
    entry.grpc.as_mut().unwrap().descriptor = Some("math.proto".into());
    let opened = opened(folder.path(), vec![entry]).await.unwrap();
    assert!(!folder.path().join("approvals.json").exists(), "a file of the operator needs no approval");
    assert_eq!(call(&opened, "add", json!({"a": 5, "b": 10})).await.unwrap(), "Addition Result: 15");
}

#[tokio::test]
async fn a_service_that_is_down_is_a_warning() {
    let folder = TempDir::new().unwrap();
    let address = {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap().to_string()
    };
    let bare = opened(folder.path(), vec![add(&address)]).await.unwrap();
    assert!(bare.registry.is_empty() && bare.warnings[0].starts_with("`add` is left out"), "{:?}", bare.warnings);
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let example = Some(json!({"a": 1}));
    let told = ToolEntry { input_schema: Some(schema), example, ..add(&address) };
    let opened = opened(folder.path(), vec![told]).await.unwrap();
    assert_eq!(call(&opened, "add", json!({"a": 5})).await.unwrap_err().0, ToolErrorKind::Transport);
}

#[tokio::test]
async fn an_entry_that_cannot_be_used_leaves_out_only_its_tool() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("api.json"), API).unwrap();
    let server = math().await;
    for (mut entry, words) in rows::<(ToolEntry, String)>(include_str!("open.json"), "refused") {
        if let Some(grpc) = entry.grpc.as_mut().filter(|grpc| grpc.endpoint == "SERVER") {
            grpc.endpoint = server.address.clone();
        }
        let other = ToolEntry { name: "other".into(), ..add(&server.address) };
        let opened = opened(folder.path(), vec![entry, other]).await.unwrap();
        let [out] = opened.unavailable.as_slice() else { panic!("{words}: {:?}", opened.unavailable) };
        assert!(out.reason.contains(&words), "{words}: {out:?}");
        assert!(opened.warnings.contains(&format!("{}; it is left out", out.reason)), "{:?}", opened.warnings);
        assert!(opened.registry.spec("other").is_some() && opened.planned.len() == 1, "{words}");
    }
    let twice = opened(folder.path(), vec![add(&server.address), add(&server.address)]).await.unwrap();
    assert_eq!(twice.unavailable[0].reason, "entry 2 of `tools` (`add`): there are two tools named `add`");
    assert_eq!(twice.planned.len(), 1);
    let served = ToolEntry { serves: Some("nonsense".into()), ..add(&server.address) };
    let opened_of = opened(folder.path(), vec![served]).await.unwrap();
    assert!(opened_of.unavailable[0].reason.contains("a tool is to serve `nonsense`"), "{:?}", opened_of.unavailable);
    let unread: ToolEntry = serde_json::from_value(json!({"name": "add", "timeout_s": "soon"})).unwrap();
    let opened_of = opened(folder.path(), vec![unread]).await.unwrap();
    assert_eq!(opened_of.unavailable[0].name, "add");
    for (entry, words) in [
        (McpEntry::default(), "the entry `s` of `mcp_servers` must have exactly one of `command` and `url`"),
        (
            McpEntry { url: Some("http://h".into()), command: Some("x".into()), ..McpEntry::default() },
            "must have exactly one of",
        ),
    ] {
        let config =
            ToolsConfig { mcp_servers: [("s".to_owned(), entry)].into_iter().collect(), ..ToolsConfig::default() };
        let opened = open(&config, Registry::new(), options(folder.path())).await.unwrap();
        assert!(opened.unavailable.iter().any(|one| one.reason.contains(words)), "{:?}", opened.unavailable);
    }
}

#[tokio::test]
async fn damaged_approvals_leave_out_only_what_needs_one() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("approvals.json");
    let (server, stand_in) = (math().await, StandIn::new(Kind::Usual));
    let web = over_http(stand_in.clone()).await;
    let told = ToolEntry {
        name: "told".into(),
        input_schema: Some(json!({"type": "object"})),
        example: Some(json!({"a": 1})),
        ..add(&server.address)
    };
    let native = ToolEntry { native: Some("calculator".into()), ..ToolEntry::default() };
    let entry = McpEntry { url: Some(web.url.clone()), ..McpEntry::default() };
    let all = ToolsConfig {
        tools: vec![add(&server.address), told, native],
        mcp_servers: [("demo".to_owned(), entry)].into_iter().collect(),
    };
    let opened = async |config: &ToolsConfig, refresh: bool| {
        let mut registry = Registry::new();
        jarvis_tools::local::add_to(&mut registry).unwrap();
        open(config, registry, OpenOptions { refresh, ..options(folder.path()) }).await.unwrap()
    };
    for damaged in ["{", "", "{\"version\": 9}"] {
        for refresh in [false, true] {
            std::fs::write(&path, damaged).unwrap();
            let opened = opened(&all, refresh).await;
            let [warning] = &opened.warnings[..] else { panic!("{:?}", opened.warnings) };
            let start = format!(
                "these tools are left out: `add`, those of the MCP server `demo`, for the approvals of tools in {} are \
                 damaged (",
                path.display()
            );
            let end = "); move the file away, and all tools are approved anew at first use";
            assert!(warning.starts_with(&start) && warning.ends_with(end), "{warning}");
            assert_eq!(warning.matches("move").count(), 1);
            assert!(opened.notes.is_empty() && opened.planned.len() == 2, "{:?}", opened.planned);
            assert!(opened.registry.specs().all(|spec| spec.name != "add" && !spec.name.starts_with("demo/")));
            assert_eq!(call(&opened, "calculator", json!({"expression": "2+3"})).await.unwrap(), "5");
            assert_eq!(call(&opened, "told", json!({"a": 5})).await.unwrap(), "Addition Result: 5");
            assert!(opened.changes("demo/echo").is_err() && opened.approvals.accept(&[]).is_err());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), damaged);
        }
    }
    assert_eq!(stand_in.listed.load(std::sync::atomic::Ordering::SeqCst), 0, "nobody is asked in vain");
    // What needs no approval needs no file either.
    let local = ToolsConfig { tools: all.tools[1..].to_vec(), ..ToolsConfig::default() };
    assert_eq!(opened(&local, false).await.warnings, Vec::<String>::new());
    // Moved away, it is made anew.
    std::fs::rename(&path, folder.path().join("away.json")).unwrap();
    let anew = opened(&all, false).await;
    assert!(anew.registry.spec("demo/echo").is_some() && anew.registry.spec("add").is_some() && anew.notes.len() == 2);
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_leaves_out_what_cannot_be_approved() {
    let folder = TempDir::new().unwrap();
    // Where the folder should be is a link to nothing: it cannot be read, made or written.
    std::os::unix::fs::symlink(folder.path().join("nothing"), folder.path().join("data")).unwrap();
    let server = math().await;
    let options = OpenOptions { approvals: folder.path().join("data/approvals.json"), ..options(folder.path()) };
    let config = ToolsConfig { tools: vec![add(&server.address)], ..ToolsConfig::default() };
    let opened = open(&config, Registry::new(), options).await.unwrap();
    let [warning] = &opened.warnings[..] else { panic!("{:?}", opened.warnings) };
    assert!(warning.starts_with("`add` is left out: ") && warning.contains("approvals.json"), "{warning}");
    assert!(opened.registry.is_empty() && opened.notes.is_empty());
}

const API: &str = r#"{
  "openapi": "3.0.0", "info": {"title": "Films", "version": "1"}, "servers": [{"url": "http://127.0.0.1:9/"}],
  "paths": {
    "/movie/{movie_id}": {"get": {
      "operationId": "movie-details", "summary": "Tells of a film.",
      "parameters": [
        {"name": "movie_id", "in": "path", "required": true, "schema": {"type": "integer"}},
        {"name": "language", "in": "query", "schema": {"type": "string", "default": "en-US"}, "description": "A\u200b tongue."}
      ]
    }},
    "/rate": {"post": {
      "description": "Rates a film. With stars.",
      "requestBody": {"required": true, "content": {"application/json": {"schema": {
        "type": "object", "required": ["stars"], "properties": {"stars": {"type": "number", "minimum": 0.5, "maximum": 10}}
      }}}}
    }}
  }
}"#;

#[tokio::test]
async fn operations_of_a_document_become_tools() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("films.json"), API).unwrap();
    let stub = Stub::start(|request| match request.path.as_str() {
        "/movie/5" => Canned::json(&json!({"title": "Moonlight", "asked": request.query})),
        _ => Canned::json(&json!({"rated": request.json()["stars"]})),
    })
    .await
    .unwrap();
    let whole = |operation: Option<&str>| ToolEntry {
        name: "films".into(),
        when: "a film is asked about".into(),
        openapi: Some(OpenApiEntry {
            document: Some("films.json".into()),
            base_url: Some(stub.url("/")),
            operation: operation.map(str::to_owned),
            api_key_env: Some("FILMS_KEY".into()),
            idempotency_header: None,
        }),
        ..ToolEntry::default()
    };
    let all = opened(folder.path(), vec![whole(None)]).await.unwrap();
    let specs: Vec<_> = all.registry.specs().collect();
    insta::assert_json_snapshot!(specs);
    assert!(all.warnings.iter().any(|warning| warning.contains("FILMS_KEY is not set")), "{:?}", all.warnings);
    assert!(all.warnings.iter().any(|warning| warning.contains("hidden characters")), "{:?}", all.warnings);
    let text = call(&all, "films.movie-details", json!({"movie_id": 5, "language": "ru"})).await.unwrap();
    assert!(text.contains("Moonlight") && text.contains("language=ru"), "{text}");
    let (kind, words) = call(&all, "films.movie-details", json!({"movie_id": "x"})).await.unwrap_err();
    assert!(kind == ToolErrorKind::InvalidInput && words.contains("movie_id"), "{words}");
    let mut one = whole(Some("POST /rate"));
    one.observation = Some("Rated with {rated}".into());
    one.serves = Some("translation".into());
    let one = opened(folder.path(), vec![one]).await.unwrap();
    assert_eq!(one.registry.spec("films").unwrap().description, "Rates a film. With stars.");
    assert_eq!(one.planned[0].serves.as_deref(), Some("translation"));
    assert_eq!(call(&one, "films", json!({"stars": 7.5})).await.unwrap(), "Rated with 7.5");
}
