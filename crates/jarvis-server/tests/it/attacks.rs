//! What somebody may do who means harm, on real sockets: hold connections open, send next to nothing, guess tokens.

use std::net::SocketAddr;
use std::time::Duration;

use futures::future::join_all;
use jarvis_net::Secret;
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::harness::{self, Does, Harness, PATIENCE, Reply, ask, planned};

const TOKEN: &str = "Zq7-vN2_kL9.pT4x-0815";

fn address(harness: &Harness) -> SocketAddr {
    harness.url.trim_start_matches("http://").parse().expect("an address")
}

async fn connect(harness: &Harness) -> TcpStream {
    TcpStream::connect(address(harness)).await.expect("connected")
}

/// A connection from another address of this machine, which only Linux has without asking for it.
async fn connect_from(harness: &Harness, from: [u8; 4]) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind((from, 0).into()).expect("an address");
    socket.connect(address(harness)).await.expect("connected")
}

/// Sends a request and reads until the other side closes.
async fn told(mut stream: TcpStream, request: &str) -> String {
    // It may have been refused already.
    let _ = stream.write_all(request.as_bytes()).await;
    let mut reply = Vec::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut reply)).await.expect("it is closed");
    let _ = read;
    String::from_utf8_lossy(&reply).into_owned()
}

const HEALTH: &str = "GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";

#[tokio::test(flavor = "multi_thread")]
async fn half_open_connections_keep_nobody_out_and_cut_nothing_that_works() {
    rlimit::increase_nofile_limit(16_384).expect("files");
    let harness = harness::with_chat(planned())
        .does("text-classification", Does::Waits)
        .options(|options| options.max_connections = 200)
        .start()
        .await;
    let working = harness.open("/hugginggpt/stream", ask("x")).await;
    harness.worker.started.reach(1).await;
    // Some send nothing, some a part of a head, and some a whole request and then nothing.
    let mut held = Vec::new();
    for at in 0..2_500 {
        let mut stream = connect(&harness).await;
        let sent: &[u8] = match at % 3 {
            0 => b"",
            1 => b"GET /health HTTP/1.1\r\nhost: loc",
            _ => b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n",
        };
        // One that made room is closed.
        let _ = stream.write_all(sent).await;
        held.push(stream);
    }
    let replies = join_all((0..20).map(|_| async { told(connect(&harness).await, HEALTH).await }));
    let replies =
        tokio::time::timeout(Duration::from_secs(10), replies).await.expect("they are answered while it is held");
    for reply in replies {
        assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    }
    harness.go.add_permits(1);
    let events = harness::events(&working.text().await.expect("a whole stream"));
    assert_eq!(events.last().map(|(name, event)| (name.as_str(), event["ok"].as_bool())), Some(("done", Some(true))));
    drop(held);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn one_address_holds_so_many_and_others_are_served() {
    let harness = harness::offline().options(|options| options.max_connections_per_address = Some(3)).start().await;
    let held = join_all((0..3).map(|_| connect(&harness))).await;
    let refused = told(connect(&harness).await, HEALTH).await;
    assert!(refused.is_empty() || refused.starts_with("HTTP/1.1 429"), "{refused}");
    let other = told(connect_from(&harness, [127, 0, 0, 2]).await, HEALTH).await;
    assert!(other.starts_with("HTTP/1.1 200"), "{other}");
    drop(held);
    // Their places come back when the server has seen them go.
    let again = async {
        while !told(connect(&harness).await, HEALTH).await.starts_with("HTTP/1.1 200") {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, again).await.expect("there is room again");
}

#[tokio::test]
async fn a_body_that_comes_too_slowly_is_refused_and_its_connection_closed() {
    let harness = harness::offline().options(|options| options.pace.time = Duration::from_millis(50)).start().await;
    for (path, kind) in [
        ("/hugginggpt", "application/json"),
        ("/upload", "multipart/form-data; boundary=x"),
        ("/v1/chat/completions", "application/json"),
    ] {
        for length in ["content-length: 900000", "transfer-encoding: chunked"] {
            let part = if length.starts_with("content") { "--x\r\n" } else { "5\r\n--x\r\n\r\n" };
            let head =
                format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {kind}\r\n{length}\r\n\r\n{part}");
            let reply = told(connect(&harness).await, &head).await;
            assert!(reply.starts_with("HTTP/1.1 408") && reply.contains("too_slow"), "{path} {length}: {reply}");
        }
    }
}

#[tokio::test]
async fn whoever_guesses_tokens_is_slowed_and_the_right_one_is_served() {
    let harness = harness::offline()
        .options(|options| {
            options.token = Secret::new(TOKEN);
            options.admin_token = Secret::new(&format!("{TOKEN}-of-root"));
        })
        .start()
        .await;
    let with = async |token: &str| {
        let request = harness.request(Method::GET, "/runs").bearer_auth(token);
        Reply::of(request.send().await.expect("a reply")).await
    };
    for at in 0..10 {
        assert_eq!(with(&format!("guess {at}")).await.told(), "401 unauthorized", "{at}");
    }
    let slowed = with("one more").await;
    assert_eq!((slowed.told().as_str(), slowed.header("retry-after")), ("429 too_many_wrong_tokens", "1"));
    // By every door.
    assert_eq!(harness.post("/session", json!({"token": "guess"})).await.told(), "429 too_many_wrong_tokens");
    // The right one is served all the same, since behind a proxy this machine is everybody.
    assert_eq!(with(TOKEN).await.status, 200);
    #[cfg(target_os = "linux")]
    {
        let request =
            "GET /runs HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer guess\r\n\r\n";
        let other = told(connect_from(&harness, [127, 0, 0, 2]).await, request).await;
        assert!(other.starts_with("HTTP/1.1 401"), "{other}");
    }
}
