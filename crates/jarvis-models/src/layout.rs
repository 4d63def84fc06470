//! What a list of files is: which engine takes them, which of them are weights, and whether anything is missing.
//!
//! The layouts are those of optimum and transformers.js (`onnx/model_quantized.onnx`, an encoder and a decoder), of GGUF (one file,
//! or parts that are numbered) and of safetensors (one file, or an index and its shards).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::choose::Precision;
use crate::ids::FilePath;

/// What runs the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    Onnx,
    Gguf,
    Safetensors,
}

impl Engine {
    pub fn as_str(self) -> &'static str {
        match self {
            Engine::Onnx => "onnx",
            Engine::Gguf => "gguf",
            Engine::Safetensors => "safetensors",
        }
    }
}

/// What a language model in GGUF form serves.
pub(crate) const GGUF_TASKS: [&str; 2] = ["text-generation", "conversational"];

/// Endings of ONNX files that say how the weights are stored, with the bits of a parameter.
const SUFFIXES: [(&str, Precision, f64); 9] = [
    ("_quantized", Precision::Q8, 8.0),
    ("_int8", Precision::Q8, 8.0),
    ("_uint8", Precision::Q8, 8.0),
    ("_q8", Precision::Q8, 8.0),
    ("_q4f16", Precision::Q4, 4.5),
    ("_bnb4", Precision::Q4, 4.5),
    ("_q4", Precision::Q4, 4.5),
    ("_fp16", Precision::Fp16, 16.0),
    ("", Precision::Fp32, 32.0),
];

/// Quantisations of GGUF files, the preferred first, with the bits of a parameter.
const QUANTISATIONS: [(&str, Precision, f64); 14] = [
    ("q4_k_m", Precision::Q4, 4.9),
    ("q4_k_s", Precision::Q4, 4.6),
    ("q5_k_m", Precision::Q8, 5.7),
    ("q6_k", Precision::Q8, 6.6),
    ("q8_0", Precision::Q8, 8.5),
    ("q5_k_s", Precision::Q8, 5.5),
    ("q4_0", Precision::Q4, 4.5),
    ("q4_1", Precision::Q4, 5.0),
    ("q5_0", Precision::Q8, 5.5),
    ("q5_1", Precision::Q8, 6.0),
    ("q3_k_m", Precision::Q4, 3.9),
    ("f16", Precision::Fp16, 16.0),
    ("bf16", Precision::Fp16, 16.0),
    ("f32", Precision::Fp32, 32.0),
];

/// Bits of a parameter in a file of that name.
pub(crate) fn bits(path: &FilePath) -> f64 {
    let name = path.name().to_ascii_lowercase();
    if let Some(stem) = name.strip_suffix(".onnx") {
        return SUFFIXES.iter().find(|(suffix, ..)| stem.ends_with(suffix)).map_or(32.0, |(.., bits)| *bits);
    }
    QUANTISATIONS.iter().find(|(word, ..)| has_word(&name, word)).map_or(16.0, |(.., bits)| *bits)
}

/// The weights among the files: ONNX where there is some, else GGUF, else safetensors. Nothing where a part is missing.
pub(crate) fn weights(files: &[FilePath], precision: Option<Precision>) -> Option<(Engine, Vec<FilePath>)> {
    onnx(files, precision)
        .map(|files| (Engine::Onnx, files))
        .or_else(|| gguf(files, |name| rank(name, precision)).map(|files| (Engine::Gguf, files)))
        .or_else(|| safetensors(files).map(|files| (Engine::Safetensors, files)))
}

/// The same file with its weights stored in another way, if there is one.
pub(crate) fn with_precision(path: &FilePath, precision: Precision, files: &[FilePath]) -> Option<FilePath> {
    let stem = path.as_str().strip_suffix(".onnx")?;
    let part = SUFFIXES.iter().find_map(|(suffix, ..)| stem.strip_suffix(suffix)).unwrap_or(stem);
    let suffixes = SUFFIXES.iter().filter(|(_, stored, _)| *stored == precision);
    suffixes
        .map(|(suffix, ..)| format!("{part}{suffix}.onnx"))
        .find_map(|name| files.iter().find(|file| file.as_str() == name).cloned())
}

/// Files that hold what does not fit into an ONNX file, named after it.
pub(crate) fn external_data<'a>(weights: &FilePath, files: &'a [FilePath]) -> impl Iterator<Item = &'a FilePath> {
    let (a, b) = (format!("{weights}_data"), format!("{weights}.data"));
    files.iter().filter(move |file| file.as_str().starts_with(&a) || file.as_str().starts_with(&b))
}

fn onnx(files: &[FilePath], precision: Option<Precision>) -> Option<Vec<FilePath>> {
    // By folder, then by part, then by suffix.
    let mut folders: BTreeMap<&str, BTreeMap<&str, BTreeMap<&str, &FilePath>>> = BTreeMap::new();
    for file in files {
        let Some(stem) = file.as_str().strip_suffix(".onnx") else { continue };
        let (folder, stem) = stem.rsplit_once('/').unwrap_or(("", stem));
        let suffix = SUFFIXES.iter().map(|(suffix, ..)| *suffix).find(|suffix| stem.ends_with(suffix)).unwrap_or("");
        let part = stem.strip_suffix(suffix).unwrap_or(stem);
        folders.entry(folder).or_default().entry(part).or_default().insert(suffix, file);
    }
    let parts = folders.get("onnx").or_else(|| folders.get("")).or_else(|| folders.values().next())?;
    let wanted: Vec<&str> = match () {
        () if parts.contains_key("encoder_model") => {
            let merged = parts.contains_key("decoder_model_merged");
            let decoders: &[&str] = if merged { &["decoder_model_merged"] } else { &["decoder_model"] };
            [&["encoder_model"], decoders].concat()
        }
        () if parts.contains_key("model") => vec!["model"],
        // A decoder whose encoder is not there yet.
        () if parts.keys().any(|part| part.starts_with("decoder_")) => return None,
        () => parts.keys().copied().collect(),
    };
    let order = |precision: Precision| SUFFIXES.iter().filter(move |(_, stored, _)| *stored == precision);
    let preferred: Vec<&str> = match precision {
        Some(precision) => order(precision).map(|(suffix, ..)| *suffix).collect(),
        None => [Precision::Q8, Precision::Fp32, Precision::Fp16, Precision::Q4]
            .into_iter()
            .flat_map(order)
            .map(|(suffix, ..)| *suffix)
            .collect(),
    };
    wanted
        .into_iter()
        .map(|part| {
            let stored = parts.get(part)?;
            preferred.iter().find_map(|suffix| stored.get(suffix)).map(|path| (*path).clone())
        })
        .collect()
}

/// The GGUF file of the lowest rank, with all its parts.
pub(crate) fn gguf(files: &[FilePath], rank: impl Fn(&str) -> Option<usize>) -> Option<Vec<FilePath>> {
    let is_model =
        |name: &str| name.ends_with(".gguf") && !["mmproj", "imatrix"].iter().any(|word| name.contains(word));
    let mut candidates: Vec<(usize, &FilePath)> = files
        .iter()
        .filter_map(|file| {
            let name = file.name().to_ascii_lowercase();
            let first = split(&name).is_none_or(|(_, part, _)| part == 1);
            if is_model(&name) && first { Some((rank(&name)?, file)) } else { None }
        })
        .collect();
    candidates.sort();
    let (_, first) = candidates.first()?;
    let Some((stem, _, of)) = split(first.as_str()) else { return Some(vec![(*first).clone()]) };
    let part =
        |number| files.iter().find(|file| file.as_str() == format!("{stem}-{number:05}-of-{of:05}.gguf")).cloned();
    (1..=of).map(part).collect()
}

/// Stem, number and count of a part: `x-00001-of-00003.gguf`.
fn split(name: &str) -> Option<(&str, u32, u32)> {
    let (rest, of) = name.strip_suffix(".gguf")?.rsplit_once("-of-")?;
    let (stem, part) = rest.rsplit_once('-')?;
    let number = |text: &str| (text.len() == 5).then(|| text.parse::<u32>().ok())?;
    let (part, of) = (number(part)?, number(of)?);
    (part >= 1 && part <= of && of <= 1000).then_some((stem, part, of))
}

fn rank(name: &str, precision: Option<Precision>) -> Option<usize> {
    let found = QUANTISATIONS.iter().position(|(word, ..)| has_word(name, word));
    match precision {
        Some(wanted) => found.filter(|at| QUANTISATIONS.get(*at).is_some_and(|(_, stored, _)| *stored == wanted)),
        None => Some(found.unwrap_or(QUANTISATIONS.len())),
    }
}

/// Whether a word stands in a name and no letter or digit beside it.
pub(crate) fn has_word(name: &str, word: &str) -> bool {
    let edge = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_');
    name.match_indices(word).any(|(at, _)| {
        let before = name.get(..at).and_then(|text| text.chars().next_back());
        let after = name.get(at + word.len()..).and_then(|text| text.chars().next());
        edge(before) && edge(after)
    })
}

fn safetensors(files: &[FilePath]) -> Option<Vec<FilePath>> {
    let has = |name: &str| files.iter().find(|file| file.as_str() == name).cloned();
    if let Some(whole) = has("model.safetensors") {
        return Some(vec![whole]);
    }
    let mut shards: Vec<FilePath> = Vec::new();
    let mut of = None;
    for file in files.iter().filter(|file| file.depth() == 0) {
        let Some(stem) = file.as_str().strip_prefix("model-").and_then(|name| name.strip_suffix(".safetensors")) else {
            continue;
        };
        let Some((_, count)) = stem.split_once("-of-") else { continue };
        of = count.parse::<usize>().ok();
        shards.push(file.clone());
    }
    (of == Some(shards.len()) && has("model.safetensors.index.json").is_some()).then_some(shards)
}

/// Task types that a model serves, from its `config.json`.
pub(crate) fn tasks(config: &Value) -> Vec<&'static str> {
    let kind = config.get("model_type").and_then(Value::as_str).unwrap_or_default();
    let architecture = config.pointer("/architectures/0").and_then(Value::as_str).unwrap_or_default();
    let is_sound = ["wav2vec2", "hubert", "wavlm", "audio-spectrogram-transformer", "unispeech"].contains(&kind);
    let tasks: &[&str] = match (kind, architecture) {
        ("whisper" | "moonshine" | "speech_to_text", _) => &["automatic-speech-recognition"],
        ("vits", _) | ("style_text_to_speech_2", _) => &["text-to-speech"],
        ("marian" | "m2m_100" | "nllb" | "mbart", _) => &["translation"],
        ("t5" | "mt5", _) => &["translation", "summarization", "text2text-generation"],
        ("bart" | "pegasus", name) if name.ends_with("ForConditionalGeneration") => &["summarization"],
        ("clip" | "siglip" | "chinese_clip", _) => &["zero-shot-image-classification"],
        ("clap", _) => &["zero-shot-audio-classification"],
        ("blip", _) => &["image-to-text"],
        ("swin2sr", _) => &["image-to-image"],
        ("modnet" | "birefnet", _) => &["background-removal"],
        // Donut is trained for one of several tasks, which only its tokenizer tells; answers are what its models are pulled for.
        (_, "VisionEncoderDecoderModel") if config.pointer("/encoder/model_type") == Some(&"donut-swin".into()) => {
            &["document-question-answering"]
        }
        // A reader of single lines would describe every picture as a line.
        (_, "VisionEncoderDecoderModel") if config.pointer("/decoder/model_type") == Some(&"trocr".into()) => &[],
        (_, "VisionEncoderDecoderModel") => &["image-to-text"],
        (_, "OwlViTForObjectDetection" | "Owlv2ForObjectDetection") => &["zero-shot-object-detection"],
        (_, name) if name.ends_with("ForObjectDetection") => &["object-detection"],
        (_, name) if name.ends_with("Segmentation") => &["image-segmentation"],
        (_, name) if name.ends_with("ForDepthEstimation") => &["depth-estimation"],
        (_, name) if name.ends_with("ForImageClassification") => &["image-classification"],
        (_, name) if name.ends_with("ForCTC") => &["automatic-speech-recognition"],
        (_, name) if is_sound && name.ends_with("Classification") => &["audio-classification"],
        (_, name) if name.ends_with("ForAudioClassification") => &["audio-classification"],
        (_, name) if name.ends_with("ForQuestionAnswering") => &["question-answering"],
        (_, name) if name.ends_with("ForTokenClassification") => &["token-classification"],
        (_, name) if name.ends_with("ForSequenceClassification") => match entails(config) {
            true => &["zero-shot-classification", "text-classification"],
            false => &["text-classification"],
        },
        (_, name) if name.ends_with("ForMaskedLM") => &["fill-mask"],
        (_, name) if name.ends_with("ForCausalLM") || name.ends_with("LMHeadModel") => &["text-generation"],
        ("bert" | "xlm-roberta" | "mpnet" | "roberta" | "distilbert", _) => {
            &["sentence-similarity", "feature-extraction"]
        }
        _ => &[],
    };
    tasks.to_vec()
}

/// Whether a classifier's labels are those of natural language inference.
fn entails(config: &Value) -> bool {
    let labels = config.get("label2id").and_then(Value::as_object);
    labels.is_some_and(|labels| labels.keys().any(|label| label.eq_ignore_ascii_case("entailment")))
}

/// Whether these are the files of a piper voice: `NAME.onnx` with its settings in `NAME.onnx.json`.
pub(crate) fn is_voice(files: &[FilePath]) -> bool {
    let settings = files.iter().filter_map(|file| file.as_str().strip_suffix(".json"));
    settings.filter(|name| name.ends_with(".onnx")).any(|name| files.iter().any(|file| file.as_str() == name))
}

/// Whether all is there that a model of these tasks needs beside its weights.
pub(crate) fn has_settings(engine: Engine, tasks: &[&str], files: &[FilePath]) -> bool {
    let has = |name: &str| files.iter().any(|file| file.as_str() == name);
    // These graphs have their settings in themselves or in a file named after them.
    let needs_none = |task: &&str| match *task {
        "voice-activity-detection" | "image-ocr" => true,
        "text-to-speech" => is_voice(files),
        _ => false,
    };
    if engine == Engine::Gguf || !tasks.is_empty() && tasks.iter().all(needs_none) {
        return true;
    }
    let mixed = |task: &&str| {
        matches!(
            *task,
            "image-to-text"
                | "automatic-speech-recognition"
                | "zero-shot-image-classification"
                | "zero-shot-object-detection"
                | "zero-shot-audio-classification"
                | "document-question-answering"
        )
    };
    let media = |task: &&str| {
        mixed(task) || ["image", "audio", "object", "depth", "background"].iter().any(|word| task.starts_with(word))
    };
    let needs_processor = tasks.iter().any(media);
    let needs_tokenizer = tasks.iter().any(|task| mixed(task) || !media(task));
    let has_tokenizer =
        ["tokenizer.json", "vocab.txt", "vocab.json", "tokenizer.model", "source.spm"].into_iter().any(has);
    has("config.json") && (!needs_processor || has("preprocessor_config.json")) && (!needs_tokenizer || has_tokenizer)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn paths(names: &[&str]) -> Vec<FilePath> {
        names.iter().map(|name| FilePath::new(name).unwrap()).collect()
    }

    #[test]
    fn weights_are_chosen_as_people_lay_them_out() {
        let vision = ["onnx/model.onnx", "onnx/model_quantized.onnx", "onnx/model_fp16.onnx", "model.safetensors"];
        let captions = [
            "onnx/encoder_model_quantized.onnx",
            "onnx/encoder_model.onnx",
            "onnx/decoder_model_merged_quantized.onnx",
            "onnx/decoder_model_quantized.onnx",
            "onnx/decoder_with_past_model_quantized.onnx",
        ];
        let clip = ["onnx/model_quantized.onnx", "onnx/text_model_quantized.onnx", "onnx/vision_model_quantized.onnx"];
        let chat = ["m-Q8_0.gguf", "m-Q4_K_M.gguf", "m-Q4_K_S.gguf", "m-BF16.gguf", "mmproj-F16.gguf"];
        let split = ["q/m-q8_0-00001-of-00002.gguf", "q/m-q8_0-00002-of-00002.gguf"];
        let shards =
            ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "model.safetensors.index.json"];
        let encoder = "onnx/encoder_model_quantized.onnx";
        let decoder = "onnx/decoder_model_merged_quantized.onnx";
        for (files, precision, expected) in [
            (&vision[..], None, &["onnx/model_quantized.onnx"][..]),
            (&vision, Some(Precision::Fp32), &["onnx/model.onnx"]),
            (&vision, Some(Precision::Fp16), &["onnx/model_fp16.onnx"]),
            (&captions, None, &[encoder, decoder]),
            (&captions[..2], None, &[]),
            (&captions[2..], None, &[]),
            (&clip, None, &["onnx/model_quantized.onnx"]),
            (&["model.onnx", "model_O1.onnx"], None, &["model.onnx"]),
            (&["silero_vad.onnx"], None, &["silero_vad.onnx"]),
            (&chat, None, &["m-Q4_K_M.gguf"]),
            (&chat, Some(Precision::Q8), &["m-Q8_0.gguf"]),
            (&chat, Some(Precision::Fp16), &["m-BF16.gguf"]),
            (&chat, Some(Precision::Fp32), &[]),
            (&split, None, &split),
            (&split[..1], None, &[]),
            (&shards, None, &shards[..2]),
            (&shards[1..], None, &[]),
            (&["pytorch_model.bin", "config.json"], None, &[]),
        ] {
            let found = weights(&paths(files), precision).map(|(_, files)| files).unwrap_or_default();
            assert_eq!(found, paths(expected), "{files:?} {precision:?}");
        }
        let data =
            paths(&["onnx/model.onnx", "onnx/model.onnx_data", "onnx/model.onnx_data_1", "onnx/model_q4.onnx_data"]);
        assert_eq!(external_data(&data[0], &data).count(), 2);
    }

    #[test]
    fn tasks_are_read_from_configurations() {
        for (kind, architecture, labels, expected) in [
            ("detr", "DetrForObjectDetection", json!({}), &["object-detection"][..]),
            ("detr", "DetrForSegmentation", json!({}), &["image-segmentation"]),
            ("vision-encoder-decoder", "VisionEncoderDecoderModel", json!({}), &["image-to-text"]),
            ("whisper", "WhisperForConditionalGeneration", json!({}), &["automatic-speech-recognition"]),
            ("bart", "BartForConditionalGeneration", json!({}), &["summarization"]),
            ("distilbert", "DistilBertForSequenceClassification", json!({}), &["text-classification"]),
            (
                "bart",
                "BartForSequenceClassification",
                json!({"entailment": 2}),
                &["zero-shot-classification", "text-classification"],
            ),
            ("wav2vec2", "Wav2Vec2ForSequenceClassification", json!({}), &["audio-classification"]),
            ("bert", "BertModel", json!({}), &["sentence-similarity", "feature-extraction"]),
            ("qwen3", "Qwen3ForCausalLM", json!({}), &["text-generation"]),
            ("mystery", "Mystery", json!({}), &[]),
        ] {
            let config = json!({"model_type": kind, "architectures": [architecture], "label2id": labels});
            assert_eq!(tasks(&config), expected, "{architecture}");
        }
        let of_parts = |part: &str, kind: &str| {
            let architectures = ["VisionEncoderDecoderModel"];
            tasks(
                &json!({"model_type": "vision-encoder-decoder", "architectures": architectures, part: {"model_type": kind}}),
            )
        };
        assert_eq!(of_parts("encoder", "donut-swin"), ["document-question-answering"]);
        assert_eq!(of_parts("decoder", "gpt2"), ["image-to-text"]);
        assert!(of_parts("decoder", "trocr").is_empty(), "one line of writing is no description of a picture");
        assert!(tasks(&json!([1])).is_empty());
    }

    #[test]
    fn settings_that_a_task_needs_are_missed() {
        let whole = ["config.json", "preprocessor_config.json", "tokenizer.json"];
        for (tasks, missing, ok) in [
            (&["image-to-text"][..], "", true),
            (&["image-to-text"], "tokenizer.json", false),
            (&["image-to-text"], "preprocessor_config.json", false),
            (&["object-detection"], "tokenizer.json", true),
            (&["object-detection"], "preprocessor_config.json", false),
            (&["text-classification"], "preprocessor_config.json", true),
            (&["text-classification"], "tokenizer.json", false),
            (&["text-classification"], "config.json", false),
        ] {
            let files: Vec<&str> = whole.iter().copied().filter(|name| *name != missing).collect();
            assert_eq!(has_settings(Engine::Onnx, tasks, &paths(&files)), ok, "{tasks:?} without {missing}");
        }
    }
}
