//! Each task against a fake model server on a real socket, with a shared folder and without one.

use jarvis_catalogue::Host;
use jarvis_testing::model_server::FakeModelServer;
use jarvis_testing::rows;
use jarvis_testing::stub::{Canned, Stub};
use tempfile::TempDir;

use super::*;
use crate::InputLimits;
use crate::testkit::{Args, FLAC, MP4, WAV, inputs_with, job, png, strs};

const CASES: &str = include_str!("tests.json");

struct Rig {
    server: FakeModelServer,
    worker: ModelServer,
    folder: TempDir,
}

impl Rig {
    async fn new(sharing: Sharing, models: Vec<(&str, Canned)>, files: Vec<(&str, Canned)>) -> Rig {
        let server = FakeModelServer::start(models, files).await.unwrap();
        let (folder, inputs) = inputs_with(InputLimits { max_bytes: 20_000, ..InputLimits::default() });
        let config = ModelServerConfig {
            token: Secret::new("s3cret"),
            sharing,
            ..ModelServerConfig::new(server.base().parse().unwrap())
        };
        std::fs::write(folder.path().join("images/in.png"), png(30, 20)).unwrap();
        std::fs::write(folder.path().join("audios/in.wav"), WAV).unwrap();
        Rig { server, worker: ModelServer::new(config, inputs), folder }
    }

    async fn perform(&self, model: &str, task: &str, args: &[(&str, &str)]) -> Result<Value, TaskError> {
        let done = self.worker.output(&job(Host::Local, model, task, args)).await;
        done.map(|inference| inference.0)
    }

    fn read(&self, path: &Value) -> Vec<u8> {
        std::fs::read(self.folder.path().join(path.as_str().unwrap().trim_start_matches('/'))).unwrap()
    }
}

#[tokio::test]
async fn each_task_has_its_body_and_result() {
    type Row = (String, Args, Value, Value, Value);
    for (task, args, sent, reply, expected) in rows::<Row>(CASES, "tasks") {
        let rig = Rig::new(Sharing::Folder, vec![("org/m", Canned::json(&reply))], Vec::new()).await;
        for (file, bytes) in
            [("images/out.png", png(3, 3)), ("audios/out.wav", WAV.to_vec()), ("videos/out.mp4", MP4.to_vec())]
        {
            std::fs::write(rig.folder.path().join(file), bytes).unwrap();
        }
        assert_eq!(rig.perform("org/m", &task, &strs(&args)).await.unwrap(), expected, "{task}");
        let request = rig.server.requests().remove(0);
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/models/org/m"));
        assert_eq!(request.header("authorization"), Some("Bearer s3cret"));
        assert_eq!(request.json(), sent, "{task}");
    }
}

#[tokio::test]
async fn detections_are_drawn_here() {
    let found = json!([{"label": "cat", "score": 0.9, "box": {"xmin": 1, "ymin": 1, "xmax": 20, "ymax": 15}}]);
    let rig = Rig::new(Sharing::Folder, vec![("m", Canned::json(&found))], Vec::new()).await;
    let result = rig.perform("m", "object-detection", &[("image", "/images/in.png")]).await.unwrap();
    assert_eq!(result["predicted"], found);
    assert_eq!(rig.read(&result["generated image"])[..2], [0xff, 0xd8]);
}

#[tokio::test]
async fn a_server_elsewhere_gets_data_and_is_asked_for_its_files() {
    let picture = png(5, 5);
    let files = || {
        vec![
            ("/images/out.png", Canned::bytes("image/png", png(5, 5))),
            ("/audios/out.wav", Canned::bytes("audio/wav", FLAC)),
        ]
    };
    let data = json!({"path": format!("data:image/png;base64,{}", STANDARD.encode(&picture))});
    let replies = [
        Canned::json(&json!({"path": "/images/out.png"})),
        Canned::json(&data),
        Canned::bytes("image/png", picture.clone()),
    ];
    for reply in replies {
        let rig = Rig::new(Sharing::DataUrls, vec![("m", reply)], files()).await;
        let result = rig.perform("m", "image-to-image", &[("image", "/images/in.png")]).await.unwrap();
        assert_eq!(rig.read(&result["generated image"]), picture);
        let sent = rig.server.requests()[0].json()["img_url"].as_str().unwrap().to_owned();
        assert_eq!(sent, format!("data:image/png;base64,{}", STANDARD.encode(png(30, 20))));
    }
    // A file that is not in the shared folder after all is asked for; its type is looked at, not believed.
    let path = json!({"path": "/audios/out.wav", "speaker": "one"});
    let rig = Rig::new(Sharing::Folder, vec![("m", Canned::json(&path))], files()).await;
    let result = rig.perform("m", "text-to-speech", &[("text", "x")]).await.unwrap();
    assert!(result["generated audio"].as_str().unwrap().ends_with(".flac") && result["speaker"] == "one", "{result}");
    // An address of its own may be absolute.
    let stub = Stub::start(|request| match request.path.as_str() {
        "/files/a.png" => Canned::bytes("image/png", png(5, 5)),
        _ => Canned::json(&json!({"path": format!("http://{}/files/a.png", request.header("host").unwrap())})),
    })
    .await
    .unwrap();
    let config = ModelServerConfig::new(stub.url("/").parse().unwrap());
    let worker = ModelServer::new(config, Arc::clone(&rig.worker.inputs));
    let result = worker.output(&job(Host::Local, "m", "text-to-image", &[("text", "x")])).await.unwrap();
    assert_eq!(rig.read(&result.0["generated image"]), picture);
}

#[tokio::test]
async fn inputs_that_are_not_shared_are_taken_in_first() {
    let rig = Rig::new(Sharing::Folder, vec![("m", Canned::json(&json!([])))], Vec::new()).await;
    let data = format!("data:image/png;base64,{}", STANDARD.encode(png(4, 4)));
    rig.perform("m", "image-classification", &[("image", &data)]).await.unwrap();
    let sent = rig.server.requests()[0].json()["img_url"].as_str().unwrap().to_owned();
    assert!(sent.starts_with("public/images/") && sent.ends_with(".png"), "{sent}");
    assert_eq!(rig.read(&Value::from(sent.trim_start_matches("public"))), png(4, 4));
    let error = rig.perform("m", "image-classification", &[("image", "http://10.0.0.1/a.png")]).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::Forbidden);
    assert_eq!(rig.server.requests().len(), 1);
}

#[tokio::test]
async fn each_way_to_fail_has_its_code() {
    let html = "<!doctype html><p>hi";
    let elsewhere = Stub::start(|_| Canned::bytes("image/png", png(5, 5))).await.unwrap();
    let foreign = json!({"path": elsewhere.url("/a.png")});
    let wrong = json!({"path": "/audios/in.wav"});
    let cases = [
        (Canned::json(&json!({"error": {"message": "out of memory"}})), ErrorCode::Upstream, "out of memory"),
        (Canned::json(&json!({"error": "s3cret words"})).status(500), ErrorCode::Upstream, "[redacted] words"),
        (Canned::bytes("text/html", html), ErrorCode::BadReply, "HTML"),
        (Canned::bytes("text/html", html).status(502), ErrorCode::Unavailable, "502"),
        (Canned::json(&json!({"ok": true})), ErrorCode::BadReply, "path"),
        (Canned::json(&json!(["x"])), ErrorCode::BadReply, "file"),
        (Canned::json(&foreign), ErrorCode::BadReply, "another host"),
        (Canned::json(&json!({"path": "../../etc/passwd"})), ErrorCode::BadReply, "etc/passwd"),
        (Canned::json(&json!({"path": "/images/none.png"})), ErrorCode::BadReply, "nowhere"),
        (Canned::json(&json!({"path": "file:///etc/passwd"})), ErrorCode::BadReply, "file"),
        (Canned::json(&wrong), ErrorCode::BadReply, "not an image"),
        (Canned::json(&json!({"path": "/images/a.png"})).cut(), ErrorCode::BadReply, "broke off"),
        (Canned::json(&json!({"path": "/images/a.png"})).endless(), ErrorCode::Timeout, "0.5 s"),
        (Canned::bytes("image/png", vec![1; 30_000]), ErrorCode::TooLarge, "20000"),
        (Canned::redirect(&elsewhere.url("/models/m")).status(307), ErrorCode::BadReply, "redirects"),
    ];
    for (reply, code, words) in cases {
        let context = format!("{reply:?}");
        let mut rig = Rig::new(Sharing::Folder, vec![("m", reply)], Vec::new()).await;
        if code == ErrorCode::Timeout {
            let config = ModelServerConfig { timeout: Duration::from_millis(500), ..rig.worker.config.clone() };
            rig.worker = ModelServer::new(config, Arc::clone(&rig.worker.inputs));
        }
        let error = rig.perform("m", "text-to-image", &[("text", "x")]).await.unwrap_err();
        assert_eq!(error.code, code, "{context}: {error}");
        assert!(error.message.contains(words) && !error.message.contains("s3cret"), "{words}: {error}");
    }
    assert!(elsewhere.requests().is_empty(), "another host was asked");
    let rig = Rig::new(Sharing::Folder, Vec::new(), Vec::new()).await;
    let error = rig.perform("m", "text-to-image", &[("text", "x")]).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::Unavailable, "{error}");
    assert!(!format!("{:?}", rig.worker).contains("s3cret"));
}

#[tokio::test]
async fn what_is_missing_is_said_before_any_call() {
    let rig = Rig::new(Sharing::Folder, vec![("m", Canned::json(&json!([])))], Vec::new()).await;
    for (task, args) in rows::<(String, Args)>(CASES, "missing") {
        let error = rig.perform("m", &task, &strs(&args)).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::MissingArgument, "{task}: {error}");
    }
    assert!(rig.server.requests().is_empty());
}

#[tokio::test]
async fn control_tasks_find_their_models() {
    let models = vec![("lllyasviel/sd-controlnet-hed", Canned::bytes("image/png", png(3, 3)))];
    let rig = Rig::new(Sharing::Folder, models, Vec::new()).await;
    let args = [("image", "/images/in.png"), ("text", "x")];
    rig.perform("hed-text-to-image", "hed-text-to-image", &args).await.unwrap();
    assert_eq!(rig.server.requests()[0].path, "/models/lllyasviel/sd-controlnet-hed");
}
