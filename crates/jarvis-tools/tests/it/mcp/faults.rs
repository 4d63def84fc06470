//! What is said of MCP servers that cannot be started or reached, or that answer something else.

use jarvis_testing::rows;
use jarvis_testing::stub::{Canned, Stub};
use jarvis_tools::config::McpEntry;
use serde_json::json;
use tempfile::TempDir;

use super::{SECRET, map, opened};

const CASES: &str = include_str!("faults.json");

#[tokio::test]
async fn servers_that_refuse_or_redirect_are_told() {
    let elsewhere = Stub::start(|_| Canned::bytes("text/plain", "")).await.unwrap();
    let to = elsewhere.url("/mcp");
    let stub = Stub::start(move |request| match request.path.as_str() {
        "/challenge" => Canned::bytes("text/plain", "no").status(401).header("www-authenticate", "Bearer"),
        "/refuse" => Canned::bytes("text/plain", "not you").status(403),
        "/busy" => Canned::bytes("text/plain", "").status(429),
        "/moved" => Canned::redirect(&to).status(307),
        "/none" => Canned::bytes("text/plain", "nothing here").status(404),
        "/down" => Canned::bytes("text/plain", "later").status(503),
        "/json" => Canned::json(&json!({"title": "a page"})),
        "/mcp/sk12345678901234567890" => Canned::bytes("text/plain", "key=sk-in-the-url is unknown").status(404),
        _ => Canned::bytes("text/html", "<html>a page</html>"),
    })
    .await
    .unwrap();
    for (path, words) in rows::<(String, String)>(CASES, "over_http") {
        let folder = TempDir::new().unwrap();
        let headers = map(&[("Authorization", "Bearer ${SECRET}".to_owned())]);
        let entry = McpEntry { url: Some(stub.url(&path)), headers, ..McpEntry::default() };
        let opened = opened(folder.path(), entry, false).await;
        assert!(opened.registry.is_empty());
        assert!(opened.warnings[0].contains(&words) && !opened.warnings[0].contains(SECRET), "{:?}", opened.warnings);
    }
    assert!(elsewhere.requests().is_empty(), "a redirect to another origin is not followed");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_with_its_address_and_the_cause() {
    let address = {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap()
    };
    // Speaks neither http nor https; and no name may be as long as the one below, so that nobody is asked for it.
    let odd = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = odd.local_addr().unwrap().port();
    let _odd = tokio::spawn(async move {
        while let Ok((mut socket, _)) = odd.accept().await {
            let _ = tokio::io::AsyncWriteExt::write_all(&mut socket, b"220 ready\r\n").await;
        }
    });
    for (url, words) in [
        (
            format!("http://u:pass@{address}/mcp?key=sk-in-the-url"),
            format!("cannot be reached at http://{address}/mcp: "),
        ),
        (format!("http://{address}/mcp"), ": Connection refused (os error ".to_owned()),
        (format!("http://{address}/mcp"), "); is it running?".to_owned()),
        (format!("http://{}/mcp", "no".repeat(40)), "; is the name in its address right?".into()),
        (
            format!("https://127.0.0.1:{port}/mcp"),
            ": what answers speaks no TLS; is its address one of http://?".into(),
        ),
        (format!("http://127.0.0.1:{port}/mcp"), format!("cannot be reached at http://127.0.0.1:{port}/mcp: ")),
        ("ftp://x:1".into(), "has no usable `url`: it must begin with http:// or https://".into()),
    ] {
        let folder = TempDir::new().unwrap();
        let opened = opened(folder.path(), McpEntry { url: Some(url), ..McpEntry::default() }, false).await;
        let told = &opened.warnings[0];
        assert!(told.starts_with("the MCP server `demo` ") && told.contains(&words), "{words}: {told}");
        for never in ["pass", "sk-in-the-url", "Client error", "::", "error sending"] {
            assert!(!told.contains(never), "{never}: {told}");
        }
    }
}

#[tokio::test]
async fn programs_that_do_not_work_say_why() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("plain.txt"), "no program").unwrap();
    for (command, args, words) in rows::<(String, Vec<String>, String)>(CASES, "programs") {
        let env = map(&[("KEY", "${SECRET}".to_owned())]);
        let entry = McpEntry { command: Some(command), args, env, ..McpEntry::default() };
        let opened = opened(folder.path(), entry, false).await;
        assert!(opened.registry.is_empty());
        let told = &opened.warnings[0];
        assert!(told.contains(&words) && told.starts_with("the MCP server `demo` "), "{words}: {told}");
        assert!(!told.contains("::") && !told.contains(SECRET), "{told}");
    }
}

#[tokio::test]
async fn programs_work_where_jarvis_does_and_are_looked_for_beside_the_configuration() {
    let folder = TempDir::new().unwrap();
    let script = folder.path().join("bin/where");
    std::fs::create_dir(folder.path().join("bin")).unwrap();
    std::fs::write(&script, "#!/bin/sh\necho \"in $(pwd) with $1\" >&2\nexit 1\n").unwrap();
    let mut mode = std::fs::metadata(&script).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
    std::fs::set_permissions(&script, mode).unwrap();
    let entry = McpEntry { command: Some("bin/where".into()), args: vec!["./notes".into()], ..McpEntry::default() };
    let opened = opened(folder.path(), entry, false).await;
    let here = std::env::current_dir().unwrap();
    let words = format!("it wrote: in {} with ./notes", here.display());
    assert!(opened.warnings[0].contains(&words), "{:?}", opened.warnings);
}
