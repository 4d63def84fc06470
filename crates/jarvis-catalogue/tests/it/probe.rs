//! Probing over real sockets: every rule about who is asked, who counts, what is kept.

use std::sync::Arc;
use std::time::Duration;

use jarvis_catalogue::Host;
use jarvis_catalogue::{
    Deployment, HubCheck, InferenceMode, Model, NativeCheck, ProbeConfig, Prober, Probing, where_probed,
};
use jarvis_net::Secret;
use jarvis_testing::hub::{Answer, FakeHub, FakeStatusServer, HubModel};
use url::Url;

fn model(id: &str) -> Arc<Model> {
    on(id, "image-to-text", Host::Huggingface)
}

fn on(id: &str, task: &str, host: Host) -> Arc<Model> {
    Arc::new(Model::new(id, task, host, ""))
}

fn no_native() -> NativeCheck {
    Arc::new(|model| Err(format!("{} is not here", model.id)))
}

fn config(hub: Option<&FakeHub>, server: Option<&FakeStatusServer>, mode: InferenceMode) -> ProbeConfig {
    ProbeConfig {
        hub: hub.map(|hub| HubCheck::ModelApi(Url::parse(&hub.base()).unwrap())),
        local: server.map(|server| Url::parse(&server.base()).unwrap()),
        // Generous, so that a busy machine fails no test; the tests of deadlines set their own.
        each: Duration::from_secs(60),
        overall: Duration::from_secs(60),
        ..ProbeConfig::new(where_probed(mode, Deployment::Full))
    }
}

fn shown(probing: &Probing) -> Vec<String> {
    probing.available.iter().map(|found| format!("{} {}", found.model.id, found.host)).collect()
}

fn reasons(probing: &Probing) -> Vec<String> {
    let host = |host: Option<Host>| host.map_or("-", Host::as_str);
    probing.unavailable.iter().map(|no| format!("{} {}: {}", no.id, host(no.host), no.reason)).collect()
}

#[tokio::test]
async fn the_hub_says_who_serves_a_model() {
    let provider = |id: &str, provider: &str, state: &str| HubModel::with_provider(id, "", 0, provider, state);
    let hub = FakeHub::start(vec![
        HubModel::live("a/live", "", 0),
        provider("a/staging", "hf-inference", "staging"),
        provider("a/elsewhere", "fal-ai", "live"),
        HubModel::answering("a/broken", Answer::Status(500)),
        HubModel::answering("a/gated", Answer::Status(401)),
        HubModel::answering("a/garbage", Answer::Body("<html>".to_owned())),
        HubModel::answering("a/huge", Answer::Body("x".repeat(300 << 10))),
        HubModel { providers: [].into(), ..HubModel::live("a/nobody", "", 0) },
    ])
    .await
    .unwrap();
    let models = [
        "a/staging",
        "a/live",
        "a/elsewhere",
        "a/broken",
        "a/gated",
        "a/garbage",
        "a/huge",
        "a/nobody",
        "a/gone",
        "a/../b",
    ]
    .map(model);
    let prober = Prober::new(config(Some(&hub), None, InferenceMode::Huggingface), no_native()).unwrap();
    let probing = prober.all(&models).await;
    assert_eq!(shown(&probing), ["a/live huggingface"]);
    insta::assert_snapshot!(reasons(&probing).join("\n"), @r"
    a/staging huggingface: no allowed provider serves it now (hf-inference staging)
    a/elsewhere huggingface: no allowed provider serves it now (fal-ai live)
    a/broken huggingface: HTTP 500
    a/gated huggingface: HTTP 401: the token was refused
    a/garbage huggingface: the answer cannot be understood
    a/huge huggingface: the answer is larger than 262144 bytes
    a/nobody huggingface: no provider serves it
    a/gone huggingface: HTTP 404: not known there
    a/../b huggingface: this is not a model id
    ");
    assert_eq!(hub.hits("/api/models/a/live?expand[]=inferenceProviderMapping"), 1);

    let wide = ProbeConfig {
        staging: true,
        providers: vec!["hf-inference".to_owned(), "fal-ai".to_owned()],
        ..config(Some(&hub), None, InferenceMode::Huggingface)
    };
    let probing = Prober::new(wide, no_native()).unwrap().available(&models).await;
    assert_eq!(shown(&probing), ["a/staging huggingface", "a/live huggingface", "a/elsewhere huggingface"]);
}

#[tokio::test]
async fn the_mode_says_who_is_asked_and_the_model_server_wins() {
    let hub = FakeHub::start(vec![HubModel::live("a/both", "", 0), HubModel::live("a/hub", "", 0)]).await.unwrap();
    let server = FakeStatusServer::start(&["a/both", "a/local"]).await.unwrap();
    let models = [model("a/both"), model("a/hub"), model("a/local"), model("a/none"), model("a/both")];
    let check = async |mode, expected: &[&str]| {
        let prober = Prober::new(config(Some(&hub), Some(&server), mode), no_native()).unwrap();
        let probing = prober.available(&models).await;
        assert_eq!(shown(&probing), expected, "{mode}");
        reasons(&probing)
    };
    let no = check(InferenceMode::Hybrid, &["a/both local", "a/hub huggingface", "a/local local"]).await;
    assert_eq!(no, ["a/none local: not loaded", "a/none huggingface: HTTP 404: not known there"]);
    let asked = server.seen().len();
    check(InferenceMode::Huggingface, &["a/both huggingface", "a/hub huggingface"]).await;
    assert_eq!(server.seen().len(), asked, "the model server was asked in huggingface mode");
    let asked = hub.seen().len();
    let no = check(InferenceMode::Local, &["a/both local", "a/local local"]).await;
    assert_eq!(no, ["a/hub local: not loaded", "a/none local: not loaded"]);
    assert_eq!(hub.seen().len(), asked, "the Hub was asked in local mode");
}

#[tokio::test]
async fn native_and_control_models_are_not_asked_over_the_network() {
    let server = FakeStatusServer::start(&[]).await.unwrap();
    let models = [
        on("native/ocr", "image-to-text", Host::Native),
        on("native/image-measure", "image-to-text", Host::Native),
        on("canny-control", "canny-control", Host::Local),
        on("x/extra", "image-to-text", Host::Local),
        on("gpt", "image-to-text", Host::Llm),
    ];
    let native: NativeCheck = Arc::new(|model: &Model| match model.id.as_str() {
        "native/ocr" => Err("the program tesseract is not installed".to_owned()),
        _ => Ok(()),
    });
    let check = async |config: ProbeConfig, expected: &[&str], why: &[&str]| {
        let probing = Prober::new(config, Arc::clone(&native)).unwrap().available(&models).await;
        assert_eq!(shown(&probing), expected);
        assert_eq!(reasons(&probing), why);
    };
    check(
        config(None, Some(&server), InferenceMode::Local),
        &["native/image-measure native", "canny-control local", "gpt llm"],
        &["native/ocr native: the program tesseract is not installed", "x/extra local: not loaded"],
    )
    .await;
    assert_eq!(server.seen().len(), 1);
    check(
        config(None, None, InferenceMode::Local),
        &["native/image-measure native", "gpt llm"],
        &[
            "native/ocr native: the program tesseract is not installed",
            "canny-control local: no model server is configured",
            "x/extra local: no model server is configured",
        ],
    )
    .await;
    check(
        config(None, Some(&server), InferenceMode::Huggingface),
        &["native/image-measure native", "gpt llm"],
        &[
            "native/ocr native: the program tesseract is not installed",
            "canny-control local: the inference mode does not use the model server for it",
            "x/extra local: the inference mode does not use the model server for it",
        ],
    )
    .await;
}

#[tokio::test]
async fn enough_is_enough_in_the_order_given() {
    let names: Vec<String> = (0..10).map(|at| format!("a/m{at}")).collect();
    let hub =
        FakeHub::start(names.iter().filter(|name| *name != "a/m1").map(|name| HubModel::live(name, "", 0)).collect())
            .await
            .unwrap();
    let models: Vec<Arc<Model>> = names.iter().map(|name| model(name)).collect();
    let limited = ProbeConfig { num_candidates: 3, ..config(Some(&hub), None, InferenceMode::Huggingface) };
    let prober = Prober::new(limited, no_native()).unwrap();
    for _ in 0..3 {
        let probing = prober.available(&models).await;
        assert_eq!(shown(&probing), ["a/m0 huggingface", "a/m2 huggingface", "a/m3 huggingface"]);
    }
}

#[tokio::test]
async fn a_hanging_server_costs_its_deadline_and_no_more() {
    let hub = FakeHub::start(vec![HubModel::answering("a/hangs", Answer::Hang), HubModel::live("a/live", "", 0)])
        .await
        .unwrap();
    let models = [model("a/hangs"), model("a/live")];
    let each = ProbeConfig {
        each: Duration::from_secs(1),
        overall: Duration::from_secs(60),
        ..config(Some(&hub), None, InferenceMode::Huggingface)
    };
    let probing = Prober::new(each, no_native()).unwrap().available(&models).await;
    assert_eq!(shown(&probing), ["a/live huggingface"]);
    assert_eq!(reasons(&probing), ["a/hangs huggingface: no answer in 1s"]);

    let overall = ProbeConfig {
        each: Duration::from_secs(600),
        overall: Duration::from_secs(1),
        ..config(Some(&hub), None, InferenceMode::Huggingface)
    };
    let probing = Prober::new(overall, no_native()).unwrap().available(&models).await;
    assert_eq!(shown(&probing), ["a/live huggingface"]);
    assert_eq!(reasons(&probing), ["a/hangs -: not all was answered in 1s"]);
}

#[tokio::test]
async fn a_server_that_is_down_is_a_reason() {
    let hub = FakeHub::start(Vec::new()).await.unwrap();
    let base = hub.base();
    drop(hub);
    let down = ProbeConfig {
        hub: Some(HubCheck::ModelApi(Url::parse(&base).unwrap())),
        local: Some(Url::parse(&base).unwrap()),
        ..config(None, None, InferenceMode::Hybrid)
    };
    let prober = Prober::new(down, no_native()).unwrap();
    let probing = prober.available(&[model("a/b")]).await;
    assert!(probing.available.is_empty());
    assert_eq!(probing.unavailable.len(), 2, "{:?}", probing.unavailable);
    assert!(prober.model_server_runs().await.is_err());
}

#[tokio::test]
async fn answers_are_kept_and_shared() {
    let hub = FakeHub::start(vec![HubModel::live("a/live", "", 0)]).await.unwrap();
    let models = [model("a/live"), model("a/gone")];
    let prober = Prober::new(config(Some(&hub), None, InferenceMode::Huggingface), no_native()).unwrap();
    let twin = prober.clone();
    futures::future::join_all((0..8).map(|_| prober.available(&models))).await;
    twin.available(&models).await;
    assert_eq!((hub.hits("a/live"), hub.hits("a/gone")), (1, 1));

    let forgetful =
        ProbeConfig { keep_negative: Duration::ZERO, ..config(Some(&hub), None, InferenceMode::Huggingface) };
    let prober = Prober::new(forgetful, no_native()).unwrap();
    for _ in 0..3 {
        prober.available(&models).await;
    }
    assert_eq!((hub.hits("a/live"), hub.hits("a/gone")), (2, 4));
    // What was missing is found as soon as it is there.
    hub.set(vec![HubModel::live("a/live", "", 0), HubModel::live("a/gone", "", 0)]);
    assert_eq!(shown(&prober.available(&models).await), ["a/live huggingface", "a/gone huggingface"]);
}

#[tokio::test]
async fn the_old_status_call_and_the_token() {
    let hub = FakeHub::start(vec![HubModel::live("a/live", "", 0)]).await.unwrap();
    let server = FakeStatusServer::start(&[]).await.unwrap();
    let old = ProbeConfig {
        hub: Some(HubCheck::Status(Url::parse(&hub.base()).unwrap())),
        token: Secret::new("hf_secret"),
        ..config(None, Some(&server), InferenceMode::Hybrid)
    };
    let prober = Prober::new(old, no_native()).unwrap();
    assert!(!format!("{prober:?}").contains("secret"));
    assert_eq!(shown(&prober.available(&[model("a/live"), model("gpt2")]).await), ["a/live huggingface"]);
    assert!(prober.model_server_runs().await.is_ok());
    assert_eq!(hub.hits("/status/a/live"), 1);
    assert!(hub.seen().iter().all(|seen| seen.authorization.as_deref() == Some("Bearer hf_secret")));
    assert!(server.seen().iter().all(|seen| seen.authorization.is_none()), "the token went to the model server");
}

#[tokio::test]
async fn redirects_stay_on_the_server_that_was_asked() {
    let elsewhere = FakeHub::start(vec![HubModel::live("a/new", "", 0)]).await.unwrap();
    let moved = |id: &str, to: String| HubModel::answering(id, Answer::Redirect(to));
    let hub = FakeHub::start(vec![
        HubModel::live("a/new", "", 0),
        moved("old-name", "/api/models/a/new".to_owned()),
        moved("a/away", format!("{}/api/models/a/new", elsewhere.base())),
        moved("a/loop", "/api/models/a/loop".to_owned()),
    ])
    .await
    .unwrap();
    let with_token =
        ProbeConfig { token: Secret::new("hf_secret"), ..config(Some(&hub), None, InferenceMode::Huggingface) };
    let prober = Prober::new(with_token, no_native()).unwrap();
    let probing = prober.available(&[model("old-name"), model("a/away"), model("a/loop")]).await;
    assert_eq!(shown(&probing), ["old-name huggingface"]);
    assert_eq!(reasons(&probing), ["a/away huggingface: HTTP 307", "a/loop huggingface: too many redirects"]);
    assert_eq!(elsewhere.seen(), [], "another server was asked");
}
