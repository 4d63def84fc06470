//! Prompts of the agent: in English and Chinese, one for each format. Values go in once, as they are.

use jarvis_chat::Message;
use jarvis_plan::Language;
use jarvis_prompt::template::TemplateError;
use jarvis_tools::{Registry, ToolSpec};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::agent::STAGE;
use crate::settings::{Format, PromptLanguage};

pub type PromptError = TemplateError;

/// The longest schema of a tool's input that a prompt shows whole, in characters.
const MAX_SCHEMA: usize = 3_000;

jarvis_ask::prompts! {
    /// The prompts of the agent, in both languages.
    pub(crate) enum Prompt in "../prompts/" {
        TagsEn = "tags.en", STAGE, [fence, document, has_document, empty, tools, names, question, scratchpad];
        TagsZh = "tags.zh", STAGE, [fence, document, has_document, empty, tools, names, question, scratchpad];
        JsonEn = "json.en", STAGE, [fence, document, has_document, empty, tools, names, question, scratchpad];
        JsonZh = "json.zh", STAGE, [fence, document, has_document, empty, tools, names, question, scratchpad];
        NativeEn = "native.en", STAGE, [fence, document, has_document, empty, tools, names, question, scratchpad];
        NativeZh = "native.zh", STAGE, [fence, document, has_document, empty, tools, names, question, scratchpad];
        FinalEn = "final.en", STAGE, [fence, document, has_document, empty, tools, names, question, scratchpad];
        FinalZh = "final.zh", STAGE, [fence, document, has_document, empty, tools, names, question, scratchpad];
    }
}

#[derive(Debug, Clone)]
pub struct Prompts(jarvis_ask::Prompts<Prompt>);

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Filling<'a> {
    pub(crate) fence: &'a str,
    pub(crate) document: &'a str,
    pub(crate) has_document: bool,
    pub(crate) empty: bool,
    pub(crate) tools: &'a str,
    pub(crate) names: &'a str,
    pub(crate) question: &'a str,
    pub(crate) scratchpad: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// That of a round, in a format.
    Round(Format),
    /// That which asks for the answer when the rounds are used up.
    Last,
}

impl Prompts {
    /// The built-in prompts.
    ///
    /// # Errors
    /// When one of them is broken; a test holds that none is.
    pub fn builtin() -> Result<Prompts, PromptError> {
        Ok(Prompts(jarvis_ask::Prompts::builtin()?))
    }

    pub(crate) fn messages(
        &self,
        which: Which,
        language: PromptLanguage,
        filling: &Filling<'_>,
    ) -> Result<Vec<Message>, PromptError> {
        let (en, zh) = match which {
            Which::Round(Format::Tags) => (Prompt::TagsEn, Prompt::TagsZh),
            Which::Round(Format::Json) => (Prompt::JsonEn, Prompt::JsonZh),
            Which::Round(Format::NativeTools) => (Prompt::NativeEn, Prompt::NativeZh),
            Which::Last => (Prompt::FinalEn, Prompt::FinalZh),
        };
        self.0.messages(if language == PromptLanguage::Zh { zh } else { en }, filling)
    }
}

impl PromptLanguage {
    pub(crate) fn of(self, question: Language) -> PromptLanguage {
        match (self, question) {
            (PromptLanguage::Auto, Language::Chinese) => PromptLanguage::Zh,
            (PromptLanguage::Auto, Language::English | Language::Russian) => PromptLanguage::En,
            (PromptLanguage::En | PromptLanguage::Zh, _) => self,
        }
    }
}

/// The tools as a prompt lists them: what each does, when to use it, its input with an example.
pub(crate) fn tools(registry: &Registry, language: PromptLanguage) -> String {
    let zh = language == PromptLanguage::Zh;
    let (when, input, example) = if zh {
        ("使用时机", "输入（JSON Schema）", "示例")
    } else {
        ("Use it when", "Input (JSON Schema)", "Example")
    };
    let tool = |spec: &ToolSpec| {
        let schema = spec.input_schema.to_string();
        let schema = if schema.chars().count() > MAX_SCHEMA { names_of(spec) } else { schema };
        format!(
            "{}\n  {}\n  {when}: {}\n  {input}: {schema}\n  {example}: {}",
            spec.name,
            spec.description.trim(),
            spec.when.trim(),
            spec.example
        )
    };
    registry.specs().map(tool).collect::<Vec<String>>().join("\n\n")
}

fn names_of(spec: &ToolSpec) -> String {
    let fields = spec.input_schema.get("properties").and_then(serde_json::Value::as_object);
    let names: Vec<&str> = fields.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    format!("{{{}}}", names.join(", "))
}

pub(crate) fn names(registry: &Registry) -> String {
    registry.specs().map(|spec| spec.name.as_str()).collect::<Vec<&str>>().join(", ")
}

/// A line that the document does not hold, the same each time for the same document.
pub(crate) fn fence(document: &str) -> String {
    let mut digest = Sha256::digest(document.as_bytes());
    loop {
        let word: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        let fence = format!("=====DOCUMENT-{word}=====");
        if !document.contains(&fence) {
            return fence;
        }
        digest = Sha256::digest(digest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prompt_says_what_it_must() {
        let prompts = Prompts::builtin().unwrap();
        let filling = Filling {
            fence: "=====F=====",
            document: "pear,pear,{{question}},{input},<Final Answer>: 42",
            has_document: true,
            empty: false,
            tools: "plot\n  draws",
            names: "plot, count",
            question: "Which? {{document}}",
            scratchpad: "<Thought>: hm\n",
        };
        for language in [PromptLanguage::En, PromptLanguage::Zh] {
            for which in
                [Which::Round(Format::Tags), Which::Round(Format::Json), Which::Round(Format::NativeTools), Which::Last]
            {
                let messages = prompts.messages(which, language, &filling).unwrap();
                let [system, user] = messages.as_slice() else { panic!("{which:?}: {messages:?}") };
                assert!(system.joined_text().len() > 40);
                let text = user.joined_text();
                // In the order of the specification, each value once and as it is.
                let mut wanted = vec!["=====F=====\npear,pear,{{question}},{input},<Final Answer>: 42\n=====F====="];
                match which {
                    Which::Round(Format::Tags) => wanted.extend([
                        "plot\n  draws",
                        "<Thought>:",
                        "<Action>:",
                        "plot, count",
                        "<Action Input>:",
                        "<Observation>:",
                        "<Final Answer>:",
                    ]),
                    Which::Round(Format::Json) => wanted.extend(["plot\n  draws", "plot, count"]),
                    Which::Round(Format::NativeTools) | Which::Last => {}
                }
                wanted.push("Which? {{document}}");
                if which != Which::Round(Format::NativeTools) {
                    wanted.push("<Thought>: hm");
                }
                let mut from = 0;
                for part in wanted {
                    let at = text.get(from..).unwrap().find(part);
                    from += at.unwrap_or_else(|| panic!("{which:?} {language:?}: no {part} after {from} in {text}"));
                    from += part.len();
                }
                let empty = Filling { empty: true, document: "", ..filling.clone() };
                let text = prompts.messages(which, language, &empty).unwrap()[1].joined_text();
                assert!(!text.contains("====="), "{text}");
                let none = Filling { has_document: false, ..empty };
                let messages = prompts.messages(which, language, &none).unwrap();
                let text: String = messages.iter().map(Message::joined_text).collect();
                let text = text.replace("{{document}}", "");
                assert!(!text.contains("document") && !text.contains("文档") && !text.contains("文件"), "{text}");
            }
        }
    }

    #[test]
    fn no_document_holds_its_fence() {
        let document = "a document";
        let first = fence(document);
        let second = fence(&format!("{document}\n{first}"));
        assert_ne!(first, second);
        assert_eq!(fence(document), first);
    }
}
