//! The tools that a plan may use, found by the names that planners write.

use std::collections::HashMap;

use crate::{Tool, spell_out};

/// The tools a plan may use. Names are found exactly; else by name or alias without regard to case and separators
/// (`ImageToText` is `image-to-text`); else by the last part, where only one tool has it (`read_text_file` for
/// `files/read_text_file`), or with a part before it that is none of the name (`functions.read_text_file`); else by its
/// letters alone (`image2text`).
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    tools: Vec<Tool>,
    /// By the name itself: names that differ only in what is disregarded are different tools.
    exact: HashMap<String, usize>,
    index: HashMap<String, usize>,
    /// By the last part of a name that has several; more than one tool may have it.
    last: HashMap<String, Vec<usize>>,
    /// By the letters and digits of a name or an alias; more than one tool may have them.
    letters: HashMap<String, Vec<usize>>,
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
        let mut letters: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, tool) in tools.iter().enumerate() {
            for name in std::iter::once(&tool.name).chain(&tool.aliases) {
                let meant = letters.entry(squeezed(&words_of(name))).or_default();
                if !meant.contains(&at) {
                    meant.push(at);
                }
            }
        }
        Vocabulary { tools, exact, index, last, letters }
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
        let name = name.trim().trim_matches(['`', '"', '\'', '*']);
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
            None => self.by_letters(name).map_or(Meant::Nothing, one),
        }
    }

    /// The only tool whose name has the letters of this one: `image2text`, `imagetotext`, `image-to-text task`.
    fn by_letters(&self, name: &str) -> Option<&usize> {
        let words = words_of(name);
        let is_filler =
            |word: &&String| matches!(word.as_str(), "task" | "tool" | "the" | "api" | "function" | "model");
        let own: Vec<String> = words.iter().filter(|word| !is_filler(word)).cloned().collect();
        [&words, &own].into_iter().filter(|words| !words.is_empty()).find_map(|words| {
            match self.letters.get(&squeezed(words)).map(Vec::as_slice) {
                Some([only]) => Some(only),
                Some(_) | None => None,
            }
        })
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

fn words_of(name: &str) -> Vec<String> {
    spell_out(name.trim()).to_lowercase().split_whitespace().map(str::to_owned).collect()
}

/// The letters of words, a `2` between words or letters being "to".
fn squeezed(words: &[String]) -> String {
    let joined: Vec<char> = words.concat().chars().collect();
    let is_letter = |at: Option<usize>| at.and_then(|at| joined.get(at)).is_some_and(|c| c.is_alphabetic());
    let mut letters = String::with_capacity(joined.len() + 1);
    for (at, letter) in joined.iter().enumerate() {
        if *letter == '2' && is_letter(at.checked_sub(1)) && is_letter(Some(at + 1)) {
            letters.push_str("to");
        } else {
            letters.push(*letter);
        }
    }
    letters
}

/// The form in which names are compared: lower case, words with a hyphen between.
fn fold(name: &str) -> String {
    let spelled = spell_out(name.trim()).to_lowercase();
    spelled.split_whitespace().collect::<Vec<_>>().join("-")
}
