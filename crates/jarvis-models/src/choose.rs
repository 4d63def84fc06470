//! Which files of a repository are downloaded. Weights in formats that can run code, and code itself, are never among them.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};

use crate::ModelError;
use crate::catalogue::Entry;
use crate::hub::RemoteFile;
use crate::ids::{FilePath, RepoId};
use crate::layout::{self, Engine};
use crate::reference::Selector;

/// How weights are stored. Each stands for what is usual at that width: `q8` is int8 in ONNX files and Q8_0 in GGUF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    Fp32,
    Fp16,
    Q8,
    Q4,
}

/// Largest file of settings, in bytes.
const MAX_SETTINGS: u64 = 64 << 20;
/// Endings of weights that are loaded by running what they say.
const UNSAFE: [&str; 9] = [".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".h5", ".msgpack", ".joblib"];
/// Endings of files that hold data and nothing else.
const SAFE: [&str; 8] = [".safetensors", ".onnx", ".gguf", ".json", ".txt", ".md", ".jinja", ".npz"];
/// What stands beside the weights unless an entry says otherwise.
const SETTINGS: [&str; 4] = ["*.json", "*.txt", "chat_template.jinja", "1_Pooling/config.json"];
/// Terms that come with a model.
const TERMS: [&str; 4] = ["LICENSE", "LICENSE.txt", "LICENSE.md", "NOTICE"];

/// The files to download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) engine: Engine,
    /// All files, in the order of their names.
    pub(crate) files: Vec<RemoteFile>,
    pub(crate) weights: Vec<FilePath>,
    /// Files that were looked for by name and that the repository does not have.
    pub(crate) absent: Vec<FilePath>,
}

/// What is needed of a model of the catalogue.
pub(crate) fn of_entry(
    entry: &Entry,
    files: &[RemoteFile],
    precision: Option<Precision>,
) -> Result<Chosen, ModelError> {
    let paths = loadable(files);
    let is_there = |path: &FilePath| paths.contains(path);
    let weights = match precision {
        Some(precision) if entry.engine == Engine::Onnx => {
            entry.weights.iter().map(|path| layout::with_precision(path, precision, &paths)).collect::<Option<Vec<_>>>()
        }
        Some(precision) => layout::weights(&paths, Some(precision)).map(|(_, weights)| weights),
        None if entry.weights.iter().all(is_there) => Some(entry.weights.clone()),
        // Repositories are converted again now and then, and the files named anew.
        None => layout::weights(&paths, None).filter(|(engine, _)| *engine == entry.engine).map(|(_, weights)| weights),
    };
    let Some(weights) = weights else {
        return Err(missing(&entry.repo, entry.weights.first(), precision, &paths));
    };
    let patterns: Vec<&str> = match entry.files.is_empty() {
        true => settings(entry.engine),
        false => entry.files.iter().map(String::as_str).collect(),
    };
    let exact = patterns.iter().filter(|pattern| !pattern.contains(['*', '?', '[', '{']));
    let absent = exact.filter_map(|name| FilePath::new(name).ok()).filter(|path| !is_there(path)).collect();
    Ok(Chosen { absent, ..chosen(entry.engine, weights, &patterns, files, &paths) })
}

/// What is needed of any repository.
pub(crate) fn of_repo(
    repo: &RepoId,
    files: &[RemoteFile],
    selector: Option<&Selector>,
    precision: Option<Precision>,
) -> Result<Chosen, ModelError> {
    let paths = loadable(files);
    let found = match selector {
        None => layout::weights(&paths, precision),
        Some(Selector::Quantisation(word)) => {
            let word = word.to_ascii_lowercase();
            layout::gguf(&paths, |name| layout::has_word(name, &word).then_some(0)).map(|files| (Engine::Gguf, files))
        }
        Some(Selector::File(path)) => engine_of(path).filter(|_| paths.contains(path)).map(|engine| {
            let parts = layout::gguf(&paths, |name| name.eq_ignore_ascii_case(path.name()).then_some(0));
            (engine, parts.unwrap_or_else(|| vec![path.clone()]))
        }),
    };
    if let Some((engine, weights)) = found {
        return Ok(chosen(engine, weights, &settings(engine), files, &paths));
    }
    let some_weights = paths.iter().any(|path| engine_of(path).is_some());
    if selector.is_some() || (precision.is_some() && some_weights) {
        let named = match selector {
            Some(Selector::File(path)) => Some(path),
            _ => None,
        };
        return Err(missing(repo, named, precision, &paths));
    }
    let is_unsafe = |file: &&RemoteFile| UNSAFE.iter().any(|ending| file.path.as_str().ends_with(ending));
    let found: Vec<String> = files.iter().filter(is_unsafe).map(|file| file.path.to_string()).take(4).collect();
    let repo = repo.to_string();
    Err(if found.is_empty() { ModelError::NoWeights { repo } } else { ModelError::OnlyUnsafe { repo, files: found } })
}

fn missing(repo: &RepoId, named: Option<&FilePath>, precision: Option<Precision>, paths: &[FilePath]) -> ModelError {
    let what = match (named, precision) {
        (_, Some(precision)) => format!("weights stored as {}", format!("{precision:?}").to_lowercase()),
        (Some(path), None) => format!("file {path}"),
        (None, None) => "such weights".to_owned(),
    };
    let there = paths.iter().filter(|path| engine_of(path).is_some()).map(ToString::to_string).collect();
    ModelError::NoSuchFile { repo: repo.to_string(), what, there }
}

fn chosen(
    engine: Engine,
    weights: Vec<FilePath>,
    patterns: &[&str],
    files: &[RemoteFile],
    paths: &[FilePath],
) -> Chosen {
    let globs = globs(patterns.iter().chain(&TERMS));
    let data: Vec<&FilePath> = weights.iter().flat_map(|path| layout::external_data(path, paths)).collect();
    let is_setting = |file: &RemoteFile| {
        file.size <= MAX_SETTINGS && engine_of(&file.path).is_none() && globs.is_match(file.path.as_str())
    };
    let mut chosen: Vec<RemoteFile> = files
        .iter()
        .filter(|file| weights.contains(&file.path) || data.contains(&&file.path) || is_setting(file))
        .cloned()
        .collect();
    chosen.sort_by(|a, b| a.path.cmp(&b.path));
    chosen.dedup_by(|a, b| a.path == b.path);
    Chosen { engine, files: chosen, weights, absent: Vec::new() }
}

fn settings(engine: Engine) -> Vec<&'static str> {
    if engine == Engine::Gguf { Vec::new() } else { SETTINGS.to_vec() }
}

fn globs<'a>(patterns: impl Iterator<Item = &'a &'a str>) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        // A test compiles those of the catalogue; a bad one matches nothing.
        if let Ok(glob) = GlobBuilder::new(pattern).literal_separator(true).build() {
            set.add(glob);
        }
    }
    set.build().unwrap_or_default()
}

/// Files that hold data and nothing else.
fn loadable(files: &[RemoteFile]) -> Vec<FilePath> {
    let safe = |path: &FilePath| {
        let name = path.as_str();
        SAFE.iter().any(|ending| name.ends_with(ending))
            || TERMS.contains(&name)
            || name.contains(".onnx_data")
            || name.contains(".onnx.data")
    };
    files.iter().map(|file| &file.path).filter(|path| safe(path)).cloned().collect()
}

fn engine_of(path: &FilePath) -> Option<Engine> {
    match path.as_str().rsplit_once('.')?.1 {
        "onnx" => Some(Engine::Onnx),
        "gguf" => Some(Engine::Gguf),
        "safetensors" => Some(Engine::Safetensors),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;
    use crate::ids::BlobId;

    fn remote(names: &[&str]) -> Vec<RemoteFile> {
        let blob = BlobId::new(&"a".repeat(64)).unwrap();
        let file = |name: &&str| RemoteFile { path: FilePath::new(name).unwrap(), size: 10, blob: blob.clone() };
        names.iter().map(file).collect()
    }

    fn names(chosen: &Chosen) -> Vec<&str> {
        chosen.files.iter().map(|file| file.path.as_str()).collect()
    }

    #[test]
    fn no_pickle_and_no_code_is_ever_chosen() {
        let repo = RepoId::new("a/b").unwrap();
        let files = remote(&[
            "config.json",
            "handler.py",
            "model.safetensors",
            "pytorch_model.bin",
            "README.md",
            "LICENSE",
            "tokenizer.json",
            "vocab.txt",
            "training_args.bin",
            "runs/events.json",
            "1_Pooling/config.json",
        ]);
        let chosen = of_repo(&repo, &files, None, None).unwrap();
        let expected =
            ["1_Pooling/config.json", "LICENSE", "config.json", "model.safetensors", "tokenizer.json", "vocab.txt"];
        assert_eq!((names(&chosen), chosen.engine), (expected.to_vec(), Engine::Safetensors));
        for (files, selector, message) in [
            (
                remote(&["pytorch_model.bin", "config.json", "x.ckpt"]),
                None,
                "`a/b` has weights only in formats that can run code (pytorch_model.bin, x.ckpt)",
            ),
            (remote(&["README.md"]), None, "`a/b` has no weights that jarvis can run (safetensors, ONNX or GGUF)"),
            (
                files.clone(),
                Some(Selector::File(FilePath::new("pytorch_model.bin").unwrap())),
                "`a/b` has no file pytorch_model.bin",
            ),
            (files, Some(Selector::File(FilePath::new("handler.py").unwrap())), "`a/b` has no file handler.py"),
            (remote(&["m-Q8_0.gguf"]), Some(Selector::Quantisation("Q4_K_M".into())), "`a/b` has no such weights"),
        ] {
            let error = of_repo(&repo, &files, selector.as_ref(), None).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }

    #[test]
    fn one_quantisation_or_file_can_be_named() {
        let repo = RepoId::new("a/b").unwrap();
        let files = remote(&["m-Q4_K_M.gguf", "m-Q8_0.gguf", "m-Q8_0-extra.gguf", "LICENSE", "params"]);
        for (selector, expected) in [
            (Selector::Quantisation("q8_0".into()), ["LICENSE", "m-Q8_0-extra.gguf"]),
            (Selector::File(FilePath::new("m-Q8_0.gguf").unwrap()), ["LICENSE", "m-Q8_0.gguf"]),
        ] {
            assert_eq!(names(&of_repo(&repo, &files, Some(&selector), None).unwrap()), expected);
        }
    }

    #[test]
    fn a_known_model_is_its_files_in_the_wanted_precision() {
        let catalogue = Catalogue::builtin();
        let entry = catalogue.find("caption").unwrap();
        let both = [
            "config.json",
            "onnx/decoder_model_merged.onnx",
            "onnx/decoder_model_merged_quantized.onnx",
            "onnx/encoder_model.onnx",
            "onnx/encoder_model_quantized.onnx",
            "quantize_config.json",
            "tokenizer.json",
        ];
        let chosen = of_entry(entry, &remote(&both), None).unwrap();
        assert_eq!(chosen.weights, entry.weights);
        assert!(!names(&chosen).contains(&"onnx/encoder_model.onnx"));
        let whole = of_entry(entry, &remote(&both), Some(Precision::Fp32)).unwrap();
        assert!(names(&whole).contains(&"onnx/encoder_model.onnx") && !names(&whole).contains(&both[2]));
        // Renamed since: what the layout says is taken.
        let renamed = of_entry(entry, &remote(&["onnx/encoder_model_int8.onnx", "onnx/decoder_model_int8.onnx"]), None);
        assert_eq!(renamed.unwrap().weights.len(), 2);
        let error = of_entry(entry, &remote(&both), Some(Precision::Fp16)).unwrap_err();
        assert_eq!(error.to_string(), "`Xenova/vit-gpt2-image-captioning` has no weights stored as fp16");
    }
}
