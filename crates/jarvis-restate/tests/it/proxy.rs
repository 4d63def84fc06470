//! Several workers of one capability behind haproxy, which must be installed.

use std::net::SocketAddr;
use std::process::Stdio;

use jarvis_plan::TaskId;
use jarvis_restate::Decision;
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use url::Url;

use crate::far::{Far, Reaction};
use crate::node::{Line, Node};
use crate::world::{World, within};

/// A load balancer between Restate and two workers, as `docs/scale.md` has it.
struct Proxy {
    address: SocketAddr,
    _child: Child,
    _dir: TempDir,
}

impl Proxy {
    fn start(address: SocketAddr, workers: [SocketAddr; 2]) -> Proxy {
        let dir = TempDir::new().expect("a folder");
        let config = dir.path().join("haproxy.cfg");
        let [first, second] = workers;
        let text = format!(
            "global\n  maxconn 4096\n\
             defaults\n  mode http\n  timeout connect 1s\n  timeout client 2h\n  timeout server 2h\n\
             frontend restate\n  bind {address} proto h2\n  default_backend workers\n\
             backend workers\n  balance leastconn\n  option httpchk GET /health\n  timeout check 300ms\n\
             \x20 default-server proto h2 check check-proto h2 inter 200ms fall 1 rise 1\n\
             \x20 server w1 {first}\n  server w2 {second}\n"
        );
        std::fs::write(&config, text).expect("it can be written");
        let mut command = Command::new("haproxy");
        command.arg("-db").arg("-f").arg(&config).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let child = command.spawn().expect("haproxy starts");
        Proxy { address, _child: child, _dir: dir }
    }
}

async fn free() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    listener.local_addr().expect("it is bound")
}

/// Two workers behind a proxy; none where haproxy is not installed.
async fn pair(world: &World, timeout_ms: Option<u64>) -> Option<(Proxy, [Node; 2])> {
    if which::which("haproxy").is_err() {
        println!("skipped: haproxy is not installed");
        return None;
    }
    let address = free().await;
    let role = |name: &str| {
        let mut role = world.role(&["a"]);
        role.name = name.to_owned();
        role.advertise = Some(Url::parse(&format!("http://{address}")).expect("an address"));
        role.timeout_ms = timeout_ms;
        role
    };
    let (first, mut one) = Node::listening(role("w1")).await;
    let (second, mut two) = Node::listening(role("w2")).await;
    let proxy = Proxy::start(address, [first.address, second.address]);
    tokio::join!(one.registered(), two.registered());
    Some((proxy, [first, second]))
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_share_the_work_behind_haproxy_and_one_is_killed() {
    let hold_first = |call: &crate::far::Call, nth| match call.what == "a" && nth == 1 {
        true => Reaction::Hold,
        false => Reaction::Answer(Ok(json!(1))),
    };
    let Some(mut world) = World::new(Far::new(hold_first).await).await else { return };
    let _host = world.host().await;
    let Some((proxy, [mut first, _second])) = pair(&world, None).await else { return };
    assert!(proxy.address.port() > 0);
    let lines: Vec<Line> = (0..20).map(|n| Line::new(&n.to_string(), "a", &[])).collect();
    let run = world.start("r", &lines).await;
    let mut held = Vec::new();
    for _ in 0..20 {
        held.push(within(world.far.held()).await);
    }
    let by = |name: &str| world.far.calls().iter().filter(|call| call.node == name).count();
    let lost = by("w1");
    assert!((8..=12).contains(&lost), "{lost} of 20 went to one of two workers");
    first.kill().await;
    held.into_iter().for_each(|held| held.answer(Ok(json!(1))));
    assert_eq!(world.end(&run).await.succeeded, 20);
    assert_eq!(world.far.counts().values().filter(|count| **count == 2).count(), lost, "its tasks ran again");
    assert_eq!(by("w2"), 20);
}

/// A worker that is cut off past its timeouts, while another takes over, writes nothing when it is back.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_cut_off_behind_haproxy_writes_once() {
    let Some(mut world) = World::new(Far::holding(&["r/0"]).await).await else { return };
    let _host = world.host().await;
    let Some((_proxy, [first, second])) = pair(&world, Some(400)).await else { return };
    let run = world.start("r", &[Line::new("w", "a", &[]).allowed()]).await;
    let held = within(world.far.held()).await;
    let stopped = if world.far.calls()[0].node == "w1" { &first } else { &second };
    stopped.signal("STOP").await;
    // The other one has been asked, and does not know whether it was written.
    world.event(&run, 0, "approval_needed").await;
    stopped.signal("CONT").await;
    held.answer(Ok(json!("written")));
    world.client.approve(&run, TaskId(0), Decision::Done { output: json!("written") }).await.expect("it is asked");
    assert_eq!(world.end(&run).await.succeeded, 1);
    assert_eq!(world.far.counts()["r/0"], 1);
}
