//! What most tests need: a server, a far side, a client, processes; one test at a time, so that times mean something.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::StreamExt;
use jarvis_plan::{Request, RunId};
use jarvis_restate::{Admin, Client, RunEnd, RunInput};
use serde_json::Value;
use tokio::sync::{Mutex, MutexGuard};

use crate::far::Far;
use crate::node::{Line, Node, Role, Script, planned};
use jarvis_testing::restate::{Server, binary};

static ONE: Mutex<()> = Mutex::const_new(());

/// Longer than any wait of a test that works.
const DEADLINE: Duration = Duration::from_secs(30);

pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) far: Far,
    pub(crate) client: Client,
    _one: MutexGuard<'static, ()>,
}

impl World {
    /// None where there is no server to test with.
    pub(crate) async fn new(far: Far) -> Option<World> {
        let one = ONE.lock().await;
        let server = Server::start(&binary()?).await;
        Some(World::with(server, far, one))
    }

    pub(crate) async fn lock() -> MutexGuard<'static, ()> {
        ONE.lock().await
    }

    pub(crate) fn with(server: Server, far: Far, one: MutexGuard<'static, ()>) -> World {
        let client = Client::new(server.ingress(), Admin::new(server.admin()));
        World { server, far, client, _one: one }
    }

    /// A worker of these capabilities, named after them.
    pub(crate) fn role(&self, capabilities: &[&str]) -> Role {
        Role {
            name: capabilities.join("+"),
            admin: self.server.admin(),
            far: self.far.address,
            listen: None,
            advertise: None,
            identity_key: None,
            timeout_ms: None,
            capabilities: capabilities.iter().map(ToString::to_string).collect(),
            slots: 64,
            workflow: None,
        }
    }

    pub(crate) async fn worker(&self, capabilities: &[&str]) -> Node {
        Node::start(self.role(capabilities)).await
    }

    pub(crate) async fn host(&self) -> Node {
        Node::start(self.role(&[])).await
    }

    /// Starts a run with a plan.
    pub(crate) async fn start(&self, run: &str, lines: &[Line]) -> RunId {
        let run = RunId(run.to_owned());
        let input = RunInput::new(Request::new("a plan")).with_plan(planned(lines));
        self.client.start(&run, &input).await.expect("it starts");
        run
    }

    /// Starts a run that the stages plan.
    pub(crate) async fn ask(&self, run: &str, script: Script) -> RunId {
        let run = RunId(run.to_owned());
        let text = serde_json::to_string(&script).expect("a script is JSON");
        self.client.start(&run, &RunInput::new(Request::new(text))).await.expect("it starts");
        run
    }

    pub(crate) async fn end(&self, run: &RunId) -> RunEnd {
        within(self.client.attach(run)).await.expect("it ends")
    }

    /// All events of a run, checked to be numbered without gap or double.
    pub(crate) async fn events(&self, run: &RunId) -> Vec<Value> {
        let events: Vec<_> = within(self.client.follow(run.clone(), 0).collect()).await;
        let events: Vec<Value> = events.into_iter().collect::<Result<_, _>>().expect("they can be read");
        for (event, seq) in events.iter().zip(0..) {
            assert_eq!((event["seq"].as_u64(), event["run_id"].as_str()), (Some(seq), Some(&*run.0)), "{event}");
        }
        events
    }

    /// The first event of a name from a number on.
    pub(crate) async fn event(&self, run: &RunId, from: u64, name: &str) -> Value {
        let mut events = Box::pin(self.client.follow(run.clone(), from));
        let found = async {
            loop {
                let event = events.next().await.expect("it comes before the end").expect("it can be read");
                if event["event"] == name {
                    return event;
                }
            }
        };
        within(found).await
    }

    /// Asks the admin API again and again until the rows of a query satisfy a condition.
    pub(crate) async fn until(&self, sql: &str, is_so: impl Fn(&[Value]) -> bool) {
        let asked = async {
            while !is_so(&self.client.admin().query(sql).await.expect("the query is answered")) {
                tokio::task::yield_now().await;
            }
        };
        within(asked).await;
    }
}

/// Fails instead of waiting for ever.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, future).await.expect("it comes in time")
}

/// The names of events.
pub(crate) fn names(events: &[Value]) -> Vec<&str> {
    events.iter().filter_map(|event| event["event"].as_str()).collect()
}

/// How tasks ended, as `name status`, in the order they did.
pub(crate) fn outcomes(events: &[Value]) -> Vec<String> {
    let finished = events.iter().filter(|event| event["event"] == "task_finished").map(|event| &event["outcome"]);
    let named = |outcome: &Value| {
        let name = outcome["args"]["name"].as_str().unwrap_or_default().to_owned();
        format!("{name} {}", outcome["status"].as_str().unwrap_or_default())
    };
    finished.map(named).collect()
}

/// Counts as a table.
pub(crate) fn counted(counts: &[(&str, usize)]) -> BTreeMap<String, usize> {
    counts.iter().map(|(key, count)| ((*key).to_owned(), *count)).collect()
}
