//! The built-in list and its candidates.

use jarvis_testing::rows;

use super::*;
use crate::{Family, find, task_types};

fn ids(models: &[Arc<Model>]) -> Vec<&str> {
    models.iter().map(|model| model.id.as_str()).collect()
}

#[test]
fn native_ids_and_tasks_are_fixed() {
    let found: HashSet<(String, String)> = native().map(|model| (model.id, model.task)).collect();
    let expected = rows::<(String, String)>(include_str!("tests.json"), "native");
    assert_eq!(found, expected.into_iter().collect());
}

#[test]
fn every_ordinary_task_has_hub_models_and_all_are_described() {
    let catalogue = Catalogue::builtin();
    let ordinary = task_types().iter().filter(|task| matches!(task.family, Family::Ordinary | Family::ChatServed));
    for task in ordinary.filter(|task| task.hub_pipeline_tag.is_some()) {
        let hub = catalogue.models(task.name).iter().filter(|model| model.host == Host::Huggingface).count();
        assert!((2..=CANDIDATES_PER_TASK).contains(&hub), "{} has {hub}", task.name);
    }
    let mut seen = HashSet::new();
    for model in catalogue.all() {
        assert!(find(&model.task).is_some_and(|task| task.name == model.task), "{}", model.id);
        assert!(!model.description.is_empty() && !model.description.ends_with('.'), "{}", model.id);
        assert!(seen.insert((&model.id, &model.task, model.host)), "{} twice", model.id);
    }
    assert_eq!(catalogue.len(), catalogue.all().count());
}

#[test]
fn candidates_follow_the_mode() {
    let catalogue = Catalogue::builtin();
    let check = |task: &str, wanted: Wanted, expected: &[&str]| {
        assert_eq!(ids(&catalogue.candidates(task, &wanted)), expected, "{task} {wanted:?}");
    };
    use Deployment::{Full, Minimal, Standard};
    use InferenceMode::{Huggingface, Hybrid, Local};
    let depth = ["depth-anything/Depth-Anything-V2-Large-hf", "Intel/dpt-large", "Intel/dpt-hybrid-midas"];
    check("depth-estimation", Wanted::remote(Huggingface, Full), &depth);
    check("depth-estimation", Wanted::remote(Hybrid, Minimal), &depth);
    check("depth-estimation", Wanted::remote(Local, Full), &depth);
    check("depth-estimation", Wanted::remote(Local, Minimal), &[]);
    check("depth-estimation", Wanted::native_only(), &[]);
    // The model server's own extras come last, and only where they are loaded and probed.
    let speech = [
        "openai/whisper-large-v3",
        "openai/whisper-large-v3-turbo",
        "openai/whisper-base",
        "facebook/wav2vec2-base-960h",
    ];
    check("automatic-speech-recognition", Wanted::remote(Hybrid, Minimal), &speech);
    check(
        "automatic-speech-recognition",
        Wanted::remote(Hybrid, Standard),
        &[speech[0], speech[1], speech[2], speech[3], "microsoft/speecht5_asr"],
    );
    check("canny-control", Wanted::remote(Huggingface, Full), &[]);
    check("canny-control", Wanted::remote(Local, Minimal), &["canny-control"]);
    check("canny-control", Wanted { native: true, ..Wanted::remote(Hybrid, Full) }, &["native/canny", "canny-control"]);
    check("canny-text-to-image", Wanted::remote(Hybrid, Minimal), &["lllyasviel/sd-controlnet-canny"]);
    check("normal-control", Wanted::remote(Hybrid, Full), &[]);
    check("image-to-text", Wanted::native_only(), &["native/image-measure", "native/ocr"]);
    check("no-such-task", Wanted::remote(Hybrid, Full), &[]);
}

#[test]
fn a_file_replaces_the_built_in_hub_models_of_its_tasks() {
    let row = |id: &str, likes| Model { likes, ..Model::new(id, "image-to-text", Host::Huggingface, "Mine") };
    let many: Vec<Model> = (0..12).map(|at| row(&format!("me/m{at}"), if at == 11 { 9 } else { 1 })).collect();
    let catalogue = Catalogue::with_models(many, vec!["a note".to_owned()]);
    let wanted = Wanted { native: true, ..Wanted::remote(InferenceMode::Huggingface, Deployment::Full) };
    assert_eq!(
        ids(&catalogue.candidates("image-to-text", &wanted)),
        // The most liked first, the others in file order, ten in all.
        [
            "native/image-measure",
            "native/ocr",
            "me/m11",
            "me/m0",
            "me/m1",
            "me/m2",
            "me/m3",
            "me/m4",
            "me/m5",
            "me/m6",
            "me/m7",
            "me/m8"
        ]
    );
    assert!(catalogue.models("depth-estimation").iter().any(|model| model.id == "Intel/dpt-large"));
    assert_eq!(catalogue.notes(), ["a note"]);
    assert!(catalogue.get("me/m5", None).is_some() && catalogue.get("me/m5", Some("translation")).is_none());
}
