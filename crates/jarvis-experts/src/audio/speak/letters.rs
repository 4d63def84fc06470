//! Texts for VITS checkpoints of transformers: one token per letter, blanks between.

use std::collections::HashMap;

use serde::Deserialize;

use crate::{ExpertError, ModelFiles};

const MAX_LETTERS: usize = 1 << 16;

/// The alphabet of a checkpoint.
#[derive(Debug)]
pub(super) struct Letters {
    ids: HashMap<String, i32>,
    settings: Settings,
}

/// `tokenizer_config.json`.
#[derive(Debug, Deserialize)]
struct Settings {
    #[serde(default = "yes")]
    add_blank: bool,
    #[serde(default = "yes")]
    normalize: bool,
    /// Whether the checkpoint reads espeak-ng's phonemes, which the caller gives in place of the text.
    #[serde(default = "yes")]
    phonemize: bool,
    language: Option<String>,
}

fn yes() -> bool {
    true
}

impl Letters {
    pub(super) fn read(files: &ModelFiles) -> Result<Letters, ExpertError> {
        let ids: HashMap<String, i32> = files.json("vocab.json")?;
        if ids.is_empty() || ids.len() > MAX_LETTERS {
            return Err(files.bad("vocab.json", format!("it has {} letters", ids.len())));
        }
        const NAME: &str = "tokenizer_config.json";
        let settings = match files.json_if_there(NAME)? {
            Some(settings) => settings,
            None => serde_json::from_str("{}").map_err(|error| files.bad(NAME, error))?,
        };
        Ok(Letters { ids, settings })
    }

    /// The tokens of a text. Letters that the alphabet lacks, punctuation mostly, are left out.
    pub(super) fn ids(&self, text: &str) -> Vec<i32> {
        let mut text = text.to_owned();
        if self.settings.normalize {
            let has = |letter: char| self.ids.contains_key(letter.encode_utf8(&mut [0; 4]) as &str);
            let lower = |letter: char| if has(letter) { letter.to_string() } else { letter.to_lowercase().to_string() };
            text = text.chars().map(lower).collect();
        }
        // Romanian checkpoints know the letter with a cedilla only.
        if self.settings.language.as_deref() == Some("ron") {
            text = text.replace('ț', "ţ");
        }
        if self.settings.phonemize {
            text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        let known: Vec<(char, i32)> = text
            .chars()
            .filter_map(|letter| Some((letter, *self.ids.get(letter.encode_utf8(&mut [0; 4]) as &str)?)))
            .collect();
        let first = known.iter().position(|(letter, _)| !letter.is_whitespace()).unwrap_or(known.len());
        let last = known.iter().rposition(|(letter, _)| !letter.is_whitespace()).map_or(first, |last| last + 1);
        let letters = known.get(first..last).unwrap_or_default().iter().map(|(_, id)| *id);
        if first == last || !self.settings.add_blank {
            return letters.collect();
        }
        // Number 0 is the blank, whatever letter has it.
        std::iter::once(0).chain(letters.flat_map(|id| [id, 0])).collect()
    }
}
