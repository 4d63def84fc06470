//! The fake endpoint itself: which rule answers, and what it refuses as a real server would.

use jarvis_chat::{ChatError, ChatModel, OpenAi};
use jarvis_testing::chat::{FakeChat, Reply, Script};

use crate::{client, config, request};

#[tokio::test]
async fn the_first_rule_that_fits_answers_and_its_last_reply_repeats() {
    let script = Script::new()
        .on_containing("choose_model", &["cat", "dog"], "both")
        .on_containing("choose_model", &["cat"], ["cat 1", "cat 2"])
        .on("choose_model", "none")
        .on("parse_task", [Reply::error(400, "no"), Reply::text("[]")]);
    let fake = FakeChat::start(script).await;
    let client = client(&fake);
    for (stage, text, expected) in [
        ("choose_model", "a cat", "cat 1"),
        ("choose_model", "a fish", "none"),
        ("choose_model", "a cat and a dog", "both"),
        ("choose_model", "a cat", "cat 2"),
        ("choose_model", "a cat", "cat 2"),
        ("parse_task", "a cat", "no"),
        ("parse_task", "a cat", "[]"),
        ("chitchat", "a cat", "the script has no rule for stage `chitchat`"),
    ] {
        let got = client.complete(&request(stage, text)).await;
        assert_eq!(got.map_or_else(|error| error.to_string(), |reply| reply.text), expected, "{stage}: {text}");
    }
    assert_eq!((fake.requests().len(), fake.requests_of("parse_task").len()), (8, 2));
    assert_eq!(fake.stages()[5..], ["parse_task", "parse_task", "chitchat"]);
    assert_eq!(fake.requests()[1].prompt(), "Be brief.\na fish");
    assert_eq!(fake.aborted(), 0);
}

#[tokio::test]
async fn malformed_requests_are_refused() {
    let fake = FakeChat::start(Script::always("fine")).await;
    for (field, value, expected) in [
        ("temperature", serde_json::json!(3), "Invalid value for 'temperature'"),
        ("logit_bias", serde_json::json!({"x": 1}), "Invalid value for 'logit_bias'"),
        ("logit_bias", serde_json::json!({"1": 101}), "Invalid value for 'logit_bias'"),
        ("max_tokens", serde_json::json!(0), "Invalid value for 'max_tokens'"),
        ("messages", serde_json::json!([]), "`messages` must be a list of messages with a role and a content"),
        ("model", serde_json::json!(null), "you must provide a model parameter"),
    ] {
        let mut config = config(fake.url());
        config.extra_body.insert(field.into(), value);
        let error = OpenAi::new(config).unwrap().complete(&request("s", "x")).await.unwrap_err();
        assert_eq!(error, ChatError::Api { status: 400, message: expected.into() });
    }
}

#[test]
fn a_test_that_blocks_is_answered() {
    let fake = FakeChat::spawn(Script::always("fine"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let reply = runtime.block_on(client(&fake).complete(&request("s", "x"))).unwrap();
    assert_eq!(reply.text, "fine");
}
