//! What the planner is fitted to, in one file: the weights, and what gold plans taught.
//!
//! `jarvis planner fit` writes such files; the one in `data/` is compiled in. How weights are searched is not known here
//! (`jarvis_taskbench::fit`).

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::learned::Learned;
use crate::weights::Weights;

/// The `format` of a file.
const FORMAT: &str = "jarvis-planner";
/// The `version` of files that are written and read. A weight that is added or removed is a new version.
const VERSION: u32 = 3;
/// The widest search that a file may ask for: time and memory grow with it.
const WIDEST: usize = 1024;

/// What the planner is fitted to.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// What each piece of evidence counts.
    pub weights: Weights,
    /// The same where a sentence model reads requests and tools: with one witness more, the others count otherwise.
    pub with_sentences: Weights,
    /// What gold plans taught.
    pub learned: Learned,
}

/// Weights, and what was learned from the development gold, two hundred requests of each TaskBench domain that a language model
/// labelled, and UltraTool's training part (`docs/offline-planner.md` has the command).
static BUILT_IN: LazyLock<Arc<Fitted>> = LazyLock::new(|| {
    Arc::new(
        parse(include_str!("../data/fitted.json")).expect("what is compiled in is what `jarvis planner fit` wrote"),
    )
});

/// A file as far as every version has it.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "format")]
    _format: String,
    #[serde(rename = "version")]
    _version: u32,
    weights: Weights,
    with_sentences: Weights,
    learned: Learned,
}

/// Why a file is no use as weights.
#[derive(Debug, thiserror::Error)]
pub enum FittedError {
    /// The file cannot be read.
    #[error("cannot read the planner's weights {}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What kept it from being read.
        source: std::io::Error,
    },
    /// The file holds something else.
    #[error("{} does not hold the planner's weights: {reason}", .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The first fault.
        reason: String,
    },
}

impl FittedError {
    /// What to try.
    pub fn hint(&self) -> &'static str {
        match self {
            FittedError::Read { .. } => "name a file that `jarvis planner fit --out FILE` wrote",
            FittedError::Content { .. } => "make it anew with `jarvis planner fit --out FILE`",
        }
    }
}

impl Fitted {
    /// What is compiled in.
    pub fn built_in() -> &'static Arc<Fitted> {
        &BUILT_IN
    }

    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, is of another format or version, lacks a weight, has one too many, or one that is no number.
    pub fn read(path: &Path) -> Result<Fitted, FittedError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| FittedError::Read { path: path.to_owned(), source })?;
        parse(&text).map_err(|reason| FittedError::Content { path: path.to_owned(), reason })
    }

    /// The text of a file: weights a line each, what was learned on one line.
    pub fn to_json(&self) -> String {
        // Maps with keys of text and finite numbers cannot fail.
        let written =
            |weights: &Weights| serde_json::to_string_pretty(weights).unwrap_or_default().replace('\n', "\n  ");
        let (weights, with_sentences) = (written(&self.weights), written(&self.with_sentences));
        let learned = serde_json::to_string(&self.learned).unwrap_or_default();
        format!(
            "{{\n  \"format\": \"{FORMAT}\",\n  \"version\": {VERSION},\n  \"weights\": {weights},\n  \"with_sentences\": {with_sentences},\n  \"learned\": {learned}\n}}\n"
        )
    }

    /// Sixteen digits that differ where anything in it differs.
    pub fn fingerprint(&self) -> String {
        let hash = Sha256::digest(self.to_json());
        hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }
}

fn parse(text: &str) -> Result<Fitted, String> {
    let head: Head = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if head.format != FORMAT {
        return Err(format!("its format is `{}`, not `{FORMAT}`", head.format));
    }
    if head.version != VERSION {
        return Err(format!("it is of version {}, and this jarvis reads version {VERSION}", head.version));
    }
    let File { weights, with_sentences, learned, .. } =
        serde_json::from_str(text).map_err(|error| error.to_string())?;
    for weights in [&weights, &with_sentences] {
        for (name, width) in [("beam", weights.beam), ("choices", weights.choices)] {
            if !(1..=WIDEST).contains(&width) {
                return Err(format!("`{name}` is {width}; it must be 1 to {WIDEST}"));
            }
        }
    }
    Ok(Fitted { weights, with_sentences, learned })
}

#[cfg(test)]
mod tests {
    use super::{Fitted, FittedError, Learned, parse};

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let mut fitted = Fitted::built_in().as_ref().clone();
        let built_in = fitted.fingerprint();
        fitted.weights.cost += 0.01;
        fitted.weights.set.name = 0.123;
        assert_ne!(fitted.fingerprint(), built_in);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("weights.json");
        std::fs::write(&path, fitted.to_json()).unwrap();
        assert_eq!(Fitted::read(&path).unwrap(), fitted);
        let missing = Fitted::read(&folder.path().join("none.json")).unwrap_err();
        assert!(matches!(missing, FittedError::Read { .. }) && missing.to_string().contains("none.json"));
    }

    #[test]
    fn what_is_compiled_in_is_as_the_command_writes_it() {
        assert!(Fitted::built_in().to_json() == include_str!("../data/fitted.json"));
        assert!(Fitted::built_in().learned.len() > 1_000);
    }

    #[test]
    fn other_files_are_refused_with_the_reason() {
        let fitted = Fitted { learned: Learned::default(), ..Fitted::built_in().as_ref().clone() };
        let whole = fitted.to_json();
        let mut steep = fitted;
        steep.weights.set.steep = 123_456.0;
        for (text, want) in [
            (String::new(), "EOF"),
            ("[]".to_owned(), "expected"),
            (r#"{"weights": {}}"#.to_owned(), "missing field `format`"),
            (whole.replace("jarvis-planner", "jarvis-plumber"), "`jarvis-plumber`, not `jarvis-planner`"),
            (whole.replace("\"version\": 3", "\"version\": 7"), "version 7, and this jarvis reads version 3"),
            (whole.replace("\"cost\"", "\"price\""), "unknown field `price`"),
            (whole.replace("    \"cost\"", "    \"beam\": 3,\n    \"cost\""), "duplicate field `beam`"),
            (steep.to_json().replace("123456.0", "1e39"), "number out of range"),
            (whole.replace("\"beam\": 32", "\"beam\": 0"), "`beam` is 0"),
            (whole.replace("\"beam\": 32", "\"beam\": 9999999"), "`beam` is 9999999"),
        ] {
            let reason = parse(&text).expect_err(want);
            assert!(reason.contains(want), "{want}: {reason}");
        }
    }
}
