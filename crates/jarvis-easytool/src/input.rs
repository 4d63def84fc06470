//! Input files: their text and rows, and the one error for those that cannot be used.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

#[derive(Debug, thiserror::Error)]
pub enum InputError {
    #[error("cannot read {}", .path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// A line is not what it should be; lines count from 1.
    #[error("{}, line {line}: {reason}", .path.display())]
    Line { path: PathBuf, line: usize, reason: String },
    #[error("{}: {reason}", .path.display())]
    Shape { path: PathBuf, reason: String },
}

impl InputError {
    pub(crate) fn shape(path: &Path, reason: impl ToString) -> InputError {
        InputError::Shape { path: path.to_owned(), reason: reason.to_string() }
    }

    pub(crate) fn json(path: &Path, before: usize, error: &serde_json::Error) -> InputError {
        let message = error.to_string();
        // The parser's own place is that in the text it was given.
        let reason = message.rsplit_once(" at line ").map_or(message.as_str(), |(reason, _)| reason).to_owned();
        InputError::Line { path: path.to_owned(), line: before + error.line().max(1), reason }
    }
}

/// A file's text without a byte order mark.
///
/// # Errors
/// When it cannot be read, or is not UTF-8.
pub(crate) fn text_of(path: &Path) -> Result<String, InputError> {
    let text = std::fs::read_to_string(path).map_err(|source| InputError::Read { path: path.to_owned(), source })?;
    Ok(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))
}

/// The text of a log. Bytes that are not UTF-8 are replaced: a line that was torn inside a character does not spoil the others.
pub(crate) fn text_of_log(path: &Path) -> Result<String, InputError> {
    let bytes = std::fs::read(path).map_err(|source| InputError::Read { path: path.to_owned(), source })?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
}

/// The lines of a text that are not blank, with their numbers from 0.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty())
}

pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, InputError> {
    serde_json::from_str(&text_of(path)?).map_err(|error| InputError::json(path, 0, &error))
}

pub(crate) fn read_lines<T: DeserializeOwned>(path: &Path, text: &str) -> Result<Vec<T>, InputError> {
    lines(text)
        .map(|(at, line)| serde_json::from_str(line).map_err(|error| InputError::json(path, at, &error)))
        .collect()
}

/// Reads the rows of a JSON list, or one row a line.
///
/// # Errors
/// When the file cannot be read, has no rows, or a row is of another shape.
pub fn read_rows<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, InputError> {
    let text = text_of(path)?;
    let rows: Vec<T> = if text.trim_start().starts_with('[') {
        serde_json::from_str(&text).map_err(|error| InputError::json(path, 0, &error))?
    } else {
        read_lines(path, &text)?
    };
    if rows.is_empty() { Err(InputError::shape(path, "the file is empty")) } else { Ok(rows) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{FuncqaQuestion, RestQuestion};

    fn rows<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("q.json");
        std::fs::write(&path, text).unwrap();
        read_rows(&path).map_err(|error| error.to_string().replace(&format!("{}/", dir.path().display()), ""))
    }

    #[test]
    fn lists_and_lines_are_both_read() {
        let list = r#"[{"question":"a","answer":"1,699.5","calculation":["<add>(1,2)=3"]},
            {"question":"b","answer":2.5,"func":"<add>(1,1.5)=2.5"}]"#;
        let lines = "\u{feff}\n{\"question\":\"a\",\"answer\":\"1,699.5\",\"calculation\":[\"<add>(1,2)=3\"]}\n\n\
            {\"question\":\"b\",\"answer\":2.5,\"func\":\"<add>(1,1.5)=2.5\"}\n";
        let (list, lines) = (rows::<FuncqaQuestion>(list).unwrap(), rows::<FuncqaQuestion>(lines).unwrap());
        assert_eq!(list, lines);
        assert_eq!(list[1].calculation, ["<add>(1,1.5)=2.5"]);
        assert_eq!(list[1].answer.to_string(), "2.5");
    }

    #[test]
    fn other_encodings_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("q.json");
        std::fs::write(&path, b"[{\"query\": \"caf\xe9\", \"solution\": []}]").unwrap();
        assert!(matches!(read_rows::<RestQuestion>(&path), Err(InputError::Read { .. })));
        assert!(text_of_log(&path).unwrap().contains("caf\u{fffd}"));
    }

    #[test]
    fn errors_name_the_line() {
        for (text, error) in [
            ("", "q.json: the file is empty"),
            ("[]", "q.json: the file is empty"),
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
