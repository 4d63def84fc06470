//! What the binary exports and logs: the trace of a run to a collector, over each protocol; counts; lines with their ids. Never what was
//! said, unless somebody asks for it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use jarvis_testing::chat::{FakeChat, Reply, Script};
use jarvis_testing::stub::{Canned, Stub};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{TraceService, TraceServiceServer};
use opentelemetry_proto::tonic::collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse};
use opentelemetry_proto::tonic::common::v1::any_value::Value as AnyValue;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use prost::Message as _;
use serde_json::{Value, json};

use crate::harness::Harness;
use crate::serve::Server;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

/// A span as a collector has it.
#[derive(Debug, Clone, PartialEq)]
struct Span {
    name: String,
    trace: String,
    id: String,
    parent: String,
    failed: bool,
    fields: BTreeMap<String, String>,
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn text(value: Option<AnyValue>) -> String {
    match value {
        Some(AnyValue::StringValue(text)) => text,
        Some(AnyValue::IntValue(number)) => number.to_string(),
        Some(AnyValue::BoolValue(truth)) => truth.to_string(),
        Some(AnyValue::DoubleValue(number)) => number.to_string(),
        Some(AnyValue::ArrayValue(list)) => {
            let items: Vec<String> = list.values.into_iter().map(|item| text(item.value)).collect();
            format!("[{}]", items.join(","))
        }
        other => format!("{other:?}"),
    }
}

fn spans_of(request: ExportTraceServiceRequest) -> Vec<Span> {
    let scopes = request.resource_spans.into_iter().flat_map(|resource| resource.scope_spans);
    let spans = scopes.flat_map(|scope| scope.spans);
    spans
        .map(|span| Span {
            name: span.name,
            trace: hex(&span.trace_id),
            id: hex(&span.span_id),
            parent: hex(&span.parent_span_id),
            failed: span.status.is_some_and(|status| status.code == 2),
            fields: span
                .attributes
                .into_iter()
                .map(|field| (field.key, text(field.value.and_then(|value| value.value))))
                .collect(),
        })
        .collect()
}

/// A collector that is spoken to over HTTP.
struct Collector(Stub);

impl Collector {
    async fn start() -> Collector {
        Collector(Stub::start(|_| Canned::bytes("application/x-protobuf", "")).await.expect("a collector"))
    }

    fn envs(&self) -> Vec<(String, String)> {
        vec![
            ("OTEL_EXPORTER_OTLP_ENDPOINT".to_owned(), self.0.url("").trim_end_matches('/').to_owned()),
            ("OTEL_EXPORTER_OTLP_HEADERS".to_owned(), "x-api-key=of-the-collector".to_owned()),
        ]
    }

    fn bodies(&self, path: &str) -> Vec<bytes::Bytes> {
        let requests = self.0.requests().into_iter().filter(|request| request.path == path);
        requests
            .map(|request| {
                assert_eq!(request.header("x-api-key"), Some("of-the-collector"));
                request.body.clone()
            })
            .collect()
    }

    fn spans(&self) -> Vec<Span> {
        let bodies = self.bodies("/v1/traces").into_iter();
        bodies.flat_map(|body| spans_of(ExportTraceServiceRequest::decode(body).expect("spans"))).collect()
    }

    /// Each metric with its unit, the fields of its points, and how many there were.
    fn metrics(&self) -> BTreeMap<String, (String, BTreeMap<String, u64>)> {
        let mut found = BTreeMap::new();
        for body in self.bodies("/v1/metrics") {
            let request = ExportMetricsServiceRequest::decode(body).expect("metrics");
            let scopes = request.resource_metrics.into_iter().flat_map(|resource| resource.scope_metrics);
            for metric in scopes.flat_map(|scope| scope.metrics) {
                let fields = |fields: Vec<opentelemetry_proto::tonic::common::v1::KeyValue>| {
                    let mut pairs: Vec<String> = fields
                        .into_iter()
                        .map(|field| format!("{}={}", field.key, text(field.value.and_then(|value| value.value))))
                        .collect();
                    pairs.sort();
                    pairs.join(",")
                };
                let points: BTreeMap<String, u64> = match metric.data {
                    Some(Data::Histogram(spread)) => {
                        spread.data_points.into_iter().map(|point| (fields(point.attributes), point.count)).collect()
                    }
                    Some(Data::Sum(sum)) => {
                        sum.data_points.into_iter().map(|point| (fields(point.attributes), 1)).collect()
                    }
                    Some(Data::Gauge(gauge)) => {
                        gauge.data_points.into_iter().map(|point| (fields(point.attributes), 1)).collect()
                    }
                    other => panic!("no such metric is made: {other:?}"),
                };
                found.insert(metric.name, (metric.unit, points));
            }
        }
        found
    }
}

fn named<'a>(spans: &'a [Span], name: &str) -> &'a Span {
    let found: Vec<&Span> = spans.iter().filter(|span| span.name == name).collect();
    assert_eq!(found.len(), 1, "{name} in {:#?}", spans.iter().map(|span| &span.name).collect::<Vec<_>>());
    found[0]
}

const SECRET: &str = "the mood of Hildegard";

fn chat() -> Script {
    let plan = json!([{"task": "text-classification", "id": 0, "dep": [-1], "args": {"text": SECRET}}]);
    Script::new()
        .on("parse_task", Reply::text(plan.to_string()).usage(70, 7))
        .on("choose_model", Reply::text(r#"{"id": "jarvis/sentiment", "reason": "it fits"}"#))
        .on("response_results", Reply::text("Hildegard is well.").usage(50, 5))
        .otherwise(Reply::text("{}"))
}

async fn posted(server: &Server, request_id: &str) -> (u16, Value) {
    let body = json!({"messages": [{"role": "user", "content": format!("tell {SECRET}")}]});
    let call = server.client.post(format!("{}/hugginggpt?token=not-for-logs", server.url)).json(&body);
    let call = call.header("traceparent", format!("00-{TRACE}-{PARENT}-01")).header("x-request-id", request_id);
    let reply = call.send().await.expect("a reply");
    assert_eq!(reply.headers()["x-request-id"], request_id);
    (reply.status().as_u16(), reply.json().await.expect("JSON"))
}

// The collector answers while the server ends.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_one_trace_from_whoever_asks_to_whoever_is_asked() {
    let (collector, chat) = (Collector::start().await, FakeChat::start(chat()).await);
    let (harness, url) = (Harness::new(), chat.url());
    let args = ["--llm", "gpt-4", "--base-url", url.as_str()];
    let server = Server::start_with(&harness, &args, &collector.envs());
    let (status, reply) = posted(&server, "of-the-test").await;
    assert_eq!(status, 200);
    let run_id = reply["run"]["run_id"].as_str().expect("an id").to_owned();
    server.log();

    let spans = collector.spans();
    assert!(spans.iter().all(|span| span.trace == TRACE || span.name.ends_with("/runs")), "{spans:#?}");
    let request = named(&spans, "POST /hugginggpt");
    assert_eq!(request.parent, PARENT);
    assert_eq!(request.fields["http.response.status_code"], "200");
    let run = named(&spans, "invoke_workflow hugginggpt");
    assert_eq!(run.parent, request.id);
    assert_eq!((&run.fields["jarvis.run.id"], run.fields["jarvis.request.id"].as_str()), (&run_id, "of-the-test"));
    let parts = ["plan", "execute", "answer"].map(|name| named(&spans, name));
    assert!(parts.iter().all(|part| part.parent == run.id), "{parts:#?}");
    let task = named(&spans, "task text-classification");
    assert_eq!(task.parent, parts[1].id);
    let asked = spans.iter().filter(|span| span.name == "chat gpt-4");
    let asked: BTreeMap<&str, &Span> = asked.map(|span| (span.fields["jarvis.stage"].as_str(), span)).collect();
    assert_eq!(asked["parse_task"].parent, parts[0].id);
    assert_eq!(asked["response_results"].parent, parts[2].id);
    let told = |name: &str| asked["parse_task"].fields.get(name).map(String::as_str);
    for (field, value) in [
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.provider.name", "127.0.0.1"),
        ("gen_ai.request.model", "gpt-4"),
        ("gen_ai.usage.input_tokens", "70"),
        ("gen_ai.usage.output_tokens", "7"),
        ("gen_ai.response.finish_reasons", "[stop]"),
    ] {
        assert_eq!(told(field), Some(value), "{field}");
    }
    // Whoever is asked is told where the call stands.
    let call = &chat.requests_of("parse_task")[0];
    let below = format!("00-{TRACE}-");
    assert!(call.header("traceparent").starts_with(&below), "{:?}", call.header("traceparent"));
    let sent_by = call.header("traceparent").split('-').nth(2).expect("a span").to_owned();
    let sender = spans.iter().find(|span| span.id == sent_by).expect("it is exported");
    assert!([asked["parse_task"].id.as_str(), asked["parse_task"].parent.as_str()].contains(&sender.parent.as_str()));
    let everything = format!("{spans:?}");
    assert!(!everything.contains("Hildegard"), "{everything}");

    let metrics = collector.metrics();
    let (unit, calls) = &metrics["gen_ai.client.operation.duration"];
    assert_eq!(unit, "s");
    let of_plan = "gen_ai.operation.name=chat,gen_ai.provider.name=127.0.0.1,gen_ai.request.model=gpt-4,\
                   jarvis.stage=parse_task";
    assert_eq!(calls.get(of_plan), Some(&1), "{calls:#?}");
    for name in
        ["jarvis.runs", "jarvis.queue.wait", "gen_ai.client.token.usage", "process.memory.usage", "process.cpu.time"]
    {
        assert!(metrics.contains_key(name), "{name} in {:#?}", metrics.keys());
    }
    assert_eq!(metrics["jarvis.runs"].1.keys().collect::<Vec<_>>(), ["jarvis.run.status=done"]);
    let tokens = &metrics["gen_ai.client.token.usage"].1;
    assert!(tokens.keys().any(|fields| fields.contains("gen_ai.token.type=input")), "{tokens:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_is_exported_where_somebody_asks_for_it_and_never_logged() {
    let (collector, chat) = (Collector::start().await, FakeChat::start(chat()).await);
    let (harness, url) = (Harness::new(), chat.url());
    let mut envs = collector.envs();
    envs.push(("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT".to_owned(), "true".to_owned()));
    let args = ["--llm", "gpt-4", "--base-url", url.as_str(), "--log-format", "json"];
    let server = Server::start_with(&harness, &args, &envs);
    assert_eq!(posted(&server, "abc").await.0, 200);
    let log = server.log();
    let spans = collector.spans();
    let is_of_plan = |span: &&Span| span.name == "chat gpt-4" && span.fields["jarvis.stage"] == "parse_task";
    let plan = spans.iter().find(is_of_plan);
    let fields = &plan.expect("the call").fields;
    let sent: Value = serde_json::from_str(&fields["gen_ai.input.messages"]).expect("JSON");
    let last = sent.as_array().and_then(|messages| messages.last()).expect("a message");
    assert_eq!(last["role"], "user");
    assert!(last["parts"][0]["content"].as_str().is_some_and(|text| text.contains("Hildegard")), "{last}");
    let reply: Value = serde_json::from_str(&fields["gen_ai.output.messages"]).expect("JSON");
    assert_eq!((&reply[0]["role"], &reply[0]["finish_reason"]), (&json!("assistant"), &json!("stop")));
    assert!(!log.concat().contains("Hildegard") && !log.concat().contains("not-for-logs"), "{log:#?}");
}

#[tokio::test]
async fn what_goes_wrong_in_a_run_is_logged_with_its_id() {
    let script = Script::new().on("parse_task", [Reply::error(503, "not now, Hildegard"), Reply::text("[]")]);
    let chat = FakeChat::start(script.on("chitchat", "All is well.")).await;
    let (harness, url) = (Harness::new().env("JARVIS_LOG", "warn,jarvis::content=trace"), chat.url());
    let server = Server::start(&harness, &["--llm", "gpt-4", "--base-url", url.as_str(), "--log-format", "json"]);
    let (status, reply) = posted(&server, "of-the-retry").await;
    assert_eq!(status, 200, "{reply}");
    let log = server.log();
    let lines = log.iter().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let retry = lines.into_iter().find(|line| line["target"] == "jarvis_chat::transport").expect("the retry");
    let run = retry["spans"].as_array().expect("spans").iter().find(|span| span["name"] == "run").expect("a run");
    assert_eq!((&run["run_id"], &run["request_id"]), (&reply["run"]["run_id"], &json!("of-the-retry")));
    assert!(!log.concat().contains("Hildegard"), "{log:#?}");
}

#[tokio::test]
async fn a_failure_within_a_task_is_logged_with_the_run() {
    let plan = json!([{"task": "summarization", "id": 0, "dep": [-1], "args": {"text": "one. two. three."}}]);
    let script = Script::new()
        .on("parse_task", plan.to_string())
        .on("choose_model", r#"{"id": "gpt-4", "reason": "it fits"}"#)
        .on("task_llm", [Reply::error(503, "not now"), Reply::text("One to three.")])
        .otherwise("Done.");
    let chat = FakeChat::start(script).await;
    let (harness, url) = (Harness::new(), chat.url());
    let server = Server::start(&harness, &["--llm", "gpt-4", "--base-url", url.as_str(), "--log-format", "json"]);
    let (status, reply) = posted(&server, "of-the-task").await;
    assert_eq!(status, 200, "{reply}");
    let asked = chat.requests_of("task_llm").len();
    let log = server.log();
    let lines = log.iter().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let retries: Vec<Value> = lines.filter(|line| line["target"] == "jarvis_chat::transport").collect();
    assert_eq!(retries.len() + 1, asked.max(1), "{log:#?}");
    for retry in retries {
        assert_eq!(retry["spans"][0]["run_id"], reply["run"]["run_id"], "{retry}");
    }
}

#[tokio::test]
async fn requests_and_refusals_are_lines_with_ids() {
    const ROOT: &str = "the-token-of-root-QX-91";
    let harness = Harness::new().env("JARVIS_TOKEN", "a-good-long-word-of-9-parts").env("JARVIS_ADMIN_TOKEN", ROOT);
    let server = Server::start(&harness, &["--log-format", "json"]);
    let url = format!("{}/hugginggpt", server.url);
    let body = json!({"messages": [{"role": "user", "content": format!("tell the mood of: {SECRET}")}]});
    let call = |token: &str| server.client.post(&url).json(&body).bearer_auth(token).header("x-request-id", "good-1");
    let done = call("a-good-long-word-of-9-parts").send().await.expect("a reply");
    assert_eq!(done.status(), 200);
    let done: Value = done.json().await.expect("JSON");
    assert_eq!(call("a-bad-one").send().await.expect("a reply").status(), 401);
    let reload = server.client.post(format!("{}/admin/reload", server.url)).bearer_auth(ROOT);
    assert_eq!(reload.send().await.expect("a reply").status(), 200);
    let log: Vec<Value> = server
        .log()
        .iter()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .filter(|line: &Value| line["target"].as_str().is_some_and(|target| target.starts_with("jarvis::")))
        .collect();
    let of = |target: &str, status: u16| -> &Value {
        let found = log.iter().find(|line| line["target"] == target && line["status"] == status);
        found.unwrap_or_else(|| panic!("no {target} {status} in {log:#?}"))
    };
    let line = of("jarvis::request", 200);
    assert_eq!((&line["level"], &line["address"]), (&json!("INFO"), &json!("127.0.0.1")));
    let span = &line["spans"][0];
    assert_eq!(span["run_id"], done["run"]["run_id"]);
    assert_eq!(
        (&span["name"], &span["request_id"], &span["method"], &span["route"]),
        (&json!("request"), &json!("good-1"), &json!("POST"), &json!("/hugginggpt"))
    );
    let refused = of("jarvis::security", 401);
    assert_eq!((&refused["level"], &refused["code"]), (&json!("WARN"), &json!("unauthorized")));
    let audited = log.iter().find(|line| line["target"] == "jarvis::audit").expect("a line");
    assert_eq!((&audited["action"], &audited["spans"][0]["route"]), (&json!("reload"), &json!("/admin/reload")));
    let kept = std::fs::read_to_string(harness.data().join("audit.jsonl")).expect("the audit");
    let kept: Value = serde_json::from_str(kept.trim()).expect("a line");
    assert_eq!(kept["request_id"], audited["spans"][0]["request_id"]);
    assert!(log.iter().any(|line| line["target"] == "jarvis::server"), "the reload is told: {log:#?}");
    let everything = format!("{log:?}");
    assert!(!everything.contains("a-bad-one") && !everything.contains("Hildegard"), "{everything}");
    // What is not wanted is not written.
    let harness = harness.env("JARVIS_LOG", "error");
    let server = Server::start(&harness, &["--log-format", "json"]);
    assert_eq!(server.get("/runs").await.0, 401);
    assert!(server.log().iter().all(|line| !line.contains("jarvis::")));
}

/// Keeps the spans that it is sent over gRPC.
#[derive(Clone, Default)]
struct Keeping(Arc<Mutex<Vec<Span>>>);

#[tonic::async_trait]
impl TraceService for Keeping {
    async fn export(
        &self,
        request: tonic::Request<ExportTraceServiceRequest>,
    ) -> Result<tonic::Response<ExportTraceServiceResponse>, tonic::Status> {
        let spans = spans_of(request.into_inner());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(spans);
        Ok(tonic::Response::new(ExportTraceServiceResponse::default()))
    }
}

/// A collector that is spoken to over gRPC, and its address.
async fn grpc_collector() -> (Keeping, String) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let keeping = Keeping::default();
    let service = TraceServiceServer::new(keeping.clone());
    let incoming = tonic::transport::server::TcpIncoming::from(listener);
    tokio::spawn(tonic::transport::Server::builder().add_service(service).serve_with_incoming(incoming));
    (keeping, address)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_of_another_server_goes_on_with_the_trace() {
    let (keeping, address) = grpc_collector().await;
    let envs = vec![
        ("OTEL_EXPORTER_OTLP_ENDPOINT".to_owned(), address.clone()),
        ("OTEL_EXPORTER_OTLP_PROTOCOL".to_owned(), "grpc".to_owned()),
        ("OTEL_METRICS_EXPORTER".to_owned(), "none".to_owned()),
    ];
    let there = Harness::new();
    let server = Server::start_with(&there, &[], &envs);
    let here = Harness::new().env("OTEL_EXPORTER_OTLP_ENDPOINT", &address).env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    let here = here.env("OTEL_METRICS_EXPORTER", "none");
    here.file("jarvis.yaml", format!("mcp_servers:\n  other:\n    url: {}/mcp\n", server.url));
    let arguments = r#"{"request": "tell the mood of: I love it"}"#;
    let (ended, stderr) = tokio::task::block_in_place(|| {
        let ended = here.run(&["tools", "call", "other/plan", arguments, "--config", "jarvis.yaml"]);
        (ended.code, ended.stderr)
    });
    assert_eq!((ended, stderr.as_str()), (0, ""));
    server.log();
    let spans = keeping.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let tool = named(&spans, "execute_tool other/plan");
    assert_eq!(tool.fields["gen_ai.tool.name"], "other/plan");
    let called = named(&spans, "execute_tool plan");
    assert_eq!((&called.trace, &called.parent), (&tool.trace, &tool.id));
    let run = spans.iter().find(|span| span.name.starts_with("invoke_workflow")).expect("the run of the other server");
    assert_eq!((&run.trace, &run.parent), (&tool.trace, &called.id));
}

#[test]
fn what_cannot_be_exported_is_told_and_nothing_else_fails() {
    let ask = |envs: &[(&str, &str)]| {
        let harness = envs.iter().fold(Harness::new(), |harness, (name, value)| harness.env(name, value));
        let ended = harness.run(&["run", "tell the mood of: I love it"]);
        (ended.code, ended.stderr)
    };
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9");
    for (envs, told) in [
        (&[endpoint, ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")][..], "the protocol `http/json` is not spoken"),
        (&[("OTEL_TRACES_EXPORTER", "zipkin")], "OTEL_TRACES_EXPORTER is `zipkin`"),
        (&[endpoint], "address=\"http://127.0.0.1:9/v1/traces\""),
    ] {
        let (code, stderr) = ask(envs);
        assert_eq!(code, 0, "{stderr}");
        assert!(stderr.contains(told), "{told}: {stderr}");
    }
    let (code, stderr) = ask(&[endpoint, ("OTEL_SDK_DISABLED", "true")]);
    assert_eq!(code, 0);
    assert!(!stderr.contains("127.0.0.1:9"), "{stderr}");
}
