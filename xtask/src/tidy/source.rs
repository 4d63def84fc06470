//! Rules on Rust files, read as tokens: what stands in a comment or a string is never mistaken for code, and what stands
//! in a macro is not missed. Types are not known here; clippy knows them and has its say beside.

use std::collections::HashSet;
use std::str::FromStr;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::Finding;
use super::workspace::Source;

const HEADER: &str = "every file starts with a `//!` header";
const PANICS: &str = "no panicking calls outside tests";
const PRINTS: &str = "only the printer prints";
const TESTS: &str = "no test is ignored, and none expects a panic";
const LENGTH: &str = "a file over 500 lines wants a split, over 800 it needs one (or `Long:` and why in its header)";

/// Lines from which a file wants a split, and from which it needs one.
const WANTS_SPLIT: usize = 500;
const NEEDS_SPLIT: usize = 800;

/// The only product file that prints.
const PRINTER: &str = "crates/jarvis/src/printer.rs";

/// What the Rust files break.
pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    let mut scans = Vec::new();
    let mut findings = Vec::new();
    for source in sources {
        match TokenStream::from_str(&source.text) {
            Ok(tokens) => scans.push((source, tokens)),
            Err(error) => findings.push(Finding::new(
                &source.path,
                error.span().start().line,
                "this cannot be read as Rust",
                "every file can be compiled",
            )),
        }
    }
    let tests: HashSet<String> = scans.iter().flat_map(|(source, tokens)| test_modules(&source.path, tokens)).collect();
    for (source, tokens) in scans {
        findings.extend(file(&source.path, &source.text));
        let is_test = is_test_path(&source.path) || tests.contains(&source.path);
        let lines: Vec<&str> = source.text.lines().collect();
        let mut scan = Scan { path: &source.path, lines: &lines, findings: &mut findings };
        scan.tokens(
            tokens,
            Allowed { panics: is_test, prints: is_test || source.path == PRINTER, ..Allowed::default() },
        );
    }
    findings
}

/// The rules on a file as text: its header and its length.
fn file(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !text.starts_with("//!") {
        findings.push(Finding::new(path, 1, "no `//!` header on the first line", HEADER));
    }
    let header = text.lines().take_while(|line| line.starts_with("//!"));
    let excused = header.into_iter().any(|line| line.contains("Long:"));
    let length = text.lines().count();
    if length > NEEDS_SPLIT && !excused {
        findings.push(Finding::new(path, 1, format!("{length} lines"), LENGTH));
    } else if length > WANTS_SPLIT && !excused {
        findings.push(Finding::new(path, 1, format!("{length} lines"), LENGTH).warning());
    }
    findings
}

/// Code that never runs in the product: tests, benchmarks, measurements, chores, fakes.
fn is_test_path(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    name == "tests.rs"
        || path.starts_with("xtask/")
        || path.starts_with("crates/jarvis-testing/")
        || path.starts_with("crates/jarvis-load/")
        || folder.split('/').any(|part| matches!(part, "tests" | "benches" | "examples" | "fuzz"))
}

/// Files brought in by `#[cfg(test)] mod NAME;`.
fn test_modules(path: &str, tokens: &TokenStream) -> Vec<String> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.trim_end_matches(".rs");
    let base = if matches!(stem, "lib" | "main" | "mod") { folder.to_owned() } else { format!("{folder}/{stem}") };
    let mut files = Vec::new();
    let mut is_test = false;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group)
                if group.delimiter() == Delimiter::Bracket
                    && is_punct(at.checked_sub(1).and_then(|at| tokens.get(at)), '#') =>
            {
                is_test |= Attribute::of(group) == Attribute::Test;
            }
            TokenTree::Ident(word) if word == "mod" && is_test => {
                if let (Some(TokenTree::Ident(name)), true) = (tokens.get(at + 1), is_punct(tokens.get(at + 2), ';')) {
                    files.push(format!("{base}/{name}.rs"));
                    files.push(format!("{base}/{name}/mod.rs"));
                }
                is_test = false;
            }
            TokenTree::Punct(mark) if mark.as_char() == ';' => is_test = false,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => is_test = false,
            _ => {}
        }
    }
    files
}

/// What is allowed at a place in the code.
#[derive(Debug, Clone, Copy, Default)]
struct Allowed {
    panics: bool,
    prints: bool,
    expect: bool,
    unwrap: bool,
    panic: bool,
    unreachable: bool,
}

/// What an attribute means here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attribute {
    Test,
    Ignore,
    ShouldPanic,
    Allow(Excuse),
    Other,
}

/// Clippy lints that an item may be excused from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Excuse {
    Expect,
    Unwrap,
    Panic,
    Unreachable,
}

impl Attribute {
    /// Reads what stands in `#[…]`.
    fn of(group: &Group) -> Attribute {
        let text: String = group.stream().to_string().chars().filter(|letter| !letter.is_whitespace()).collect();
        let name = text.split(['(', '=']).next().unwrap_or(&text);
        if text == "cfg(test)" || text.starts_with("cfg(all(test,") || name == "test" || name.ends_with("::test") {
            return Attribute::Test;
        }
        match name {
            "ignore" => Attribute::Ignore,
            "should_panic" => Attribute::ShouldPanic,
            "allow" | "expect" if text.contains("clippy::expect_used") => Attribute::Allow(Excuse::Expect),
            "allow" | "expect" if text.contains("clippy::unwrap_used") => Attribute::Allow(Excuse::Unwrap),
            "allow" | "expect" if text.contains("clippy::panic") => Attribute::Allow(Excuse::Panic),
            "allow" | "expect" if text.contains("clippy::unreachable") => Attribute::Allow(Excuse::Unreachable),
            _ => Attribute::Other,
        }
    }
}

struct Scan<'a> {
    path: &'a str,
    lines: &'a [&'a str],
    findings: &'a mut Vec<Finding>,
}

impl Scan<'_> {
    fn found(&mut self, line: usize, what: impl Into<String>, rule: &'static str) {
        self.findings.push(Finding::new(self.path, line, what, rule));
    }

    /// Walks one level of tokens and, through groups, those below. An outer attribute holds for the item behind it.
    fn tokens(&mut self, tokens: TokenStream, allowed: Allowed) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut here = allowed;
        // Where what the attributes said ends.
        let mut end = 0;
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            if at >= end {
                here = allowed;
            }
            if is_punct(Some(token), '#') {
                let inner = is_punct(tokens.get(at + 1), '!');
                if let Some(TokenTree::Group(group)) = tokens.get(at + 1 + usize::from(inner))
                    && group.delimiter() == Delimiter::Bracket
                {
                    let line = token.span().start().line;
                    let attribute = Attribute::of(group);
                    self.attribute(attribute, line);
                    at += 2 + usize::from(inner);
                    if !inner && self.apply(attribute, line, &mut here) {
                        end = end.max(item_end(&tokens, at));
                    }
                    continue;
                }
            }
            self.token(&tokens, at, token, here);
            if let TokenTree::Group(group) = token {
                self.tokens(group.stream(), here);
            }
            at += 1;
        }
    }

    fn attribute(&mut self, attribute: Attribute, line: usize) {
        match attribute {
            Attribute::Ignore => self.found(line, "an ignored test", TESTS),
            Attribute::ShouldPanic => self.found(line, "a test that expects a panic", TESTS),
            Attribute::Test | Attribute::Allow(_) | Attribute::Other => {}
        }
    }

    /// Adds what an attribute allows to the item behind it; true when it allows anything.
    fn apply(&self, attribute: Attribute, line: usize, allowed: &mut Allowed) -> bool {
        match attribute {
            Attribute::Test => {
                allowed.panics = true;
                allowed.prints = true;
            }
            Attribute::Allow(excuse) if self.is_explained(line) => match excuse {
                Excuse::Expect => allowed.expect = true,
                Excuse::Unwrap => allowed.unwrap = true,
                Excuse::Panic => allowed.panic = true,
                Excuse::Unreachable => allowed.unreachable = true,
            },
            Attribute::Allow(_) | Attribute::Ignore | Attribute::ShouldPanic | Attribute::Other => return false,
        }
        true
    }

    /// True when a comment stands above the attributes that this line belongs to, or behind it.
    fn is_explained(&self, line: usize) -> bool {
        let behind = self.lines.get(line.wrapping_sub(1)).is_some_and(|text| text.contains("//"));
        let above = self.lines.iter().take(line.saturating_sub(1)).rev();
        behind
            || above
                .map(|text| text.trim_start())
                .find(|text| !text.starts_with("#["))
                .is_some_and(|text| text.starts_with("//"))
    }

    fn token(&mut self, tokens: &[TokenTree], at: usize, token: &TokenTree, allowed: Allowed) {
        let TokenTree::Ident(word) = token else { return };
        let line = word.span().start().line;
        let word = word.to_string();
        let previous = at.checked_sub(1).and_then(|at| tokens.get(at));
        let is_macro = is_punct(tokens.get(at + 1), '!') && matches!(tokens.get(at + 2), Some(TokenTree::Group(_)));
        let is_method = is_punct(previous, '.') || is_punct(previous, ':');
        let excused = match word.as_str() {
            "expect" | "expect_err" if is_method => allowed.expect,
            "unwrap" | "unwrap_err" if is_method => allowed.unwrap,
            "panic" if is_macro => allowed.panic,
            "unreachable" if is_macro => allowed.unreachable,
            "todo" | "unimplemented" if is_macro => false,
            "println" | "eprintln" | "print" | "eprint" | "dbg" if is_macro => {
                if !allowed.prints {
                    self.found(line, format!("`{word}!` here"), PRINTS);
                }
                return;
            }
            _ => return,
        };
        if !excused && !allowed.panics {
            let what = if is_macro { format!("`{word}!` here") } else { format!("`{word}` here") };
            self.found(line, what, PANICS);
        }
    }
}

/// Where the item that starts at `at` ends: behind its body, or behind the `;` of a statement.
fn item_end(tokens: &[TokenTree], at: usize) -> usize {
    let rest = || tokens.iter().enumerate().skip(at);
    // The body of `let`, `static` and `const` may hold braces; `const fn` is a function.
    let first = tokens.get(at..).unwrap_or_default().iter().find_map(|token| match token {
        TokenTree::Ident(word) if word != "pub" => Some(word.to_string()),
        _ => None,
    });
    let statement = matches!(first.as_deref(), Some("let" | "static" | "const" | "return"))
        && !rest().take(4).any(|(_, token)| matches!(token, TokenTree::Ident(word) if word == "fn"));
    rest()
        .find(|(_, token)| match token {
            TokenTree::Punct(mark) => mark.as_char() == ';',
            TokenTree::Group(group) => !statement && group.delimiter() == Delimiter::Brace,
            TokenTree::Ident(_) | TokenTree::Literal(_) => false,
        })
        .map_or(tokens.len(), |(found, _)| found + 1)
}

fn is_punct(token: Option<&TokenTree>, mark: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
}
