//! Piper's voices: an ONNX file and beside it `….onnx.json` with the numbers of the phonemes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::{ExpertError, ModelFiles};

const MAX_PHONEMES: usize = 1 << 14;
/// Ids that one phoneme may stand for.
const MAX_IDS: usize = 16;

/// The settings of a voice.
#[derive(Debug)]
pub(super) struct PiperVoice {
    pub(super) rate: u32,
    settings: Settings,
}

/// `….onnx.json`.
#[derive(Debug, Deserialize)]
struct Settings {
    audio: Audio,
    #[serde(default)]
    espeak: Option<Espeak>,
    #[serde(default)]
    phoneme_type: Option<String>,
    #[serde(default)]
    inference: Inference,
    phoneme_id_map: HashMap<String, Vec<i32>>,
    #[serde(default)]
    num_speakers: u32,
    #[serde(default)]
    speaker_id_map: HashMap<String, i32>,
}

#[derive(Debug, Deserialize)]
struct Audio {
    sample_rate: u32,
}

#[derive(Debug, Deserialize)]
struct Espeak {
    voice: String,
}

#[derive(Debug, Deserialize)]
#[serde(default)]
struct Inference {
    noise_scale: f32,
    length_scale: f32,
    noise_w: f32,
}

impl Default for Inference {
    fn default() -> Inference {
        Inference { noise_scale: 0.667, length_scale: 1.0, noise_w: 0.8 }
    }
}

impl PiperVoice {
    /// The voice among the files: the named weights with settings beside them, else the first such file in the folder.
    pub(super) fn find(files: &ModelFiles) -> Result<Option<(PathBuf, PiperVoice)>, ExpertError> {
        let named = files.weights.iter().cloned();
        let mut found: Vec<String> = std::fs::read_dir(&files.folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.ends_with(".onnx"))
            .collect();
        found.sort();
        for weights in named.chain(found) {
            let settings = format!("{weights}.json");
            if files.has(&weights) && files.has(&settings) {
                let path: &Path = weights.as_ref();
                let voice = PiperVoice::read(files, &settings)?;
                return Ok(Some((files.folder.join(path), voice)));
            }
        }
        Ok(None)
    }

    fn read(files: &ModelFiles, name: &str) -> Result<PiperVoice, ExpertError> {
        let settings: Settings = files.json(name)?;
        let rate = settings.audio.sample_rate;
        let Inference { noise_scale, length_scale, noise_w } = settings.inference;
        let fault = if !(4_000..=96_000).contains(&rate) {
            Some(format!("`sample_rate` is {rate}"))
        } else if settings.phoneme_id_map.len() > MAX_PHONEMES
            || settings.phoneme_id_map.values().any(|ids| ids.len() > MAX_IDS)
        {
            Some("`phoneme_id_map` is too large".to_owned())
        } else if !(0.05..=20.0).contains(&length_scale)
            || !(0.0..=2.0).contains(&noise_scale)
            || !(0.0..=2.0).contains(&noise_w)
        {
            Some("a scale of `inference` is out of range".to_owned())
        } else {
            None
        };
        match fault {
            Some(fault) => Err(files.bad(name, fault)),
            None => Ok(PiperVoice { rate, settings }),
        }
    }

    /// The noise of the sound, the length of the phonemes, and the noise of their lengths.
    pub(super) fn scales(&self, speed: f32) -> [f32; 3] {
        let Inference { noise_scale, length_scale, noise_w } = self.settings.inference;
        [noise_scale, length_scale / speed, noise_w]
    }

    /// The number of the speaker of this name, or the first; none where the voice is one speaker's.
    ///
    /// # Errors
    /// When the voice has no such speaker.
    pub(super) fn speaker(&self, files: &ModelFiles, name: Option<&str>) -> Result<Option<i32>, ExpertError> {
        let count = self.settings.num_speakers;
        let Some(name) = name.filter(|name| !name.is_empty()) else { return Ok((count > 1).then_some(0)) };
        let by_number = || name.parse::<i32>().ok().filter(|id| (0..i64::from(count)).contains(&i64::from(*id)));
        match self.settings.speaker_id_map.get(name).copied().or_else(by_number) {
            Some(id) => Ok((count > 1).then_some(id)),
            None => Err(ExpertError::BadInput(format!("`{}` has no speaker `{name}`", files.id))),
        }
    }

    /// The espeak-ng voice of its phonemes; none where it reads letters.
    pub(super) fn espeak(&self) -> Option<&str> {
        let is_text = self.settings.phoneme_type.as_deref() == Some("text");
        self.settings.espeak.as_ref().filter(|_| !is_text).map(|espeak| espeak.voice.as_str())
    }

    /// The numbers of these phonemes: start, each followed by padding, end. Empty where the voice knows none of them.
    pub(super) fn ids(&self, phonemes: &str) -> Vec<i32> {
        let map = &self.settings.phoneme_id_map;
        let of = |phoneme: char| map.get(phoneme.encode_utf8(&mut [0; 4]) as &str).map(Vec::as_slice);
        let pad = of('_').unwrap_or(&[0]);
        let known: Vec<&[i32]> = phonemes.chars().flat_map(decomposed).filter_map(of).collect();
        if known.is_empty() {
            return Vec::new();
        }
        let mut ids = of('^').unwrap_or(&[1]).to_vec();
        ids.extend(pad);
        for phoneme in known {
            ids.extend(phoneme);
            ids.extend(pad);
        }
        ids.extend(of('$').unwrap_or(&[2]));
        ids
    }
}

/// Letters of the IPA that espeak-ng writes as one character; voices are trained on letter and accent apart.
fn decomposed(letter: char) -> impl Iterator<Item = char> {
    let (letter, accent) = match letter {
        'ç' => ('c', Some('\u{327}')),
        'ã' => ('a', Some('\u{303}')),
        'ẽ' => ('e', Some('\u{303}')),
        'ĩ' => ('i', Some('\u{303}')),
        'õ' => ('o', Some('\u{303}')),
        'ũ' => ('u', Some('\u{303}')),
        other => (other, None),
    };
    std::iter::once(letter).chain(accent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn voice(folder: &Path, settings: &str) -> Result<Option<(PathBuf, PiperVoice)>, ExpertError> {
        std::fs::write(folder.join("v.onnx"), "").unwrap();
        std::fs::write(folder.join("v.onnx.json"), settings).unwrap();
        PiperVoice::find(&ModelFiles::new("v", folder))
    }

    #[test]
    fn phonemes_become_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let settings = r#"{"audio": {"sample_rate": 22050}, "espeak": {"voice": "pt"}, "num_speakers": 3,
            "speaker_id_map": {"ana": 2}, "inference": {"length_scale": 1.5},
            "phoneme_id_map": {"_": [0], "^": [1], "$": [2], " ": [3], "a": [14], "c": [16], "̃": [141], "̧": [140, 7]}}"#;
        let (path, voice) = voice(folder.path(), settings).unwrap().unwrap();
        assert_eq!(path, folder.path().join("v.onnx"));
        assert_eq!(voice.ids("ã çX"), [1, 0, 14, 0, 141, 0, 3, 0, 16, 0, 140, 7, 0, 2]);
        assert_eq!(voice.ids("XYZ"), [0; 0]);
        assert_eq!(voice.scales(2.0), [0.667, 0.75, 0.8]);
        let files = ModelFiles::new("v", folder.path());
        for (name, expected) in
            [(None, Some(Some(0))), (Some("ana"), Some(Some(2))), (Some("1"), Some(Some(1))), (Some("3"), None)]
        {
            assert_eq!(voice.speaker(&files, name).ok(), expected, "{name:?}");
        }
        assert_eq!(voice.espeak(), Some("pt"));
    }

    #[test]
    fn hostile_settings_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        for settings in [
            "",
            "{}",
            r#"{"audio": {"sample_rate": 0}, "phoneme_id_map": {}}"#,
            r#"{"audio": {"sample_rate": 22050}, "phoneme_id_map": {}, "inference": {"length_scale": 1e30}}"#,
            r#"{"audio": {"sample_rate": 22050}, "phoneme_id_map": {"a": [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]}}"#,
        ] {
            let found = voice(folder.path(), settings);
            assert!(matches!(found, Err(ExpertError::BadFile { .. })), "{settings}: {found:?}");
        }
    }
}
