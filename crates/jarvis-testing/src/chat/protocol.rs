//! The wire of the fake endpoint: paths, checks of requests, bodies and event streams.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request as HttpRequest, State};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use futures::stream::{self, Stream, StreamExt};
use serde_json::{Value, json};

use super::script::{Kind, Raw, Reply, Text};
use super::{Request, Shared, vectors};

/// The longest body that is read, in bytes.
const MAX_BODY: usize = 32 << 20;

const MODELS: [&str; 2] = ["fake-large", "fake-small"];

pub(super) fn app(shared: Arc<Shared>) -> Router {
    // A fallback and no routes: a request to a proxy has a whole address as its target.
    Router::new().fallback(answer).with_state(shared)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Chat,
    Completion,
    Embeddings,
    Models,
}

/// Which call a path means. Paths are exact, so that a doubled slash shows.
fn call_of(path: &str) -> Option<Call> {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        ["", "v1", "chat", "completions"] | ["", "openai", "deployments", _, "chat", "completions"] => Some(Call::Chat),
        ["", "v1", "completions"] | ["", "openai", "deployments", _, "completions"] => Some(Call::Completion),
        ["", "v1", "embeddings"] | ["", "openai", "deployments", _, "embeddings"] => Some(Call::Embeddings),
        ["", "v1", "models"] | ["", "openai", "models"] => Some(Call::Models),
        _ => None,
    }
}

async fn answer(State(shared): State<Arc<Shared>>, request: HttpRequest) -> Response {
    let guard = Guard::new(shared.clone());
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, MAX_BODY).await.unwrap_or_default();
    let request = Request {
        method: head.method.to_string(),
        target: head.uri.to_string(),
        headers: head.headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
    };
    let call = call_of(head.uri.path());
    let hosted = |host: &super::Host| host.answer(&request.method, head.uri.path(), &request.body);
    if let Some(answer) = shared.host.as_ref().and_then(hosted) {
        super::lock(&shared.lookups).push(request);
        return send(answer, guard);
    }
    let wrong = match call {
        None => Some((StatusCode::NOT_FOUND, format!("no such path: {}", head.uri.path()))),
        Some(Call::Models) => {
            (head.method != Method::GET).then(|| (StatusCode::METHOD_NOT_ALLOWED, "use GET".to_owned()))
        }
        Some(call) if head.method == Method::POST => wrong(call, &request).map(|why| (StatusCode::BAD_REQUEST, why)),
        Some(_) => Some((StatusCode::METHOD_NOT_ALLOWED, "use POST".to_owned())),
    };
    let (body, stage) = (request.body.clone(), request.stage().to_owned());
    let call = match (call, wrong) {
        (Some(call), None) => call,
        (call, wrong) => {
            shared.note(request);
            let (status, why) = wrong.unwrap_or((StatusCode::NOT_FOUND, format!("no such call: {call:?}")));
            return send(Raw::error(status.as_u16(), &why), guard);
        }
    };
    if call == Call::Models {
        shared.note(request);
        let models: Vec<Value> =
            MODELS.iter().map(|id| json!({"id": id, "object": "model", "created": 0, "owned_by": "fake"})).collect();
        return send(Raw::json(200, &json!({"object": "list", "data": models})), guard);
    }
    let scripted = match call {
        // Vectors follow from the texts; a script only says what goes wrong.
        Call::Embeddings => shared.take(request, true).or_else(|| Some(Reply::text(""))),
        Call::Chat | Call::Completion | Call::Models => shared.take(request, false),
    };
    match scripted.map(|reply| reply.0) {
        None => send(Raw::error(418, &format!("the script has no rule for stage `{stage}`")), guard),
        Some(Kind::Never) => {
            // The handler is dropped here when the client goes away, and the guard counts it.
            let _guard = guard;
            futures::future::pending().await
        }
        Some(Kind::Raw(raw)) => send(raw, guard),
        Some(Kind::Text(text)) => speak(call, &body, text, guard).await,
        Some(Kind::Refusing { status, fields, named, text }) => {
            match fields.iter().find(|field| body.get(field).is_some()) {
                Some(field) if named => send(Raw::error(status, &format!("Unsupported parameter: '{field}'")), guard),
                Some(_) => send(Raw::json(status, &json!({"detail": "unprocessable"})), guard),
                None => speak(call, &body, text, guard).await,
            }
        }
    }
}

/// What a real server would refuse.
fn wrong(call: Call, request: &Request) -> Option<String> {
    let body = &request.body;
    if !request.header("content-type").starts_with("application/json") || !body.is_object() {
        return Some("the body must be a JSON object".to_owned());
    }
    if body.get("model").and_then(Value::as_str).is_none_or(str::is_empty) {
        return Some("you must provide a model parameter".to_owned());
    }
    match call {
        Call::Chat => {
            let messages = body.get("messages").and_then(Value::as_array);
            let fine = |message: &Value| {
                let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
                let content = message.get("content").is_some_and(|content| content.is_string() || content.is_array());
                matches!(role, "system" | "developer" | "user" | "assistant" | "tool") && content
            };
            if !messages.is_some_and(|messages| !messages.is_empty() && messages.iter().all(fine)) {
                return Some("`messages` must be a list of messages with a role and a content".to_owned());
            }
        }
        Call::Completion if !body.get("prompt").is_some_and(Value::is_string) => {
            return Some("`prompt` must be a text".to_owned());
        }
        Call::Embeddings => {
            let inputs = body.get("input").and_then(Value::as_array);
            // No more than OpenAI takes, and no empty text.
            let fine = |text: &Value| text.as_str().is_some_and(|text| !text.is_empty());
            if !inputs.is_some_and(|inputs| (1..=2048).contains(&inputs.len()) && inputs.iter().all(fine)) {
                return Some("`input` must be a list of texts that are not empty".to_owned());
            }
        }
        Call::Completion | Call::Models => {}
    }
    let within = |name: &str, low: f64, high: f64| match body.get(name) {
        Some(value) => value.as_f64().is_some_and(|value| (low..=high).contains(&value)),
        None => true,
    };
    let bias = |bias: &Value| {
        let entry = |(id, bias): (&String, &Value)| {
            id.parse::<u32>().is_ok() && bias.as_f64().is_some_and(|bias| (-100.0..=100.0).contains(&bias))
        };
        bias.as_object().is_some_and(|bias| bias.iter().all(entry))
    };
    let checks = [
        ("temperature", within("temperature", 0.0, 2.0)),
        ("top_p", within("top_p", 0.0, 1.0)),
        ("presence_penalty", within("presence_penalty", -2.0, 2.0)),
        ("frequency_penalty", within("frequency_penalty", -2.0, 2.0)),
        ("logit_bias", body.get("logit_bias").is_none_or(bias)),
        ("max_tokens", body.get("max_tokens").is_none_or(|max| max.as_u64().is_some_and(|max| max > 0))),
        ("stream_options", body.get("stream_options").is_none() || body.get("stream") == Some(&Value::Bool(true))),
    ];
    checks.iter().find(|(_, fine)| !fine).map(|(name, _)| format!("Invalid value for '{name}'"))
}

/// A chat reply, streamed or whole; or the vectors of texts.
async fn speak(call: Call, body: &Value, text: Text, guard: Guard) -> Response {
    if call == Call::Embeddings {
        let reply = body.as_object().map(vectors::reply).unwrap_or_default();
        return send(Raw::json(200, &reply), guard);
    }
    let model = body.get("model").cloned().unwrap_or_default();
    if body.get("stream") == Some(&Value::Bool(true)) {
        let with_usage = body.pointer("/stream_options/include_usage") == Some(&Value::Bool(true));
        let events = guarded(events(call, model, with_usage, text), guard);
        return build(200, &[("content-type", "text/event-stream; charset=utf-8")], Body::from_stream(events));
    }
    if let Some(gate) = &text.gate {
        // Gates are never closed. A reply that is not streamed waits for all pieces.
        let _ = gate.acquire_many(u32::try_from(text.pieces.len()).unwrap_or(u32::MAX)).await;
    }
    let said = text.pieces.concat();
    let choice = match call {
        Call::Completion => json!({"index": 0, "text": said, "logprobs": null, "finish_reason": text.finish_reason}),
        Call::Chat | Call::Embeddings | Call::Models => {
            let message = json!({"role": "assistant", "content": said, "refusal": null});
            json!({"index": 0, "message": message, "logprobs": null, "finish_reason": text.finish_reason})
        }
    };
    let object = if call == Call::Completion { "text_completion" } else { "chat.completion" };
    let reply = json!({
        "id": "fake-1", "object": object, "created": 0, "model": model, "choices": [choice], "usage": usage(&text),
    });
    if !text.cut {
        return send(Raw::json(200, &reply), guard);
    }
    // The length promises more than is sent before the connection breaks.
    let whole = reply.to_string();
    let half = Bytes::from(whole.get(..whole.len() / 2).unwrap_or_default().to_owned());
    // What was sent leaves the server while the break is still pending.
    let cut = stream::once(async {
        tokio::task::yield_now().await;
        Err(std::io::Error::other("cut"))
    });
    let broken = stream::iter([Ok(half)]).chain(cut);
    guard.finish();
    build(
        200,
        &[("content-type", "application/json"), ("content-length", &whole.len().to_string())],
        Body::from_stream(broken),
    )
}

fn events(call: Call, model: Value, with_usage: bool, text: Text) -> impl Stream<Item = Bytes> + Send + 'static {
    let usage = usage(&text);
    let object = if call == Call::Completion { "text_completion" } else { "chat.completion.chunk" };
    let event = move |choices: Value, usage: Option<Value>| {
        let mut event = json!({"id": "fake-1", "object": object, "created": 0, "model": model, "choices": choices});
        if let (Some(event), Some(usage)) = (event.as_object_mut(), usage) {
            event.insert("usage".to_owned(), usage);
        }
        Bytes::from(format!("data: {event}\n\n"))
    };
    let choice = move |said: &str, reason: Option<&str>| match call {
        Call::Completion => json!([{"index": 0, "text": said, "finish_reason": reason}]),
        Call::Chat | Call::Embeddings | Call::Models => {
            let delta = if reason.is_some() { json!({}) } else { json!({"content": said}) };
            json!([{"index": 0, "delta": delta, "finish_reason": reason}])
        }
    };
    let mut first = vec![Bytes::from_static(b": a comment, as some servers send to keep the connection\r\n\r\n")];
    if call == Call::Chat {
        first.push(event(
            json!([{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": null}]),
            None,
        ));
    }
    let mut last = Vec::new();
    if !text.cut {
        last.push(event(choice("", Some(&text.finish_reason)), None));
        if with_usage {
            last.push(event(json!([]), Some(usage)));
        }
        if text.done {
            last.push(Bytes::from_static(b"data: [DONE]\n\n"));
        }
    }
    let gate = text.gate;
    let pieces = stream::iter(text.pieces).then(move |piece| {
        let (gate, piece) = (gate.clone(), event(choice(&piece, None), None));
        async move {
            if let Some(gate) = gate
                && let Ok(permit) = gate.acquire().await
            {
                permit.forget();
            }
            piece
        }
    });
    stream::iter(first).chain(pieces).chain(stream::iter(last))
}

fn usage(text: &Text) -> Value {
    let total = text.prompt_tokens + text.completion_tokens;
    json!({"prompt_tokens": text.prompt_tokens, "completion_tokens": text.completion_tokens, "total_tokens": total})
}

/// Counts a request as given up unless it was answered to its end.
struct Guard {
    shared: Arc<Shared>,
    finished: bool,
}

impl Guard {
    fn new(shared: Arc<Shared>) -> Guard {
        Guard { shared, finished: false }
    }

    fn finish(mut self) {
        self.finished = true;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !self.finished {
            self.shared.aborted.send_modify(|count| *count += 1);
        }
    }
}

/// Passes a stream on; the guard is done when the stream is.
fn guarded(
    events: impl Stream<Item = Bytes> + Send + 'static,
    guard: Guard,
) -> impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static {
    stream::unfold((Box::pin(events), Some(guard)), |(mut events, mut guard)| async move {
        match events.next().await {
            Some(event) => Some((Ok(event), (events, guard))),
            None => {
                if let Some(guard) = guard.take() {
                    guard.finish();
                }
                None
            }
        }
    })
}

fn send(raw: Raw, guard: Guard) -> Response {
    guard.finish();
    let headers: Vec<(&str, &str)> = raw.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    build(raw.status, &headers, Body::from(raw.body))
}

fn build(status: u16, headers: &[(&str, &str)], body: Body) -> Response {
    let builder =
        headers.iter().fold(Response::builder().status(status), |builder, (name, value)| builder.header(*name, *value));
    builder
        .body(body)
        .unwrap_or_else(|error| Response::new(Body::from(format!("the script holds a bad answer: {error}"))))
}
