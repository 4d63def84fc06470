//! Methods of gRPC services as tools.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use jarvis_net::text::Secret;
use jarvis_tools::grpc::{GrpcEndpoint, GrpcTool, MethodName};
use jarvis_tools::{Observation, Scope, Tool, ToolError, ToolErrorKind, ToolSource, ToolSpec};
use prost_reflect::prost::Message;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::math::{Adder, Reflection, Running, TOKEN, serve, serve_bytes, serve_description, serve_endless, serve_tls};

fn spec() -> ToolSpec {
    ToolSpec {
        name: "add".into(),
        description: "Adds.".into(),
        when: "numbers are to be added".into(),
        input_schema: json!({"type": "object"}),
        example: json!({"a": 5, "b": 10}),
        output_schema: None,
        effect: jarvis_plan::Effect::Reads,
        source: ToolSource::Grpc,
    }
}

fn tool_at(address: &str, method: &str, token: Option<&str>) -> GrpcTool {
    let endpoint = GrpcEndpoint::new(address, token.and_then(Secret::new), None).unwrap();
    GrpcTool::new(spec(), Arc::new(endpoint), MethodName::parse(method).unwrap(), None)
}

fn tool(server: &Running) -> GrpcTool {
    tool_at(&server.address, "Math/Add", None)
}

async fn call(tool: &GrpcTool, input: Value) -> Result<String, ToolError> {
    tool.call(&input, &Scope::default()).await.map(|Observation { text, .. }| text)
}

#[tokio::test]
async fn a_method_is_called_by_reflection_of_either_version() {
    for reflection in [Reflection::Both, Reflection::AlphaOnly] {
        let server = serve(Adder::default(), reflection).await;
        let plain = tool(&server);
        assert_eq!(call(&plain, json!({"a": 5, "b": 10})).await.unwrap(), r#"{"result":15}"#);
        // Defaults are shown, and texts of digits are taken.
        assert_eq!(call(&plain, json!({})).await.unwrap(), r#"{"result":0}"#);
        assert_eq!(call(&plain, json!({"a": "5", "b": 1.0})).await.unwrap(), r#"{"result":6}"#);
        let told = tool(&server).observation(Some("Addition Result: {result}, {other}".into()));
        assert_eq!(call(&told, json!({"a": 5, "b": 10})).await.unwrap(), "Addition Result: 15, {other}");
    }
}

#[tokio::test]
async fn what_is_wrong_with_an_input_is_told_by_name() {
    let adder = Adder::default();
    let server = serve(adder.clone(), Reflection::Both).await;
    let tool = tool(&server);
    for (input, words) in [
        (json!({"a": 1, "c": 2}), "'c'"),
        (json!({"a": "many"}), "`a`"),
        (json!({"b": [1]}), "`b`"),
        (json!({"a": 3_000_000_000_u64}), "`a`"),
    ] {
        let error = call(&tool, input.clone()).await.unwrap_err();
        assert_eq!(error.kind, ToolErrorKind::InvalidInput, "{input}");
        assert!(error.message.contains(words), "{input}: {error}");
        assert!(error.message.ends_with("the fields are: a, b"), "{error}");
    }
    assert!(adder.seen.lock().unwrap().is_empty(), "nothing was sent");
}

#[tokio::test]
async fn methods_that_are_not_there_are_told() {
    let server = serve(Adder::default(), Reflection::Both).await;
    for (method, words) in [
        ("Math/Subtract", "the service `Math` has no method `Subtract`; it has Add"),
        ("Physics/Add", "has no such service"),
        ("grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "streams; only unary methods can be tools"),
    ] {
        let error = call(&tool_at(&server.address, method, None), json!({})).await.unwrap_err();
        assert_eq!(error.kind, ToolErrorKind::UnknownTool, "{method}: {error}");
        assert!(error.message.contains(words), "{method}: {error}");
    }
    let silent = serve(Adder::default(), Reflection::None).await;
    let error = call(&tool(&silent), json!({})).await.unwrap_err();
    assert_eq!(error.kind, ToolErrorKind::Unavailable);
    assert!(error.message.contains("no server reflection"), "{error}");
    let methods = GrpcEndpoint::new(&server.address, None, None).unwrap().methods().await.unwrap();
    let names: Vec<&str> = methods.iter().map(|method| method.name.as_str()).collect();
    assert_eq!(names, ["Math/Add"]);
    assert_eq!((methods[0].input.as_str(), methods[0].streams), ("AddRequest", false));
}

#[tokio::test]
async fn nobody_there_is_a_failure_in_words() {
    let address = {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap().to_string()
    };
    let secure = serve_tls(Adder::default()).await;
    let secure = secure.address.trim_start_matches("https://");
    let plain = serve(Adder::default(), Reflection::Both).await;
    for (address, words, hint) in [
        (address.as_str(), "cannot be reached: Connection refused (os error ", "; is it running?"),
        (&format!("{}:1", "no".repeat(40)), "cannot be reached: ", "; is the name in its address right?"),
        (
            secure,
            "broke the connection off: ",
            "; does it speak gRPC, and TLS just where its address begins with https://?",
        ),
        (
            &format!("https://{}", plain.address),
            "cannot be reached: what answers speaks no TLS",
            "; is its address one of http://?",
        ),
    ] {
        let error = call(&tool_at(address, "Math/Add", Some(TOKEN)), json!({})).await.unwrap_err();
        assert_eq!(error.kind, ToolErrorKind::Transport, "{error}");
        assert!(error.message.contains(words) && error.message.ends_with(hint), "{error}");
        assert!(error.message.contains(address), "{error}");
    }
    // Something that speaks no gRPC.
    let stub = silent_listener().await;
    let tool = tool_at(&stub, "Math/Add", None).timeout(Duration::from_millis(200));
    let error = call(&tool, json!({})).await.unwrap_err();
    assert_eq!(error.kind, ToolErrorKind::Timeout, "{error}");
    let words = format!("the gRPC service at http://{stub} gave no answer within 0.2 s; `timeout_s` raises the limit");
    assert_eq!(error.message, words);
}

async fn silent_listener() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((socket, _)) = listener.accept().await {
            held.push(socket);
        }
    });
    address
}

#[tokio::test]
async fn statuses_become_kinds_of_failures() {
    let server = serve(Adder::default(), Reflection::Both).await;
    let tool = tool(&server);
    let kinds = "Transport Failed InvalidInput Timeout Failed Failed \
                 Unauthorized TooManyRequests Failed Failed InvalidInput UnknownTool \
                 Unavailable Transport Unavailable Unauthorized";
    for (code, kind) in (1..).zip(kinds.split(' ')) {
        let error = call(&tool, json!({"a": -1, "b": code})).await.unwrap_err();
        assert_eq!(format!("{:?}", error.kind), kind, "{code}: {error}");
        assert!(error.message.contains(&format!("asked for {code}")), "{code}: {error}");
    }
}

#[tokio::test]
async fn a_server_that_hangs_is_left() {
    let server = serve(Adder::default(), Reflection::Both).await;
    let tool = tool(&server).timeout(Duration::from_millis(300));
    let error = call(&tool, json!({"a": -2})).await.unwrap_err();
    assert_eq!(error.kind, ToolErrorKind::Timeout, "{error}");
}

#[tokio::test]
async fn a_token_is_sent_and_never_shown() {
    let adder = Adder { guarded: true, ..Adder::default() };
    let server = serve(adder.clone(), Reflection::Both).await;
    let known = tool_at(&server.address, "Math/Add", Some(TOKEN));
    assert_eq!(call(&known, json!({"a": 1})).await.unwrap(), r#"{"result":1}"#);
    assert_eq!(adder.seen.lock().unwrap().last().unwrap(), &format!("Bearer {TOKEN}"));
    let error = call(&known, json!({"a": -1, "b": 2})).await.unwrap_err();
    assert!(error.message.contains("[redacted]") && !error.message.contains(TOKEN), "{error}");
    let endpoint = GrpcEndpoint::new(&server.address, Secret::new(TOKEN), None).unwrap();
    assert!(!format!("{endpoint:?}").contains(TOKEN));
    let unknown = call(&tool_at(&server.address, "Math/Add", None), json!({"a": 1})).await.unwrap_err();
    assert_eq!(unknown.kind, ToolErrorKind::Unauthorized);
}

#[tokio::test]
async fn a_description_in_many_files_is_put_together() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("a.proto", "import \"b.proto\"; service A { rpc Do (B) returns (B); }"),
        (
            "b.proto",
            "import \"c.proto\"; import \"google/protobuf/timestamp.proto\"; message B { C c = 1; google.protobuf.Timestamp at = 2; }",
        ),
        ("c.proto", "message C { int32 size = 1; }"),
    ] {
        std::fs::write(folder.path().join(name), format!("syntax = \"proto3\"; {text}")).unwrap();
    }
    let set = protox::compile([folder.path().join("a.proto")], [folder.path()]).unwrap();
    let server = serve_description(&set.encode_to_vec()).await;
    let endpoint = GrpcEndpoint::new(&server.address, None, None).unwrap();
    let pool = endpoint.reflect("A").await.unwrap();
    let method = MethodName::parse("A/Do").unwrap().find(&pool).unwrap();
    let c = json!({"type": "object", "properties": {"size": {"type": "integer"}}, "additionalProperties": false});
    assert_eq!(jarvis_tools::grpc::schema_of(&method.input())["properties"]["c"], c);
    assert_eq!(endpoint.methods().await.unwrap()[0].name, "A/Do");
}

#[tokio::test]
async fn a_description_without_end_is_given_up() {
    let server = serve_endless().await;
    let error = call(&tool(&server), json!({})).await.unwrap_err();
    assert_eq!(error.kind, ToolErrorKind::Transport);
    assert!(error.message.ends_with("gives more than a tool can need"), "{error}");
}

#[tokio::test]
async fn messages_are_bounded_either_way() {
    let server = serve_bytes().await;
    let tool = tool_at(&server.address, "FileBasedQA/QueryFile", None);
    let fits = call(&tool, json!({"question": "3000000"})).await.unwrap();
    assert!(fits.starts_with(r#"{"has_text":false,"text_answer":"","has_image":false,"image_data":"BwcH"#));
    let error = call(&tool, json!({"question": "5000000"})).await.unwrap_err();
    assert_eq!(error.kind, ToolErrorKind::Transport);
    assert!(error.message.ends_with("answered with more than 4 MiB"), "{error}");
    let error = call(&tool, json!({"question": "1", "file_data": "A".repeat(8 << 20)})).await.unwrap_err();
    assert_eq!(error.kind, ToolErrorKind::InvalidInput);
    assert!(error.message.contains("the limit is 4 MiB"), "{error}");
    let error = call(&tool_at(&server.address, "FileBasedQA/QueryFileStream", None), json!({})).await.unwrap_err();
    assert!(error.message.contains("streams"), "{error}");
}

#[tokio::test]
async fn a_service_with_a_certificate_of_its_own_is_reached() {
    let server = serve_tls(Adder::default()).await;
    let tool = |ca: Option<&[u8]>| {
        let endpoint = GrpcEndpoint::new(&server.address, None, ca).unwrap();
        GrpcTool::new(spec(), Arc::new(endpoint), MethodName::parse("Math/Add").unwrap(), None)
    };
    let known = tool(Some(include_bytes!("tls/ca.pem")));
    assert_eq!(call(&known, json!({"a": 5, "b": 10})).await.unwrap(), r#"{"result":15}"#);
    let error = call(&tool(None), json!({"a": 5})).await.unwrap_err();
    assert_eq!(error.kind, ToolErrorKind::Transport);
    assert!(error.message.contains("certificate"), "{error}");
}

#[tokio::test]
async fn the_sample_server_is_what_the_documents_say() {
    // Beside the tests: target/debug/deps/it-… and target/debug/examples/math_server.
    let program = std::env::current_exe().unwrap().parent().unwrap().with_file_name("examples").join("math_server");
    if !program.is_file() {
        println!("skipped: {} is not built; `cargo test` without `--test` builds it", program.display());
        return;
    }
    let mut child = tokio::process::Command::new(program)
        .args(["--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let address = lines.next_line().await.unwrap().unwrap();
    let methods = GrpcEndpoint::new(&address, None, None).unwrap().methods().await.unwrap();
    let mut names: Vec<(&str, bool)> = methods.iter().map(|method| (method.name.as_str(), method.streams)).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [("Math/Add", false), ("grpc.health.v1.Health/Check", false), ("grpc.health.v1.Health/Watch", true)]
    );
    let add = tool_at(&address, "Math/Add", None);
    assert_eq!(call(&add, json!({"a": 5, "b": 10})).await.unwrap(), r#"{"result":15}"#);
    let error = call(&add, json!({"a": i32::MAX, "b": 1})).await.unwrap_err();
    assert!(
        error.kind == ToolErrorKind::InvalidInput && error.message.contains("does not fit into 32 bits"),
        "{error}"
    );
    let health = tool_at(&address, "grpc.health.v1.Health/Check", None);
    assert_eq!(call(&health, json!({"service": "Math"})).await.unwrap(), r#"{"status":"SERVING"}"#);
}
