//! How a command fails: its message, hint and exit status.

use jarvis_net::causes::in_one;
use std::error::Error;
use std::process::ExitCode;

use jarvis_plan::RunId;
use serde::Serialize;
use serde_json::{Value, json};

/// Why a command failed. The exit status follows from the kind.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: Kind,
    error: Box<dyn Error + Send + Sync>,
    hint: Option<String>,
    /// The run that failed, and the stable word for why.
    run: Option<(RunId, &'static str)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The work failed: 1.
    Work,
    /// The command was used wrongly: 2.
    Usage,
}

impl Failure {
    pub(crate) fn work(error: impl Into<Box<dyn Error + Send + Sync>>) -> Failure {
        Failure { kind: Kind::Work, error: error.into(), hint: None, run: None }
    }

    pub(crate) fn usage(error: impl Into<Box<dyn Error + Send + Sync>>) -> Failure {
        Failure { kind: Kind::Usage, error: error.into(), hint: None, run: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn maybe_hint(self, hint: Option<impl Into<String>>) -> Failure {
        Failure { hint: hint.map(Into::into).or(self.hint), ..self }
    }

    pub(crate) fn of_run(mut self, run: RunId, code: &'static str) -> Failure {
        self.run = Some((run, code));
        self
    }

    /// The failure as one JSON document, for those who asked for JSON.
    pub(crate) fn document(&self) -> Value {
        let (run_id, code) = match &self.run {
            Some((run, code)) => (Some(run), *code),
            None => (None, if self.kind == Kind::Usage { "usage" } else { "failed" }),
        };
        #[derive(Serialize)]
        struct Error<'a> {
            code: &'a str,
            message: String,
            #[serde(skip_serializing_if = "Option::is_none")]
            hint: Option<&'a str>,
        }
        json!({"run_id": run_id, "error": Error { code, message: self.message(), hint: self.advice() }})
    }

    /// The error and its causes on one line.
    pub(crate) fn message(&self) -> String {
        in_one(self.error())
    }

    pub(crate) fn error(&self) -> &(dyn Error + 'static) {
        self.error.as_ref()
    }

    pub(crate) fn advice(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        match self.kind {
            Kind::Work => ExitCode::from(1),
            Kind::Usage => ExitCode::from(2),
        }
    }
}
