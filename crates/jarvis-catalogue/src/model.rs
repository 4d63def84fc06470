//! One model of the catalogue, and the two forms in which it is shown: a listing for people and the choice prompt's
//! record for a chat model.

use std::sync::Arc;

use crate::Host;
use jarvis_plan::Candidate;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Model {
    /// Its id: `owner/name` on the Hub, `native/…` for work done in this process.
    pub id: String,
    pub task: String,
    /// Where it is known to run. A Hub model may be loaded on the model server too; probing tells.
    pub host: Host,
    /// Likes on the Hub; 0 when unknown.
    #[serde(default)]
    pub likes: u64,
    /// Downloads on the Hub; 0 when unknown.
    #[serde(default)]
    pub downloads: u64,
    #[serde(default)]
    pub description: String,
    /// Words that say what it is for; `None` when it has none.
    #[serde(default)]
    pub tags: Option<Vec<String>>,
    /// The Hub's own task word, when the record gives it.
    #[serde(default)]
    pub pipeline_tag: Option<String>,
    /// A native model with a skill of its own under its task type, such as reading writing under `image-to-text`: where a request
    /// asks for just that (by its tags), it goes before models that do the task as such.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub specialty: bool,
    /// What a user should know before relying on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Model {
    /// A model with nothing but the needed.
    pub fn new(id: &str, task: &str, host: Host, description: &str) -> Model {
        Model {
            id: id.to_owned(),
            task: task.to_owned(),
            host,
            likes: 0,
            downloads: 0,
            description: description.to_owned(),
            tags: None,
            pipeline_tag: None,
            specialty: false,
            note: None,
        }
    }

    pub fn listed(&self) -> Listed<'_> {
        Listed {
            id: &self.id,
            task: &self.task,
            host: self.host,
            likes: self.likes,
            description: self.description.trim(),
        }
    }
}

/// A model as `models list --json` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listed<'a> {
    pub id: &'a str,
    pub task: &'a str,
    pub host: Host,
    pub likes: u64,
    pub description: &'a str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Available {
    pub model: Arc<Model>,
    pub host: Host,
}

impl Available {
    /// The candidate for a task; `effective_task` is the task really run.
    pub fn candidate(&self, effective_task: &str) -> Candidate {
        Candidate { id: self.model.id.clone(), host: self.host.into(), effective_task: effective_task.to_owned() }
    }
}

/// A candidate as the choice prompt shows it to a chat model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModelMeta<'a> {
    /// The id to answer with.
    pub id: &'a str,
    #[serde(rename = "inference endpoint")]
    pub endpoint: Host,
    pub likes: u64,
    pub description: &'a str,
    /// Words that say what it is for, or null.
    pub tags: Option<&'a [String]>,
}

/// The records of the choice prompt, in the order given; descriptions are cut to `max_description_length` characters.
pub fn metas(candidates: &[Available], max_description_length: usize) -> Vec<ModelMeta<'_>> {
    candidates
        .iter()
        .map(|Available { model, host }| ModelMeta {
            id: &model.id,
            endpoint: *host,
            likes: model.likes,
            description: cut_description(&model.description, max_description_length),
            tags: model.tags.as_deref(),
        })
        .collect()
}

/// The first `max` characters of a description, without blanks at either end.
pub fn cut_description(description: &str, max: usize) -> &str {
    let text = description.trim();
    let end = text.char_indices().nth(max).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_cut_between_characters() {
        let check = |text: &str, max, cut: &str| assert_eq!(cut_description(text, max), cut);
        check("\n\n short \n", 100, "short");
        check("détection d’objets", 9, "détection");
        check("图像分类模型", 4, "图像分类");
        check("two words", 4, "two");
        check("anything", 0, "");
        check("", 5, "");
    }

    #[test]
    fn metas_have_the_prompt_shape() {
        let mut tagged = Model::new("org/a", "image-to-text", Host::Huggingface, "Captions \"pictures\" in English");
        tagged.likes = 7;
        tagged.tags = Some(vec!["vision".to_owned()]);
        let plain = Model::new("org/b", "image-to-text", Host::Huggingface, "");
        let shown = [
            Available { model: Arc::new(tagged), host: Host::Local },
            Available { model: Arc::new(plain), host: Host::Huggingface },
        ];
        insta::assert_snapshot!(serde_json::to_string(&metas(&shown, 8)).unwrap(), @r#"[{"id":"org/a","inference endpoint":"local","likes":7,"description":"Captions","tags":["vision"]},{"id":"org/b","inference endpoint":"huggingface","likes":0,"description":"","tags":null}]"#);
    }
}
