//! Reading files of questions.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use super::{FuncqaQuestion, RestQuestion, ToolbenchItem};

/// A file of questions that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// It cannot be read.
    #[error("cannot read {}", .path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// It is not what it should be.
    #[error("{}, line {line}: {reason}", .path.display())]
    Shape {
        path: PathBuf,
        /// Where, from 1.
        line: usize,
        reason: String,
    },
    /// It has no rows.
    #[error("{} is empty", .path.display())]
    Empty { path: PathBuf },
}

impl DataError {
    /// What to try.
    pub fn hint(&self) -> &'static str {
        match self {
            DataError::Read { .. } => "give the path of a file that exists and can be read",
            DataError::Shape { .. } | DataError::Empty { .. } => {
                "give a JSON list of questions, or JSON Lines, in the form that the benchmark publishes"
            }
        }
    }
}

/// Reads FuncQA: rows with `question`, `answer` and `calculation` or `func`.
///
/// # Errors
/// When the file cannot be read, has no rows, or a row is of another shape.
pub fn read_funcqa(path: &Path) -> Result<Vec<FuncqaQuestion>, DataError> {
    read_rows(path)
}

/// Reads RestBench: rows with `query` and `solution`.
///
/// # Errors
/// As [`read_funcqa`].
pub fn read_restbench(path: &Path) -> Result<Vec<RestQuestion>, DataError> {
    read_rows(path)
}

/// Reads ToolBench: rows with `query`, `query_id`, `api_list` and, once prepared, `Tool_dic`.
///
/// # Errors
/// As [`read_funcqa`].
pub fn read_toolbench(path: &Path) -> Result<Vec<ToolbenchItem>, DataError> {
    read_rows(path)
}

/// Reads the rows of a JSON list, or one row a line.
///
/// # Errors
/// As [`read_funcqa`].
pub fn read_rows<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, DataError> {
    let text = std::fs::read_to_string(path).map_err(|source| DataError::Read { path: path.to_owned(), source })?;
    rows_of(path, text.strip_prefix('\u{feff}').unwrap_or(&text))
}

fn rows_of<T: DeserializeOwned>(path: &Path, text: &str) -> Result<Vec<T>, DataError> {
    let shape = |before: usize, error: serde_json::Error| DataError::Shape {
        path: path.to_owned(),
        line: before + error.line().max(1),
        reason: plain(&error),
    };
    let rows: Vec<T> = if text.trim_start().starts_with('[') {
        serde_json::from_str(text).map_err(|error| shape(0, error))?
    } else {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines
            .map(|(at, line)| serde_json::from_str(line).map_err(|error| shape(at, error)))
            .collect::<Result<_, _>>()?
    };
    if rows.is_empty() {
        return Err(DataError::Empty { path: path.to_owned() });
    }
    Ok(rows)
}

/// The parser's words without its own place, which is told beside them.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(at) => text.get(..at).unwrap_or(&text).to_owned(),
        None => text,
    }
}

/// A text, or a list of them.
pub(super) fn one_or_many<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match OneOrMany::deserialize(from)? {
        OneOrMany::One(text) => vec![text],
        OneOrMany::Many(texts) => texts,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, String> {
        rows_of(Path::new("q.json"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn lists_and_lines_are_both_read() {
        let list = r#"[{"question":"a","answer":"1,699.5","calculation":["<add>(1,2)=3"]},
            {"question":"b","answer":2.5,"func":"<add>(1,1.5)=2.5"}]"#;
        let lines = "\n{\"question\":\"a\",\"answer\":\"1,699.5\",\"calculation\":[\"<add>(1,2)=3\"]}\n\n\
            {\"question\":\"b\",\"answer\":2.5,\"func\":\"<add>(1,1.5)=2.5\"}\n";
        let (list, lines) = (rows::<FuncqaQuestion>(list).unwrap(), rows::<FuncqaQuestion>(lines).unwrap());
        assert_eq!(list, lines);
        assert_eq!(list[1].calculation, ["<add>(1,1.5)=2.5"]);
        assert_eq!(list[1].answer.to_string(), "2.5");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, error) in [
            ("", "q.json is empty"),
            ("[]", "q.json is empty"),
            (
                "{\"query\":\"a\",\"solution\":[]}\n{\"query\":1}",
                "q.json, line 2: invalid type: integer `1`, expected a string",
            ),
            ("[\n{\"query\":\"a\"}]", "q.json, line 2: missing field `solution`"),
        ] {
            assert_eq!(rows::<RestQuestion>(text).unwrap_err(), error, "{text}");
        }
    }
}
