//! The three media tasks against a fake of OpenAI's endpoints on a real socket.

use jarvis_catalogue::Host;
use jarvis_testing::inference::{FakeMedia, MediaReplies};
use jarvis_testing::stub::Canned;
use tempfile::TempDir;

use super::*;
use crate::testkit::{WAV, inputs, job, png};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const KEY: &str = "sk-topsecret";

async fn rig(images: Canned, sound: Canned) -> (FakeMedia, MediaEndpoint, TempDir) {
    let replies = MediaReplies {
        images,
        speech: sound.clone(),
        transcriptions: sound,
        file: Canned::bytes("image/png", png(7, 7)),
    };
    let fake = FakeMedia::start(Some(KEY), replies).await.unwrap();
    let (folder, inputs) = inputs();
    let config = MediaEndpointConfig {
        image_model: Some("painter".to_owned()),
        speech_model: Some("speaker".to_owned()),
        transcription_model: Some("listener".to_owned()),
        image_size: Some("256x256".to_owned()),
        ..MediaEndpointConfig::new(format!("{}/", fake.base()).parse().unwrap(), Secret::new(KEY))
    };
    (fake, MediaEndpoint::new(config, inputs), folder)
}

fn read(folder: &TempDir, inference: &TaskOutput, kind: Kind) -> Vec<u8> {
    let path = inference.media(kind).unwrap();
    std::fs::read(folder.path().join(path.trim_start_matches('/'))).unwrap()
}

#[tokio::test]
async fn pictures_come_as_base64_or_by_address() {
    let in_body = Canned::json(&json!({"created": 1, "data": [{"b64_json": STANDARD.encode(png(6, 6))}]}));
    let (fake, worker, folder) = rig(in_body, Canned::json(&json!({}))).await;
    let job = job(Host::Llm, "painter", "text-to-image", &[("text", "a red cat")]);
    let inference = worker.output(&job).await.unwrap();
    assert_eq!(read(&folder, &inference, Kind::Image), png(6, 6));
    let request = fake.requests().remove(0);
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/images/generations"));
    assert_eq!(request.header("authorization"), Some("Bearer sk-topsecret"));
    assert_eq!(request.json(), json!({"model": "painter", "prompt": "a red cat", "n": 1, "size": "256x256"}));

    // An address elsewhere is subject to the URL policy, which refuses loopback hosts.
    let elsewhere = Canned::json(&json!({"data": [{"url": fake.file_url()}]}));
    let (_other, worker, _folder) = rig(elsewhere, Canned::json(&json!({}))).await;
    let error = worker.output(&job).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::BadReply, "{error}");
    assert_eq!(fake.requests().len(), 1);
}

#[tokio::test]
async fn an_address_at_the_endpoint_itself_is_fetched() {
    use jarvis_testing::stub::Stub;
    let stub = Stub::start(|request| match request.path.as_str() {
        "/v1/images/generations" => {
            let url = format!("http://{}/out.png?sig=1", request.header("host").unwrap());
            Canned::json(&json!({"data": [{"url": url}]}))
        }
        _ => Canned::bytes("image/png", png(7, 7)),
    })
    .await
    .unwrap();
    let (folder, inputs) = inputs();
    let mut config = MediaEndpointConfig::new(stub.url("/v1").parse().unwrap(), None);
    config.image_model = Some("painter".to_owned());
    let worker = MediaEndpoint::new(config, inputs);
    let job = job(Host::Llm, "painter", "text-to-image", &[("text", "x")]);
    let inference = worker.output(&job).await.unwrap();
    assert_eq!(read(&folder, &inference, Kind::Image), png(7, 7));
    assert_eq!(stub.requests()[0].header("authorization"), None);
}

#[tokio::test]
async fn speech_is_made_and_transcribed() {
    let (fake, worker, folder) = rig(Canned::json(&json!({})), Canned::bytes("audio/mpeg", WAV)).await;
    let job1 = job(Host::Llm, "speaker", "text-to-speech", &[("text", "hello")]);
    let inference = worker.output(&job1).await.unwrap();
    assert_eq!(read(&folder, &inference, Kind::Audio), WAV);
    let sent = json!({"model": "speaker", "input": "hello", "voice": "alloy", "response_format": "wav"});
    assert_eq!(fake.requests()[0].json(), sent);

    let (fake, worker, folder) = rig(Canned::json(&json!({})), Canned::json(&json!({"text": " hello there "}))).await;
    std::fs::write(folder.path().join("audios/in.wav"), WAV).unwrap();
    let job2 = job(Host::Llm, "listener", "automatic-speech-recognition", &[("audio", "/audios/in.wav")]);
    assert_eq!(worker.output(&job2).await.unwrap().0, json!({"text": "hello there"}));
    let request = fake.requests().remove(0);
    let form = String::from_utf8_lossy(&request.body);
    for part in ["listener", "filename=\"audio.wav\"", "audio/wav", "name=\"response_format\"\r\n\r\njson"] {
        assert!(form.contains(part), "{part} is not in {form}");
    }
    assert!(request.body.windows(WAV.len()).any(|window| window == WAV));
}

#[tokio::test]
async fn failures_are_errors() {
    let fault = Canned::json(&json!({"error": {"message": "sk-topsecret may not"}}));
    let speech = job(Host::Llm, "speaker", "text-to-speech", &[("text", "x")]);
    let cases = [
        (fault.clone().status(401), ErrorCode::Unauthorized),
        (fault.clone(), ErrorCode::Upstream),
        (fault.clone().status(400), ErrorCode::Upstream),
        (fault.clone().status(429), ErrorCode::RateLimited),
        (fault.clone().status(404), ErrorCode::Unavailable),
        (Canned::bytes("text/html", "<html>"), ErrorCode::BadReply),
        (Canned::bytes("audio/mpeg", "hello"), ErrorCode::BadReply),
        (Canned::bytes("audio/mpeg", WAV).cut(), ErrorCode::BadReply),
    ];
    for (reply, code) in cases {
        let context = format!("{reply:?}");
        let (_fake, worker, _folder) = rig(Canned::json(&json!({})), reply).await;
        let error = worker.output(&speech).await.unwrap_err();
        assert_eq!(error.code, code, "{context}: {error}");
        assert!(!format!("{error:?}{worker:?}").contains(KEY), "{error:?}");
    }
    let (fake, mut worker, _folder) = rig(Canned::json(&json!({})), fault).await;
    for task in ["text-to-image", "text-to-speech", "automatic-speech-recognition"] {
        let error = worker.output(&job(Host::Llm, "m", task, &[])).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::MissingArgument, "{task}");
    }
    worker.config.speech_model = None;
    assert_eq!(worker.output(&speech).await.unwrap_err().code, ErrorCode::NotConfigured);
    assert!(fake.requests().is_empty());
}
