//! The gRPC service over a real socket.

use std::time::Duration;

use jarvis_proto::file_based_qa::file_based_qa_client::FileBasedQaClient;
use jarvis_proto::file_based_qa::query_event::Event;
use jarvis_proto::file_based_qa::{QueryRequest, QueryResponse};
use jarvis_server::{GrpcTls, ServeError};
use jarvis_testing::chat::{Reply, Script};
use serde_json::json;
use tonic::transport::{Certificate, Channel, ClientTlsConfig};
use tonic::{Code, Request, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use crate::harness::{Harness, PATIENCE, offline, with_chat};

const FRUITS: &str = "apple,apple,apple,banana,apple,banana,orange,apple,apple,banana";

fn plot() -> String {
    let input = json!({"x": ["apple", "banana", "orange"], "y": [6, 3, 1]});
    format!("<Thought>: Count.\n<Action>: plot\n<Action Input>: {input}")
}

const TLS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../jarvis-tools/tests/it/tls");

const ANSWER: &str = "<Thought>: known\n<Final Answer>: Three fruits.";

async fn client(harness: &Harness) -> FileBasedQaClient<Channel> {
    FileBasedQaClient::new(channel(harness).await)
}

async fn channel(harness: &Harness) -> Channel {
    Channel::from_shared(format!("http://{}", harness.grpc)).unwrap().connect().await.unwrap()
}

fn question(question: &str, file: &[u8]) -> QueryRequest {
    QueryRequest { question: question.into(), file_data: file.to_vec().into(), ..QueryRequest::default() }
}

async fn ask(harness: &Harness, request: QueryRequest) -> Result<QueryResponse, Status> {
    client(harness).await.query_file(request).await.map(tonic::Response::into_inner)
}

#[tokio::test]
async fn text_and_a_chart_come_back_together() {
    let harness = with_chat(Script::always([plot().as_str(), ANSWER])).start().await;
    let reply = ask(&harness, question("Which fruits? Draw them.", FRUITS.as_bytes())).await.unwrap();
    assert_eq!((reply.has_text, reply.text_answer.as_str()), (true, "Three fruits."));
    assert!(reply.has_image && reply.image_data.starts_with(b"\x89PNG\r\n\x1a\n"));
    assert_eq!(reply.images, std::slice::from_ref(&reply.image_data));
    assert_eq!(reply.finish_reason, "final");
    let [call, last] = &reply.steps[..] else { panic!("{:?}", reply.steps) };
    assert_eq!((call.action.as_str(), call.observation.as_str()), ("plot", "Plot generated successfully."));
    assert_eq!((last.thought.as_str(), last.action.as_str()), ("known", ""));
    // The question is a run like any other: it stands in the journal.
    harness.settled().await;
    let runs = harness.get("/runs").await.json;
    assert_eq!(runs["runs"][0]["request"], "Which fruits? Draw them.");
}

#[tokio::test]
async fn nothing_to_say_is_said_as_the_contract_has_it() {
    let harness = with_chat(Script::always([plot().as_str(), "<Final Answer>:"])).start().await;
    let reply = ask(&harness, question("Draw", FRUITS.as_bytes())).await.unwrap();
    assert_eq!((reply.has_text, reply.text_answer.as_str(), reply.has_image), (false, "", true));
    let harness = with_chat(Script::always(ANSWER)).start().await;
    let reply = ask(&harness, question("Which?", b"")).await.unwrap();
    assert_eq!((reply.has_image, reply.image_data.len(), reply.images.len()), (false, 0, 0));
}

#[tokio::test]
async fn steps_are_told_as_they_happen() {
    let harness = with_chat(Script::always([plot().as_str(), ANSWER])).start().await;
    let request = question("Which fruits?", FRUITS.as_bytes());
    let mut events = client(&harness).await.query_file_stream(request).await.unwrap().into_inner();
    let mut told = Vec::new();
    while let Some(event) = events.message().await.unwrap() {
        told.push(match event.event.unwrap() {
            Event::Thought(text) => format!("{} thought {text}", event.step),
            Event::Action(action) => format!("{} action {} {}", event.step, action.tool, action.input),
            Event::Observation(text) => format!("{} observation {text}", event.step),
            Event::Image(png) => format!("{} image {}", event.step, png.starts_with(b"\x89PNG")),
            Event::Final(reply) => {
                assert!(reply.has_image && reply.images.is_empty());
                format!("{} final {}", event.step, reply.text_answer)
            }
            Event::Error(problem) => format!("{} error {}", event.step, problem.code),
        });
    }
    insta::assert_snapshot!(told.join("\n"));
    // What was made before a failure is not lost.
    let harness = with_chat(Script::always([Reply::text(plot()), Reply::error(400, "no more")])).start().await;
    let request = question("Which fruits?", FRUITS.as_bytes());
    let mut events = client(&harness).await.query_file_stream(request).await.unwrap().into_inner();
    let (mut images, mut error) = (0, String::new());
    while let Some(event) = events.message().await.unwrap() {
        match event.event.unwrap() {
            Event::Image(_) => images += 1,
            Event::Error(problem) => error = format!("{}: {}", problem.code, problem.message),
            _ => {}
        }
    }
    assert_eq!(images, 1);
    assert!(error.starts_with("upstream: ") && error.contains("no more"), "{error}");
}

#[tokio::test]
async fn failures_have_their_statuses() {
    let cases = [
        (Reply::error(500, "over"), Code::Unavailable),
        (Reply::rate_limited("0"), Code::Unavailable),
        (Reply::error(401, "wrong key"), Code::FailedPrecondition),
        (Reply::error(404, "no such model"), Code::FailedPrecondition),
        (Reply::html(200), Code::Unavailable),
    ];
    for (reply, code) in cases {
        let harness = with_chat(Script::always(reply)).start().await;
        let status = ask(&harness, question("Which?", b"x")).await.unwrap_err();
        assert_eq!(status.code(), code, "{status:?}");
    }
    let harness = offline().start().await;
    for (request, words) in [
        (question("  ", b"x"), "the question is empty"),
        (question("What?", b"\x00\x01\x02\xff\xfe"), "is not text"),
        (QueryRequest { language: "tlh".into(), ..question("What?", b"x") }, "`tlh` is no language"),
        (question("What?", &vec![b'x'; (4 << 20) + 1]), "the document has 4194305 bytes"),
    ] {
        let status = ask(&harness, request).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
        assert!(status.message().contains(words), "{status:?}");
    }
    let status = ask(&harness, question("What?", &vec![b'x'; 5 << 20])).await.unwrap_err();
    assert_eq!(status.code(), Code::OutOfRange, "{status:?}");
}

#[tokio::test]
async fn a_caller_who_waits_no_longer_ends_the_run() {
    let harness = with_chat(Script::always(Reply::never())).start().await;
    let mut other = client(&harness).await;
    let asking = tokio::spawn(async move { other.query_file(question("Which?", b"x")).await });
    assert!(harness.chat.as_ref().unwrap().wait_requests(1).await);
    asking.abort();
    harness.settled().await;

    let mut events = client(&harness).await.query_file_stream(question("Which?", b"x")).await.unwrap().into_inner();
    assert!(harness.chat.as_ref().unwrap().wait_requests(2).await);
    assert!(tokio::time::timeout(Duration::from_millis(1), events.message()).await.is_err());
    drop(events);
    harness.settled().await;
    assert!(harness.chat.as_ref().unwrap().wait_aborted(2).await, "each call of the model was given up");

    // The time may be over before the model was called.
    let mut request = Request::new(question("Which?", b"x"));
    request.set_timeout(Duration::from_millis(200));
    let status = client(&harness).await.query_file(request).await.unwrap_err();
    // The client watches the time too, and may be the first to say so.
    assert!(matches!(status.code(), Code::DeadlineExceeded | Code::Cancelled), "{status:?}");
    harness.settled().await;
}

#[tokio::test]
async fn what_has_no_place_waits_or_is_refused() {
    let harness = with_chat(Script::always(Reply::never()))
        .options(|options| (options.max_running, options.max_waiting) = (1, 1))
        .start()
        .await;
    let mut first = client(&harness).await;
    let running = tokio::spawn(async move { first.query_file(question("1", b"x")).await });
    assert!(harness.chat.as_ref().unwrap().wait_requests(1).await);
    let mut second = client(&harness).await;
    let waiting = tokio::spawn(async move { second.query_file(question("2", b"x")).await });
    let mut third = client(&harness).await;
    let refused = async {
        while harness.get("/health").await.json["runs_live"] != 2 {
            tokio::task::yield_now().await;
        }
        third.query_file(question("3", b"x")).await.unwrap_err()
    };
    let status = tokio::time::timeout(PATIENCE, refused).await.unwrap();
    assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
    running.abort();
    waiting.abort();
    harness.settled().await;
}

#[tokio::test]
async fn the_token_is_asked_for_and_health_is_open() {
    let harness = with_chat(Script::always(ANSWER))
        .options(|options| options.token = jarvis_net::Secret::new("s3cret"))
        .start()
        .await;
    for (token, code) in
        [(None, Some(Code::Unauthenticated)), (Some("wrong"), Some(Code::Unauthenticated)), (Some("s3cret"), None)]
    {
        let mut request = Request::new(question("Which?", b"x"));
        if let Some(token) = token {
            request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
        }
        let got = client(&harness).await.query_file(request).await;
        assert_eq!(got.err().map(|status| status.code()), code, "{token:?}");
    }
    let check = HealthCheckRequest { service: "FileBasedQA".into() };
    let health = HealthClient::new(channel(&harness).await).check(check).await.unwrap().into_inner();
    assert_eq!(health.status, 1);
}

#[tokio::test]
async fn tls_is_spoken_and_broken_certificates_are_told() {
    let read = |name: &str| std::fs::read(format!("{TLS}/{name}")).unwrap();
    let tls = GrpcTls { certificate: read("server.pem"), key: read("server.key"), client_ca: None };
    tls.check().unwrap();
    let broken = GrpcTls { key: b"nothing".to_vec(), ..tls.clone() };
    assert!(matches!(broken.check(), Err(ServeError::Tls(_))));
    let harness = with_chat(Script::always(ANSWER)).grpc(|grpc| grpc.tls = Some(tls)).start().await;
    let config = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(read("ca.pem"))).domain_name("localhost");
    let endpoint = Channel::from_shared(format!("https://{}", harness.grpc)).unwrap().tls_config(config).unwrap();
    let mut client = FileBasedQaClient::new(endpoint.connect().await.unwrap());
    let reply = client.query_file(question("Which?", b"x")).await.unwrap().into_inner();
    assert_eq!(reply.text_answer, "Three fruits.");
    // In the clear nobody is answered.
    let plain = Channel::from_shared(format!("http://{}", harness.grpc)).unwrap().connect().await;
    if let Ok(channel) = plain {
        assert!(FileBasedQaClient::new(channel).query_file(question("Which?", b"x")).await.is_err());
    }
}

#[tokio::test]
async fn a_server_that_stops_says_so_and_waits_for_nobody_for_ever() {
    let harness = with_chat(Script::always(Reply::never()))
        .options(|options| options.drain = Duration::from_millis(200))
        .start()
        .await;
    // One that never begins to speak.
    let idle = tokio::net::TcpStream::connect(&harness.grpc).await.unwrap();
    let mut client = client(&harness).await;
    let mut late = client.clone();
    let asking = tokio::spawn(async move { client.query_file(question("Which?", b"x")).await });
    assert!(harness.chat.as_ref().unwrap().wait_requests(1).await);
    harness.stop.cancel();
    // What was in flight had its time; what comes now is not taken.
    let refused = late.query_file(question("And now?", b"x")).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unavailable, "{refused:?}");
    let status = asking.await.unwrap().unwrap_err();
    let told = "the server stops; the run goes on when it is back";
    assert_eq!((status.code(), status.message()), (Code::Unavailable, told));
    tokio::time::timeout(PATIENCE, harness.served).await.expect("it ends").unwrap();
    drop(idle);
}

#[tokio::test]
async fn many_questions_at_once_are_all_answered() {
    let harness =
        with_chat(Script::new().on_containing("react", &["Plot generated"], ANSWER).on("react", plot())).start().await;
    let one = client(&harness).await;
    let asked = (0..200).map(|_| {
        let mut client = one.clone();
        async move { client.query_file(question("Which fruits?", FRUITS.as_bytes())).await }
    });
    let replies = futures::future::join_all(asked).await;
    assert_eq!(replies.len(), 200);
    for reply in replies {
        let reply = reply.unwrap().into_inner();
        assert!(reply.has_image && reply.text_answer == "Three fruits.");
    }
}
