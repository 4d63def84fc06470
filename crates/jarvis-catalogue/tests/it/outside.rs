//! The originals' catalogue and published OpenAPI documents, which are not ours to copy. Each test is skipped, and says so,
//! where its file is absent; `sample.rs` and the library of the OpenAPI tests check the same on data of our own.

#![allow(clippy::print_stdout, reason = "a skipped test says so")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use jarvis_catalogue::openapi::{ApiDocument, KeyPlace};
use jarvis_catalogue::{Catalogue, Deployment, InferenceMode, Wanted, read_models};
use serde_json::{Map, Value, json};

fn outside(file: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(file);
    if !path.is_file() {
        println!("skipped: {} is absent", path.display());
        return None;
    }
    Some(path)
}

fn published(name: &str) -> Option<ApiDocument> {
    let path = outside(&format!("easytool/{name}"))?;
    let Ok(unpacked) = Command::new("gzip").arg("-dc").arg(&path).output() else {
        println!("skipped: gzip is not installed");
        return None;
    };
    let document = ApiDocument::parse(&String::from_utf8(unpacked.stdout).unwrap()).unwrap();
    for operation in &document.operations {
        let arguments: Map<String, Value> =
            operation.parameters.iter().map(|one| (one.name.clone(), one.schema.sample(&one.name))).collect();
        assert_eq!(operation.faults(&arguments), [], "{}", operation.usage());
    }
    Some(document)
}

#[test]
fn the_catalogue_of_the_original_is_read() {
    let Some(path) = outside("hugginggpt/p0_models.jsonl") else { return };
    let loaded = read_models(&path).unwrap();
    assert_eq!(loaded.notes, Vec::<String>::new());
    assert_eq!(loaded.models.len(), 673);
    let tasks: BTreeSet<&str> = loaded.models.iter().map(|model| model.task.as_str()).collect();
    assert_eq!(tasks.len(), 24);
    assert_eq!(loaded.models.iter().filter(|model| model.tags.is_some()).count(), 563);
    let catalogue = Catalogue::with_models(loaded.models, loaded.notes);
    let wanted = Wanted::remote(InferenceMode::Huggingface, Deployment::Full);
    let found = catalogue.candidates("object-detection", &wanted);
    assert_eq!((found.len(), found[0].id.as_str(), found[0].likes), (10, "facebook/detr-resnet-50", 129));
    assert_eq!(found[9].id, "google/owlvit-large-patch14");
    assert_eq!(catalogue.candidates("text-to-video", &wanted).len(), 8);
}

#[test]
fn the_document_of_tmdb_is_read() {
    let Some(tmdb) = published("tmdb_oas.json.gz") else { return };
    assert_eq!((tmdb.operations.len(), &tmdb.keys), (54, &vec![KeyPlace::Query("api_key".into())]));
    let trending = tmdb.operation("GET /trending/{media_type}/{time_window}").unwrap();
    assert_eq!(trending.placeholders(), ["media_type", "time_window"]);
    assert_eq!(trending.parameters.len(), 2);
    let found = tmdb.response(tmdb.operation("GET /search/movie").unwrap());
    assert_eq!(found.example.unwrap()["results"][0]["id"], 24428);
}

#[test]
fn the_document_of_spotify_is_read() {
    let Some(spotify) = published("spotify_oas.json.gz") else { return };
    assert_eq!((spotify.operations.len(), &spotify.keys), (40, &vec![KeyPlace::Bearer]));
    let search = spotify.operation("GET /search").unwrap();
    assert!(search.parameter("q").unwrap().required && !search.parameter("market").unwrap().required);
    assert_eq!(search.parameter("limit").unwrap().schema.default, Some(json!(20)));
}
