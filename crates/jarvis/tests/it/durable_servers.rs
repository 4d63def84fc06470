//! Two servers on one data folder that are killed again and again while runs go on and wait for leave.
//!
//! Each dies at a write that the seed says, before or after it, and another is started in its place. Whatever dies, each run that
//! told its beginning ends as if nothing had been killed. `JARVIS_KILL_SEED=7 JARVIS_KILL_ROUNDS=1` does one round again.

use std::hash::{DefaultHasher, Hash, Hasher};

use futures::StreamExt;
use serde_json::{Value, json};

use crate::durable::{Agency, REQUEST, rounds, whole};
use crate::serve::{PATIENCE, Server};

const RUNS: usize = 4;

/// How often a server is killed in a round.
const KILLS: usize = 12;

/// Numbers that follow from a seed.
struct Chance(u64, u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.1 += 1;
        let mut hasher = DefaultHasher::new();
        (self.0, self.1).hash(&mut hasher);
        hasher.finish() % most
    }

    /// A write at which a server dies.
    fn write(&mut self) -> String {
        format!("{} {}", if self.below(2) == 0 { "before" } else { "after" }, 1 + self.below(16))
    }
}

/// Starts a run that goes on without whoever asked; its id once it told that it began.
async fn start(server: &Server) -> Option<String> {
    let body = json!({"messages": [{"role": "user", "content": REQUEST}], "detached": true});
    let reply = server.client.post(format!("{}/hugginggpt/stream", server.url)).json(&body).send().await.ok()?;
    let id = reply.headers().get("x-run-id")?.to_str().ok()?.to_owned();
    let mut seen = Vec::new();
    let mut pieces = reply.bytes_stream();
    while let Some(Ok(piece)) = pieces.next().await {
        seen.extend_from_slice(&piece);
        if String::from_utf8_lossy(&seen).contains("event: run_started") {
            return Some(id);
        }
    }
    None
}

/// The run as a server that answers has it.
async fn shown(servers: &[Server; 2], id: &str) -> Option<Value> {
    for server in servers {
        if let Ok(reply) = server.client.get(format!("{}/runs/{id}", server.url)).send().await {
            let run: Value = reply.json().await.unwrap_or_default();
            // The one that does not have it cannot tell what it waits for.
            if run["waiting"].is_array() || run["status"] == "done" {
                return Some(run);
            }
        }
    }
    None
}

/// Allows what the run waits for, at whichever server has it.
async fn allow(servers: &[Server; 2], id: &str, task: &Value) {
    for server in servers {
        let at = format!("{}/runs/{id}/approvals/{task}", server.url);
        // A server that dies meanwhile may have taken it or not; it is asked again then.
        let _ = server.client.post(at).json(&json!({"decision": "approve"})).send().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_share_a_folder_are_killed_and_every_run_ends() {
    let first = std::env::var("JARVIS_KILL_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let (mut killed, mut again, mut ended) = (0, 0, 0);
    for seed in first..first + rounds() as u64 {
        let told = format!("seed {seed}");
        let (mut chance, agency) = (Chance(seed, 0), Agency::open(true).await);
        let mut servers = [agency.serve(Some(chance.write())), agency.serve(Some(chance.write()))];
        let mut ids: Vec<String> = Vec::new();
        let mut kills = 0;
        let all = async {
            let mut open = usize::MAX;
            while open > 0 {
                for server in &mut servers {
                    if server.is_dead() {
                        kills += 1;
                        *server = agency.serve((kills < KILLS).then(|| chance.write()));
                    }
                }
                if ids.len() < RUNS
                    && let Some(id) = start(&servers[ids.len() % 2]).await
                {
                    ids.push(id);
                }
                open = RUNS - ids.len();
                for id in &ids {
                    let run = shown(&servers, id).await.unwrap_or_default();
                    open += usize::from(run["status"] != "done");
                    if let Some(asked) = run["waiting"].get(0) {
                        allow(&servers, id, &asked["task"]).await;
                    }
                }
            }
        };
        tokio::time::timeout(PATIENCE * 10, all).await.unwrap_or_else(|_| panic!("{told}: {ids:?} do not end"));
        drop(servers);
        for id in &ids {
            whole(&agency.events(id), &format!("{told}, run {id}"));
        }
        // A run that told nothing may have begun all the same.
        let (_, runs) = agency.harness.json(&["runs", "list", "--json"]);
        let begun = runs.as_array().expect("a list").len();
        let (done, keys) = agency.done();
        let finds = done.iter().filter(|(step, _)| step.starts_with("/find") || step.starts_with("/compare"));
        let finds: usize = finds.map(|(_, times)| times).sum();
        assert!(keys.len() <= begun, "{told}: a run books once, {keys:?}");
        assert!(keys.len() >= RUNS && finds >= 5 * RUNS, "{told}: {done:#?}");
        // What was on its way in a run when its server died is done again, and nothing else.
        let repeated = finds.saturating_sub(5 * begun);
        assert!(repeated <= 3 * RUNS * kills, "{told}: {kills} kills, {done:#?}");
        (killed, again, ended) = (killed + kills, again + repeated, ended + ids.len());
    }
    assert!(killed > 0);
    println!("{killed} kills of servers, {ended} runs ended, {again} steps on their way were done again");
}
