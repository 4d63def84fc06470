//! `jarvis ask`: in this process, without and with a model, and against a server over gRPC.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};

use base64::Engine as _;
use jarvis_testing::chat::{FakeChat, Reply, Script};
use jarvis_testing::rows;
use serde_json::{Value, json};

use crate::harness::Harness;

/// The document of the specification's reference run.
const FRUITS: &str = "apple,apple,apple,banana,apple,banana,orange,apple,apple,banana";

const ANSWER: &str = "<Thought>: known\n<Final Answer>: Three fruits.";

fn plot() -> String {
    let input = json!({"x": ["apple", "banana", "orange"], "y": [6, 3, 1]});
    format!("<Thought>: Count.\n<Action>: plot\n<Action Input>: {input}")
}

/// A gRPC server that runs until it is dropped.
struct Server {
    child: Child,
    addr: String,
}

impl Server {
    fn start(harness: &Harness, args: &[&str]) -> Server {
        let mut child = harness
            .command(&[&["serve", "--no-http", "--grpc", "127.0.0.1:0"], args].concat())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        let mut port = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut port).expect("a line");
        let port: u16 = port.trim().parse().expect("the first line on stdout is the port");
        Server { child, addr: format!("127.0.0.1:{port}") }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_reference_run_without_a_model() {
    let harness = Harness::new();
    harness.file("fruits.txt", FRUITS);
    let question = "文件中一共有几种水果？请用柱状图展示每种水果的数量";
    let (code, document) =
        harness.json(&["ask", question, "--file", "fruits.txt", "--chart", "chart.png", "--json", "--llm", "offline"]);
    assert_eq!((code, &document["has_text"], &document["has_image"]), (0, &json!(true), &json!(true)), "{document}");
    let text = document["text_answer"].as_str().expect("a text");
    for part in ["3", "apple", "6", "banana", "orange", "1"] {
        assert!(text.contains(part), "{text}");
    }
    let png = std::fs::read(harness.work().join("chart.png")).expect("the chart");
    let inside = base64::engine::general_purpose::STANDARD.decode(document["image_data"].as_str().expect("a picture"));
    assert_eq!(inside.expect("base64"), png);
    assert_eq!(image::load_from_memory(&png).expect("a PNG").width(), 640);
    let (_, runs) = harness.json(&["runs", "list", "--json"]);
    assert_eq!(
        (&runs[0]["request"], &runs[0]["status"], &runs[0]["tasks"]),
        (&json!(question), &json!("done"), &json!(2))
    );
}

#[test]
fn it_tells_what_it_does() {
    let harness = Harness::new();
    harness.file("sales.csv", "month,revenue\nJan,10\nFeb,25.5\nMar,-3\n");
    insta::assert_snapshot!(harness.told(&["ask", "what was the total revenue?", "--file", "sales.csv"]));
    let shown = harness.told(&["runs", "list"]);
    assert!(shown.contains("what was the total revenue?"), "{shown}");
}

#[test]
fn what_is_not_found_is_told_by_the_exit_status() {
    let harness = Harness::new();
    harness.file("empty.txt", "");
    harness.file("note.txt", "The ferry leaves at nine.");
    for (question, file) in [("What is in it?", "empty.txt"), ("Who painted the Mona Lisa?", "note.txt")] {
        let (code, document) = harness.json(&["ask", question, "--file", file, "--json"]);
        assert_eq!((code, &document["finish_reason"], &document["has_text"]), (1, &json!("not_found"), &json!(true)));
    }
}

#[test]
fn without_a_document_only_arithmetic_is_answered() {
    let harness = Harness::new();
    insta::assert_snapshot!("ask_arithmetic", harness.told(&["ask", "what is (2 + 3) * 4?"]));
    let ended = harness.run(&["ask", "who is online?"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    for word in ["--file", "--llm"] {
        assert!(ended.stdout.contains(word), "{}", ended.stdout);
    }
    let run = ["run", "what is 2 + 3?", "--pipeline", "react", "--json"];
    let (code, document) = harness.json(&run);
    assert_eq!((code, document["answer"]["text"].as_str()), (0, Some("2 + 3 = 5")), "{document:#}");
}

#[test]
fn documents_are_those_that_are_given_or_named() {
    let harness = Harness::new();
    harness.file("sales.csv", "month,revenue\nJan,10\nFeb,25.5\n");
    harness.file("more.txt", "The ferry leaves at nine.");
    let total = "what is the total revenue in sales.csv?";
    let (code, document) = harness.json(&["ask", total, "--json"]);
    assert_eq!((code, document["text_answer"].as_str().map(|text| text.contains("35.5"))), (0, Some(true)));
    let chat = FakeChat::spawn(Script::always([ANSWER]));
    let both = ["ask", "What is in both?", "--file", "sales.csv", "--file", "more.txt"];
    harness.told(&[&both[..], &["--llm", "gpt-4o", "--base-url", &chat.url()]].concat());
    let prompt = chat.requests()[0].prompt();
    for document in ["sales.csv:\nmonth,revenue\n", "more.txt:\nThe ferry leaves at nine."] {
        assert!(prompt.contains(document), "{prompt}");
    }
    let ended = harness.run(&["ask", "what is the total revenue in absent.csv?"]);
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.contains("there is no file `absent.csv`"), "{}", ended.stderr);
}

#[test]
fn a_model_answers_over_tools_without_a_document() {
    let replies = ["<Action>: calculator\n<Action Input>: {\"expression\": \"6 * 7\"}", "<Final Answer>: It is 42."];
    let chat = FakeChat::spawn(Script::new().on("react", replies));
    let harness = Harness::new();
    for args in
        [&["ask", "six times seven?", "--json"][..], &["run", "six times seven?", "--pipeline", "react", "--json"]]
    {
        let before = chat.requests().len();
        let (code, document) = harness.json(&[args, &["--llm", "gpt-4o", "--base-url", &chat.url()]].concat());
        assert_eq!(code, 0, "{document:#}");
        assert!(document.to_string().contains("It is 42."), "{document:#}");
        let prompt = chat.requests()[before].prompt();
        assert!(prompt.contains("calculator") && !prompt.contains("search_document"), "{prompt}");
        assert!(!prompt.contains("document stands") && !prompt.contains("document is empty"), "{prompt}");
    }
}

#[test]
fn wrong_use_is_told() {
    let harness = Harness::new();
    harness.file("binary.bin", [0u8, 1, 2, 255, 254, 0, 0, 7]);
    harness.file("a.txt", "a");
    harness.file("rounds.yaml", "react: {max_steps: 0}");
    harness.file("small.yaml", "limits: {max_input_bytes: 7}");
    for (args, words) in rows::<(Vec<String>, String)>(include_str!("cases.yaml"), "wrong use of ask") {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let ended = harness.run(&args);
        assert_eq!(ended.code, 2, "{args:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(&words) && ended.stdout.is_empty(), "{args:?}: {}", ended.stderr);
    }
    let ended = harness.run(&["ask", "what?", "--file", "a.txt", "--addr", "127.0.0.1:1"]);
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.contains("cannot be reached") && ended.stderr.contains("hint: "), "{}", ended.stderr);
}

#[test]
fn an_answer_is_not_lost_with_its_chart() {
    let harness = Harness::new();
    harness.file("fruits.txt", FRUITS);
    // A name longer than file systems take.
    let chart = format!("{}.png", "a".repeat(300));
    let ended = harness.run(&["ask", "How many kinds of fruit? Draw them.", "--file", "fruits.txt", "--chart", &chart]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert!(ended.stdout.contains("apple") && ended.stderr.contains("cannot write aaa"), "{}", ended.stderr);
    assert_eq!(std::fs::read_to_string(harness.work().join("fruits.txt")).expect("the document"), FRUITS);
}

#[test]
fn a_connection_that_ends_is_told() {
    let chat =
        FakeChat::spawn(Script::new().on_containing("react", &["Plot generated"], Reply::never()).on("react", plot()));
    let harness = Harness::new();
    harness.file("fruits.txt", FRUITS);
    let server = Server::start(&harness, &["--llm", "gpt-4o", "--base-url", &chat.url()]);
    let args = ["ask", "Which fruits?", "--file", "fruits.txt", "--addr", &server.addr];
    let mut child =
        harness.command(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    let mut told = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    while !line.contains("1. observation") {
        line.clear();
        assert!(told.read_line(&mut line).expect("a line") > 0, "it ended before its time");
    }
    drop(server);
    let mut rest = String::new();
    told.read_to_string(&mut rest).expect("the rest");
    assert_eq!(child.wait().expect("its end").code(), Some(1));
    assert!(rest.contains("was lost before its answer") && rest.contains("hint: "), "{rest}");

    // What listens there speaks something else, as a server with TLS does.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let addr = listener.local_addr().expect("an address").to_string();
    let other = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a caller");
        // A fatal alert: unexpected message.
        stream.write_all(&[0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x0a]).expect("an answer");
    });
    let ended = harness.run(&["ask", "Which fruits?", "--file", "fruits.txt", "--addr", &addr]);
    other.join().expect("the other side");
    assert_eq!(ended.code, 1);
    let clear = ended.stderr.contains("without an answer") || ended.stderr.contains("cannot be reached");
    assert!(clear && ended.stderr.contains("https://HOST:PORT"), "{}", ended.stderr);
}

#[test]
fn a_model_answers_through_its_endpoint() {
    let chat = FakeChat::spawn(Script::always([plot().as_str(), ANSWER]));
    let harness = Harness::new();
    harness.file("fruits.txt", FRUITS);
    harness.file("jarvis.yaml", "react:\n  trace_file: trace.jsonl\n  tools: [plot, count]\n");
    let args = ["ask", "Which fruits?", "--file", "fruits.txt", "--llm", "gpt-4o", "--base-url", &chat.url()];
    let ended = harness.run(&[&args[..], &["--config", "jarvis.yaml", "--chart", "chart.png"]].concat());
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "Three fruits.\n"), "{}", ended.stderr);
    assert!(ended.stderr.contains("1. action: plot {\"x\":") && ended.stderr.contains("the chart is in chart.png"));
    let prompt = chat.requests()[0].prompt();
    assert!(prompt.contains("one of: plot, count\n"), "{prompt}");
    let trace = std::fs::read_to_string(harness.work().join("trace.jsonl")).expect("a trace");
    let rounds: Vec<Value> = trace.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((rounds.len(), &rounds[0]["observation"]), (2, &json!("Plot generated successfully.")));
    // What it may use is checked before anything is asked.
    for (wrong, told) in [
        ("react:\n  tools: [draw]\n", "`react.tools` names `draw`"),
        ("react:\n  max_observation_chars: 200\n", "`react.max_observation_chars` is 200, and a result needs 1000"),
    ] {
        harness.file("wrong.yaml", wrong);
        let ended = harness.run(&[&args[..], &["--config", "wrong.yaml"]].concat());
        assert_eq!(ended.code, 2);
        assert!(ended.stderr.contains(told), "{}", ended.stderr);
    }
}

#[test]
fn a_failing_endpoint_is_told() {
    let chat = FakeChat::spawn(Script::always(Reply::error(401, "wrong key")));
    let harness = Harness::new();
    harness.file("a.txt", "a");
    let (code, document) =
        harness.json(&["ask", "what?", "--file", "a.txt", "--llm", "gpt-4o", "--base-url", &chat.url(), "--json"]);
    assert_eq!((code, &document["error"]["code"]), (1, &json!("unauthorized")), "{document}");
}

#[test]
fn a_server_answers_as_this_process_does() {
    let script = Script::new().on_containing("react", &["Plot generated"], ANSWER).on("react", plot());
    let chat = FakeChat::spawn(script);
    let harness = Harness::new().env("JARVIS_TOKEN", "a-long-token");
    harness.file("fruits.txt", FRUITS);
    let server = Server::start(&harness, &["--llm", "gpt-4o", "--base-url", &chat.url()]);
    let args = ["ask", "Which fruits?", "--file", "fruits.txt", "--addr", &server.addr, "--chart", "chart.png"];
    let (code, document) = harness.json(&[&args[..], &["--json"]].concat());
    assert_eq!((code, &document["text_answer"]), (0, &json!("Three fruits.")), "{document}");
    assert_eq!((&document["images"], &document["finish_reason"]), (&json!(1), &json!("final")));
    assert!(harness.work().join("chart.png").is_file());
    let ended = harness.run(&args);
    assert!(ended.stderr.contains("1. observation: Plot generated successfully."), "{}", ended.stderr);
    // Another who does not know the token.
    let stranger = Harness::new();
    stranger.file("fruits.txt", FRUITS);
    let ended = stranger.run(&args);
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.contains("JARVIS_TOKEN"), "{}", ended.stderr);
}

#[test]
fn a_grpc_server_is_not_opened_to_strangers() {
    let harness = Harness::new();
    let ended = harness.run(&["serve", "--no-http", "--grpc", "0.0.0.0:0"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("can be reached from other machines"), "{}", ended.stderr);
    harness.file("tls.yaml", "grpc:\n  tls_cert: cert.pem\n");
    let ended = harness.run(&["serve", "--no-http", "--grpc", "127.0.0.1:0", "--config", "tls.yaml"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("TLS needs both"), "{}", ended.stderr);
}

#[cfg(feature = "documents")]
#[test]
fn documents_are_read_in_a_process_of_their_own() {
    let harness = Harness::new();
    harness.file("note.pdf", pdf("The company was founded in 1998 in Kazan."));
    let ended = harness.run(&["ask", "When was the company founded?", "--file", "note.pdf"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("1998"), "{}", ended.stdout);
    harness.file("broken.pdf", b"%PDF-1.7\nnothing of the kind\n%%EOF");
    let ended = harness.run(&["ask", "When?", "--file", "broken.pdf"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("no text could be taken out of the PDF"), "{}", ended.stderr);
}

#[cfg(feature = "documents")]
fn pdf(line: &str) -> Vec<u8> {
    let content = format!("BT /F1 12 Tf 72 720 Td ({line}) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        places.push(file.len());
        file.extend(format!("{} 0 obj\n{object}\nendobj\n", at + 1).bytes());
    }
    let table = file.len();
    file.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).bytes());
    places.iter().for_each(|place| file.extend(format!("{place:010} 00000 n \n").bytes()));
    let end = format!("trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1);
    file.extend(end.bytes());
    file
}
