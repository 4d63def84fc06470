//! Ranking as data: candidates and a request in, an order and the first reason out.

use std::sync::Arc;

use super::*;
use crate::Model;

fn model(id: &str, host: Host, likes: u64, description: &str) -> Available {
    Available { model: Arc::new(Model { likes, ..Model::new(id, "image-to-text", host, description) }), host }
}

fn check(candidates: &[Available], request: &str, native_first: bool, order: &[&str], reason: &str) {
    let ranked = rank(candidates, request, "image-to-text", native_first);
    let found: Vec<&str> = ranked.iter().map(|ranked| ranked.candidate.model.id.as_str()).collect();
    assert_eq!(found, order, "{request}");
    assert_eq!(ranked[0].reason, reason);
}

#[test]
fn order_and_reasons() {
    let all = [
        model("hub/captions", Host::Huggingface, 200, "Captions for photographs"),
        model("hub/handwriting", Host::Huggingface, 20, "Reads handwriting"),
        model("local/captions", Host::Local, 5, "Captions for photographs"),
        model("native/measure", Host::Native, 0, "Measures the picture"),
    ];
    check(
        &all,
        "describe it",
        true,
        &["native/measure", "local/captions", "hub/captions", "hub/handwriting"],
        "it runs inside jarvis",
    );
    check(
        &all,
        "describe it",
        false,
        &["local/captions", "hub/captions", "hub/handwriting", "native/measure"],
        "it is a local model, with 5 likes",
    );
    check(
        &all[..2],
        "what does the handwriting say?",
        false,
        &["hub/handwriting", "hub/captions"],
        "it is available at Hugging Face, and its description fits \"handwriting\"",
    );
    check(
        &all[..2],
        "",
        false,
        &["hub/captions", "hub/handwriting"],
        "it is available at Hugging Face, with 200 likes",
    );
}

#[test]
fn native_models_are_told_apart_by_their_words() {
    let catalogue = crate::Catalogue::builtin();
    let candidates: Vec<Available> = catalogue
        .candidates("image-to-text", &crate::Wanted::native_only())
        .into_iter()
        .map(|model| Available { host: model.host, model })
        .collect();
    for (request, first) in [
        ("what is in /images/a.jpg?", "native/image-measure"),
        ("read the sign in /images/a.jpg", "native/ocr"),
        ("прочитай надпись на картинке", "native/ocr"),
        ("识别图片里的文字", "native/ocr"),
        ("which colours has this picture?", "native/image-measure"),
    ] {
        assert_eq!(rank(&candidates, request, "image-to-text", true)[0].candidate.model.id, first, "{request}");
    }
}

#[test]
fn nothing_to_rank() {
    assert!(rank(&[], "anything", "image-to-text", true).is_empty());
}
