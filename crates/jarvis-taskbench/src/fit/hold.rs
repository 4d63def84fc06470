//! Requests whose tools are to stay: a bound for a search.
//!
//! A file has a request a line, with ` | file` behind it for each attached file or text, and below it, indented, its plan:
//! `tool(argument=value) ; tool(…)`, or `nothing`. The tools and their order are compared, and nothing else. Empty lines and those that
//! begin with `#` are skipped.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jarvis_plan::{Kind, Request, Resource, Source, Tool};
use jarvis_planner::{Basis, Experience, Offline, ToolIndex, Weights};
use rayon::prelude::*;

use super::FitError;
use crate::bench::pair;

/// Requests and the tools that they are to get, by files.
pub struct Hold {
    files: Vec<Held>,
}

struct Held {
    index: Arc<ToolIndex>,
    cases: Cases,
}

impl Hold {
    /// Reads files: `FILE` with plans over `own` tools, `FILE=TOOLS` with plans over those of a JSON file, a list of [`Tool`]. Plans are
    /// made on this basis, with the weights that are tried.
    ///
    /// # Errors
    /// When a file cannot be read or has another form.
    pub fn read<P: AsRef<Path>>(files: &[P], own: &[Tool], basis: &Basis) -> Result<Hold, FitError> {
        let text = |path: &Path| {
            std::fs::read_to_string(path).map_err(|source| FitError::Read { path: path.to_owned(), source })
        };
        let own_index = Arc::new(basis.index(own));
        let read = |written: &P| {
            let (path, listed) = pair(written.as_ref());
            let list = |path: &PathBuf| {
                serde_json::from_str(&text(path)?).map_err(|source| FitError::Tools { path: path.clone(), source })
            };
            let listed: Option<Vec<Tool>> = listed.as_ref().map(list).transpose()?;
            let cases = parse(&text(&path)?, listed.as_deref().unwrap_or(own))
                .map_err(|(line, reason)| FitError::Case { path: path.clone(), line, reason })?;
            let index = match listed {
                Some(tools) => Arc::new(basis.index(&tools)),
                None => Arc::clone(&own_index),
            };
            Ok(Held { index, cases })
        };
        Ok(Hold { files: files.iter().map(read).collect::<Result<_, _>>()? })
    }

    /// How many requests there are.
    pub fn len(&self) -> usize {
        self.files.iter().map(|file| file.cases.len()).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many of each file get the wanted tools with these weights.
    pub fn kept(&self, weights: &Weights) -> Vec<usize> {
        let kept = |Held { index, cases }: &Held| {
            let is_kept = |(request, wanted): &&(Request, Vec<String>)| {
                let draft = Offline::draft_by(index, request, weights, &Experience::default());
                draft.tasks.iter().map(|task| &task.task).eq(wanted)
            };
            cases.par_iter().filter(is_kept).count()
        };
        self.files.iter().map(kept).collect()
    }
}

type Cases = Vec<(Request, Vec<String>)>;

fn parse(text: &str, tools: &[Tool]) -> Result<Cases, (usize, String)> {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    let mut lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let mut cases = Vec::new();
    while let Some((at, asked)) = lines.next() {
        if asked.starts_with(' ') {
            return Err((at, "a plan without a request above it".to_owned()));
        }
        let plan = lines.next().map(|(_, line)| line).filter(|line| line.starts_with(' '));
        let plan = plan.ok_or_else(|| (at, "no plan below this request".to_owned()))?.trim();
        // A value may hold " ; ": what begins with no tool goes on with the value before.
        let named = plan.split(" ; ").filter_map(|step| {
            let name = step.split_once('(')?.0;
            tools.iter().any(|tool| tool.name == name).then(|| name.to_owned())
        });
        let wanted: Vec<String> = named.collect();
        if wanted.is_empty() && plan != "nothing" {
            return Err((at + 1, format!("no tool is called `{}`", plan.split('(').next().unwrap_or(plan))));
        }
        cases.push((request(asked), wanted));
    }
    Ok(cases)
}

fn request(line: &str) -> Request {
    let mut parts = line.split(" | ");
    let text = parts.next().unwrap_or_default().replace("\\n", "\n");
    let attached = |given: &str| match Kind::of_name(given).filter(|kind| kind.is_media() && !given.contains(' ')) {
        Some(kind) => Resource { kind, source: Source::Public(given.to_owned()), name: None },
        None => Resource { kind: Kind::Text, source: Source::Inline(given.replace("\\n", "\n")), name: None },
    };
    Request { attachments: parts.map(attached).collect(), ..Request::new(text) }
}

#[cfg(test)]
mod tests {
    use jarvis_plan::{Kind, Tool};

    use super::parse;

    #[test]
    fn cases_are_read() {
        let tools = [Tool::typed("speak", "", &[Kind::Text], &[Kind::Audio]), Tool::typed("sum", "", &[], &[])];
        let text = "# said\n\nread a.txt aloud | b.jpg | some text\n    speak(text=a ; b) ; sum(text=@0)\nhello\n    nothing\n";
        let cases = parse(text, &tools).unwrap();
        let wanted: Vec<&[String]> = cases.iter().map(|(_, wanted)| wanted.as_slice()).collect();
        assert_eq!(wanted, [&["speak".to_owned(), "sum".to_owned()][..], &[]]);
        let kinds: Vec<Kind> = cases[0].0.attachments.iter().map(|one| one.kind).collect();
        assert_eq!((cases[0].0.text.as_str(), kinds), ("read a.txt aloud", vec![Kind::Image, Kind::Text]));
        for (text, at, why) in [
            ("hello\n", 1, "no plan below"),
            ("hello\ngood day\n", 1, "no plan below"),
            ("\n    sum()\n", 2, "without a request"),
            ("hello\n    shout(text=hello)\n", 2, "no tool is called `shout`"),
        ] {
            let (line, reason) = parse(text, &tools).unwrap_err();
            assert!(line == at && reason.contains(why), "{text:?}: {line} {reason}");
        }
    }
}
