//! The committed sample of a catalogue file.

use std::collections::BTreeSet;
use std::path::Path;

use jarvis_catalogue::{Catalogue, Deployment, InferenceMode, Wanted, read_models};

#[test]
fn the_sample_loads_with_its_one_bad_line_named() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/data/models.jsonl");
    let loaded = read_models(&path).unwrap();
    let tasks: BTreeSet<&str> = loaded.models.iter().map(|model| model.task.as_str()).collect();
    let tagged = loaded.models.iter().filter(|model| model.tags.is_some()).count();
    assert_eq!((loaded.models.len(), tasks.len(), tagged), (3, 2, 2));
    let catalogue = Catalogue::with_models(loaded.models, loaded.notes);
    assert_eq!(catalogue.notes(), ["line 5: neither `task` nor `pipeline_tag` is given"]);
    let wanted = Wanted::remote(InferenceMode::Huggingface, Deployment::Full);
    let ids = |task: &str| -> Vec<String> {
        catalogue.candidates(task, &wanted).iter().map(|model| model.id.clone()).collect()
    };
    assert_eq!(ids("image-to-text"), ["acme/caption-large", "acme/caption-tiny"]);
    assert_eq!(ids("automatic-speech-recognition"), ["acme/listener"]);
    let listener = catalogue.get("acme/listener", None).unwrap();
    assert_eq!((listener.likes, listener.downloads, listener.tags.as_deref()), (0, 0, None));
    let large = catalogue.get("acme/caption-large", None).unwrap();
    assert_eq!(large.tags.as_deref().unwrap(), ["captioning", "zoo"]);
}
