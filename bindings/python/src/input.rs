//! Where samples come from, and what goes wrong with them.

use std::collections::HashSet;
use std::error::Error;
use std::path::{Path, PathBuf};

use jarvis_taskbench::DataError;
use jarvis_taskbench::data::{Lines, SampleId, ToolList};
use jarvis_taskbench::json::{Look, parse};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// JSON text, or the path of a file of it.
#[derive(FromPyObject)]
pub(crate) enum Input {
    #[pyo3(transparent)]
    Text(Vec<u8>),
    #[pyo3(transparent)]
    File(PathBuf),
}

impl Input {
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Input::Text(_) => None,
            Input::File(path) => Some(path),
        }
    }

    /// A document a line; `name` is what messages call text that is in no file.
    pub(crate) fn lines(self, name: &str) -> Result<Lines, Failure> {
        match self {
            Input::Text(text) => Ok(Lines::of(name, text)),
            Input::File(path) => Ok(Lines::read(&path)?),
        }
    }

    pub(crate) fn tools(self) -> Result<ToolList, Failure> {
        match self {
            Input::Text(text) => Ok(ToolList::parse(&text)?),
            Input::File(path) => Ok(ToolList::read(&path)?),
        }
    }
}

/// The ids of a JSON list, with their types: 1 is not "1".
pub(crate) fn ids(name: &str, text: &[u8]) -> Result<HashSet<SampleId>, Failure> {
    let value = parse(text).map_err(|error| Failure::usage(format!("`{name}` is not JSON: {error}")))?;
    let list = value.list().ok_or_else(|| Failure::usage(format!("`{name}` is {}, not a list", value.what())))?;
    let id = |value| SampleId::of(value).ok_or_else(|| Failure::usage(format!("`{name}` holds what is no id")));
    list.iter().map(id).collect()
}

/// What is raised as `jarvis.JarvisError`.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hint: Option<String>,
    /// The exit status of the command in the same case.
    exit_code: u8,
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), hint: None, exit_code: 2 }
    }

    pub(crate) fn work(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), hint: None, exit_code: 1 }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Failure {
        Failure { hint: Some(hint.into()), ..self }
    }

    /// The exception; where the class cannot be had, why not.
    pub(crate) fn raise(self, py: Python<'_>) -> PyErr {
        let raised = || -> PyResult<PyErr> {
            let class = py.import("jarvis._errors")?.getattr("JarvisError")?;
            let more = PyDict::new(py);
            more.set_item("hint", self.hint)?;
            more.set_item("exit_code", self.exit_code)?;
            more.set_item("code", if self.exit_code == 2 { "usage" } else { "failed" })?;
            Ok(PyErr::from_value(class.call((self.message,), Some(&more))?))
        };
        raised().unwrap_or_else(|error| error)
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Failure {
        let cause = error.source().map_or(String::new(), |cause| format!(": {cause}"));
        let failure = if error.is_usage() {
            Failure::usage(format!("{error}{cause}"))
        } else {
            Failure::work(format!("{error}{cause}"))
        };
        failure.hint(error.hint())
    }
}
