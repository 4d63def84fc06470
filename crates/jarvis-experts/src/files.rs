//! The files of one model: a folder as the Hub lays it out.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::ExpertError;

/// The largest JSON or text file that is read: tokenizers of large vocabularies have tens of megabytes.
const MAX_TEXT: u64 = 128 << 20;

/// A model as files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFiles {
    /// What messages and answers call it, such as `Xenova/detr-resnet-50`.
    pub id: String,
    pub folder: PathBuf,
    /// The weights to take, relative to the folder, where several could be: `onnx/model_quantized.onnx`, `model-q4_k_m.gguf`.
    pub weights: Vec<String>,
}

/// Bytes of an encoder up to which its weights are repacked when it is loaded: it is a tenth quicker then, and takes its memory
/// twice. Decoders, which take one row at a time, and convolutions gain nothing.
const REPACKED: u64 = 200_000_000;

/// Whether the weights of this ONNX file are repacked when it is loaded.
pub(crate) fn is_repacked(path: &Path, bytes: u64) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    bytes <= REPACKED && name.starts_with("encoder_model") && name.ends_with(".onnx")
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |data| data.len())
}

impl ModelFiles {
    pub fn new(id: impl Into<String>, folder: impl Into<PathBuf>) -> ModelFiles {
        ModelFiles { id: id.into(), folder: folder.into(), weights: Vec::new() }
    }

    /// Whether the file is there.
    pub fn has(&self, name: &str) -> bool {
        self.folder.join(name).is_file()
    }

    /// The path of a file that must be there.
    ///
    /// # Errors
    /// [`ExpertError::MissingFile`].
    pub fn path(&self, name: &str) -> Result<PathBuf, ExpertError> {
        let path = self.folder.join(name);
        if path.is_file() {
            return Ok(path);
        }
        Err(ExpertError::MissingFile { model: self.id.clone(), file: name.to_owned() })
    }

    /// Reads a text file.
    ///
    /// # Errors
    /// When it is not there, too large, or not UTF-8.
    pub fn text(&self, name: &str) -> Result<String, ExpertError> {
        let path = self.path(name)?;
        let mut text = String::new();
        let file = fs::File::open(&path).map_err(|error| self.bad(name, error))?;
        let read = file.take(MAX_TEXT + 1).read_to_string(&mut text).map_err(|error| self.bad(name, error))?;
        if read as u64 > MAX_TEXT {
            return Err(self.bad(name, "it is larger than a file of settings can be"));
        }
        Ok(text)
    }

    /// Reads a JSON file.
    ///
    /// # Errors
    /// When it is not there, or not what it must be.
    pub fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T, ExpertError> {
        serde_json::from_str(&self.text(name)?).map_err(|error| self.bad(name, error))
    }

    /// Reads a JSON file where there is one.
    ///
    /// # Errors
    /// When it is there and not what it must be.
    pub fn json_if_there<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, ExpertError> {
        if self.has(name) { self.json(name).map(Some) } else { Ok(None) }
    }

    /// The ONNX file of one part of the model (`model`, `encoder_model`, `decoder_model_merged`), in the layout of optimum and
    /// transformers.js: in the folder or in its `onnx/`, with any suffix for its precision. What [`ModelFiles::weights`] names
    /// comes first, else the unquantised file, else the first.
    ///
    /// # Errors
    /// [`ExpertError::MissingFile`].
    pub fn onnx(&self, part: &str) -> Result<PathBuf, ExpertError> {
        let missing = || ExpertError::MissingFile { model: self.id.clone(), file: format!("onnx/{part}.onnx") };
        self.find_onnx(part).ok_or_else(missing)
    }

    /// As [`ModelFiles::onnx`], where it may be absent.
    pub fn find_onnx(&self, part: &str) -> Option<PathBuf> {
        let is_part = |path: &Path| {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            let suffix = stem.strip_prefix(part);
            path.extension().is_some_and(|extension| extension == "onnx")
                && suffix.is_some_and(|suffix| suffix.is_empty() || PRECISIONS.contains(&suffix))
        };
        let named = self.weights.iter().map(|name| self.folder.join(name)).find(|path| is_part(path) && path.is_file());
        if named.is_some() {
            return named;
        }
        let mut found: Vec<PathBuf> = ["onnx", ""]
            .iter()
            .filter_map(|sub| fs::read_dir(self.folder.join(sub)).ok())
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| is_part(path) && path.is_file())
            .collect();
        found.sort_by_key(|path| path.as_os_str().len());
        found.into_iter().next()
    }

    /// The GGUF file of the model: the one that is named, else the first by name in the folder.
    pub fn gguf(&self) -> Option<String> {
        let is_gguf = |name: &str| Path::new(name).extension().is_some_and(|end| end.eq_ignore_ascii_case("gguf"));
        if let Some(named) = self.weights.iter().find(|name| is_gguf(name)) {
            return Some(named.clone());
        }
        let names = fs::read_dir(&self.folder).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.filter(|name| is_gguf(name)).min()
    }

    /// Bytes of the weights that it would load: those that are named, else one file of each part in the folder.
    pub fn weight(&self) -> u64 {
        self.weight_files().iter().map(|path| size(path)).sum()
    }

    fn weight_files(&self) -> Vec<PathBuf> {
        if !self.weights.is_empty() {
            return self.weights.iter().map(|name| self.folder.join(name)).collect();
        }
        let files = ["onnx", ""].iter().filter_map(|sub| fs::read_dir(self.folder.join(sub)).ok()).flatten();
        let names = files.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let parts: BTreeSet<String> = names
            .filter_map(|name| {
                let stem = name.strip_suffix(".onnx")?;
                let part = PRECISIONS.iter().find_map(|precision| stem.strip_suffix(precision)).unwrap_or(stem);
                Some(part.to_owned())
            })
            .collect();
        let onnx: Vec<PathBuf> = parts.iter().filter_map(|part| self.find_onnx(part)).collect();
        if !onnx.is_empty() {
            return onnx;
        }
        vec![self.folder.join(self.gguf().unwrap_or_else(|| "model.safetensors".to_owned()))]
    }

    /// Bytes of memory that are enough while it is loaded, where more is not known.
    pub(crate) fn memory(&self) -> u64 {
        let needed = |path: &PathBuf| match path.extension() {
            // Computed with in 32 bits, which a file in 16 bits becomes beside itself.
            Some(kind) if kind == "safetensors" => size(path).saturating_mul(3),
            _ if is_repacked(path, size(path)) => size(path).saturating_mul(2),
            _ => size(path),
        };
        self.weight_files().iter().map(needed).fold(0, u64::saturating_add)
    }

    /// An error of this file.
    pub(crate) fn bad(&self, file: &str, reason: impl ToString) -> ExpertError {
        ExpertError::BadFile { model: self.id.clone(), file: file.to_owned(), reason: reason.to_string() }
    }

    /// That jarvis has no way to run it.
    pub(crate) fn unsupported(&self, reason: impl Into<String>) -> ExpertError {
        ExpertError::Unsupported { model: self.id.clone(), reason: reason.into() }
    }

    /// That the engine failed.
    pub(crate) fn failed(&self, reason: impl ToString) -> ExpertError {
        ExpertError::Failed { model: self.id.clone(), reason: reason.to_string() }
    }
}

/// Endings that say how the weights of an ONNX file are stored.
const PRECISIONS: [&str; 8] = ["_quantized", "_int8", "_uint8", "_fp16", "_q8", "_q4", "_q4f16", "_bnb4"];
