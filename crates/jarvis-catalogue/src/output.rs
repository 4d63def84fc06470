//! Task outputs in the shape of the original's `inference result`, and how they are read.
//!
//! Source: microsoft/JARVIS `hugginggpt/server/awesome_chat.py` (the keys with spaces are its own).

use indexmap::IndexSet;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use jarvis_plan::{EACH, Kind, Outcome, TaskError};

/// A result as a resource; a URL is the display path of the file, such as `/images/ab12.png`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Output {
    Text {
        text: String,
    },
    Image {
        url: String,
    },
    Audio {
        url: String,
    },
    Video {
        url: String,
    },
    /// A table as CSV.
    Table {
        url: String,
    },
    Json {
        value: Value,
    },
}

impl Output {
    /// A file of the given kind; `None` for text, which is none.
    pub fn media(kind: Kind, url: String) -> Option<Output> {
        match kind {
            Kind::Image => Some(Output::Image { url }),
            Kind::Audio => Some(Output::Audio { url }),
            Kind::Video => Some(Output::Video { url }),
            Kind::Json => Some(Output::Table { url }),
            Kind::Text => None,
        }
    }

    pub fn url(&self) -> Option<&str> {
        match self {
            Output::Image { url } | Output::Audio { url } | Output::Video { url } | Output::Table { url } => Some(url),
            Output::Text { .. } | Output::Json { .. } => None,
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Output::Text { .. } => Kind::Text,
            Output::Image { .. } => Kind::Image,
            Output::Audio { .. } => Kind::Audio,
            Output::Video { .. } => Kind::Video,
            Output::Table { .. } | Output::Json { .. } => Kind::Json,
        }
    }
}

/// A worker's result as the original writes it: `{"generated text": …}`, `{"generated image": "/images/…", "predicted":
/// […]}`, or a list of labels or answers. The value is the truth; the accessors read it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskOutput(pub Value);

/// The field of a table as a file.
pub const TABLE: &str = "generated table";

/// The field of what a tool gave as data, where its text does not say the same.
pub const DATA: &str = "data";

impl From<TaskOutput> for Value {
    fn from(output: TaskOutput) -> Value {
        output.0
    }
}

impl TaskOutput {
    /// The field for the parts of a task that the one who performed it could not do, a list of words.
    pub const NOT_DONE: &str = "not done";

    /// The field for the file name that was asked for.
    pub const CALLED: &str = "called";

    pub fn of(outcome: &Outcome) -> Option<TaskOutput> {
        outcome.output.clone().map(TaskOutput)
    }

    pub fn text(text: impl Into<String>) -> TaskOutput {
        TaskOutput(Value::Null).with("generated text", text.into())
    }

    pub fn image(url: impl Into<String>) -> TaskOutput {
        TaskOutput(Value::Null).with("generated image", url.into())
    }

    pub fn audio(url: impl Into<String>) -> TaskOutput {
        TaskOutput(Value::Null).with("generated audio", url.into())
    }

    pub fn video(url: impl Into<String>) -> TaskOutput {
        TaskOutput(Value::Null).with("generated video", url.into())
    }

    /// Adds or replaces a field; a value that is not an object becomes one first.
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> TaskOutput {
        if !self.0.is_object() {
            self.0 = Value::Object(Map::new());
        }
        if let Value::Object(fields) = &mut self.0 {
            fields.insert(key.to_owned(), value.into());
        }
        self
    }

    /// What each call gave, of a task that ran once for each element of a list.
    fn each(&self) -> Option<Vec<TaskOutput>> {
        Some(self.0.get(EACH)?.as_array()?.iter().cloned().map(TaskOutput).collect())
    }

    /// The parts of the task that the one who performed it could not do, in words.
    pub fn not_done(&self) -> Vec<String> {
        let own = self.0.get(Self::NOT_DONE).and_then(Value::as_array).into_iter().flatten();
        let own = own.filter_map(Value::as_str).map(str::to_owned);
        // What no call of several did is said once.
        let said: IndexSet<String> = own.chain(self.each().iter().flatten().flat_map(TaskOutput::not_done)).collect();
        said.into_iter().collect()
    }

    /// The text a dependant gets from this result: the first that exists of `generated text`; `response`; `text`; the
    /// best-scored `answer`; `generated_text`, `summary_text` or `translation_text`; labels, best first.
    ///
    /// Of a task that ran once for each element of a list, the texts of its calls, a line each.
    pub fn as_text(&self) -> Option<String> {
        if let Some(each) = self.each() {
            let texts: Vec<String> = each.iter().filter_map(TaskOutput::as_text).collect();
            return (!texts.is_empty()).then(|| texts.join("\n"));
        }
        for key in ["generated text", "response", "text"] {
            if let Some(text) = self.0.get(key).and_then(Value::as_str) {
                return Some(text.to_owned());
            }
        }
        let rows: Vec<&Value> = match &self.0 {
            Value::Array(rows) => flatten(rows),
            Value::Object(fields) => match fields.get("predicted") {
                Some(Value::Array(rows)) => flatten(rows),
                _ => vec![&self.0],
            },
            Value::String(text) => return Some(text.clone()),
            Value::Null | Value::Bool(_) | Value::Number(_) => return None,
        };
        let ranked = by_score(rows);
        if let Some(answer) = ranked.iter().find_map(|row| row.get("answer").and_then(scalar)) {
            return Some(answer);
        }
        for key in ["generated_text", "summary_text", "translation_text"] {
            if let Some(text) = ranked.iter().find_map(|row| row.get(key).and_then(Value::as_str)) {
                return Some(text.to_owned());
            }
        }
        let mut labels: Vec<String> = Vec::new();
        for row in ranked {
            if let Some(label) = row.get("label").and_then(scalar)
                && !labels.contains(&label)
            {
                labels.push(label);
            }
        }
        (!labels.is_empty()).then(|| labels.join(", "))
    }

    /// The result as data, into which paths of references lead: what a tool gave beside its text, the text where that is
    /// JSON, else all of the result.
    pub fn data(&self) -> Option<Value> {
        if let Some(each) = self.each() {
            return Some(each.iter().map(|one| one.data().unwrap_or_default()).collect());
        }
        if let Some(data) = self.0.get(DATA) {
            return Some(data.clone());
        }
        let text = self.0.get("generated text").and_then(Value::as_str);
        match text {
            Some(text) => serde_json::from_str(text).ok().or_else(|| Some(self.0.clone())),
            None => Some(self.0.clone()).filter(|value| !value.is_null()),
        }
    }

    /// The display path of the file of this kind, from `generated image`, `generated audio`, `generated video` or
    /// `generated table`.
    pub fn media(&self, kind: Kind) -> Option<&str> {
        let key = match kind {
            Kind::Image => "generated image",
            Kind::Audio => "generated audio",
            Kind::Video => "generated video",
            Kind::Json => TABLE,
            Kind::Text => return None,
        };
        // Of several, none is the one.
        let one = match self.0.get(EACH).and_then(Value::as_array).map(Vec::as_slice) {
            Some([only]) => only,
            Some(_) => return None,
            None => &self.0,
        };
        one.get(key).and_then(Value::as_str)
    }

    /// The result as resources: media first, then the text, then the data when it is more than those.
    pub fn outputs(&self) -> Vec<Output> {
        if let Some(each) = self.each() {
            return each.iter().flat_map(TaskOutput::outputs).collect();
        }
        let mut outputs: Vec<Output> = [Kind::Image, Kind::Audio, Kind::Video, Kind::Json]
            .into_iter()
            .filter_map(|kind| Output::media(kind, self.media(kind)?.to_owned()))
            .collect();
        let text = self.as_text();
        let known =
            ["generated text", "generated image", "generated audio", "generated video", TABLE, "response", "text"];
        let more = match &self.0 {
            Value::Object(fields) => fields.keys().any(|key| !known.contains(&key.as_str())),
            Value::String(_) | Value::Null => false,
            Value::Array(_) | Value::Bool(_) | Value::Number(_) => true,
        };
        outputs.extend(text.map(|text| Output::Text { text }));
        if more {
            outputs.push(Output::Json { value: self.0.clone() });
        }
        outputs
    }

    /// The form an error takes in the original's results: `{"error": {"message": …}}`, here with its code.
    pub fn error(error: &TaskError) -> TaskOutput {
        TaskOutput(serde_json::json!({"error": {"code": error.code.as_str(), "message": error.message}}))
    }
}

/// Some endpoints wrap the list of labels in another list.
fn flatten(rows: &[Value]) -> Vec<&Value> {
    rows.iter()
        .flat_map(|row| match row {
            Value::Array(inner) => inner.iter().collect::<Vec<_>>(),
            other => vec![other],
        })
        .collect()
}

/// Best score first; rows without a score keep their place after those with one.
fn by_score(mut rows: Vec<&Value>) -> Vec<&Value> {
    let score = |row: &Value| row.get("score").and_then(Value::as_f64).unwrap_or(f64::NEG_INFINITY);
    rows.sort_by(|a, b| score(b).total_cmp(&score(a)));
    rows
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
