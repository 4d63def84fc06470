//! Models that take no time: none, a recording, or an endpoint on a socket. The endpoint of `jarvis-testing` keeps every
//! request, so it cannot take such loads.

use std::convert::Infallible;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Result;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::stream;
use serde_json::{Value, json};
use tokio::sync::watch;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Offline,
    Replay,
    /// A recording for the document agent: a chart, then the answer.
    Agent,
    /// An endpoint that answers at once.
    Socket,
    /// An endpoint whose last stage answers only after [`Model::release`].
    Held,
    /// As `Held`, with an answer of [`LONG`] words.
    Long,
}

/// More words than the buffers of a socket hold, as events.
pub(crate) const LONG: usize = 100_000;

const PLAN: &str =
    r#"[{"task": "text-classification", "id": 0, "dep": [-1], "args": {"text": "I love this house and its garden"}}]"#;
const CHOICE: &str = r#"{"id": "native/sentiment", "reason": "it works here"}"#;
const ANSWER: &str = "The text is positive: it speaks of love for a house and its garden.";

const CALL: &str = "<Thought>: Count.\n<Action>: plot\n<Action Input>: \
                    {\"x\": [\"apple\", \"banana\", \"orange\"], \"y\": [6, 3, 1]}";
const KNOWN: &str = "<Thought>: known\n<Final Answer>: Three kinds.";

pub(crate) struct Model {
    kind: Kind,
    pub(crate) flags: Vec<String>,
    gate: watch::Sender<bool>,
    _recording: Option<tempfile::NamedTempFile>,
}

/// What the endpoint reads of a request.
#[derive(serde::Deserialize)]
struct Asked {
    #[serde(default)]
    stream: bool,
}

struct Endpoint {
    long: bool,
    gate: watch::Receiver<bool>,
}

impl Model {
    pub(crate) async fn start(kind: Kind) -> Result<Model> {
        let (gate, opened) = watch::channel(!matches!(kind, Kind::Held | Kind::Long));
        let mut recording = None;
        let mut replay = |replies: &[(&str, &str, &str)]| {
            let mut file = tempfile::Builder::new().suffix(".jsonl").tempfile()?;
            for (stage, part, reply) in replies {
                writeln!(file, "{}", json!({"stage": stage, "contains": [part], "reply": reply, "sticky": true}))?;
            }
            let model = format!("replay:{}", recording.insert(file).path().display());
            Ok::<_, anyhow::Error>(vec!["--llm".to_owned(), model])
        };
        let flags = match kind {
            Kind::Offline => ["--llm", "offline"].map(str::to_owned).to_vec(),
            Kind::Replay => {
                replay(&[("parse_task", "", PLAN), ("choose_model", "", CHOICE), ("response_results", "", ANSWER)])?
            }
            Kind::Agent => replay(&[("react", "Plot generated", KNOWN), ("react", "", CALL)])?,
            Kind::Socket | Kind::Held | Kind::Long => {
                let address = endpoint(Endpoint { long: kind == Kind::Long, gate: opened }).await?;
                ["--llm", "fast", "--base-url", &format!("http://{address}/v1")].map(str::to_owned).to_vec()
            }
        };
        Ok(Model { kind, flags, gate, _recording: recording })
    }

    pub(crate) fn release(&self) {
        self.gate.send_replace(true);
    }

    pub(crate) fn hold(&self) {
        self.gate.send_replace(false);
    }

    /// A request of one task, as `POST /hugginggpt` takes it.
    pub(crate) fn request(&self) -> Bytes {
        let text = match self.kind {
            Kind::Offline => "what is the sentiment of: I love this house and its garden",
            _ => "Is this meant kindly?",
        };
        Bytes::from(json!({"messages": [{"role": "user", "content": text}]}).to_string())
    }
}

async fn endpoint(endpoint: Endpoint) -> Result<SocketAddr> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let app = Router::new().fallback(answer).with_state(Arc::new(endpoint));
    // Ends with the program.
    tokio::spawn(async move { axum::serve(listener, app).await });
    Ok(address)
}

async fn answer(State(endpoint): State<Arc<Endpoint>>, headers: HeaderMap, body: Bytes) -> Response {
    // Nothing else is read: what the endpoint takes of the processors is missing to the server.
    let Ok(Asked { stream: streams }) = serde_json::from_slice(&body) else {
        return axum::Json(json!({"object": "list", "data": [{"id": "fast", "object": "model"}]})).into_response();
    };
    let text = match headers.get("x-jarvis-stage").and_then(|stage| stage.to_str().ok()) {
        Some("parse_task") => PLAN.to_owned(),
        Some("choose_model") => CHOICE.to_owned(),
        _ => {
            // Fails when the model is dropped, and the program with it.
            let _ = endpoint.gate.clone().wait_for(|open| *open).await;
            if endpoint.long { "word ".repeat(LONG) } else { ANSWER.to_owned() }
        }
    };
    if !streams {
        let usage = json!({"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20});
        return axum::Json(
            json!({"id": "x", "object": "chat.completion", "created": 0, "model": "fast", "usage": usage,
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}),
        )
        .into_response();
    }
    let chunk = |delta: Value, finish: Value| {
        let chunk = json!({"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "fast",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
        Ok::<_, Infallible>(Bytes::from(format!("data: {chunk}\n\n")))
    };
    let mut chunks: Vec<_> =
        text.split_inclusive(' ').map(|word| chunk(json!({"content": word}), Value::Null)).collect();
    chunks.push(chunk(json!({}), json!("stop")));
    chunks.push(Ok(Bytes::from_static(b"data: [DONE]\n\n")));
    ([("content-type", "text/event-stream")], Body::from_stream(stream::iter(chunks))).into_response()
}
