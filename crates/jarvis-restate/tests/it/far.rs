//! The far side of tools: counts every call by its idempotency key, and answers as the test says.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use jarvis_plan::TaskError;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

/// A call as it arrives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) key: String,
    pub(crate) what: String,
    pub(crate) args: Value,
    pub(crate) node: String,
}

pub(crate) type Answer = Result<Value, TaskError>;

/// What becomes of a call.
pub(crate) enum Reaction {
    Answer(Answer),
    /// The test is told, and answers.
    Hold,
}

/// A call that waits for its answer.
pub(crate) struct Held {
    answer: oneshot::Sender<Answer>,
}

impl Held {
    /// Answers; whoever called may be gone.
    pub(crate) fn answer(self, answer: Answer) {
        let _ = self.answer.send(answer);
    }
}

#[derive(Default)]
struct Seen {
    calls: Vec<Call>,
    /// How often each key was called.
    counts: BTreeMap<String, usize>,
    under_way: usize,
    most: usize,
}

pub(crate) struct Far {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
    held: UnboundedReceiver<Held>,
}

impl Far {
    /// A far side; `react` is told which call of its key it is, from 1.
    pub(crate) async fn new(react: impl Fn(&Call, usize) -> Reaction + Send + Sync + 'static) -> Far {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("it is bound");
        let seen = Arc::new(Mutex::new(Seen::default()));
        let (hold, held) = unbounded_channel();
        let (react, counted) = (Arc::new(react), Arc::clone(&seen));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (react, seen, hold) = (Arc::clone(&react), Arc::clone(&counted), hold.clone());
                tokio::spawn(async move { serve(stream, &*react, &seen, &hold).await });
            }
        });
        Far { address, seen, held }
    }

    /// One that gives back its arguments.
    pub(crate) async fn echo() -> Far {
        Far::new(|call, _| Reaction::Answer(Ok(call.args.clone()))).await
    }

    /// One that holds the first calls of these keys, and gives back the arguments of all others.
    pub(crate) async fn holding(keys: &'static [&'static str]) -> Far {
        Far::new(|call, nth| match nth == 1 && keys.contains(&call.key.as_str()) {
            true => Reaction::Hold,
            false => Reaction::Answer(Ok(call.args.clone())),
        })
        .await
    }

    /// The next call that is held.
    pub(crate) async fn held(&mut self) -> Held {
        self.held.recv().await.expect("the far side runs as long as the test")
    }

    /// How often each key was called.
    pub(crate) fn counts(&self) -> BTreeMap<String, usize> {
        self.seen.lock().expect("no panic").counts.clone()
    }

    /// The most calls at once.
    pub(crate) fn most(&self) -> usize {
        self.seen.lock().expect("no panic").most
    }

    /// The calls so far.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.seen.lock().expect("no panic").calls.clone()
    }
}

async fn serve(
    stream: TcpStream,
    react: &(impl Fn(&Call, usize) -> Reaction + Send + Sync),
    seen: &Mutex<Seen>,
    hold: &UnboundedSender<Held>,
) {
    let (read, mut write) = stream.into_split();
    let mut line = String::new();
    if BufReader::new(read).read_line(&mut line).await.is_err() {
        return;
    }
    let Ok(call) = serde_json::from_str::<Call>(&line) else { return };
    let nth = {
        let mut seen = seen.lock().expect("no panic");
        seen.calls.push(call.clone());
        seen.under_way += 1;
        seen.most = seen.most.max(seen.under_way);
        let times = seen.counts.entry(call.key.clone()).or_default();
        *times += 1;
        *times
    };
    let answer = match react(&call, nth) {
        Reaction::Answer(answer) => Some(answer),
        Reaction::Hold => {
            let (answer, answered) = oneshot::channel();
            let _ = hold.send(Held { answer });
            answered.await.ok()
        }
    };
    seen.lock().expect("no panic").under_way -= 1;
    if let Some(answer) = answer {
        let text = serde_json::to_string(&answer).expect("an answer is JSON");
        let _ = write.write_all(format!("{text}\n").as_bytes()).await;
    }
}

/// Calls the far side.
pub(crate) async fn call(address: SocketAddr, call: &Call) -> Answer {
    use jarvis_plan::ErrorCode::Upstream;
    let failed = |what: &str| TaskError::new(Upstream, format!("the far side {what}"));
    let mut stream = TcpStream::connect(address).await.map_err(|_| failed("cannot be reached"))?;
    let text = serde_json::to_string(call).expect("a call is JSON");
    stream.write_all(format!("{text}\n").as_bytes()).await.map_err(|_| failed("is gone"))?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).await.map_err(|_| failed("is gone"))?;
    serde_json::from_str(&line).map_err(|_| failed("says nothing"))?
}
