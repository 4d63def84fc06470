//! The one place that writes to the terminal. stdout carries the answer or the asked-for data and nothing else;
//! everything that is about the work goes to stderr.

use std::borrow::Cow;
use std::error::Error;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use jarvis_net::causes::messages;
use jarvis_net::text::cut;
use serde::Serialize;

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
}

impl Printer {
    pub(crate) fn new(quiet: bool, verbose: u8) -> Printer {
        let verbosity = match (quiet, verbose) {
            (true, _) => Verbosity::Quiet,
            (false, 0) => Verbosity::Normal,
            (false, _) => Verbosity::Verbose,
        };
        Printer { verbosity }
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
            let _ = writeln!(std::io::stderr().lock(), "{}", harmless(line));
        }
    }

    /// A warning: a line to stderr unless quiet.
    pub(crate) fn warning(self, text: &str) {
        self.progress(&format!("warning: {text}"));
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
        let _ = write!(std::io::stderr().lock(), "{}", harmless(&text));
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
