//! Responses over a crash: one id from the beginning to the end, whoever carries it out, and stored before its end is told.

use jarvis_testing::chat::{FakeChat, Reply, Script};
use serde_json::{Value, json};

use crate::harness::Harness;
use crate::serve::Server;

/// The events of a stream: the JSON of each.
fn events(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).expect("JSON")).collect()
}

#[tokio::test]
async fn a_response_goes_on_in_the_next_process_under_its_id() {
    let script = Script::new().on("parse_task", [Reply::never(), Reply::text("[]")]).on("chitchat", "All is well.");
    let chat = FakeChat::start(script).await;
    let (harness, url) = (Harness::new(), chat.url());
    let args = ["--llm", "gpt-4", "--base-url", url.as_str()];
    let first = Server::start(&harness, &args);
    let asked = json!({"model": "jarvis/hugginggpt", "input": "how are you?", "background": true});
    let (status, begun) = first.post("/v1/responses", &asked).await;
    assert_eq!(status, 200, "{begun}");
    let id = begun["id"].as_str().expect("an id").to_owned();
    assert!(chat.wait_requests(1).await, "the model is asked");
    assert_eq!(first.end("-KILL"), None);

    let second = Server::start(&harness, &args);
    let follow = async |server: &Server| {
        let url = format!("{}/v1/responses/{id}?stream=true", server.url);
        events(&server.client.get(url).send().await.expect("a reply").text().await.expect("it ends"))
    };
    let told = follow(&second).await;
    let (begin, end) = (told.first().expect("a beginning"), told.last().expect("an end"));
    assert_eq!((&begin["type"], &begin["response"]["id"]), (&json!("response.created"), &json!(id)));
    assert_eq!((&end["type"], &end["response"]["id"]), (&json!("response.completed"), &json!(id)));
    let numbers: Vec<u64> = told.iter().filter_map(|event| event["sequence_number"].as_u64()).collect();
    assert_eq!(numbers, (0..told.len() as u64).collect::<Vec<_>>());
    let path = format!("/v1/responses/{id}");
    let (status, stored) = second.get(&path).await;
    assert_eq!((status, &stored["status"]), (200, &json!("completed")), "{stored}");
    assert_eq!(stored["output"], end["response"]["output"]);
    assert!(stored["output"].to_string().contains("All is well."), "{stored}");
    // Its end was told, so it is on the disk.
    assert_eq!(second.end("-KILL"), None);
    let third = Server::start(&harness, &args);
    assert_eq!(third.get(&path).await.1["output"], stored["output"]);
    let more = json!({"model": "jarvis/hugginggpt", "input": "and now?", "previous_response_id": id});
    let (status, next) = third.post("/v1/responses", &more).await;
    assert_eq!((status, &next["previous_response_id"]), (200, &json!(id)), "{next}");
}
