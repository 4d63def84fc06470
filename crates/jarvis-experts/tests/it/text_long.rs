//! Text models beyond one window, in other file layouts, and with quantised weights.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use jarvis_experts::{Call, Input, ModelFiles, Output, Resources, Scored, open};
use serde_json::{Value, json};

use crate::text::{Case, model, resources};
use crate::text_faults::Copy;

fn run(files: &ModelFiles, task: &str, input: &Input) -> Output {
    open(files, task, &resources()).unwrap().run(input, &Call::default()).unwrap()
}

fn translate(files: &ModelFiles, text: &str) -> String {
    let input = Input::Translate { text: text.to_owned(), from: Some("en".to_owned()), to: None };
    match run(files, "translation", &input) {
        Output::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

fn edit(folder: &Path, file: &str, change: impl FnOnce(String) -> String) {
    let path = folder.join(file);
    fs::write(&path, change(fs::read_to_string(&path).unwrap())).unwrap();
}

/// Lines are translated as if each were alone, whatever else is in their batch.
#[test]
fn lines_stay_lines() {
    let files = model("text-opus-mt-en-de");
    let lines = ["The choir sang twice.", "", "How far is the harbour from the station?", "Soup?"];
    let alone: Vec<String> =
        lines.iter().map(|line| if line.is_empty() { String::new() } else { translate(&files, line) }).collect();
    assert!(alone.iter().filter(|line| !line.is_empty()).count() == 3, "{alone:?}");
    assert_eq!(translate(&files, &lines.join("\n")), alone.join("\n"));
}

/// A text beyond the encoder's window is translated in pieces, all of it.
#[test]
fn long_lines_are_translated_in_pieces() {
    let files = model("text-opus-mt-en-de");
    let sentence = "How far is the harbour from the station, and when does the last boat leave?";
    let one = translate(&files, sentence);
    assert_eq!(translate(&files, &[sentence; 7].join(" ")), [one.as_str(); 7].join(" "));
}

/// A translation that the length limit cut is made again from the halves of its text.
#[test]
fn cut_translations_are_tried_in_parts() {
    let copy = Copy::of("text-opus-mt-en-de");
    let folder = copy.folder.path();
    copy.set("generation_config.json", &json!({"forced_eos_token_id": null, "min_length": 6, "max_length": 6}));
    let files = ModelFiles::new("opus-mt-en-de", folder);
    let (one, other) = ("The choir sang twice.", "The council met on Monday.");
    let both = format!("{} {}", translate(&files, one), translate(&files, other));
    assert_eq!(translate(&files, &format!("{one} {other}")), both);
}

#[test]
fn long_texts_are_summarised_piece_by_piece() {
    let text = "The council met on Monday. It spoke for three hours. It voted to repair the bridge. ".repeat(6);
    for name in ["text-t5", "text-bart"] {
        let told = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&told);
        let call = Call {
            on_text: Some(Box::new(move |text| heard.lock().unwrap().push(text.to_owned()))),
            ..Call::default()
        };
        let output =
            open(&model(name), "summarization", &resources()).unwrap().run(&Input::Text(text.clone()), &call).unwrap();
        let told = told.lock().unwrap();
        assert!(told.len() > 2, "{name}: {told:?}");
        assert_eq!(output, Output::Text(told.concat()));
    }
}

/// Without a graph for later steps, all tokens are decoded again at each step, with the same result.
#[test]
fn a_decoder_without_cache_serves_too() {
    let copy = Copy::of("text-opus-mt-en-de");
    let folder = copy.folder.path();
    fs::remove_file(folder.join("onnx/decoder_with_past_model.onnx")).unwrap();
    let text = "The choir sang twice in the old barn.";
    assert_eq!(
        translate(&ModelFiles::new("opus-mt-en-de", folder), text),
        translate(&model("text-opus-mt-en-de"), text)
    );
}

/// M2M100 is NLLB's architecture with other names for languages.
#[test]
fn languages_have_the_names_of_the_vocabulary() {
    let copy = Copy::of("text-nllb");
    let folder = copy.folder.path();
    let rename = |text: String| {
        [("eng_Latn", "__en__"), ("fra_Latn", "__fr__"), ("deu_Latn", "__de__")]
            .iter()
            .fold(text, |text, (flores, code)| text.replace(flores, code))
    };
    for file in ["tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"] {
        edit(folder, file, rename);
    }
    let cases: Vec<Case> = model("text-nllb").json("expected.json").unwrap();
    for case in cases.iter().take(2) {
        let output = run(&ModelFiles::new("m2m100", folder), "translation", &case.input);
        assert_eq!(serde_json::to_value(output).unwrap(), case.expected);
    }
}

/// Several targets are chosen by a token before the text, by either code of the language.
#[test]
fn marian_targets_are_tokens() {
    let copy = Copy::of("text-opus-mt-en-de");
    let folder = copy.folder.path();
    edit(folder, "tokenizer.json", |text| {
        let mut value: Value = serde_json::from_str(&text).unwrap();
        value["model"]["vocab"][100][0] = ">>fra<<".into();
        value.to_string()
    });
    let files = ModelFiles::new("opus-mt-en-ROMANCE", folder);
    let input = |to: &str| Input::Translate { text: "The choir".to_owned(), from: None, to: Some(to.to_owned()) };
    let french = run(&files, "translation", &input("fr"));
    assert_eq!(french, run(&files, "translation", &input("fra")));
    let plain = Input::Translate { text: "The choir".to_owned(), from: None, to: None };
    assert_ne!(french, run(&model("text-opus-mt-en-de"), "translation", &plain));
    let refused = open(&files, "translation", &resources()).unwrap().run(&input("ro"), &Call::default()).unwrap_err();
    assert!(refused.to_string().contains("does not translate to `ro`"), "{refused}");
}

/// Quantised graphs decide as onnxruntime does with the same file.
#[test]
fn quantised_weights_serve_too() {
    if !crate::sums_8_bit_products() {
        return;
    }
    let mut files = model("text-bert-classification");
    files.weights = vec!["onnx/model_quantized.onnx".to_owned()];
    let cases: Vec<Case> = files.json("expected-quantised.json").unwrap();
    let mut largest: f32 = 0.0;
    for case in &cases {
        let Output::Labels(found) = run(&files, &case.task, &case.input) else { panic!("no labels") };
        let expected: Vec<Scored> = serde_json::from_value(case.expected["Labels"].clone()).unwrap();
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found.label, expected.label);
            largest = largest.max((found.score - expected.score).abs());
        }
    }
    println!("quantised: {largest:.1e}");
    assert!(largest < 1e-3, "{largest}");
    let mut files = model("text-t5");
    files.weights = vec!["onnx/decoder_model_merged_quantized.onnx".to_owned(), "onnx/encoder_model.onnx".to_owned()];
    let cases: Vec<Case> = files.json("expected-quantised.json").unwrap();
    for case in &cases {
        assert_eq!(serde_json::to_value(run(&files, &case.task, &case.input)).unwrap(), case.expected);
    }
}

/// The memory of a model is at least that of its weights, and a model beyond the limit is refused.
#[test]
fn models_tell_their_memory() {
    for (name, task) in
        [("text-minilm", "feature-extraction"), ("text-bart", "summarization"), ("text-gpt2", "text-generation")]
    {
        let files = model(name);
        let memory = open(&files, task, &resources()).unwrap().memory();
        assert!(memory >= files.weight() && memory < files.weight() + 100_000, "{name}: {memory}");
        assert!(open(&files, task, &Resources::new(1, 10_000).unwrap()).is_err());
    }
}
