//! What a person types to name a model.

use std::fmt;

use crate::catalogue::{Catalogue, Entry};
use crate::error::ModelError;
use crate::ids::{FilePath, RepoId, Revision};

/// A model as it was asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Reference {
    /// A model of the catalogue, by its name or by a task type of which it is the default.
    Known(Box<Entry>),
    Repo {
        repo: RepoId,
        revision: Option<Revision>,
        selector: Option<Selector>,
    },
}

/// What of a repository is wanted, after the colon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// One file.
    File(FilePath),
    /// A quantisation such as `Q4_K_M`, in any case.
    Quantisation(String),
}

impl Reference {
    /// Reads a catalogue name, a task type, or `org/repo[@revision][:file]`.
    ///
    /// # Errors
    /// When it is neither.
    pub fn parse(text: &str, catalogue: &Catalogue) -> Result<Reference, ModelError> {
        let text = text.trim();
        if let Some(entry) = catalogue.find(text).or_else(|| catalogue.default_of(text)) {
            return Ok(Reference::Known(Box::new(entry.clone())));
        }
        // The address of a model's page is what people have in their clipboard.
        let text = text.trim_start_matches("https://huggingface.co/").trim_start_matches("hf.co/");
        if !text.contains('/') {
            return Err(ModelError::UnknownName { name: text.to_owned(), similar: catalogue.similar(text) });
        }
        let (text, selector) = match text.split_once(':') {
            Some((repo, selector)) => (repo, Some(Selector::parse(selector)?)),
            None => (text, None),
        };
        let (repo, revision) = match text.split_once('@') {
            Some((repo, revision)) => (repo, Some(Revision::new(revision)?)),
            None => (text, None),
        };
        Ok(Reference::Repo { repo: RepoId::new(repo.trim_end_matches('/'))?, revision, selector })
    }

    pub fn repo(&self) -> &RepoId {
        match self {
            Reference::Known(entry) => &entry.repo,
            Reference::Repo { repo, .. } => repo,
        }
    }

    /// The branch, tag or commit to pull; `main` where nobody says.
    pub fn revision(&self) -> Revision {
        let revision = match self {
            Reference::Known(entry) => entry.revision.clone(),
            Reference::Repo { revision, .. } => revision.clone(),
        };
        revision.unwrap_or_else(Revision::main)
    }

    /// What the model is called from then on: its name in the catalogue, or the repository and what was chosen of it.
    pub fn name(&self) -> String {
        match self {
            Reference::Known(entry) => entry.name.clone(),
            Reference::Repo { repo, selector: None, .. } => repo.to_string(),
            Reference::Repo { repo, selector: Some(selector), .. } => format!("{repo}:{selector}"),
        }
    }
}

impl Selector {
    fn parse(text: &str) -> Result<Selector, ModelError> {
        let path = FilePath::new(text)?;
        Ok(if text.contains('.') || text.contains('/') {
            Selector::File(path)
        } else {
            Selector::Quantisation(text.to_owned())
        })
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Selector::File(path) => path.fmt(f),
            Selector::Quantisation(name) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_type_is_read() {
        let catalogue = Catalogue::builtin();
        let read = |text: &str| match Reference::parse(text, &catalogue) {
            Ok(Reference::Known(entry)) => format!("known {}", entry.name),
            Ok(Reference::Repo { repo, revision, selector }) => {
                let selector = match selector {
                    None => String::new(),
                    Some(Selector::File(path)) => format!(" file {path}"),
                    Some(Selector::Quantisation(name)) => format!(" quantisation {name}"),
                };
                format!("{repo}{}{selector}", revision.map(|revision| format!(" at {revision}")).unwrap_or_default())
            }
            Err(error) => format!("{error}"),
        };
        for (text, expected) in [
            ("caption", "known caption"),
            ("image-to-text", "known caption"),
            (" Whisper-Tiny ", "known whisper-tiny"),
            ("qwen3:0.6b", "known qwen3-0.6b"),
            ("org/repo", "org/repo"),
            ("https://huggingface.co/org/repo", "org/repo"),
            ("org/repo@v1.0", "org/repo at v1.0"),
            ("org/repo@refs/pr/2:onnx/model.onnx", "org/repo at refs/pr/2 file onnx/model.onnx"),
            ("org/repo:Q4_K_M", "org/repo quantisation Q4_K_M"),
            ("org/repo:model.gguf", "org/repo file model.gguf"),
            ("captoin", "unknown model `captoin`"),
            ("org/repo:../x", "invalid model name: the file name `../x` leaves its folder"),
            ("org/repo@../x", "invalid model name: `../x` is not a branch, tag or commit"),
            ("../x", "invalid model name: `../x` is not a repository such as `org/name`"),
            ("a/b/c", "invalid model name: `a/b/c` is not a repository such as `org/name`"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        let Err(error) = Reference::parse("captoin", &catalogue) else { panic!("there is no such model") };
        assert!(error.hint().unwrap().contains("`caption`"), "{:?}", error.hint());
    }
}
