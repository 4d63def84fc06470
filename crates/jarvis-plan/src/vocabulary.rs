//! The tools that a plan may use, found by the names that planners write.

use std::collections::HashMap;

use crate::{Tool, spell_out};

/// The tools a plan may use. Names are found exactly; else by name or alias without regard to case and separators
/// (`ImageToText` is `image-to-text`); else by the last part, where only one tool has it (`read_text_file` for
/// `files/read_text_file`), or with a part before it that is none of the name (`functions.read_text_file`).
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    tools: Vec<Tool>,
    /// By the name itself: names that differ only in what is disregarded are different tools.
    exact: HashMap<String, usize>,
    index: HashMap<String, usize>,
    /// By the last part of a name that has several; more than one tool may have it.
    last: HashMap<String, Vec<usize>>,
}

/// What a name may mean.
#[derive(Debug, Clone, PartialEq)]
pub enum Meant<'v> {
    /// One tool.
    Tool(&'v Tool),
    /// One of several.
    Several(Vec<&'v Tool>),
    /// None.
    Nothing,
}

/// The most tools that are named as like an unknown one.
const MAX_NEAREST: usize = 3;

impl Vocabulary {
    /// Builds the lookup. Where two tools claim a name, a proper name wins over an alias, the earlier over the later.
    pub fn new(tools: Vec<Tool>) -> Vocabulary {
        let mut index = HashMap::new();
        let mut exact = HashMap::new();
        let mut last: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, tool) in tools.iter().enumerate() {
            exact.entry(tool.name.clone()).or_insert(at);
            index.entry(fold(&tool.name)).or_insert(at);
            if let Some((_, part)) = tool.name.rsplit_once(is_border) {
                last.entry(fold(part)).or_default().push(at);
            }
        }
        for (at, tool) in tools.iter().enumerate() {
            for alias in &tool.aliases {
                index.entry(fold(alias)).or_insert(at);
            }
        }
        Vocabulary { tools, exact, index, last }
    }

    /// Tools of which only the names are known.
    pub fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Vocabulary {
        Vocabulary::new(names.into_iter().map(|name| Tool::typed(name, "", &[], &[])).collect())
    }

    /// The tools, in the order given.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// The tool that is meant by `name`, when there is only one.
    pub fn find(&self, name: &str) -> Option<&Tool> {
        match self.meant(name) {
            Meant::Tool(tool) => Some(tool),
            Meant::Several(_) | Meant::Nothing => None,
        }
    }

    /// What a planner may mean by `name`.
    pub fn meant(&self, name: &str) -> Meant<'_> {
        let one = |at: &usize| Meant::Tool(self.at(*at));
        if let Some(at) = self.exact.get(name) {
            return one(at);
        }
        let name = name.trim().trim_matches(['`', '"', '\'']);
        if let Some(at) = self.index.get(&fold(name)) {
            return one(at);
        }
        // A part before the name may be one of a tool's own, or something that a model puts before every name.
        let own = name.rsplit_once(is_border).map_or(name, |(_, part)| part);
        if own != name
            && let Some(at) = self.index.get(&fold(own))
        {
            return one(at);
        }
        match self.last.get(&fold(own)).map(Vec::as_slice) {
            Some([only]) => one(only),
            Some(several) => Meant::Several(several.iter().map(|at| self.at(*at)).collect()),
            None => Meant::Nothing,
        }
    }

    fn at(&self, at: usize) -> &Tool {
        self.tools.get(at).expect("the indices are those of the tools")
    }

    /// Names of tools that are like one that is unknown, the most alike first: by letters, or by words that they share.
    pub fn nearest(&self, name: &str) -> Vec<String> {
        let said = fold(name);
        let words = words(name);
        let length = said.chars().count();
        if !(2..=128).contains(&length) {
            return Vec::new();
        }
        let far = |known: &str| {
            let letters = strsim::osa_distance(&said, &fold(known));
            let shared = self::words(known).iter().filter(|word| words.contains(word)).count();
            (letters <= (length / 3).max(1))
                .then_some(letters)
                .or((shared > 0).then_some(length.saturating_sub(shared)))
        };
        let mut near: Vec<(usize, &str)> = (self.tools.iter())
            .filter_map(|tool| {
                let names = std::iter::once(&tool.name).chain(&tool.aliases);
                Some((names.filter_map(|name| far(name)).min()?, tool.name.as_str()))
            })
            .collect();
        near.sort_unstable();
        near.into_iter().take(MAX_NEAREST).map(|(_, name)| name.to_owned()).collect()
    }
}

/// What stands between a tool's own name and the server or namespace that it is of.
fn is_border(c: char) -> bool {
    matches!(c, '/' | '.' | ':')
}

/// The words of a name, in lower case; short ones say nothing.
fn words(name: &str) -> Vec<String> {
    let spelled = spell_out(name).to_lowercase();
    spelled.split_whitespace().filter(|word| word.chars().count() > 3).map(str::to_owned).collect()
}

/// The form in which names are compared: lower case, words with a hyphen between.
fn fold(name: &str) -> String {
    let spelled = spell_out(name.trim()).to_lowercase();
    spelled.split_whitespace().collect::<Vec<_>>().join("-")
}
