//! Kokoro's voices: phonemes in, and a style vector that depends on how many there are. Each voice is a file of such vectors,
//! `voices/<name>.bin`.

use std::collections::HashMap;
use std::path::PathBuf;

use serde::Deserialize;

use crate::{ExpertError, ModelFiles};

/// Phonemes that the model takes at once.
const MAX_PHONEMES: usize = 510;
const MAX_VOCABULARY: usize = 1 << 14;
/// A voice has 510 vectors of 256 numbers.
const MAX_VOICE_BYTES: u64 = 4 << 20;
/// The model's creators recommend it.
const DEFAULT_VOICE: &str = "af_heart";
/// Kokoro's rate; no file says it.
pub(super) const RATE: u32 = 24_000;

/// The voices of a folder.
#[derive(Debug)]
pub(super) struct KokoroVoices {
    ids: HashMap<String, i32>,
    folder: PathBuf,
    default: String,
}

#[derive(Deserialize)]
struct TokenizerFile {
    model: TokenizerModel,
}

#[derive(Deserialize)]
struct TokenizerModel {
    vocab: HashMap<String, i32>,
}

impl KokoroVoices {
    /// The voices, where the files are this model's.
    pub(super) fn find(files: &ModelFiles) -> Result<Option<KokoroVoices>, ExpertError> {
        let folder = files.folder.join("voices");
        if !files.has("tokenizer.json") || files.find_onnx("model").is_none() {
            return Ok(None);
        }
        let Ok(entries) = std::fs::read_dir(&folder) else { return Ok(None) };
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.ok()?.file_name().to_str()?.strip_suffix(".bin").map(str::to_owned)
        };
        let mut names: Vec<String> = entries.filter_map(name).collect();
        names.sort();
        let first = names.iter().find(|name| *name == DEFAULT_VOICE).or(names.first()).cloned();
        let Some(default) = first else { return Ok(None) };
        let file: TokenizerFile = files.json("tokenizer.json")?;
        let ids = file.model.vocab;
        if ids.is_empty() || ids.len() > MAX_VOCABULARY {
            return Err(files.bad("tokenizer.json", format!("it has {} phonemes", ids.len())));
        }
        Ok(Some(KokoroVoices { ids, folder, default }))
    }

    /// The numbers of these phonemes between two paddings. Empty where the model knows none of them.
    pub(super) fn ids(&self, phonemes: &str) -> Vec<i32> {
        // The model was trained on another program's phonemes, which lack these of espeak-ng.
        let known = phonemes.chars().map(|letter| match letter {
            'ʲ' => 'j',
            'r' => 'ɹ',
            'x' => 'k',
            'ɬ' => 'l',
            other => other,
        });
        let known = known.filter_map(|letter| self.ids.get(letter.encode_utf8(&mut [0; 4]) as &str).copied());
        let known: Vec<i32> = known.take(MAX_PHONEMES).collect();
        if known.is_empty() {
            return known;
        }
        std::iter::once(0).chain(known).chain([0]).collect()
    }

    /// The style vector of `width` numbers for so many numbers with their paddings.
    ///
    /// # Errors
    /// When there is no such voice, or its file is too short or too long.
    pub(super) fn style(
        &self,
        files: &ModelFiles,
        voice: Option<&str>,
        ids: usize,
        width: usize,
    ) -> Result<Vec<f32>, ExpertError> {
        let name = voice.filter(|name| !name.is_empty()).unwrap_or(&self.default);
        let is_name = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-');
        let path = self.folder.join(format!("{name}.bin"));
        let size = std::fs::metadata(&path).map(|data| data.len()).ok().filter(|_| is_name);
        let size = size.ok_or_else(|| ExpertError::BadInput(format!("`{}` has no voice `{name}`", files.id)))?;
        let file = format!("voices/{name}.bin");
        if size > MAX_VOICE_BYTES {
            return Err(files.bad(&file, format!("it has {size} bytes, more than {MAX_VOICE_BYTES}")));
        }
        let bytes = std::fs::read(&path).map_err(|error| files.bad(&file, error))?;
        let rows = bytes.len() / (width * 4).max(1);
        let row = ids.saturating_sub(2).min(rows.saturating_sub(1));
        let bytes = bytes.get(row * width * 4..(row + 1) * width * 4);
        let bytes = bytes.ok_or_else(|| files.bad(&file, format!("it has no vector of {width} numbers")))?;
        let (numbers, _) = bytes.as_chunks::<4>();
        Ok(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
    }

    /// The espeak-ng voice whose phonemes a voice is given: its first letter names the language.
    pub(super) fn espeak(&self, voice: Option<&str>) -> &'static str {
        match voice.unwrap_or(&self.default).chars().next() {
            Some('b') => "en-gb",
            Some('e') => "es",
            Some('f') => "fr-fr",
            Some('h') => "hi",
            Some('i') => "it",
            Some('j') => "ja",
            Some('p') => "pt-br",
            Some('z') => "cmn",
            _ => "en-us",
        }
    }
}
