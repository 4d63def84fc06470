//! The one place that writes to the terminal. stdout carries the answer or the asked-for data and nothing else;
//! everything that is about the work goes to stderr.

use std::borrow::Cow;
use std::error::Error;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::SystemTime;

use jarvis_net::causes::messages;
use jarvis_net::text::cut;
use serde::Serialize;
use serde_json::json;

use crate::failure::Failure;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verbosity {
    Quiet,
    Normal,
    Verbose,
}

/// Writes to stdout and stderr. A reader of stdout that goes away is not an error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Printer {
    verbosity: Verbosity,
    /// Whether what is about the work is written as lines of JSON, as logs are.
    as_json: bool,
}

impl Printer {
    pub(crate) fn new(quiet: bool, verbose: u8) -> Printer {
        let verbosity = match (quiet, verbose) {
            (true, _) => Verbosity::Quiet,
            (false, 0) => Verbosity::Normal,
            (false, _) => Verbosity::Verbose,
        };
        Printer { verbosity, as_json: false }
    }

    /// The same, with lines of JSON on stderr.
    pub(crate) fn in_json(self) -> Printer {
        Printer { as_json: true, ..self }
    }

    /// A line to stderr.
    fn about(self, level: &str, text: &str) {
        let text = harmless(text);
        let mut out = std::io::stderr().lock();
        let _ = match self.as_json {
            true => {
                let at = humantime::format_rfc3339_micros(SystemTime::now()).to_string();
                let line = json!({"timestamp": at, "level": level, "message": text.trim_end(), "target": "jarvis"});
                writeln!(out, "{line}")
            }
            false => write!(out, "{text}"),
        };
    }

    pub(crate) fn verbosity(self) -> Verbosity {
        self.verbosity
    }

    /// True when progress may be drawn over.
    pub(crate) fn draws(self) -> bool {
        self.verbosity > Verbosity::Quiet && std::io::stderr().is_terminal()
    }

    /// Data: a line to stdout.
    pub(crate) fn out(self, line: &str) {
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "{}", harmless(line)).and_then(|()| out.flush());
    }

    /// Data: one JSON document to stdout, which is all that the command does.
    pub(crate) fn json(self, document: &impl Serialize) -> Result<ExitCode, Failure> {
        self.out(&serde_json::to_string_pretty(document).map_err(Failure::work)?);
        Ok(ExitCode::SUCCESS)
    }

    /// Data: text to stdout without a line end, shown at once.
    pub(crate) fn out_piece(self, text: &str) {
        let mut out = std::io::stdout().lock();
        let _ = write!(out, "{}", harmless(text)).and_then(|()| out.flush());
    }

    /// Progress: a line to stderr unless quiet.
    pub(crate) fn progress(self, line: &str) {
        if self.verbosity > Verbosity::Quiet {
            self.about("INFO", &format!("{line}\n"));
        }
    }

    /// A warning: a line to stderr unless quiet.
    pub(crate) fn warning(self, text: &str) {
        if self.verbosity > Verbosity::Quiet {
            self.about("WARN", &format!("warning: {text}\n"));
        }
    }

    /// A note: a line to stderr when verbose.
    pub(crate) fn note(self, text: &str) {
        if self.verbosity >= Verbosity::Verbose {
            self.progress(&format!("note: {text}"));
        }
    }

    /// An error with its causes and, after a blank line, what to try. Always shown.
    pub(crate) fn error(self, error: &(dyn Error + 'static), hint: Option<&str>) {
        let mut text = format!("error: {error}\n");
        for cause in messages(error).iter().skip(1) {
            text.push_str(&format!("  Caused by: {cause}\n"));
        }
        if let Some(hint) = hint {
            text.push_str(&format!("\nhint: {hint}\n"));
        }
        self.about("ERROR", &text);
    }
}

pub(crate) fn one_line(text: &str, max: usize) -> String {
    cut(&text.replace(char::is_control, " "), max, "…")
}

/// What models, files and services say must not drive the terminal or hide from the reader: control characters other than
/// line ends and tabs, direction overrides and Unicode tags are left out.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    let drives = |c: char| match c {
        '\n' | '\t' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}' => true,
        c => c.is_control(),
    };
    if text.contains(drives) { Cow::Owned(text.replace(drives, "")) } else { Cow::Borrowed(text) }
}
