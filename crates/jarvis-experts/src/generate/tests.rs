//! Settings of generation, and the rules that bind the scores of tokens.

use std::path::PathBuf;

use serde_json::Value as Json;

use super::config::{EarlyStopping, MAX_LENGTH};
use super::*;
use crate::onnx::{Session, ints};
use crate::{ModelFiles, Resources};

fn model(name: &str) -> ModelFiles {
    ModelFiles::new(name, PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/models").join(name))
}

fn resources() -> Resources {
    Resources::new(1, 1 << 30).unwrap()
}

fn tokens(value: &Json) -> Vec<u32> {
    serde_json::from_value(value.clone()).unwrap()
}

/// The configuration of the files with the fields of one search of the fixture.
fn config(files: &ModelFiles, search: &Json) -> GenerationConfig {
    let mut fields = GenerationConfig::read(files, &[]).unwrap();
    let max_positions = fields.max_positions;
    for (name, value) in search.as_object().unwrap() {
        fields.fields.insert(name.clone(), value.clone());
    }
    fields.fields.remove("forced_eos_token_id");
    let mut config = GenerationConfig::from_fields(fields.fields).unwrap();
    config.max_positions = max_positions;
    config
}

/// Every search of the fixture gives the reference's tokens and scores.
fn check(files: &ModelFiles, decoder: &Decoder, source: Option<Source<'_>>, prompts: &[Vec<u32>], searches: &Json) {
    for search in searches.as_array().unwrap() {
        let config = config(files, &search["config"]);
        let made = decoder.generate(source, prompts, &config, &mut Hooks::default(), &Call::default()).unwrap();
        assert_eq!(made.len(), prompts.len());
        for (made, expected) in made.iter().zip(search["rows"].as_array().unwrap()) {
            assert_eq!(made.tokens, tokens(&expected["tokens"]), "{}", search["config"]);
            assert_eq!(made.is_complete, expected["is_complete"], "{}", search["config"]);
            if let Some(score) = expected["score"].as_f64() {
                assert!(
                    (f64::from(made.score) - score).abs() < 1e-5 * score.abs().max(1.0),
                    "{} is not {score}",
                    made.score
                );
            }
        }
    }
}

fn expected(files: &ModelFiles) -> Json {
    files.json("generation.json").unwrap()
}

/// Sources one by one and as a batch.
fn check_with_encoder(files: &ModelFiles, decoder: &Decoder) {
    let expected = expected(files);
    let rows: Vec<Vec<i32>> = serde_json::from_value(expected["input_ids"].clone()).unwrap();
    let mask: Vec<Vec<i32>> = serde_json::from_value(expected["attention_mask"].clone()).unwrap();
    let shape = [rows.len(), rows[0].len()];
    let (ids, mask) = (ints(&shape, rows.concat()), ints(&shape, mask.concat()));
    let encoder = Session::open(files, "encoder_model", &resources()).unwrap();
    let states = encoder.run_first(vec![("input_ids", (&ids).into()), ("attention_mask", (&mask).into())]).unwrap();
    let start = GenerationConfig::read(files, &[]).unwrap().start(files).unwrap();
    let prompts = vec![vec![start]; rows.len()];
    check(files, decoder, Some(Source { states: &states, mask: Some(&mask) }), &prompts, &expected["searches"]);
}

#[test]
fn searches_equal_the_reference() {
    let files = model("text-bart");
    check_with_encoder(&files, &Decoder::open(&files, &resources()).unwrap());
    let files = model("text-gpt2");
    let expected = expected(&files);
    let prompts = vec![tokens(&expected["input_ids"][0])];
    check(&files, &Decoder::open(&files, &resources()).unwrap(), None, &prompts, &expected["searches"]);
}

/// Scores with the cache are those of the whole sequence at once.
#[test]
fn the_cache_changes_no_score() {
    for name in ["text-bart", "text-opus-mt-en-de", "text-t5", "text-nllb", "text-mbart50"] {
        let files = model(name);
        let decoder = Decoder::open(&files, &resources()).unwrap();
        let config =
            GenerationConfig { num_beams: 1, max_length: Some(24), ..GenerationConfig::read(&files, &[]).unwrap() };
        let (ids, mask) = (ints(&[1, 6], vec![5, 40, 41, 42, 60, 2]), ints(&[1, 6], vec![1; 6]));
        let encoder = Session::open(&files, "encoder_model", &resources()).unwrap();
        let states = encoder.run_first(vec![("input_ids", (&ids).into()), ("attention_mask", (&mask).into())]).unwrap();
        let source = Source { states: &states, mask: Some(&mask) };
        let mut seen: Vec<(Vec<u32>, Vec<f32>)> = Vec::new();
        let mut inspect = |tokens: &[u32], logits: &[f32]| seen.push((tokens.to_vec(), logits.to_vec()));
        let mut hooks = Hooks { inspect: Some(&mut inspect), ..Hooks::default() };
        let config = GenerationConfig { eos_token_id: Vec::new(), ..config };
        let start = vec![vec![config.start(&files).unwrap()]];
        decoder.generate(Some(source), &start, &config, &mut hooks, &Call::default()).unwrap();
        assert_eq!(seen.len(), 23);
        for (tokens, cached) in seen {
            let whole = decoder.next_logits(Some(source), &[tokens], &Call::default()).unwrap();
            let difference = whole[0].iter().zip(&cached).map(|(one, other)| (one - other).abs()).fold(0.0, f32::max);
            assert!(difference < 1e-4, "{name}: {difference}");
        }
    }
}

#[test]
fn configurations_are_bounded() {
    let fields = |json: &str| serde_json::from_str::<serde_json::Map<String, Json>>(json).unwrap();
    let read = |json: &str| GenerationConfig::from_fields(fields(json));
    let absurd =
        read(r#"{"num_beams": 1e9, "max_length": 1e18, "min_length": 1e18, "no_repeat_ngram_size": 1e18}"#).unwrap();
    assert_eq!((absurd.num_beams, absurd.length_limit(1)), (16, MAX_LENGTH));
    assert_eq!(read("{}").unwrap().length_limit(10), 266);
    assert_eq!(read(r#"{"max_length": 40, "max_new_tokens": 7}"#).unwrap().length_limit(3), 10);
    let short = GenerationConfig { max_positions: Some(64), ..read(r#"{"max_length": 400}"#).unwrap() };
    assert_eq!(short.length_limit(1), 64);
    assert_eq!(read(r#"{"eos_token_id": [2, -1, 3]}"#).unwrap().eos_token_id, [2, 3]);
    assert_eq!(read(r#"{"early_stopping": "never"}"#).unwrap().early_stopping, EarlyStopping::Never);
    let refused = [
        r#"{"num_beams": -1}"#,
        r#"{"num_beams": 1.5}"#,
        r#"{"num_beams": "many"}"#,
        r#"{"early_stopping": "perhaps"}"#,
        r#"{"repetition_penalty": 0}"#,
        r#"{"length_penalty": "x"}"#,
        r#"{"eos_token_id": "</s>"}"#,
        r#"{"eos_token_id": [1, "x"]}"#,
        r#"{"eos_token_id": 5000000000}"#,
        r#"{"bad_words_ids": [[]]}"#,
        r#"{"bad_words_ids": 3}"#,
        r#"{"suppress_tokens": {"a": 1}}"#,
    ];
    for json in refused {
        assert!(read(json).is_err(), "{json}");
    }
}

/// The names and places of generation fields, and which file takes precedence.
#[test]
fn configurations_are_merged_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let files = ModelFiles::new("m", folder.path());
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "config.json",
        r#"{"num_beams": 3, "eos_token_id": 7, "forced_eos_token_id": 7, "decoder": {"max_length": 33, "bos_token_id": 1, "n_positions": 50},
        "task_specific_params": {"summarization": {"num_beams": 5}, "translation_en_to_de": {"num_beams": 6}}}"#,
    );
    let read = |tasks: &[&str]| GenerationConfig::read(&files, tasks).unwrap();
    let old = read(&[]);
    assert_eq!((old.num_beams, old.max_length, old.max_positions), (3, Some(33), Some(50)));
    assert_eq!((old.eos_token_id, old.bos_token_id), (vec![7], Some(1)));
    assert_eq!(old.forced_eos_token_id, [7]);
    assert_eq!(read(&["summarization"]).num_beams, 5);
    assert_eq!(read(&["unknown", "translation_en_to_de"]).num_beams, 6);
    write("generation_config.json", r#"{"max_length": 20, "eos_token_id": null}"#);
    let new = read(&[]);
    assert_eq!((new.num_beams, new.max_length, new.eos_token_id), (1, Some(20), vec![7]));
    assert!(new.forced_eos_token_id.is_empty());
    write("generation_config.json", "[]");
    assert!(GenerationConfig::read(&files, &[]).is_err());
}

#[test]
fn decoding_refuses_what_it_cannot_do() {
    let files = model("text-gpt2");
    let decoder = Decoder::open(&files, &resources()).unwrap();
    let config = GenerationConfig::read(&files, &[]).unwrap();
    let generate =
        |prompts: &[Vec<u32>], call: &Call| decoder.generate(None, prompts, &config, &mut Hooks::default(), call);
    let call = Call::default();
    assert_eq!(generate(&[], &call), Ok(Vec::new()));
    for prompts in
        [vec![vec![]], vec![vec![1], vec![1, 2]], vec![vec![5; 64]], vec![vec![99_999_999]], vec![vec![u32::MAX]]]
    {
        assert!(generate(&prompts, &call).is_err(), "{:?}", prompts[0].len());
    }
    assert!(generate(&vec![vec![1]; 300], &call).is_err());
    call.cancel.cancel();
    assert_eq!(generate(&[vec![5]], &call), Err(ExpertError::Cancelled));
}
