//! Rules on Rust files, read line by line as text.

use super::Finding;
use super::workspace::Source;

const HEADER: &str = "every file starts with a `//!` header";
const LENGTH: &str = "a file over 500 lines wants a split, over 800 it needs one (or `Long:` and why in its header)";

/// Lines from which a file wants a split, and from which it needs one.
const WANTS_SPLIT: usize = 500;
const NEEDS_SPLIT: usize = 800;

/// Words that must not occur in a part of each line.
pub(super) struct Forbidden {
    pub(super) part: fn(&str) -> &str,
    pub(super) words: &'static [&'static str],
    /// Prefixes of paths that are exempt.
    pub(super) except: &'static [&'static str],
    pub(super) rule: &'static str,
}

pub(super) const FORBIDDEN: &[Forbidden] = &[
    Forbidden {
        part: code,
        words: &["#[ignore", "#[should_panic"],
        except: &["xtask/src/tidy/"],
        rule: "no test is ignored, and none expects a panic",
    },
    Forbidden {
        part: comment,
        words: &["spec/", "../shared"],
        except: &["xtask/src/tidy/"],
        rule: "no pointer to files outside the repository",
    },
    Forbidden {
        part: code,
        words: &["--llm", "--file", "--base-url", "--yes", "--approve", "--timeout"],
        except: &[
            "xtask/",
            "crates/jarvis/",
            "crates/jarvis-easytool/",
            "crates/jarvis-load/",
            "crates/jarvis-taskbench/",
        ],
        rule: "what every door may show names no flag of the command line",
    },
];

pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources {
        findings.extend(header_and_length(source));
        findings.extend(FORBIDDEN.iter().flat_map(|rule| forbidden(rule, source)));
    }
    findings
}

fn header_and_length(Source { path, text }: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !text.starts_with("//!") {
        findings.push(Finding::new(path, 1, "no `//!` header on the first line", HEADER));
    }
    let mut header = text.lines().take_while(|line| line.starts_with("//!"));
    let length = text.lines().count();
    if length > WANTS_SPLIT && !header.any(|line| line.contains("Long:")) {
        let finding = Finding::new(path, 1, format!("{length} lines"), LENGTH);
        findings.push(if length > NEEDS_SPLIT { finding } else { finding.warning() });
    }
    findings
}

pub(super) fn forbidden(rule: &Forbidden, source: &Source) -> Vec<Finding> {
    if rule.except.iter().any(|prefix| source.path.starts_with(prefix)) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (at, line) in source.text.lines().enumerate() {
        let part = (rule.part)(line);
        for word in rule.words.iter().filter(|word| part.contains(**word)) {
            findings.push(Finding::new(&source.path, at + 1, format!("`{word}`"), rule.rule));
        }
    }
    findings
}

/// The line before a comment.
pub(super) fn code(line: &str) -> &str {
    split(line).0
}

/// The comment at the end of the line.
pub(super) fn comment(line: &str) -> &str {
    split(line).1
}

/// Takes `//` for the start of a comment at the start of a line and after a blank, so not in `http://`.
fn split(line: &str) -> (&str, &str) {
    let starts = |at: &usize| line.get(..*at).is_some_and(|before| before.is_empty() || before.ends_with(' '));
    let at = line.match_indices("//").map(|(at, _)| at).find(starts).unwrap_or(line.len());
    line.split_at(at)
}
