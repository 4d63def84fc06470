//! Each task against a fake router on a real socket: what is sent, what comes of the reply, and each way to fail.

use jarvis_catalogue::Host;
use jarvis_testing::inference::{FakeInference, Served};
use jarvis_testing::rows;
use jarvis_testing::stub::Canned;
use tempfile::TempDir;

use super::*;
use crate::testkit::{Args, FLAC, MP4, WAV, inputs, inputs_with, job, jpeg, png, strs};
use crate::{InputLimits, picture};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const CASES: &str = include_str!("tests.json");
const TOKEN: &str = "hf_topsecret";

struct Rig {
    fake: FakeInference,
    worker: HuggingFace,
    folder: TempDir,
}

impl Rig {
    async fn new(models: Vec<(&str, Served)>) -> Rig {
        Rig::with(models, InputLimits::default(), |_| {}).await
    }

    async fn with(
        models: Vec<(&str, Served)>,
        limits: InputLimits,
        change: impl FnOnce(&mut HuggingFaceConfig),
    ) -> Rig {
        let fake = FakeInference::start(TOKEN, models).await.unwrap();
        let (folder, inputs) = inputs_with(limits);
        let mut config = HuggingFaceConfig::new(fake.base().parse().unwrap(), Secret::new(TOKEN));
        change(&mut config);
        Rig { fake, worker: HuggingFace::new(config, inputs), folder }
    }

    async fn perform(&self, model: &str, task: &str, args: &[(&str, &str)]) -> Result<Value, TaskError> {
        let done = self.worker.output(&job(Host::Huggingface, model, task, args)).await;
        done.map(|inference| inference.0)
    }

    async fn store(&self, kind: Kind, extension: &str, bytes: &[u8]) -> String {
        self.worker.inputs.store(kind, extension, bytes.to_vec()).await.unwrap()
    }

    fn file(&self, result: &Value, key: &str) -> (String, Vec<u8>) {
        let path = result[key].as_str().unwrap_or_else(|| panic!("no {key} in {result}"));
        let bytes = std::fs::read(self.folder.path().join(path.trim_start_matches('/'))).unwrap();
        (path.rsplit_once('.').unwrap().1.to_owned(), bytes)
    }
}

fn now(value: Value) -> Served {
    Served::Now(Canned::json(&value))
}

fn bytes(kind: &str, body: &[u8]) -> Served {
    Served::Now(Canned::bytes(kind, body.to_vec()))
}

#[tokio::test]
async fn tasks_with_json_in_and_out() {
    type Row = (String, Args, String, Value, Value);
    for (task, args, tail, sent, reply) in rows::<Row>(CASES, "json") {
        let rig = Rig::new(vec![("org/m", now(reply.clone()))]).await;
        assert_eq!(rig.perform("org/m", &task, &strs(&args)).await.unwrap(), reply, "{task}");
        let request = rig.fake.requests().remove(0);
        assert_eq!(request.path, format!("/hf-inference/models/org/m{tail}"));
        assert_eq!(request.header("authorization"), Some("Bearer hf_topsecret"));
        let options = json!({"wait_for_model": true, "use_gpu": false});
        assert_eq!(request.json(), json!({"inputs": sent, "options": options}), "{task}");
    }
}

#[tokio::test]
async fn text_becomes_media_of_the_type_it_really_is() {
    let picture = png(8, 8);
    let wrapped = json!([{"image": STANDARD.encode(&picture)}]);
    let data = json!({"images": [{"url": format!("data:image/png;base64,{}", STANDARD.encode(&picture))}]});
    let video = json!({"video": STANDARD.encode(MP4)});
    let cases = [
        ("text-to-image", bytes("image/png", &picture), "generated image", "png"),
        ("text-to-image", bytes("application/octet-stream", &jpeg(8, 8)), "generated image", "jpg"),
        ("text-to-image", now(wrapped), "generated image", "png"),
        ("text-to-image", now(data), "generated image", "png"),
        ("text-to-video", bytes("video/mp4", MP4), "generated video", "mp4"),
        ("text-to-video", now(video), "generated video", "mp4"),
        ("text-to-speech", bytes("audio/flac", FLAC), "generated audio", "flac"),
        ("text-to-speech", bytes("audio/flac", WAV), "generated audio", "wav"),
    ];
    for (task, served, key, extension) in cases {
        let rig = Rig::new(vec![("m", served)]).await;
        let result = rig.perform("m", task, &[("text", "a red cat")]).await.unwrap();
        assert_eq!(rig.file(&result, key).0, extension, "{task}");
        assert_eq!(rig.fake.requests()[0].json()["inputs"], "a red cat");
    }
}

#[tokio::test]
async fn pictures_are_sent_as_png() {
    let mask = STANDARD.encode(png(4, 4));
    let depth = json!({"depth": STANDARD.encode(png(8, 8))});
    let found = json!([{"label": "cat", "score": 0.9, "box": {"xmin": 2, "ymin": 2, "xmax": 150, "ymax": 80}}]);
    let labels = json!([{"label": "cat", "score": 0.9}]);
    let segments = json!([{"label": "sky", "score": null, "mask": mask}, {"label": "sea", "score": 0.8, "mask": mask}]);
    let cases: Vec<(&str, Served, Option<Value>, Option<&str>)> = vec![
        ("image-classification", now(labels.clone()), Some(labels), None),
        (
            "image-to-text",
            now(json!([{"generated_text": " two cats "}])),
            Some(json!({"generated text": "two cats"})),
            None,
        ),
        ("object-detection", now(found), None, Some("jpg")),
        ("image-segmentation", now(segments), None, Some("jpg")),
        ("image-to-image", bytes("image/png", &png(9, 9)), None, Some("png")),
        ("depth-estimation", bytes("image/png", &png(9, 9)), None, Some("png")),
        ("depth-estimation", now(depth), None, Some("png")),
    ];
    for (task, served, whole, extension) in cases {
        let rig = Rig::new(vec![("org/m", served)]).await;
        let stored = rig.store(Kind::Image, "jpg", &jpeg(200, 100)).await;
        let result = rig.perform("org/m", task, &[("image", &stored)]).await.unwrap();
        let request = rig.fake.requests().remove(0);
        assert_eq!(request.header("content-type"), Some("image/png"), "{task}");
        let sent = picture::decode(&request.body, 20_000).unwrap();
        assert_eq!((sent.width(), sent.height()), (200, 100));
        assert_eq!(&request.body[1..4], b"PNG");
        if let Some(whole) = whole {
            assert_eq!(result, whole, "{task}");
        }
        if let Some(extension) = extension {
            assert_eq!(rig.file(&result, "generated image").0, extension, "{task}");
        }
        match task {
            "object-detection" => {
                assert_eq!(result["predicted"][0]["box"]["xmax"], 150);
                let drawn = picture::decode(&rig.file(&result, "generated image").1, 20_000).unwrap().into_rgb8();
                // The right edge of the box, away from its label: no longer the picture's red.
                let pixel = drawn.get_pixel(150, 70).0;
                assert!(pixel[1].abs_diff(40) > 30 || pixel[2].abs_diff(40) > 30, "{pixel:?}");
            }
            "image-segmentation" => {
                assert_eq!(
                    result["predicted"],
                    json!([{"label": "sky", "score": null}, {"label": "sea", "score": 0.8}])
                );
            }
            _ => {}
        }
    }
}

#[tokio::test]
async fn questions_about_pictures_carry_them_as_base64() {
    for task in ["visual-question-answering", "document-question-answering"] {
        let answers = json!([{"answer": "red", "score": 0.8}]);
        let rig = Rig::new(vec![("m", now(answers.clone()))]).await;
        let image = format!("data:image/jpeg;base64,{}", STANDARD.encode(jpeg(6, 4)));
        assert_eq!(rig.perform("m", task, &[("image", &image), ("text", "which?")]).await.unwrap(), answers);
        let body = rig.fake.requests()[0].json();
        assert_eq!(body["inputs"]["question"], "which?");
        let sent = STANDARD.decode(body["inputs"]["image"].as_str().unwrap()).unwrap();
        assert_eq!(picture::decode(&sent, 100).unwrap().width(), 6);
    }
    let rig = Rig::new(vec![("m", bytes("image/png", &png(5, 5)))]).await;
    let image = rig.store(Kind::Image, "png", &png(4, 4)).await;
    rig.perform("m", "image-to-image", &[("image", &image), ("text", "make it blue")]).await.unwrap();
    let body = rig.fake.requests()[0].json();
    assert_eq!(body["parameters"]["prompt"], "make it blue");
    assert_eq!(STANDARD.decode(body["inputs"].as_str().unwrap()).unwrap()[1..4], *b"PNG");
}

#[tokio::test]
async fn sounds_are_sent_as_they_are() {
    let labels = json!([{"label": "speech", "score": 0.9}]);
    let blob = json!([{"label": "left", "content-type": "audio/flac", "blob": STANDARD.encode(FLAC)}]);
    let cases = [
        ("automatic-speech-recognition", now(json!({"text": "hello"})), Some(json!({"text": "hello"}))),
        ("audio-classification", now(labels.clone()), Some(labels)),
        ("audio-to-audio", now(blob), None),
    ];
    for (task, served, whole) in cases {
        let rig = Rig::new(vec![("m", served)]).await;
        let stored = rig.store(Kind::Audio, "wav", WAV).await;
        let result = rig.perform("m", task, &[("audio", &stored)]).await.unwrap();
        let request = rig.fake.requests().remove(0);
        assert_eq!((request.header("content-type"), &request.body[..]), (Some("audio/wav"), WAV));
        match whole {
            Some(whole) => assert_eq!(result, whole),
            None => assert_eq!(rig.file(&result, "generated audio"), ("flac".to_owned(), FLAC.to_vec())),
        }
    }
}

#[tokio::test]
async fn what_is_missing_or_local_only_is_said_before_any_call() {
    let rig = Rig::new(vec![("m", now(json!([])))]).await;
    for (task, args, code) in rows::<(String, Args, String)>(CASES, "refused") {
        let error = rig.perform("m", &task, &strs(&args)).await.unwrap_err();
        assert_eq!(format!("{:?}", error.code), code, "{task}: {error}");
    }
    let error = rig.perform("../m", "text-to-image", &[("text", "x")]).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::CannotDo);
    assert!(rig.fake.requests().is_empty());
}

#[tokio::test]
async fn each_way_to_fail_has_its_code_and_nothing_is_stored() {
    let fault = |status: u16, body: Value| Served::Now(Canned::json(&body).status(status));
    let html = "<!doctype html><title>hi</title>";
    let cases: Vec<(Served, ErrorCode, &str)> = vec![
        (now(json!({"error": "CUDA out of memory"})), ErrorCode::Upstream, "CUDA out of memory"),
        (now(json!({"error": ["bad", "worse"]})), ErrorCode::Upstream, "bad; worse"),
        (Served::Now(Canned::bytes("audio/flac", r#"{"error":"no voice"}"#)), ErrorCode::Upstream, "no voice"),
        (fault(400, json!({"error": {"message": "bad inputs"}})), ErrorCode::Upstream, "bad inputs"),
        (fault(422, json!({"detail": [{"msg": "field required"}]})), ErrorCode::Upstream, "field required"),
        (fault(403, json!({"error": "hf_topsecret may not"})), ErrorCode::Unauthorized, "[redacted] may not"),
        (fault(402, json!({"error": "no credits"})), ErrorCode::RateLimited, "no credits"),
        (fault(429, json!({"error": "slow down"})), ErrorCode::RateLimited, "slow down"),
        (fault(404, json!({"error": "Model m does not exist"})), ErrorCode::Unavailable, "does not exist"),
        (Served::Now(Canned::bytes("text/html", html).status(410)), ErrorCode::Unavailable, "410 Gone"),
        (Served::Now(Canned::bytes("text/html", html).status(503)), ErrorCode::Unavailable, "503"),
        (fault(500, json!({"error": "boom"})), ErrorCode::Upstream, "boom"),
        (Served::Now(Canned::bytes("text/html", html)), ErrorCode::BadReply, "an HTML page"),
        (now(json!([{"label": "x"}])), ErrorCode::BadReply, "JSON"),
        (now(json!({"image": "not base64 at all!"})), ErrorCode::BadReply, "base64"),
        (now(json!({"image": STANDARD.encode(WAV)})), ErrorCode::BadReply, "audio"),
        (now(json!({"images": [{"url": "http://127.0.0.1:9/x.png"}]})), ErrorCode::BadReply, "loopback"),
        (now(json!({"path": "/etc/passwd"})), ErrorCode::BadReply, "/etc/passwd"),
        (bytes("image/png", b""), ErrorCode::BadReply, "empty"),
        (Served::Now(Canned::bytes("image/png", png(8, 8)).cut()), ErrorCode::BadReply, "broke off"),
        (Served::Now(Canned::bytes("image/png", png(8, 8)).endless()), ErrorCode::Timeout, "0.3 s"),
        (bytes("image/png", &[0x89; 5000]), ErrorCode::TooLarge, "4000 bytes"),
        (Served::Now(Canned::bytes("image/png", vec![0x89; 5000]).endless()), ErrorCode::TooLarge, "4000 bytes"),
        (Served::Now(Canned::redirect("http://127.0.0.1:9/steal")), ErrorCode::BadReply, "redirects"),
    ];
    for (served, code, words) in cases {
        let context = format!("{served:?}");
        let limits = InputLimits { max_bytes: 4000, ..InputLimits::default() };
        let rig = Rig::with(vec![("m", served)], limits, |config| {
            if code == ErrorCode::Timeout {
                config.timeout = Duration::from_millis(300);
            }
        })
        .await;
        let error = rig.perform("m", "text-to-image", &[("text", "x")]).await.unwrap_err();
        assert_eq!(error.code, code, "{context}: {error}");
        assert!(error.message.contains(words), "{words}: {error}");
        assert!(!error.message.contains(TOKEN), "{error}");
        assert_eq!(std::fs::read_dir(rig.folder.path().join("images")).unwrap().count(), 0, "{context}");
    }
}

#[tokio::test]
async fn wrong_shapes_are_bad_replies() {
    for (task, reply) in rows::<(String, Value)>(CASES, "wrong_shapes") {
        let rig = Rig::new(vec![("m", now(reply.clone()))]).await;
        let image = rig.store(Kind::Image, "png", &png(4, 4)).await;
        let error = rig.perform("m", &task, &[("image", &image)]).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::BadReply, "{task} {reply}: {error}");
    }
    let rig = Rig::new(vec![("m", now(json!({"chunks": []})))]).await;
    let audio = rig.store(Kind::Audio, "wav", WAV).await;
    let error = rig.perform("m", "automatic-speech-recognition", &[("audio", &audio)]).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::BadReply);
}

#[tokio::test]
async fn a_loading_model_is_waited_for_but_not_for_ever() {
    let loading = |times, estimated_time| Served::Loading {
        times,
        estimated_time,
        then: Canned::json(&json!([{"label": "x", "score": 1.0}])),
    };
    let rig = Rig::new(vec![("m", loading(2, 0.01))]).await;
    rig.perform("m", "text-classification", &[("text", "x")]).await.unwrap();
    assert_eq!(rig.fake.requests().len(), 3);

    let short = |config: &mut HuggingFaceConfig| config.max_wait = Duration::from_millis(120);
    let rig = Rig::with(vec![("m", loading(1000, 0.05))], InputLimits::default(), short).await;
    let error = rig.perform("m", "text-classification", &[("text", "x")]).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::Unavailable, "{error}");
    assert!(error.message.contains("still loading"), "{error}");
    // Pauses of 50, 50 and 20 ms, and a call before and after each.
    assert_eq!(rig.fake.requests().len(), 4);

    let rig = Rig::new(vec![("m", loading(1000, 100.0))]).await;
    let job = job(Host::Huggingface, "m", "text-classification", &[("text", "x")]);
    job.cancel.cancel();
    assert_eq!(rig.worker.output(&job).await.unwrap_err().code, ErrorCode::Cancelled);
}

#[tokio::test]
async fn the_token_is_needed_where_it_is_and_never_shown() {
    let rig = Rig::with(vec![("m", now(json!([])))], InputLimits::default(), |config| {
        config.token = Secret::new("hf_wrong");
        config.bill_to = Some("my-org".to_owned());
    })
    .await;
    let error = rig.perform("m", "text-classification", &[("text", "x")]).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::Unauthorized, "{error}");
    assert_eq!(rig.fake.requests()[0].header("x-hf-bill-to"), Some("my-org"));
    assert!(!format!("{:?}", rig.worker).contains("hf_wrong") && !format!("{error:?}").contains("hf_wrong"));

    let (_folder, inputs) = inputs();
    let worker = HuggingFace::new(HuggingFaceConfig::new(HF_INFERENCE.parse().unwrap(), None), inputs);
    let job = job(Host::Huggingface, "m", "text-classification", &[("text", "x")]);
    assert_eq!(worker.output(&job).await.unwrap_err().code, ErrorCode::NotConfigured);
}

#[tokio::test]
async fn a_host_that_is_down_is_unavailable() {
    let gone = FakeInference::start(TOKEN, Vec::new()).await.unwrap().base();
    let (_folder, inputs) = inputs();
    let worker = HuggingFace::new(HuggingFaceConfig::new(gone.parse().unwrap(), Secret::new(TOKEN)), inputs);
    let job = job(Host::Huggingface, "m", "text-classification", &[("text", "x")]);
    let error = worker.output(&job).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::Unavailable, "{error}");
}

#[tokio::test]
async fn a_configured_proxy_is_used_and_not_shown() {
    let proxy = jarvis_testing::stub::Stub::start(|_| Canned::json(&json!([]))).await.unwrap();
    let (_folder, inputs) = inputs();
    let mut config = HuggingFaceConfig::new("http://models.invalid/hf".parse().unwrap(), Secret::new(TOKEN));
    config.proxy = Secret::new(&format!("http://me:p4ss@{}", proxy.address()));
    let worker = HuggingFace::new(config, inputs);
    let job = job(Host::Huggingface, "m", "text-classification", &[("text", "x")]);
    worker.output(&job).await.unwrap();
    let request = proxy.requests().remove(0);
    assert_eq!((request.path.as_str(), request.header("host")), ("/hf/m", Some("models.invalid")));
    assert!(request.header("proxy-authorization").is_some());
    assert!(!format!("{worker:?}").contains("p4ss"));
}
