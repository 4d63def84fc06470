//! Models of sound against transformers' pipelines (`tests/models/make_audio.py`), and real weights where they are installed.

use std::path::{Path, PathBuf};

use jarvis_experts::{
    Call, ExpertError, Input, LocalModel, ModelFiles, Output, Resources, Sound, Transcript, espeak_voice, open,
};
use serde::Deserialize;

pub(crate) fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models")
}

pub(crate) fn load(folder: &Path, task: &str) -> Box<dyn LocalModel> {
    let files = ModelFiles::new(folder.file_name().unwrap().to_str().unwrap(), folder);
    open(&files, task, &Resources::new(1, 1 << 30).unwrap()).unwrap()
}

pub(crate) fn expected<T: for<'de> Deserialize<'de>>(name: &str) -> T {
    let text = std::fs::read_to_string(models().join(name).join("expected.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The sound that the script makes: noise and triangle waves in steps of a quarter of a second.
fn sound(count: i64, seed: u32) -> Sound {
    let mut state = seed;
    let samples = (0..count).map(|nth| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let block = nth / 4_000;
        let noise = i64::from(state >> 20) - 2_048;
        let triangle = (nth * (400 + 150 * (block * 7 % 11)) % 65_536 - 32_768).abs() - 16_384;
        ((noise + triangle) * (block * 5 % 4)).div_euclid(4) as f32 / 32_768.0
    });
    Sound { rate: 16_000, samples: samples.collect() }
}

pub(crate) fn listen(sound: Sound) -> Input {
    Input::Sound { sound, language: None, translate: false }
}

pub(crate) fn transcript(model: &dyn LocalModel, input: &Input) -> Transcript {
    match model.run(input, &Call::default()).unwrap() {
        Output::Transcript(transcript) => transcript,
        other => panic!("{other:?}"),
    }
}

#[derive(Deserialize)]
struct Words {
    count: i64,
    seed: u32,
    text: String,
    words: Vec<Word>,
}

#[derive(Deserialize)]
struct Word {
    text: String,
    start: f32,
    end: f32,
}

#[test]
fn frames_are_read_as_words() {
    let model = load(&models().join("audio-wav2vec2-ctc"), "automatic-speech-recognition");
    for case in expected::<Vec<Words>>("audio-wav2vec2-ctc") {
        let found = transcript(&*model, &listen(sound(case.count, case.seed)));
        // The reference keeps the space of two delimiters with a blank between them.
        assert_eq!(found.text, case.text.split_whitespace().collect::<Vec<_>>().join(" "), "sound {}", case.seed);
        assert_eq!(found.segments.len(), case.words.len());
        for (found, word) in found.segments.iter().zip(&case.words) {
            assert_eq!(found.text, word.text);
            assert!((found.start - word.start).abs() < 6e-3 && (found.end - word.end).abs() < 6e-3, "{found:?}");
        }
    }
}

#[derive(Deserialize)]
struct Labels {
    count: i64,
    seed: u32,
    labels: Vec<Label>,
}

#[test]
fn labels_fit_sounds_as_the_reference_finds() {
    let model = load(&models().join("audio-clap"), "zero-shot-audio-classification");
    let mut largest: f32 = 0.0;
    for case in expected::<Vec<Labels>>("audio-clap") {
        let sound = Sound { rate: 48_000, ..sound(case.count, case.seed) };
        let labels = case.labels.iter().rev().map(|label| label.label.clone()).collect();
        let output = model.run(&Input::SoundChoices { sound, labels }, &Call::default()).unwrap();
        let Output::Labels(found) = output else { panic!("{output:?}") };
        assert_eq!(found.len(), case.labels.len());
        for (found, wanted) in found.iter().zip(&case.labels) {
            assert_eq!(found.label, wanted.label, "sound {}", case.seed);
            largest = largest.max((found.score - wanted.score).abs());
        }
    }
    println!("audio-clap: largest difference {largest:e}");
    assert!(largest < 1e-4, "{largest}");
}

#[test]
fn sounds_and_labels_that_say_nothing_are_refused() {
    let folder = models().join("audio-clap");
    let model = load(&folder, "zero-shot-audio-classification");
    let sound = || Sound { rate: 48_000, samples: vec![0.1; 4_800] };
    let check = |input: Input, part: &str| {
        let error = model.run(&input, &Call::default()).unwrap_err();
        assert!(matches!(error, ExpertError::BadInput(_)), "{error}");
        assert!(error.to_string().contains(part), "{error}");
    };
    let choices = |labels: &[&str]| Input::SoundChoices {
        sound: sound(),
        labels: labels.iter().map(|label| (*label).to_owned()).collect(),
    };
    check(listen(sound()), "a sound and labels");
    check(choices(&[]), "at least one label");
    check(choices(&["rain", " "]), "no empty ones");
    check(choices(&["rain"; 1_001]), "at most 1000");
    // Settings that cannot be, and those of models that take sounds in parts.
    let copy = tempfile::tempdir().unwrap();
    for name in ["config.json", "tokenizer.json"] {
        std::fs::copy(folder.join(name), copy.path().join(name)).unwrap();
    }
    for (settings, part) in [
        (r#"{"truncation": "fusion"}"#, "four parts"),
        (r#"{"truncation": "rand_trunc", "hop_length": 0}"#, "`hop_length` is 0"),
        (r#"{"truncation": "rand_trunc", "max_length_s": 4000000000}"#, "`max_length_s` is 4000000000"),
        (r#"{"truncation": "rand_trunc", "frequency_min": 9e9}"#, "frequencies from"),
        (r#"{"truncation": "rand_trunc"}"#, "onnx/model.onnx"),
    ] {
        std::fs::write(copy.path().join("preprocessor_config.json"), settings).unwrap();
        let files = ModelFiles::new("clap", copy.path());
        let error = open(&files, "zero-shot-audio-classification", &Resources::new(1, 1 << 30).unwrap()).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[derive(Deserialize)]
struct Label {
    label: String,
    score: f32,
}

#[test]
fn sounds_get_labels() {
    // Quantised weights are less exact, and decide the same.
    let cases = [
        ("audio-hubert-classify", "model", 1e-4),
        ("audio-ast", "model", 1e-4),
        ("audio-ast", "model_quantized", 2e-2),
    ];
    for (name, weights, tolerance) in cases {
        if weights == "model_quantized" && !crate::sums_8_bit_products() {
            continue;
        }
        let mut files = ModelFiles::new(name, models().join(name));
        files.weights = vec![format!("onnx/{weights}.onnx")];
        let model = open(&files, "audio-classification", &Resources::new(1, 1 << 30).unwrap()).unwrap();
        for case in expected::<Vec<Labels>>(name) {
            let output = model.run(&listen(sound(case.count, case.seed)), &Call::default()).unwrap();
            let Output::Labels(found) = output else { panic!("{output:?}") };
            let names = |labels: Vec<&String>| labels.into_iter().cloned().collect::<Vec<_>>();
            assert_eq!(
                names(found.iter().map(|label| &label.label).collect()),
                names(case.labels.iter().map(|label| &label.label).collect())
            );
            let pairs = found.iter().zip(&case.labels);
            let worst = pairs.map(|(found, label)| (found.score - label.score).abs()).fold(0.0, f32::max);
            println!("{name} {weights}, sound {}: largest difference {worst:e}", case.seed);
            assert!(worst <= tolerance, "{name} {weights}: {worst}");
        }
    }
}

#[derive(Deserialize)]
struct Speech {
    count: i64,
    seed: u32,
    asked: Option<String>,
    translate: bool,
    language: String,
    segments: Vec<Word>,
}

#[test]
fn speech_becomes_segments() {
    let model = load(&models().join("audio-whisper"), "automatic-speech-recognition");
    for case in expected::<Vec<Speech>>("audio-whisper") {
        let input = Input::Sound {
            sound: sound(case.count, case.seed),
            language: case.asked.clone(),
            translate: case.translate,
        };
        let found = transcript(&*model, &input);
        assert_eq!(found.language.as_deref(), Some(case.language.as_str()), "sound {}", case.seed);
        let text: String = case.segments.iter().map(|segment| segment.text.as_str()).collect();
        assert_eq!(found.text, text.trim(), "sound {}", case.seed);
        let spoken: Vec<&Word> = case.segments.iter().filter(|segment| !segment.text.trim().is_empty()).collect();
        assert_eq!(found.segments.len(), spoken.len());
        for (found, segment) in found.segments.iter().zip(spoken) {
            assert_eq!(found.text, segment.text.trim());
            assert!((found.start - segment.start).abs() < 1e-3 && (found.end - segment.end).abs() < 1e-3, "{found:?}");
        }
    }
}

#[derive(Deserialize)]
struct Spoken {
    text: String,
    samples: Vec<f32>,
}

#[test]
fn texts_are_spoken() {
    let model = load(&models().join("audio-vits"), "text-to-speech");
    let speak = |text: &str, speed| {
        let input = Input::Speak { text: text.to_owned(), voice: None, language: None, speed };
        model.run(&input, &Call::default())
    };
    for case in expected::<Vec<Spoken>>("audio-vits") {
        let Output::Sound(found) = speak(&case.text, 1.0).unwrap() else { panic!("no sound") };
        assert_eq!((found.rate, found.samples.len()), (16_000, case.samples.len()), "{}", case.text);
        let pairs = found.samples.iter().zip(&case.samples);
        let worst = pairs.map(|(found, wanted)| (found - wanted).abs()).fold(0.0, f32::max);
        println!("{:?}: largest difference {worst:e}", case.text);
        assert!(worst <= 1e-4, "{worst}");
    }
    for (text, speed) in [("", 1.0), ("123", 1.0), ("a", 0.0), ("a", 2.0), ("a", f32::NAN), (&*"a".repeat(40_000), 1.0)]
    {
        let found = speak(text, speed);
        assert!(matches!(found, Err(ExpertError::BadInput(_))), "{speed}: {found:?}");
    }
}

#[test]
fn phonemes_are_styled() {
    let folder = models().join("audio-kokoro");
    let model = load(&folder, "text-to-speech");
    let speak = |text: &str, voice: Option<&str>, speed| {
        let input = Input::Speak { text: text.to_owned(), voice: voice.map(str::to_owned), language: None, speed };
        model.run(&input, &Call::default())
    };
    // Row `n` of a voice, for `n` phonemes, is `n` three times, and the second voice has half more.
    let check = |text: &str, voice, speed, expected: &[f32]| {
        let Output::Sound(sound) = speak(text, voice, speed).unwrap() else { panic!("no sound") };
        assert_eq!((sound.rate, sound.samples.as_slice()), (24_000, expected), "{text}");
    };
    check("a?x.", None, 1.0, &[9.0, 52.0, 62.0, 13.0, 9.0]);
    check("ra", Some("bf_two"), 2.0, &[6.5, 252.5, 92.5, 6.5]);
    // More phonemes than rows take the last row.
    check("aaaaa", None, 1.0, &[9.0, 52.0, 52.0, 52.0, 52.0, 52.0, 9.0]);
    for (text, voice) in [("?", None), ("a", Some("af_none")), ("a", Some("../voices/af_one"))] {
        let found = speak(text, voice, 1.0);
        assert!(matches!(found, Err(ExpertError::BadInput(_))), "{text}, {voice:?}: {found:?}");
    }
    let files = ModelFiles::new("kokoro", folder);
    for (voice, expected) in [(None, "en-us"), (Some("bf_two"), "en-gb"), (Some("if_sara"), "it")] {
        assert_eq!(espeak_voice(&files, voice).unwrap().as_deref(), Some(expected));
    }
    assert_eq!(espeak_voice(&ModelFiles::new("vits", models().join("audio-vits")), None), Ok(None));
}

#[test]
fn unusable_input_is_refused() {
    let whisper = load(&models().join("audio-whisper"), "automatic-speech-recognition");
    let ctc = load(&models().join("audio-wav2vec2-ctc"), "automatic-speech-recognition");
    let ask = |language: Option<&str>, translate| Input::Sound {
        sound: sound(16_000, 1),
        language: language.map(str::to_owned),
        translate,
    };
    let cases: [(&dyn LocalModel, Input); 5] = [
        (&*whisper, ask(Some("tlh"), false)),
        (&*whisper, Input::Text("a text".to_owned())),
        (&*whisper, listen(Sound { rate: 0, samples: vec![0.0] })),
        (&*ctc, ask(None, true)),
        (&*ctc, listen(Sound { rate: 16_000, samples: Vec::new() })),
    ];
    for (model, input) in cases {
        let found = model.run(&input, &Call::default());
        assert!(matches!(found, Err(ExpertError::BadInput(_))), "{found:?}");
    }
    let call = Call::default();
    call.cancel.cancel();
    for model in [&*whisper, &*ctc] {
        assert_eq!(model.run(&ask(None, false), &call), Err(ExpertError::Cancelled));
    }
}

#[test]
fn short_sounds_are_no_fault() {
    for (name, task) in [
        ("audio-whisper", "automatic-speech-recognition"),
        ("audio-wav2vec2-ctc", "automatic-speech-recognition"),
        ("audio-hubert-classify", "audio-classification"),
        ("audio-ast", "audio-classification"),
    ] {
        let model = load(&models().join(name), task);
        for (rate, count) in [(16_000, 1), (16_000, 399), (44_100, 3), (8_000, 4_000)] {
            let input = listen(Sound { rate, samples: vec![0.25; count] });
            let found = model.run(&input, &Call::default());
            assert!(found.is_ok(), "{name}, {count} samples of {rate} Hz: {found:?}");
        }
    }
}

#[test]
fn hostile_files_are_refused() {
    // A file of a good model is replaced, and the model is used where it opens at all.
    let check = |name: &str, file: &str, content: &str| {
        let folder = tempfile::tempdir().unwrap();
        let copy = |from: PathBuf| {
            for entry in std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
                if entry.is_file() && entry.file_name().unwrap() != "expected.json" {
                    std::fs::copy(&entry, folder.path().join(entry.file_name().unwrap())).unwrap();
                }
            }
        };
        copy(models().join(name));
        copy(models().join(name).join("onnx"));
        std::fs::write(folder.path().join(file), content).unwrap();
        let files = ModelFiles::new(name, folder.path());
        let resources = Resources::new(1, 1 << 30).unwrap();
        let result = open(&files, "automatic-speech-recognition", &resources)
            .and_then(|model| model.run(&listen(sound(16_000, 1)), &Call::default()));
        assert!(result.is_err(), "{name}, {file}: {content}: {result:?}");
    };
    let ctc = "audio-wav2vec2-ctc";
    let wav2vec2 = |strides: &str| format!(r#"{{"model_type": "wav2vec2", "conv_stride": {strides}}}"#);
    check(ctc, "config.json", &wav2vec2("[0]"));
    check(ctc, "config.json", &wav2vec2("[4294967296, 4294967296, 4294967296]"));
    check(ctc, "config.json", "[]");
    check(ctc, "vocab.json", "{}");
    check(ctc, "vocab.json", r#"{"a": 18446744073709551615}"#);
    check(ctc, "vocab.json", r#"{"a": 1000000000}"#);
    check(ctc, "vocab.json", r#"{"a": -1}"#);
    check(ctc, "model.onnx", "no graph");
    let whisper = "audio-whisper";
    check(whisper, "tokenizer.json", "{}");
    check(whisper, "preprocessor_config.json", r#"{"feature_size": 81, "chunk_length": 6}"#);
    check(whisper, "preprocessor_config.json", r#"{"feature_size": 80, "chunk_length": 60}"#);
    let tokens =
        |more: &str| format!(r#"{{"decoder_start_token_id": 331, "eos_token_id": 330, "max_length": 48, {more}}}"#);
    check(
        whisper,
        "generation_config.json",
        &tokens(r#""no_timestamps_token_id": 4294967295, "is_multilingual": false"#),
    );
    check(whisper, "generation_config.json", &tokens(r#""lang_to_id": {"en": 332}"#));
    check(whisper, "decoder_model_merged.onnx", "");
}
