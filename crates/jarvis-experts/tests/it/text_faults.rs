//! Text models on bad input, broken and hostile files, and beyond the limits of a model.

use std::fs;
use std::path::{Path, PathBuf};

use jarvis_experts::{Call, ExpertError, Input, ModelFiles, Output, Resources, open};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A copy of a fixture whose files a test may change.
pub(crate) struct Copy {
    pub(crate) folder: TempDir,
    name: String,
}

impl Copy {
    pub(crate) fn of(name: &str) -> Copy {
        let folder = tempfile::tempdir().unwrap();
        copy(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/models").join(name), folder.path());
        Copy { folder, name: name.to_owned() }
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.folder.path().join(file), text).unwrap();
    }

    /// Changes fields of a JSON file; null removes one.
    pub(crate) fn set(&self, file: &str, fields: &Value) {
        let path = self.folder.path().join(file);
        let mut value: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        for (name, field) in fields.as_object().unwrap() {
            value[name] = field.clone();
        }
        fs::write(path, value.to_string()).unwrap();
    }

    fn run(&self, task: &str, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let files = ModelFiles::new(self.name.clone(), self.folder.path());
        open(&files, task, &Resources::new(1, 1 << 30).unwrap())?.run(input, call)
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)
        } else {
            fs::copy(entry.path(), target).map(drop).unwrap()
        }
    }
}

fn text(text: &str) -> Input {
    Input::Text(text.to_owned())
}

fn translate(text: &str, from: Option<&str>, to: Option<&str>) -> Input {
    Input::Translate { text: text.to_owned(), from: from.map(str::to_owned), to: to.map(str::to_owned) }
}

fn question(question: &str, context: &str) -> Input {
    Input::Question { question: question.to_owned(), context: context.to_owned() }
}

fn choices(text: &str, labels: &[&str]) -> Input {
    let labels = labels.iter().map(|label| (*label).to_owned()).collect();
    Input::Choices { text: text.to_owned(), labels, several: false }
}

/// The error names the fault.
#[track_caller]
fn check(model: &Copy, task: &str, input: &Input, fault: &str) {
    match model.run(task, input, &Call::default()) {
        Ok(output) => panic!("{} did not fail with `{fault}`: {output:?}", model.name),
        Err(error) => assert!(error.to_string().contains(fault), "`{error}` does not say `{fault}`"),
    }
}

#[test]
fn inputs_of_other_forms_and_empty_ones_are_refused() {
    let long = "word ".repeat(500_000);
    let cases = [
        ("text-bert-classification", "text-classification", text("  \n"), "the text is empty"),
        ("text-bert-classification", "text-classification", text(&long), "at most"),
        ("text-bert-classification", "text-classification", question("a", "b"), "takes a text"),
        ("text-bert-entities", "token-classification", text(""), "the text is empty"),
        ("text-bert-entities", "token-classification", choices("a", &["b"]), "takes a text"),
        ("text-distilbert-answers", "question-answering", text("a"), "takes a question and a context"),
        ("text-distilbert-answers", "question-answering", question("", "b"), "the question is empty"),
        ("text-distilbert-answers", "question-answering", question("a", " "), "the context is empty"),
        ("text-distilbert-answers", "question-answering", question(&"why ".repeat(80), "b"), "reads 64 tokens at once"),
        ("text-distilbert-mnli", "zero-shot-classification", choices("a", &[]), "labels"),
        ("text-distilbert-mnli", "zero-shot-classification", choices("a", &["b", " "]), "labels"),
        ("text-distilbert-mnli", "zero-shot-classification", choices("", &["b"]), "the text is empty"),
        (
            "text-distilbert-mnli",
            "zero-shot-classification",
            choices("a", &["long ".repeat(90).as_str()]),
            "tokens at once",
        ),
        ("text-bert-mask", "fill-mask", text("no mask at all"), "has 0 masks: write one `[MASK]`"),
        ("text-roberta-mask", "fill-mask", text("[MASK] and <mask>"), "has 2 masks: write one `<mask>`"),
        ("text-minilm", "feature-extraction", Input::Texts(vec![]), "1 to"),
        ("text-minilm", "feature-extraction", text(" "), "the text is empty"),
        ("text-minilm", "sentence-similarity", Input::Texts(vec!["a".to_owned(), String::new()]), "the text is empty"),
        ("text-minilm", "sentence-similarity", Input::Texts(vec!["a".to_owned()]), "others to compare it with"),
        ("text-t5", "summarization", text(""), "the text is empty"),
        ("text-t5", "summarization", translate("a", None, None), "takes a text"),
        ("text-bart", "text2text-generation", text(&"word ".repeat(90)), "reads 64 at once"),
        ("text-gpt2", "text-generation", text(&"word ".repeat(90)), "no room"),
        ("text-t5", "translation", translate("a", Some("en"), Some("tlh")), "translates from en to de only"),
        ("text-t5", "translation", text("a"), "takes a text and languages"),
        ("text-opus-mt-en-de", "translation", translate("a", Some("fr"), None), "translates from en to de only"),
        ("text-nllb", "translation", translate("a", None, Some("tlh")), "does not know the language `tlh`"),
        ("text-nllb", "translation", translate("a", None, None), "language to translate to"),
    ];
    for (name, task, input, fault) in cases {
        check(&Copy::of(name), task, &input, fault);
    }
}

#[test]
fn files_that_are_missing_or_broken_are_named() {
    let cases = [
        ("config.json", None, "lacks the file config.json"),
        ("config.json", Some("["), "config.json"),
        ("config.json", Some("[]"), "config.json"),
        ("tokenizer.json", None, "lacks the file tokenizer.json"),
        ("tokenizer.json", Some("{}"), "tokenizer.json"),
        ("tokenizer.json", Some("{\"model\": {\"type\": \"WordPiece\"}}"), "tokenizer.json"),
        (
            "tokenizer.json",
            Some(
                "{\"version\":\"1.0\",\"added_tokens\":[],\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[\"a b\"]}}",
            ),
            "tokenizer.json",
        ),
        (
            "tokenizer.json",
            Some(
                "{\"version\":\"1.0\",\"added_tokens\":[],\"model\":{\"type\":\"Unigram\",\"unk_id\":9,\"vocab\":[[\"a\",0.0]]}}",
            ),
            "tokenizer.json",
        ),
        ("tokenizer_config.json", Some("3"), "tokenizer_config.json"),
        ("onnx/model.onnx", None, "lacks the file onnx/model.onnx"),
        ("onnx/model.onnx", Some("not a graph"), "model.onnx"),
        ("onnx/model.onnx", Some(""), "does not take `input_ids`"),
    ];
    for (file, contents, fault) in cases {
        let model = Copy::of("text-bert-entities");
        match contents {
            Some(contents) => model.write(file, contents),
            None => fs::remove_file(model.folder.path().join(file)).unwrap(),
        }
        check(&model, "token-classification", &text("Emma"), fault);
    }
    let model = Copy::of("text-bart");
    for part in ["decoder_model_merged", "encoder_model"] {
        fs::remove_file(model.folder.path().join(format!("onnx/{part}.onnx"))).unwrap();
        check(&model, "summarization", &text("a"), &format!("lacks the file onnx/{part}.onnx"));
    }
    let model = Copy::of("text-minilm");
    for (file, contents) in [
        ("modules.json", r#"[{"type": "sentence_transformers.models.Pooling", "path": "../../etc"}]"#),
        ("modules.json", r#"[{"type": "sentence_transformers.models.Pooling", "path": ".."}]"#),
        ("modules.json", r#"[{"type": "sentence_transformers.models.Dense", "path": "2_Dense"}]"#),
        ("modules.json", "7"),
        ("config_sentence_transformers.json", r#"{"default_prompt_name": "query", "prompts": {}}"#),
        ("1_Pooling/config.json", "{}"),
    ] {
        let model = Copy::of(&model.name);
        model.write(file, contents);
        let fault = if contents.contains("Dense") { "2_Dense" } else { file };
        check(&model, "feature-extraction", &text("a"), fault);
    }
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let cases = [
        (json!({"id2label": {"0": "A", "1": "B"}}), "names 2 labels, and the graph gives 3 scores"),
        (json!({"id2label": {"0": "A", "1": "B", "18446744073709551615": "C"}}), "id2label"),
        (json!({"id2label": {"0": "A", "x": "B"}}), "id2label"),
        (json!({"id2label": ["A"]}), "id2label is not a map"),
        (json!({"problem_type": "guessing"}), "unknown problem_type `guessing`"),
        (json!({"problem_type": 3}), "problem_type"),
        (json!({"architectures": ["BertForTokenClassification"]}), "no processing"),
        (json!({"max_position_embeddings": 2}), "tokens at once"),
    ];
    for (fields, fault) in cases {
        let model = Copy::of("text-bert-classification");
        model.set("config.json", &fields);
        check(&model, "text-classification", &text("What a film!"), fault);
    }
    // Graphs of other heads than the configuration names.
    for (name, task) in [
        ("text-bert-entities", "text-classification"),
        ("text-bert-classification", "token-classification"),
        ("text-bert-mask", "question-answering"),
        ("text-bert-classification", "fill-mask"),
        ("text-bert-classification", "feature-extraction"),
        ("text-minilm", "zero-shot-classification"),
    ] {
        let model = Copy::of(name);
        model.set("config.json", &json!({"architectures": null}));
        let input = match task {
            "question-answering" => question("a", "b"),
            "zero-shot-classification" => choices("a", &["b"]),
            _ => text("[MASK]"),
        };
        check(&model, task, &input, "cannot be run here");
    }
}

#[test]
fn generation_settings_are_bounded() {
    let source = text("The council met on Monday.");
    for (fields, fault) in [
        (json!({"num_beams": "x"}), "num_beams"),
        (json!({"decoder_start_token_id": 99_999}), "failed"),
        (json!({"suppress_tokens": (0..400).collect::<Vec<u32>>()}), "no token has a finite score"),
        (json!({"max_length": 1}), "no room"),
    ] {
        let model = Copy::of("text-bart");
        model.set("config.json", &json!({"task_specific_params": null}));
        model.set("generation_config.json", &fields);
        check(&model, "text2text-generation", &source, fault);
    }
    for fields in [
        json!({"num_beams": 1_000_000_000u64, "max_length": 1e18}),
        json!({"min_length": 1e18, "num_beams": 2}),
        json!({"no_repeat_ngram_size": 1e18}),
        json!({"forced_bos_token_id": 4_000_000_000u64, "forced_eos_token_id": 4_000_000_000u64}),
        json!({"eos_token_id": [99_999], "bad_words_ids": [[99_999], [5, 99_999]]}),
        json!({"length_penalty": -1e30}),
        json!({"length_penalty": 1e30, "early_stopping": "never"}),
    ] {
        let model = Copy::of("text-bart");
        model.set("generation_config.json", &fields);
        let output = model.run("text2text-generation", &source, &Call::default());
        assert!(matches!(output, Ok(Output::Text(_))), "{fields}: {output:?}");
    }
}

#[test]
fn a_tokenizer_with_other_ids_than_the_graph_fails_without_panic() {
    let model = Copy::of("text-bert-classification");
    let path = model.folder.path().join("tokenizer.json");
    let mut tokenizer: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    tokenizer["model"]["vocab"]["soup"] = json!(4_000_000_000u32);
    fs::write(path, tokenizer.to_string()).unwrap();
    check(&model, "text-classification", &text("soup"), "failed");
}

#[test]
fn windows_have_sane_sizes_whatever_the_files_say() {
    for fields in [json!({"model_max_length": 1e30}), json!({"model_max_length": -5}), json!({"model_max_length": "x"})]
    {
        let model = Copy::of("text-bert-classification");
        model.set("tokenizer_config.json", &fields);
        model.run("text-classification", &text(&"What a film! ".repeat(50)), &Call::default()).unwrap();
    }
}

#[test]
fn calls_end_when_cancelled() {
    for (name, task, input) in [
        ("text-bert-classification", "text-classification", text("a")),
        ("text-distilbert-answers", "question-answering", question("a", "b")),
        ("text-minilm", "feature-extraction", text("a")),
        ("text-bart", "summarization", text("a")),
        ("text-nllb", "translation", translate("a", None, Some("fr"))),
    ] {
        let call = Call::default();
        call.cancel.cancel();
        assert_eq!(Copy::of(name).run(task, &input, &call), Err(ExpertError::Cancelled), "{name}");
    }
    // In the middle of a text, as soon as the first piece of it is out.
    let cancel = Call::default().cancel;
    let on_text = {
        let cancel = cancel.clone();
        move |_: &str| cancel.cancel()
    };
    let call = Call { cancel, on_text: Some(Box::new(on_text)), ..Call::default() };
    assert_eq!(Copy::of("text-gpt2").run("text-generation", &text("When does"), &call), Err(ExpertError::Cancelled));
}
