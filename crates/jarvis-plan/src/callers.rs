//! What whoever calls by a chat protocol brings beside the words of a request: tools that they perform themselves, and the form that
//! the reply is to have.

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

/// A tool that the caller performs: a plan may name it, and its calls are handed back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallersTool {
    /// Its name, unique among those of the request.
    pub name: String,
    /// What it does.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The JSON Schema of its arguments, an object.
    #[serde(default)]
    pub schema: Value,
}

/// A call of a tool of the caller's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The tool.
    pub name: String,
    /// Its arguments as JSON, if whoever made it did well.
    pub arguments: String,
    /// What the caller says that it gave; none while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

impl ToolCall {
    /// A call that is open.
    pub fn open(name: impl Into<String>, arguments: impl Into<String>) -> ToolCall {
        ToolCall { name: name.into(), arguments: arguments.into(), result: None }
    }

    /// Whether it is the call of this tool with these arguments, however they are written.
    pub fn is_of(&self, name: &str, arguments: &Value) -> bool {
        self.name == name && serde_json::from_str::<Value>(&self.arguments).is_ok_and(|own| own == *arguments)
    }
}

/// Which tool a reply must call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MustCall {
    /// Any of those that are offered.
    Any,
    /// This one.
    Named(String),
}

/// The form that a reply is to have. The numbers are for the model that writes it, who may leave them aside.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReplyForm {
    /// The JSON Schema that it follows, with the schema's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<(String, Value)>,
    /// Texts before which it ends.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// What it must call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub must_call: Option<MustCall>,
    /// 0 to 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<Number>,
    /// 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<Number>,
    /// −2 to 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presence_penalty: Option<Number>,
    /// −2 to 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_penalty: Option<Number>,
    /// The most tokens to write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
}

impl ReplyForm {
    /// Whether nothing is asked of it.
    pub fn is_free(&self) -> bool {
        *self == ReplyForm::default()
    }

    /// The text before the first of the texts that end it.
    pub fn cut<'t>(&self, text: &'t str) -> &'t str {
        let ends = self.stop.iter().filter(|stop| !stop.is_empty()).filter_map(|stop| text.find(stop.as_str()));
        ends.min().and_then(|end| text.get(..end)).unwrap_or(text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_the_same_however_it_is_written() {
        let call = ToolCall::open("add", r#"{"b": 2, "a": 1}"#);
        for (name, arguments, same) in [
            ("add", json!({"a": 1, "b": 2}), true),
            ("add", json!({"a": 1, "b": 3}), false),
            ("sub", json!({"a": 1, "b": 2}), false),
        ] {
            assert_eq!(call.is_of(name, &arguments), same, "{name} {arguments}");
        }
        assert!(!ToolCall::open("add", "{").is_of("add", &json!({})), "what is no JSON is no call");
    }

    #[test]
    fn a_reply_ends_before_the_first_of_its_stops() {
        for (stop, text, want) in [
            (vec![], "one two", "one two"),
            (vec!["two"], "one two", "one "),
            (vec!["x", "o"], "two x", "tw"),
            (vec![""], "one", "one"),
            (vec!["е"], "привет", "прив"),
        ] {
            let form = ReplyForm { stop: stop.iter().map(|stop| (*stop).to_owned()).collect(), ..ReplyForm::default() };
            assert_eq!(form.cut(text), want, "{stop:?}");
        }
    }
}
