//! What an installation can be: three nodes, signed requests, two versions of the workflow at once.

use std::collections::BTreeMap;

use jarvis_plan::{Request, RunId};
use jarvis_restate::{Admin, Error, RunInput, RunStatus, checkup};
use serde_json::json;
use tempfile::TempDir;
use tokio::process::Command;
use url::Url;

use crate::far::Far;
use crate::node::{Line, Node, planned};
use crate::world::{World, counted, within};
use jarvis_testing::restate::{Server, binary};

/// Three nodes on this machine, each of which may be lost.
async fn three(binary: &std::path::Path) -> [Server; 3] {
    let sockets: Vec<std::net::TcpListener> =
        (0..9).map(|_| std::net::TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
    let ports: Vec<u16> = sockets.iter().map(|socket| socket.local_addr().expect("it is bound").port()).collect();
    drop(sockets);
    let fabric = |node: usize| format!("http://127.0.0.1:{}", ports[node * 3]);
    let addresses = json!([fabric(0), fabric(1), fabric(2)]).to_string();
    let mut nodes = [0, 1, 2].map(|node| {
        let mut server = Server::new(binary, &format!("n{}", node + 1));
        server.ports = BTreeMap::from([
            ("message-fabric-server".to_owned(), ports[node * 3]),
            ("http-ingress-server".to_owned(), ports[node * 3 + 1]),
            ("admin-api-server".to_owned(), ports[node * 3 + 2]),
        ]);
        server.env("RESTATE_CLUSTER_NAME", "three");
        server.env("RESTATE_METADATA_CLIENT__TYPE", "replicated");
        server.env("RESTATE_METADATA_CLIENT__ADDRESSES", addresses.clone());
        server.env("RESTATE_METADATA_SERVER__TYPE", "replicated");
        server.env("RESTATE_BIFROST__DEFAULT_PROVIDER", "replicated");
        server.env("RESTATE_DEFAULT_REPLICATION", "2");
        server.env("RESTATE_AUTO_PROVISION", (node == 0).to_string());
        server.env("RESTATE_ADVERTISED_ADDRESS", fabric(node));
        server
    });
    let [a, b, c] = &mut nodes;
    tokio::join!(a.listen(), b.listen(), c.listen());
    nodes
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_of_three_loses_a_node() {
    let one = World::lock().await;
    let Some(binary) = binary() else { return };
    let [first, second, mut third] = within(three(&binary)).await;
    let mut world = World::with(first, Far::holding(&["r/1"]).await, one);
    let (_worker, _host) = (world.worker(&["a"]).await, world.host().await);
    let lines = [Line::new("x", "a", &[]), Line::new("y", "a", &["x"]), Line::new("z", "a", &["y"])];
    let input = RunInput::new(Request::new("a plan")).with_plan(planned(&lines));
    let run = RunId("r".to_owned());
    // Its first leaders may not be elected yet.
    within(async { while world.client.start(&run, &input).await.is_err() {} }).await;
    let held = within(world.far.held()).await;
    third.kill().await;
    held.answer(Ok(json!(1)));
    let end = within(async {
        loop {
            if let Ok(end) = world.client.attach(&run).await {
                return end;
            }
        }
    });
    assert_eq!((end.await.status, world.far.counts()["r/0"]), (RunStatus::Answered, 1));
    let counts = world.far.counts();
    assert!(counts.values().all(|count| *count <= 2), "{counts:?}");
    third.listen().await;
    drop(second);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_signed() {
    let one = World::lock().await;
    let Some(binary) = binary() else { return };
    if which::which("openssl").is_err() {
        return println!("skipped: openssl is not installed");
    }
    let keys = TempDir::new().expect("a folder");
    let key = keys.path().join("key.pem");
    let made = Command::new("openssl").args(["genpkey", "-algorithm", "ed25519", "-out"]).arg(&key).status().await;
    assert!(made.expect("openssl starts").success());
    let mut server = Server::new(&binary, "n1");
    server.env("RESTATE_REQUEST_IDENTITY_PRIVATE_KEY_PEM_FILE", key.to_string_lossy());
    server.run().await;
    let log = serde_json::to_string(&server.log).expect("it was JSON");
    let at = log.find("publickeyv1_").expect("the log names the public key");
    let public: String = log[at..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    let world = World::with(server, Far::echo().await, one);
    let signed = |capabilities: &[&str], key: &str| {
        let mut role = world.role(capabilities);
        role.identity_key = Some(key.to_owned());
        role
    };
    let (worker, _host) = (Node::start(signed(&["a"], &public)).await, Node::start(signed(&[], &public)).await);
    let run = world.start("r", &[Line::new("x", "a", &[])]).await;
    assert_eq!(world.end(&run).await.succeeded, 1);

    let foreign = "publickeyv1_w7YHemBctH5Ck2nQRQ47iBBqhNHy4FV7t2Usbye2A6f";
    let (other, _) = Node::listening(signed(&["b"], foreign)).await;
    let address = |node: &Node| Url::parse(&format!("http://{}", node.address)).expect("an address");
    let refused = world.client.admin().register(&address(&other)).await;
    assert!(matches!(refused, Err(Error::Refused { .. })), "{refused:?}");

    // Another Restate, which has no key, is refused by the worker.
    let stranger = Server::start(&binary).await;
    let refused = Admin::new(stranger.admin()).register(&address(&worker)).await;
    assert!(matches!(&refused, Err(Error::Refused { message, .. }) if message.contains("401")), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_stand_beside_each_other() {
    let Some(mut world) = World::new(Far::holding(&["old/0"]).await).await else { return };
    let (mut old_worker, _host) = (world.worker(&["a"]).await, world.host().await);
    let old = world.start("old", &[Line::new("x", "a", &[]), Line::new("y", "a", &["x"])]).await;
    let held = within(world.far.held()).await;
    let mut role = world.role(&[]);
    role.workflow = Some("Run.v2".to_owned());
    let _second = Node::start(role).await;
    let new = RunId("new".to_owned());
    let input = RunInput::new(Request::new("a plan")).with_plan(planned(&[Line::new("x", "a", &[])]));
    let second = world.client.clone().of("Run.v2");
    second.start(&new, &input).await.expect("it starts");
    assert_eq!(within(second.attach(&new)).await.expect("it ends").succeeded, 1);
    held.answer(Ok(json!(1)));
    assert_eq!(world.end(&old).await.succeeded, 2);
    let found = checkup(world.client.admin(), world.server.ingress()).await.expect("it answers");
    assert_eq!(found.workflows, ["Run.v1", "Run.v2"].map(str::to_owned).into());

    // A newer worker of the same capability takes all new calls; the older address can be forgotten.
    let _worker = world.worker(&["a"]).await;
    let found = checkup(world.client.admin(), world.server.ingress()).await.expect("it answers");
    assert_eq!(found.stale.len(), 1, "{found:?}");
    let id = found.stale[0].split(' ').next().expect("an id");
    world.client.admin().forget(id).await.expect("it is known");
    assert!(old_worker.stop().await);
    let last = world.start("last", &[Line::new("x", "a", &[])]).await;
    assert_eq!(world.end(&last).await.succeeded, 1);
    let found = checkup(world.client.admin(), world.server.ingress()).await.expect("it answers");
    assert!(found.stale.is_empty(), "{found:?}");
    let counts = world.far.counts();
    assert_eq!(
        counts,
        counted(&[
            ("old/0", 1),
            ("old/1", 1),
            ("old/answer", 1),
            ("new/0", 1),
            ("new/answer", 1),
            ("last/0", 1),
            ("last/answer", 1),
        ])
    );
}
