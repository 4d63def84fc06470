//! The reference server of the protocol's makers, where it is installed (`cargo xtask setup`).

use std::path::Path;

use jarvis_tools::config::{McpEntry, ToolsConfig};
use jarvis_tools::{OpenOptions, Registry, Scope, ToolErrorKind, open};
use serde_json::{Value, json};

#[tokio::test]
async fn the_installed_reference_server_answers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let script = root.join("target/node/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    if !script.is_file() {
        println!("skipped: {} is absent; `cargo xtask setup` installs it", script.display());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let entry = McpEntry {
        command: Some("node".into()),
        args: vec![script.display().to_string(), "stdio".into()],
        ..McpEntry::default()
    };
    let config =
        ToolsConfig { tools: Vec::new(), mcp_servers: [("everything".to_owned(), entry)].into_iter().collect() };
    let options = OpenOptions::new(folder.path().join("approvals.json"), folder.path());
    let opened = open(&config, Registry::new(), options).await.unwrap();
    assert!(opened.warnings.is_empty(), "{:?}", opened.warnings);
    let call = async |tool: &str, input: Value| opened.registry.call(tool, &input, &Scope::default()).await;
    let names: Vec<&str> = opened.registry.specs().map(|spec| spec.name.as_str()).collect();
    assert!(names.len() > 8 && names.contains(&"everything/echo"), "{names:?}");
    let echo = call("everything/echo", json!({"message": "你好"})).await.unwrap();
    assert_eq!(echo.text, "Echo: 你好");
    let sum = call("everything/get-sum", json!({"a": 5, "b": 10})).await.unwrap();
    assert!(sum.text.contains("15"), "{}", sum.text);
    let image = call("everything/get-tiny-image", json!({})).await.unwrap();
    assert_eq!(image.media.len(), 1);
    assert!(image.media[0].bytes.starts_with(b"\x89PNG"));
    let wrong = call("everything/get-sum", json!({"a": "x"})).await.unwrap_err();
    assert!(matches!(wrong.kind, ToolErrorKind::InvalidInput | ToolErrorKind::Failed), "{wrong}");
    let every = opened.registry.specs().map(|spec| (spec.name.as_str(), &spec.example));
    insta::assert_debug_snapshot!(every.filter(|(name, _)| !name.contains("resource")).collect::<Vec<_>>());
}
