//! Machines that have no disk in common, and a store for their files.

use std::path::PathBuf;

use jarvis_testing::restate::{Server as Restate, binary};
use jarvis_testing::s3;
use reqwest::multipart::{Form, Part};
use serde_json::json;

use super::{Worker, World, free_port};
use crate::harness::Harness;
use crate::serve::Server;

/// A machine with folders of its own, which is told of the store.
fn machine(store: &s3::Server) -> Harness {
    Harness::new()
        .env("JARVIS_MEDIA_STORE__BUCKET", s3::BUCKET)
        .env("JARVIS_MEDIA_STORE__ENDPOINT", &store.address)
        .env("AWS_ACCESS_KEY_ID", s3::KEY)
        .env("AWS_SECRET_ACCESS_KEY", s3::SECRET)
}

/// Where a machine has a file, if it has it.
fn on_disk(machine: &Harness, path: &str) -> PathBuf {
    machine.data().join("public").join(path.trim_start_matches('/'))
}

#[tokio::test(flavor = "multi_thread")]
async fn machines_without_a_common_disk_share_their_files_by_a_store() {
    let Some(binary) = binary() else { return };
    let (restate, store) = (Restate::start(&binary).await, s3::Server::start());
    let (ingress, admin) = (restate.ingress().to_string(), restate.admin().to_string());
    let [here, there, works] = [machine(&store), machine(&store), machine(&store)];
    let listen = free_port();
    let _worker = Worker::start(&mut works.command(&["worker", "--restate-admin", &admin, "--listen", &listen]));
    let serve = |machine: &Harness| {
        let listen = free_port();
        let args = ["--restate", &ingress, "--restate-admin", &admin, "--restate-listen", &listen];
        Server::start(machine, &args)
    };
    let (asked, other) = (serve(&here), serve(&there));
    let bytes = std::fs::read(here.picture("square.png")).expect("it is there");
    let form = Form::new().part("file", Part::bytes(bytes.clone()).file_name("square.png"));
    let sent = asked.client.post(format!("{}/upload", asked.url)).multipart(form).send().await.expect("a reply");
    let sent: serde_json::Value = sent.json().await.expect("JSON");
    let sent = sent["path"].as_str().expect("a path").to_owned();
    assert!(!on_disk(&works, &sent).exists() && !on_disk(&there, &sent).exists());
    let attachments = json!([{"kind": "image", "path": sent}]);
    let messages = json!([{"role": "user", "content": "find the edges of this picture"}]);
    let body = json!({"messages": messages, "attachments": attachments});
    let (status, reply) = World::registered_for(&asked, &body).await;
    assert_eq!((status, &reply["run"]["ok"]), (200, &json!(true)), "{reply}");
    let made =
        reply["run"]["outcomes"][0]["outputs"][0]["url"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned();
    // The worker fetched what was sent; what it made is nowhere else yet.
    assert_eq!(std::fs::read(on_disk(&works, &sent)).expect("it was fetched"), bytes);
    let edges = std::fs::read(on_disk(&works, &made)).expect("it was made there");
    assert!(!on_disk(&there, &made).exists());
    for server in [&other, &asked] {
        let fetched = server.client.get(format!("{}{made}", server.url)).send().await.expect("a reply");
        assert_eq!(fetched.status().as_u16(), 200);
        assert_eq!(fetched.bytes().await.expect("its bytes"), edges);
    }
    // And so is what was sent to the other.
    let fetched = other.client.get(format!("{}{sent}", other.url)).send().await.expect("a reply");
    assert_eq!(fetched.bytes().await.expect("its bytes"), bytes);
}
