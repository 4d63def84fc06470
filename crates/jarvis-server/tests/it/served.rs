//! The models of the server, each on its own: the original's model-server protocol, and the OpenAI routes.

use std::sync::Arc;

use jarvis_catalogue::Host;
use jarvis_chat::{ChatModel, ChatReply, Scripted, TokenUsage};
use jarvis_server::{LoadedModel, ServedModel, ServedModels};
use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use crate::harness::{self, Builder, Does};

const WAV: &[u8] = b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0data\0\0\0\0";

struct Models {
    chat: Arc<dyn ChatModel>,
}

fn model(id: &str, tasks: &[&str]) -> ServedModel {
    let tasks = tasks.iter().map(|task| (*task).to_owned()).collect();
    ServedModel { id: id.to_owned(), host: Host::Local, tasks, bytes: 7, chat: None }
}

impl ServedModels for Models {
    fn all(&self) -> Vec<ServedModel> {
        vec![
            model("org/ears", &["automatic-speech-recognition"]),
            model("org/mouth", &["text-to-speech"]),
            model("org/vectors", &["sentence-similarity", "feature-extraction"]),
            model("org/boxes", &["object-detection"]),
            model("depth", &["depth-estimation"]),
            model("org/both", &["translation", "summarization"]),
            ServedModel { chat: Some(Arc::clone(&self.chat)), ..model("local/tiny", &["text-generation"]) },
        ]
    }

    fn loaded(&self) -> Vec<LoadedModel> {
        let of = |id: &str| id.to_owned();
        vec![LoadedModel {
            id: of("org/ears"),
            task: of("automatic-speech-recognition"),
            memory: 5,
            idle_s: 2,
            users: 1,
        }]
    }
}

fn chat(replies: &[&str]) -> Arc<dyn ChatModel> {
    let reply = |text: &&str| {
        Ok(ChatReply {
            text: (*text).to_owned(),
            finish_reason: "stop".to_owned(),
            usage: TokenUsage { prompt: 3, completion: 2, ..TokenUsage::default() },
            ..ChatReply::default()
        })
    };
    Arc::new(Scripted::answering(replies.iter().map(reply)))
}

fn served() -> Builder {
    harness::offline().models(Models { chat: chat(&["hello there"]) })
}

#[tokio::test]
async fn the_protocol_of_the_original_model_server() {
    let boxes =
        r#"{"generated image": "/images/x.jpg", "predicted": [{"label": "cat", "score": 0.5, "box": {"xmin": 1}}]}"#;
    let harness = served()
        .does("object-detection", Does::Gives(boxes))
        .does("depth-estimation", Does::Gives(r#"{"generated image": "/images/d.png"}"#))
        .does("automatic-speech-recognition", Does::Gives(r#"{"generated text": "two plus two"}"#))
        .does("translation", Does::Fails)
        .start()
        .await;
    assert_eq!(harness.get("/running").await.json, json!({"running": true}));
    for (id, loaded) in [("org/boxes", true), ("depth", true), ("org%2Fboxes", true), ("org/other", false)] {
        assert_eq!(harness.get(&format!("/status/{id}")).await.json, json!({ "loaded": loaded }), "{id}");
    }
    let loaded =
        json!({"id": "org/ears", "task": "automatic-speech-recognition", "memory": 5, "idle_s": 2, "users": 1});
    assert_eq!(harness.get("/loaded").await.json, json!({"models": [loaded]}));

    let call = async |id: &str, body: Value| {
        let reply = harness.post(&format!("/models/{id}"), body).await;
        let given = harness.worker.given.lock().expect("no panic").pop().unwrap_or(Value::Null);
        (reply.status, reply.json, given)
    };
    let cat = json!([{"label": "cat", "score": 0.5, "box": {"xmin": 1}}]);
    let image = json!({"image": "/images/a.png"});
    let body = json!({"img_url": "public/images/a.png"});
    assert_eq!(call("org/boxes", body.clone()).await, (200, cat, image.clone()));
    assert_eq!(call("depth", body).await, (200, json!({"path": "/images/d.png"}), image));
    let body = json!({"audio_url": "public/audios/a.wav"});
    assert_eq!(call("org/ears", body).await, (200, json!({"text": "two plus two"}), json!({"audio": "/audios/a.wav"})));
    // A model of several task types is told which.
    let body = json!({"text": "long", "task": "summarization"});
    let short = json!({"generated text": "summarization done"});
    assert_eq!(call("org/both", body).await, (200, short, json!({"text": "long"})));
    let refused = call("org/both", json!({"text": "x", "task": "depth-estimation"})).await;
    assert_eq!(refused.1["error"]["message"], "the model `org/both` does not do depth-estimation");
    let failed = call("org/both", json!({"text": "x"})).await;
    assert_eq!((failed.0, &failed.1["error"]["message"]), (500, &json!("the far side is broken")));
    let unknown = call("org/other", json!({})).await;
    assert_eq!((unknown.0, &unknown.1["error"]["message"]), (404, &json!("there is no model `org/other` here")));
}

#[tokio::test]
async fn embeddings_for_openai_clients() {
    let harness = served().does("feature-extraction", Does::Gives("[[1.0, -0.5], [0.0, 2.0]]")).start().await;
    let ask = async |more: Value| {
        let mut body = json!({"model": "org/vectors", "input": ["a", "b"]});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        harness.post("/v1/embeddings", body).await
    };
    let reply = ask(json!({})).await.json;
    assert_eq!((&reply["object"], &reply["model"]), (&json!("list"), &json!("org/vectors")));
    assert_eq!(reply["data"][1], json!({"object": "embedding", "index": 1, "embedding": [0.0, 2.0]}));
    assert_eq!(harness.worker.given.lock().expect("no panic")[0], json!({"texts": ["a", "b"]}));
    // 1.0 and −0.5 as little-endian 32-bit numbers.
    let encoded = ask(json!({"encoding_format": "base64"})).await.json;
    assert_eq!(encoded["data"][0]["embedding"], "AACAPwAAAL8=");
    for (more, told, param) in [
        (json!({"model": "org/ears"}), "400 invalid_request", "model"),
        (json!({"model": "nobody"}), "404 model_not_found", "model"),
        (json!({"input": []}), "400 invalid_request", "input"),
        (json!({"dimensions": 5}), "400 invalid_request", "dimensions"),
        (json!({"encoding_format": "int8"}), "400 invalid_request", "encoding_format"),
    ] {
        let reply = ask(more.clone()).await;
        assert_eq!((reply.told(), &reply.json["error"]["param"]), (told.to_owned(), &json!(param)), "{more}");
    }
    // Clients send the names of OpenAI's models wherever they are.
    assert_eq!(ask(json!({"model": "text-embedding-3-small"})).await.json["model"], "org/vectors");
}

#[tokio::test]
async fn speech_for_openai_clients() {
    let chunks = r#"{"generated text": "one two", "language": "en", "duration": 63.0, "chunks": [
        {"timestamp": [0.0, 1.5], "text": "one"}, {"timestamp": [1.5, 62.25], "text": "two"}]}"#;
    let harness = served()
        .does("automatic-speech-recognition", Does::Gives(chunks))
        .does("text-to-speech", Does::Gives(r#"{"generated audio": "/audios/said.wav"}"#))
        .start()
        .await;
    let hear = async |path: &str, fields: &[(&'static str, &'static str)]| {
        let mut form = Form::new().part("file", Part::bytes(WAV).file_name("a.wav"));
        for (name, value) in fields {
            form = form.text(*name, *value);
        }
        let reply = harness.request(Method::POST, path).multipart(form).send().await.unwrap();
        (reply.status().as_u16(), reply.text().await.unwrap())
    };
    let transcribe = "/v1/audio/transcriptions";
    assert_eq!(hear(transcribe, &[("model", "org/ears")]).await, (200, r#"{"text":"one two"}"#.to_owned()));
    let given = harness.worker.given.lock().expect("no panic").pop().unwrap();
    assert!(given["audio"].as_str().unwrap().starts_with("data:") && given.get("translate").is_none(), "{given}");
    assert_eq!(hear(transcribe, &[("response_format", "text")]).await.1, "one two");
    let srt = "1\n00:00:00,000 --> 00:00:01,500\none\n\n2\n00:00:01,500 --> 00:01:02,250\ntwo\n\n";
    assert_eq!(hear(transcribe, &[("response_format", "srt")]).await.1, srt);
    let vtt = hear(transcribe, &[("response_format", "vtt")]).await.1;
    assert!(vtt.starts_with("WEBVTT\n\n1\n00:00:00.000 --> "), "{vtt}");
    let (_, long) = hear("/v1/audio/translations", &[("response_format", "verbose_json"), ("language", "de")]).await;
    let long: Value = serde_json::from_str(&long).unwrap();
    assert_eq!(
        (&long["task"], &long["language"], &long["duration"]),
        (&json!("translate"), &json!("en"), &json!(63.0))
    );
    assert_eq!(long["segments"][0], json!({"id": 0, "start": 0.0, "end": 1.5, "text": "one"}));
    let given = harness.worker.given.lock().expect("no panic").pop().unwrap();
    assert_eq!((&given["translate"], &given["language"]), (&json!(true), &json!("de")));
    let (status, body) = hear(transcribe, &[("response_format", "xml")]).await;
    assert!(status == 400 && body.contains("json, verbose_json, text, srt, vtt"), "{body}");

    std::fs::create_dir_all(harness.folder().join("public/audios")).unwrap();
    std::fs::write(harness.folder().join("public/audios/said.wav"), WAV).unwrap();
    let body = json!({"model": "org/mouth", "input": "hello", "voice": "alloy"});
    let said = harness.request(Method::POST, "/v1/audio/speech").json(&body).send().await.unwrap();
    assert_eq!(said.headers()["content-type"], "audio/wav");
    assert_eq!(said.bytes().await.unwrap(), WAV);
    // OpenAI's clients must name one of its voices; another name is the model's.
    let given = || harness.worker.given.lock().expect("no panic").pop().unwrap();
    assert_eq!(given().get("voice"), None);
    harness.post("/v1/audio/speech", json!({"model": "org/mouth", "input": "hello", "voice": "af_one"})).await;
    assert_eq!(given()["voice"], "af_one");
    harness.post("/v1/audio/speech", json!({"model": "org/mouth", "input": "hello", "speed": 1.5})).await;
    assert_eq!(given()["speed"], 1.5);
    let body = json!({"input": "hello", "response_format": "mp3"});
    assert_eq!(harness.post("/v1/audio/speech", body).await.told(), "400 invalid_request");
}

#[tokio::test]
async fn silence_is_a_recording_without_words() {
    let harness = served().does("automatic-speech-recognition", Does::HearsNothing).start().await;
    for (format, written) in [("json", r#"{"text":""}"#), ("text", ""), ("vtt", "WEBVTT\n\n")] {
        let form = Form::new().part("file", Part::bytes(WAV)).text("response_format", format);
        let reply = harness.request(Method::POST, "/v1/audio/transcriptions").multipart(form).send().await.unwrap();
        assert_eq!((reply.status().as_u16(), reply.text().await.unwrap().as_str()), (200, written), "{format}");
    }
}

#[tokio::test]
async fn a_local_language_model_talks_without_a_pipeline() {
    let harness = harness::offline().models(Models { chat: chat(&["hello there", "hello there"]) }).start().await;
    let body = |more: Value| {
        let mut body = json!({"model": "local/tiny", "messages": [{"role": "user", "content": "hi"}], "stop": ["\n"],
            "temperature": 0.5, "max_tokens": 9, "response_format": {"type": "json_object"}});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let reply = harness.post("/v1/chat/completions", body(json!({}))).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    assert_eq!(
        (&reply.json["model"], &reply.json["choices"][0]["message"]["content"]),
        (&json!("local/tiny"), &json!("hello there"))
    );
    assert_eq!(reply.json["usage"], json!({"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}));

    let more = json!({"stream": true, "stream_options": {"include_usage": true}});
    let events = harness.stream("/v1/chat/completions", body(more)).await;
    let text: String =
        events.iter().filter_map(|(_, chunk)| chunk["choices"][0]["delta"]["content"].as_str()).collect();
    assert_eq!(text, "hello there");
    let finish = &events[events.len() - 3].1;
    assert_eq!(finish["choices"][0]["finish_reason"], "stop");
    assert_eq!(events[events.len() - 2].1["usage"]["total_tokens"], 5);
    assert_eq!(events.last().map(|(_, end)| end.clone()), Some(json!("[DONE]")));

    let ids: Vec<Value> = harness.get("/v1/models").await.json["data"].as_array().unwrap().clone();
    assert!(ids.iter().any(|card| card["id"] == "local/tiny" && card["owned_by"] == "local"), "{ids:?}");
    assert_eq!(harness.get("/v1/models/local/tiny").await.json["id"], "local/tiny");
    for (more, param) in [
        (json!({"tools": [{"type": "function"}]}), "tools"),
        (json!({"n": 2}), "n"),
        (json!({"response_format": {"type": "json_schema"}}), "response_format"),
        (json!({"messages": []}), "messages"),
    ] {
        let reply = harness.post("/v1/chat/completions", body(more.clone())).await;
        assert_eq!((reply.status, &reply.json["error"]["param"]), (400, &json!(param)), "{more}");
    }
}

#[tokio::test]
async fn a_server_of_models_alone_has_no_pipelines() {
    let harness = served().options(|options| options.models_only = true).start().await;
    assert_eq!(harness.get("/running").await.status, 200);
    assert_eq!(harness.get("/health").await.status, 200);
    for path in ["/", "/runs", "/models", "/openapi.models.json"] {
        assert_eq!(harness.get(path).await.status, 404, "{path}");
    }
    assert_eq!(harness.post("/hugginggpt", harness::ask("hello")).await.status, 404);
    let described = harness.get("/openapi.json").await.json["paths"].clone();
    assert!(described["/running"].is_object() && described["/runs"].is_null(), "it describes what it has");
    let reply = harness.post("/v1/chat/completions", json!({"model": "jarvis/hugginggpt", "messages": []})).await;
    assert_eq!(reply.told(), "404 model_not_found");
}
