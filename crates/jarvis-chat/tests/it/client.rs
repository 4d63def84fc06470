//! Whole replies: requests on the wire, errors, repeats, refusals, credentials, proxies, cancellation.

use std::time::Duration;

use jarvis_chat::{
    Azure, ChatError, ChatModel, ChatReply, OpenAi, OpenAiConfig, Part, Protocol, ReplySchema, Secret, TokenUsage,
};
use jarvis_plan::TaskError;
use jarvis_testing::chat::{FakeChat, Reply, Script};
use jarvis_testing::rows;
use serde_json::{Value, json};

use crate::{CASES, KEY, client, config, request};

/// Asks once; says what came and how many requests it took.
async fn ask(script: Script) -> (Result<String, ChatError>, usize) {
    let fake = FakeChat::start(script).await;
    let reply = client(&fake).complete(&request("parse_task", "Hi")).await;
    (reply.map(|reply| reply.text), fake.requests().len())
}

#[tokio::test]
async fn a_call_carries_stage_key_model_and_settings() {
    let fake = FakeChat::start(Script::new().on("parse_task", Reply::text(" Hello there \n").usage(12, 3))).await;
    let reply = client(&fake).complete(&request("parse_task", "Hi")).await.unwrap();
    let usage = TokenUsage { prompt: 12, completion: 3, ..TokenUsage::default() };
    assert_eq!(
        reply,
        ChatReply { text: " Hello there \n".into(), finish_reason: "stop".into(), usage, ..ChatReply::default() }
    );

    let [sent] = fake.requests().try_into().unwrap();
    assert_eq!(sent.target, "/v1/chat/completions");
    assert_eq!(sent.header("authorization"), format!("Bearer {KEY}"));
    assert_eq!(sent.stage(), "parse_task");
    let messages = json!([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]);
    assert_eq!(sent.body, json!({"model": "gpt-4o-mini", "messages": messages, "temperature": 0}));
}

#[tokio::test]
async fn passing_troubles_are_repeated() {
    for (troubles, expected, requests) in rows::<(Vec<Reply>, Result<String, String>, usize)>(CASES, "passing troubles")
    {
        let shown = format!("{troubles:?}");
        let (got, sent) = ask(Script::always(troubles)).await;
        assert_eq!((got.map_err(|error| format!("{error:?}")), sent), (expected, requests), "{shown}");
    }
}

#[tokio::test]
async fn bad_answers_are_typed_errors() {
    let mut cases: Vec<(Reply, String)> = rows(CASES, "bad answers");
    cases.push((
        Reply::raw(302, "text/plain", "").header("location", "https://u:p@h.example/x?k=1"),
        "Api 302: the chat endpoint redirects to https://h.example/x, which is not followed; use its final address as base URL".into(),
    ));
    for (reply, expected) in cases {
        let shown = format!("{reply:?}");
        let (got, requests) = ask(Script::always(reply)).await;
        let error = got.unwrap_err();
        assert!(!format!("{error} {error:?}").contains(KEY), "{error:?}");
        let got = match error {
            ChatError::Api { status, message } => format!("Api {status}: {message}"),
            ChatError::Unauthorized { message } => format!("Unauthorized: {message}"),
            ChatError::BadReply { reason, .. } => format!("BadReply: {reason}"),
            other => format!("{other:?}"),
        };
        assert!(got.starts_with(&expected), "{shown}\n{got}\n{expected}");
        assert_eq!(requests, 1, "{shown}");
    }
}

#[tokio::test]
async fn a_slow_endpoint_times_out_after_one_repeat() {
    let fake = FakeChat::start(Script::always(Reply::never())).await;
    let mut config = config(fake.url());
    config.timeout = Duration::from_millis(300);
    config.retries.max = 5;
    let error = OpenAi::new(config).unwrap().complete(&request("parse_task", "Hi")).await.unwrap_err();
    assert_eq!(error, ChatError::Timeout { after: Duration::from_millis(300) });
    assert_eq!(error.to_string(), "the chat endpoint did not answer within 0.3 s");
    assert!(fake.wait_aborted(2).await);
    assert_eq!(fake.requests().len(), 2);
}

#[tokio::test]
async fn a_call_may_have_its_own_timeout() {
    let fake = FakeChat::start(Script::always(Reply::never())).await;
    let mut slow = request("parse_task", "Hi");
    slow.timeout = Some(Duration::from_millis(50));
    let error = client(&fake).complete(&slow).await.unwrap_err();
    assert_eq!(error, ChatError::Timeout { after: Duration::from_millis(50) });
}

#[tokio::test]
async fn nobody_listens() {
    let fake = FakeChat::start(Script::new()).await;
    let base = fake.origin().replace("http://", "http://user:pass@");
    drop(fake);
    let mut settings = config(base);
    settings.retries.max = 0;
    match OpenAi::new(settings).unwrap().complete(&request("parse_task", "Hi")).await.unwrap_err() {
        ChatError::Unreachable { url, reason } => {
            assert!(url.starts_with("http://127.0.0.1:") && !url.contains("pass"), "{url}");
            assert!(!reason.is_empty() && !reason.contains("pass"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn dropping_the_call_is_seen_by_the_server() {
    let fake = FakeChat::start(Script::always(Reply::never())).await;
    let client = client(&fake);
    let call = tokio::spawn(async move { client.complete(&request("parse_task", "Hi")).await.map(|reply| reply.text) });
    assert!(fake.wait_requests(1).await);
    assert_eq!(fake.aborted(), 0);
    call.abort();
    assert!(fake.wait_aborted(1).await);
}

/// What each request of a script's run sent of the given fields.
fn sent(fake: &FakeChat, fields: &[&str]) -> Vec<Vec<String>> {
    let has = |body: &Value| {
        fields.iter().filter(|field| body.get(**field).is_some()).map(|&field| field.to_owned()).collect()
    };
    fake.requests().iter().map(|request| has(&request.body)).collect()
}

#[tokio::test]
async fn refused_fields_are_left_out_and_remembered() {
    let fields = ["temperature", "logit_bias", "response_format", "max_tokens", "max_completion_tokens"];
    for (reply, expected) in rows::<(Reply, Vec<Vec<String>>)>(CASES, "refused fields") {
        let shown = format!("{reply:?}");
        let fake = FakeChat::start(Script::always(reply)).await;
        let client = client(&fake);
        let mut request = request("choose_model", "Hi");
        request.logit_bias = [(307, 0.1)].into();
        request.schema =
            Some(ReplySchema { name: "choice".into(), schema: std::sync::Arc::new(json!({"type": "object"})) });
        request.max_tokens = Some(5);
        assert_eq!(client.complete(&request).await.unwrap().text, "ok", "{shown}");
        assert_eq!(sent(&fake, &fields), expected, "{shown}");
        // The next call leaves them out at once.
        client.complete(&request).await.unwrap();
        assert_eq!(sent(&fake, &fields).last(), expected.last());
        assert_eq!(fake.requests().len(), expected.len() + 1, "{shown}");
        assert_eq!(fake.requests()[0].body["logit_bias"], json!({"307": 0.1}));
    }
}

#[tokio::test]
async fn a_refusal_that_has_another_cause_is_told_and_not_remembered() {
    let script = [Reply::error(400, "context too long"), Reply::error(400, "context too long"), Reply::text("ok")];
    let fake = FakeChat::start(Script::always(script)).await;
    let client = client(&fake);
    let mut request = request("choose_model", "Hi");
    request.logit_bias = [(307, 5.0)].into();
    let error = client.complete(&request).await.unwrap_err();
    assert_eq!(error, ChatError::Api { status: 400, message: "context too long".into() });
    client.complete(&request).await.unwrap();
    let fields = sent(&fake, &["logit_bias"]);
    assert_eq!(fields, [vec!["logit_bias".to_owned()], vec![], vec!["logit_bias".to_owned()]]);
}

#[tokio::test]
async fn without_a_key_no_credentials_are_sent() {
    for key in [None, Secret::new(""), Secret::new(" \n")] {
        let fake = FakeChat::start(Script::always("hi")).await;
        let mut config = config(fake.origin());
        config.api_key = key;
        OpenAi::new(config).unwrap().complete(&request("chitchat", "Hi")).await.unwrap();
        let [sent] = fake.requests().try_into().unwrap();
        assert!(sent.headers.get("authorization").is_none() && sent.headers.get("api-key").is_none());
    }
}

#[tokio::test]
async fn azure_has_its_own_address_and_header() {
    let fake = FakeChat::start(Script::always("hi")).await;
    let mut config = config(format!("{}/", fake.origin()));
    config.azure = Some(Azure { deployment: "dep".into(), api_version: "2022-12-01".into() });
    config.stage_models = [("choose_model".to_owned(), "small".to_owned())].into();
    let client = OpenAi::new(config.clone()).unwrap();
    client.complete(&request("parse_task", "Hi")).await.unwrap();
    client.complete(&request("choose_model", "Hi")).await.unwrap();
    config.protocol = Protocol::Completion;
    OpenAi::new(config).unwrap().complete(&request("parse_task", "Hi")).await.unwrap();
    let requests = fake.requests();
    let targets: Vec<&str> = requests.iter().map(|request| request.target.as_str()).collect();
    assert_eq!(
        targets,
        [
            "/openai/deployments/dep/chat/completions?api-version=2022-12-01",
            "/openai/deployments/small/chat/completions?api-version=2022-12-01",
            "/openai/deployments/dep/completions?api-version=2022-12-01",
        ]
    );
    for request in &requests {
        assert_eq!((request.header("api-key"), request.header("authorization")), (KEY, ""));
    }
}

#[tokio::test]
async fn completions_have_one_prompt_and_the_room_that_is_left() {
    let fake = FakeChat::start(Script::always(" hi ")).await;
    let mut config = config(fake.url());
    config.model = "text-davinci-003".into();
    config.protocol = Protocol::Completion;
    let client = OpenAi::new(config.clone()).unwrap();
    assert_eq!(client.complete(&request("parse_task", "Hi")).await.unwrap().text, " hi ");
    config.context_tokens = Some(5);
    OpenAi::new(config).unwrap().complete(&request("parse_task", "Hi")).await.unwrap();

    let prompt = "Be brief.<im_start>user\nHi<im_end>\n<im_start>assistant";
    let room = 4096 - client.count_tokens("parse_task", prompt);
    let requests = fake.requests();
    assert_eq!(requests[0].target, "/v1/completions");
    let body = json!({"model": "text-davinci-003", "prompt": prompt, "temperature": 0, "stop": ["<im_end>"], "max_tokens": room});
    assert_eq!(requests[0].body, body);
    assert_eq!(requests[1].body["max_tokens"], 1);
}

#[tokio::test]
async fn stages_have_models_and_calls_carry_further_headers_and_fields() {
    let fake = FakeChat::start(Script::always("hi")).await;
    let mut config = config(fake.url());
    config.stage_models = [("choose_model".to_owned(), "qwen3:8b".to_owned())].into();
    config.headers = [("x-team".to_owned(), "blue".to_owned())].into();
    config.extra_body = json!({"top_k": 4, "temperature": 0.7}).as_object().unwrap().clone();
    let client = OpenAi::new(config).unwrap();
    for stage in ["parse_task", "choose_model"] {
        client.complete(&request(stage, "Hi")).await.unwrap();
    }
    let requests = fake.requests();
    assert_eq!((&requests[0].body["model"], &requests[1].body["model"]), (&json!("gpt-4o-mini"), &json!("qwen3:8b")));
    assert_eq!((&requests[0].body["top_k"], &requests[0].body["temperature"]), (&json!(4), &json!(0.7)));
    assert_eq!(requests[0].header("x-team"), "blue");
    assert_eq!(
        (client.model_name("choose_model").as_str(), client.context_tokens("parse_task")),
        ("qwen3:8b", 128_000)
    );
    // No bias for a tokenizer that is not known to be the endpoint's.
    assert!(
        client.token_ids("choose_model", "reason").is_empty() && !client.token_ids("parse_task", "reason").is_empty()
    );
}

#[tokio::test]
async fn a_configured_proxy_is_used() {
    let proxy = FakeChat::start(Script::always("through the proxy")).await;
    let mut config = config("http://chat.invalid/v1");
    config.proxy = Some(proxy.origin());
    let reply = OpenAi::new(config).unwrap().complete(&request("parse_task", "Hi")).await.unwrap();
    assert_eq!(reply.text, "through the proxy");
    let [sent] = proxy.requests().try_into().unwrap();
    assert_eq!(
        (sent.target.as_str(), sent.path()),
        ("http://chat.invalid/v1/chat/completions", "/v1/chat/completions")
    );
}

#[tokio::test]
async fn an_endpoint_on_this_machine_is_called_directly() {
    let (proxy, fake) = (FakeChat::start(Script::always("proxy")).await, FakeChat::start(Script::always("fake")).await);
    let mut config = config(fake.url());
    config.proxy = Some(proxy.origin());
    let reply = OpenAi::new(config).unwrap().complete(&request("parse_task", "Hi")).await.unwrap();
    assert_eq!((reply.text.as_str(), proxy.requests().len()), ("fake", 0));
}

#[tokio::test]
async fn pictures_need_a_model_that_sees() {
    let fake = FakeChat::start(Script::always("a cat")).await;
    let mut request = request("task_llm", "What is it?");
    request.messages[1].parts.push(Part::Image("data:image/png;base64,AA==".into()));
    let text_only = OpenAi::new(OpenAiConfig { vision: Some(false), ..config(fake.url()) }).unwrap();
    let message = "the model gpt-4o-mini takes no pictures as far as is known; set `llm.vision: true` if it does";
    assert_eq!(text_only.complete(&request).await.unwrap_err(), ChatError::Config(message.into()));
    // Its family takes pictures.
    let client = client(&fake);
    assert!(client.can_see("task_llm"));
    assert_eq!(client.complete(&request).await.unwrap().text, "a cat");
    assert_eq!(fake.requests()[0].body["messages"][1]["content"][1]["image_url"]["url"], "data:image/png;base64,AA==");
}

#[tokio::test]
async fn models_are_listed() {
    let fake = FakeChat::start(Script::new()).await;
    assert_eq!(client(&fake).models().await.unwrap(), ["fake-large", "fake-small"]);
    let error = OpenAi::new(config(format!("{}/elsewhere/v1", fake.origin()))).unwrap().models().await.unwrap_err();
    assert_eq!(error, ChatError::Api { status: 404, message: "no such path: /elsewhere/v1/models".into() });
}

#[test]
fn failures_become_task_errors_with_advice() {
    for (error, code, advised) in [
        (ChatError::Timeout { after: Duration::from_secs(120) }, "timeout", true),
        (ChatError::Api { status: 404, message: "no such model".into() }, "upstream", true),
        (ChatError::Api { status: 500, message: "oops".into() }, "upstream", false),
        (ChatError::Config("no chat model is named".into()), "not_configured", false),
    ] {
        let message = error.to_string();
        let failed = TaskError::from(error);
        assert_eq!((failed.code.as_str(), failed.hint.is_some()), (code, advised), "{message}");
        assert_eq!(failed.message, message);
    }
}

#[test]
fn wrong_settings_are_told_without_secrets() {
    let with = |change: fn(&mut OpenAiConfig)| {
        let mut config = config("http://127.0.0.1:1");
        change(&mut config);
        let error = OpenAi::new(config).map(|_| ()).unwrap_err();
        assert!(!format!("{error:?}").contains("very-secret"), "{error:?}");
        error.to_string()
    };
    assert_eq!(with(|c| c.model = " ".into()), "no chat model is named");
    assert_eq!(
        with(|c| c.api_key = Secret::new("sk-very-secret\nx")),
        "the API key holds a character that a header cannot carry"
    );
    assert_eq!(
        with(|c| c.base_url = "sk-very-secret".into()),
        "the base URL of the chat endpoint, (not an address), cannot be used: it must start with http:// or https://"
    );
    assert_eq!(with(|c| c.headers = [("a b".into(), "very-secret".into())].into()), "`a b` is not a header name");
    let proxy = with(|c| c.proxy = Some("http://u:very-secret@[".into()));
    assert!(proxy.starts_with("the proxy (not an address) cannot be used: "), "{proxy}");
}

#[test]
fn debug_shows_no_secret() {
    let mut config = config("http://user:hidden-a@127.0.0.1:1/v1?key=hidden-b");
    config.headers = [("x-token".to_owned(), "hidden-c".to_owned())].into();
    config.proxy = Some("http://user:hidden-d@proxy.example:3128".into());
    config.extra_body = json!({"user_token": "hidden-e"}).as_object().unwrap().clone();
    let client = OpenAi::new(config.clone()).unwrap();
    let shown = format!("{config:?} {client:?} {:#?}", client);
    assert!(!shown.contains("hidden") && !shown.contains("very-secret"), "{shown}");
    assert!(shown.contains("x-token") && shown.contains("proxy.example"), "{shown}");
}
