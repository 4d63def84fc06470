//! The committed sample of a catalogue file.

use std::path::Path;

use jarvis_catalogue::{Catalogue, Deployment, InferenceMode, Wanted};

#[test]
fn the_sample_loads_with_its_one_bad_line_named() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/data/models.jsonl");
    let catalogue = Catalogue::with_file(&path).unwrap();
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
