//! Refreshing a catalogue file from the fake Hub.

use std::path::Path;
use std::time::Duration;

use jarvis_catalogue::{
    Catalogue, Deployment, InferenceMode, RefreshConfig, RefreshError, Wanted, read_models, refresh,
};
use jarvis_net::Secret;
use jarvis_testing::hub::{Answer, FakeHub, HubModel};
use url::Url;

fn config(hub: &FakeHub) -> RefreshConfig {
    RefreshConfig { timeout: Duration::from_secs(60), ..RefreshConfig::new(Url::parse(&hub.base()).unwrap()) }
}

fn candidates(path: &Path, task: &str) -> Vec<String> {
    let wanted = Wanted::remote(InferenceMode::Huggingface, Deployment::Full);
    let catalogue = Catalogue::with_file(path).unwrap();
    catalogue.candidates(task, &wanted).iter().map(|model| model.id.clone()).collect()
}

#[tokio::test]
async fn the_file_holds_what_the_hub_lists() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("models.jsonl");
    let mut models: Vec<HubModel> =
        (0..120).map(|at| HubModel::live(&format!("a/speech{at}"), "automatic-speech-recognition", at)).collect();
    models.push(HubModel {
        tags: vec!["vision".to_owned()],
        downloads: 77,
        ..HubModel::live("Intel/dpt-large", "depth-estimation", 5)
    });
    models.push(HubModel::live("a/chat", "text-generation", 3));
    models.push(HubModel::with_provider("a/elsewhere", "depth-estimation", 900, "fal-ai", "live"));
    let hub = FakeHub::start(models).await.unwrap();
    let mut steps = Vec::new();
    let wanted = RefreshConfig { per_task: 70, token: Secret::new("hf_secret"), ..config(&hub) };
    let refreshed = refresh(&wanted, &path, |step| steps.push(step)).await.unwrap();
    // `conversational` and `text-generation` share one word at the Hub.
    assert_eq!((refreshed.models, refreshed.tasks, refreshed.notes.len()), (73, 4, 0));
    let loaded = read_models(&path).unwrap();
    assert_eq!((loaded.models.len(), loaded.notes.len()), (73, 0));
    let speech: Vec<&str> = loaded
        .models
        .iter()
        .filter(|model| model.task == "automatic-speech-recognition")
        .map(|model| model.id.as_str())
        .collect();
    assert_eq!((speech.len(), speech[0], speech[69]), (70, "a/speech119", "a/speech50"));
    let depth = loaded.models.iter().find(|model| model.id == "Intel/dpt-large").unwrap();
    assert_eq!((depth.likes, depth.downloads, depth.tags.as_deref()), (5, 77, Some(&["vision".to_owned()][..])));
    assert!(depth.description.contains("depth"), "the built-in description is kept: {:?}", depth.description);
    assert_eq!(candidates(&path, "depth-estimation"), ["Intel/dpt-large"]);
    assert!(candidates(&path, "text-to-image").contains(&"black-forest-labs/FLUX.1-schnell".to_owned()));

    assert_eq!(steps.len(), steps[0].of);
    assert!(steps.iter().enumerate().all(|(at, step)| step.done == at + 1));
    assert_eq!(steps.iter().map(|step| step.models).sum::<usize>(), 73);
    assert!(hub.seen().iter().all(|seen| seen.authorization.as_deref() == Some("Bearer hf_secret")));
    assert_eq!(hub.hits("pipeline_tag=automatic-speech-recognition"), 2);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no other file is left behind");
}

#[tokio::test]
async fn tasks_without_answer_keep_what_the_file_had() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("models.jsonl");
    std::fs::write(
        &path,
        concat!(
            "{\"id\":\"old/speech\",\"task\":\"automatic-speech-recognition\",\"likes\":1,\"description\":\"Mine\"}\n",
            "{\"id\":\"old/depth\",\"task\":\"depth-estimation\",\"likes\":1}\n",
        ),
    )
    .unwrap();
    let hub = FakeHub::start(vec![
        HubModel::live("new/depth", "depth-estimation", 2),
        HubModel { answer: Answer::Status(503), ..HubModel::live("new/speech", "automatic-speech-recognition", 2) },
    ])
    .await
    .unwrap();
    let refreshed = refresh(&config(&hub), &path, |_| {}).await.unwrap();
    assert_eq!(refreshed.notes, ["automatic-speech-recognition: HTTP 503"]);
    assert_eq!(candidates(&path, "depth-estimation"), ["new/depth"]);
    assert_eq!(candidates(&path, "automatic-speech-recognition"), ["old/speech"]);
    let kept = read_models(&path).unwrap();
    assert!(kept.models.iter().any(|model| model.id == "old/speech" && model.description == "Mine"));
}

#[tokio::test]
async fn a_failed_refresh_leaves_the_file_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("models.jsonl");
    let before = "{\"id\":\"old/depth\",\"task\":\"depth-estimation\"}\n";
    std::fs::write(&path, before).unwrap();

    let empty = FakeHub::start(Vec::new()).await.unwrap();
    let error = refresh(&config(&empty), &path, |_| {}).await.unwrap_err();
    assert_eq!(error.to_string(), "the Hub at 127.0.0.1 lists no model of provider `hf-inference`");

    let gone = config(&empty);
    drop(empty);
    let error = refresh(&gone, &path, |_| {}).await.unwrap_err();
    assert!(matches!(error, RefreshError::NoAnswer { .. }), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), before);

    let hub = FakeHub::start(vec![HubModel::live("new/depth", "depth-estimation", 2)]).await.unwrap();
    let error = refresh(&config(&hub), &folder.path().join("missing/models.jsonl"), |_| {}).await.unwrap_err();
    assert!(matches!(error, RefreshError::Io { .. }), "{error}");
    assert!(!error.hint().is_empty());
}
