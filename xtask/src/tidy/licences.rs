//! Every package of the lock file may be used under the licences that `deny.toml` allows. cargo-deny says the same from
//! the licence texts; this reads the expressions only, and needs nothing installed.

use anyhow::{Result, bail};

use super::Finding;
use super::workspace::Package;

/// Packages that cannot be used under the allowed licences.
pub(super) fn check(deny: &str, packages: &[Package]) -> Result<Vec<Finding>> {
    let (line, allowed) = allowed(deny)?;
    let allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
    let mut findings = Vec::new();
    for package in packages {
        let what = match package.licence.as_deref() {
            Some(licence) => match satisfied(licence, &allowed) {
                Some(true) => continue,
                Some(false) => format!("`{}` is under {licence}", package.name),
                None => format!("the licence of `{}` cannot be read: {licence}", package.name),
            },
            None => format!("`{}` names no licence", package.name),
        };
        findings.push(Finding::new("deny.toml", line, what, "every package is under an allowed licence"));
    }
    Ok(findings)
}

/// The list `allow` under `[licenses]`, and the line it starts on.
fn allowed(deny: &str) -> Result<(usize, Vec<String>)> {
    let mut table = "";
    let mut inside: Option<usize> = None;
    let mut names = Vec::new();
    for (at, line) in deny.lines().enumerate() {
        let line = line.trim();
        if inside.is_none() {
            if line.starts_with('[') {
                table = line;
            }
            let value = line.strip_prefix("allow").map(str::trim_start).and_then(|rest| rest.strip_prefix('='));
            if table != "[licenses]" || value.is_none() {
                continue;
            }
            inside = Some(at + 1);
        }
        let code = line.split('#').next().unwrap_or(line);
        names.extend(code.split('"').skip(1).step_by(2).map(str::to_owned));
        if let Some(start) = inside
            && code.trim_end().ends_with(']')
        {
            return Ok((start, names));
        }
    }
    bail!("deny.toml has no list `allow` under `[licenses]`")
}

/// Whether an SPDX expression can be met with the allowed licences; `None` when it cannot be read. The old `/` counts
/// as `OR`.
pub(super) fn satisfied(expression: &str, allowed: &[&str]) -> Option<bool> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader { words: &words, allowed };
    let value = reader.any()?;
    reader.words.is_empty().then_some(value)
}

struct Reader<'a> {
    words: &'a [&'a str],
    allowed: &'a [&'a str],
}

impl<'a> Reader<'a> {
    fn take(&mut self) -> Option<&'a str> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    fn follows(&mut self, word: &str) -> bool {
        let here = self.words.first().is_some_and(|next| next.eq_ignore_ascii_case(word));
        if here {
            self.take();
        }
        here
    }

    fn any(&mut self) -> Option<bool> {
        let mut value = self.all()?;
        while self.follows("OR") {
            value |= self.all()?;
        }
        Some(value)
    }

    fn all(&mut self) -> Option<bool> {
        let mut value = self.one()?;
        while self.follows("AND") {
            value &= self.one()?;
        }
        Some(value)
    }

    fn one(&mut self) -> Option<bool> {
        let name = self.take()?;
        if name == "(" {
            let value = self.any()?;
            return self.follows(")").then_some(value);
        }
        if name == ")" || ["OR", "AND", "WITH"].contains(&name) {
            return None;
        }
        if self.follows("WITH") {
            let whole = format!("{name} WITH {}", self.take()?);
            return Some(self.allowed.contains(&whole.as_str()));
        }
        Some(self.allowed.contains(&name))
    }
}
