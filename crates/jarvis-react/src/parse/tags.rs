//! The format of tagged lines, read as leniently as models write it.

use jarvis_prompt::reader::without_reasoning;

use super::{Action, Parsed};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tag {
    Question,
    Thought,
    Action,
    Input,
    Observation,
    Answer,
}

/// The names of tags, folded: lower case, without blanks, `_` and `-`.
const NAMES: [(Tag, &str); 6] = [
    (Tag::Question, "question 问题 вопрос"),
    (Tag::Thought, "thought 思考 想法 мысль"),
    (Tag::Action, "action 行动 动作 действие"),
    (Tag::Input, "actioninput 行动输入 动作输入 вводдействия"),
    (Tag::Observation, "observation 观察 观察结果 наблюдение"),
    (Tag::Answer, "finalanswer 最终答案 最终回答 окончательныйответ итоговыйответ"),
];

/// The longest name of a tag with everything around it, in characters.
const LONGEST: usize = 40;

struct Opened<'a> {
    tag: Tag,
    closes: bool,
    rest: &'a str,
}

pub(crate) fn is_tag_line(line: &str) -> bool {
    bracketed(line).is_some()
}

pub(crate) fn parse_tags(output: &str) -> Parsed {
    // `<thought>` is a tag of this format, whatever it is elsewhere.
    let own = output.contains("<thought>") || output.contains("</thought>");
    let lines = split(if own { output.trim() } else { without_reasoning(output).trim() });
    // Words such as `Final Answer:` count as tags only where no tag is written as it should be.
    let plain = !lines.iter().any(|line| bracketed(line).is_some());
    let mut reader = Reader::default();
    for line in &lines {
        let opened = bracketed(line).or_else(|| if plain { bare(line) } else { None });
        match opened {
            Some(Opened { tag: Tag::Observation, closes: false, .. }) => {
                reader.invented = true;
                break;
            }
            Some(Opened { closes: true, rest, .. }) => reader.close(rest),
            Some(Opened { tag, rest, .. }) => reader.open(tag, rest),
            None => reader.add(line),
        }
    }
    reader.parsed()
}

fn split(output: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    for line in output.lines() {
        let mut rest = line;
        while let Some((head, tail)) = after_closing(rest) {
            lines.push(head);
            rest = tail;
        }
        lines.push(rest);
    }
    lines
}

/// A line cut behind its first closing tag that something follows.
fn after_closing(line: &str) -> Option<(&str, &str)> {
    let mut from = 0;
    while let Some(at) = line.get(from..)?.find("</") {
        let begin = from + at;
        let tail = line.get(begin..)?;
        if let Some(Opened { closes: true, rest, .. }) = bracketed(tail)
            && !rest.trim().is_empty()
        {
            return Some((line.get(..line.len() - rest.len())?, rest));
        }
        from = begin + 2;
    }
    None
}

/// The tag in brackets that a line begins with, Markdown around it left out.
fn bracketed(line: &str) -> Option<Opened<'_>> {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || "*_`#-".contains(c));
    let inner = line.strip_prefix(['<', '＜', '〈', '《'])?;
    let inner = inner.trim_start_matches(['*', '_', '`', ' ']);
    let (closes, inner) = match inner.strip_prefix('/') {
        Some(inner) => (true, inner),
        None => (false, inner),
    };
    let end = inner.char_indices().take(LONGEST).find(|(_, c)| ['>', '＞', '〉', '》'].contains(c));
    let (at, bracket) = end?;
    let tag = named(inner.get(..at)?.trim_end_matches(['/', ':', '：']))?;
    let rest = inner.get(at + bracket.len_utf8()..)?;
    Some(Opened { tag, closes, rest: value(rest) })
}

fn bare(line: &str) -> Option<Opened<'_>> {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || "*_`#-".contains(c));
    let (at, colon) = line.char_indices().take(LONGEST).find(|(_, c)| [':', '：'].contains(c))?;
    let tag = named(line.get(..at)?)?;
    let rest = line.get(at + colon.len_utf8()..)?;
    Some(Opened { tag, closes: false, rest: rest.trim_start_matches(['*', '_', '`']) })
}

/// What follows a tag: without the colon and the end of emphasis, if they are there.
fn value(rest: &str) -> &str {
    let bare = rest.trim_start_matches(['*', '_', '`']);
    match bare.trim_start().strip_prefix([':', '：']) {
        Some(value) => value.trim_start_matches(['*', '_', '`']),
        None => rest,
    }
}

fn named(name: &str) -> Option<Tag> {
    let folded: String =
        name.chars().filter(|c| !c.is_whitespace() && !"_-*`".contains(*c)).flat_map(char::to_lowercase).collect();
    NAMES.iter().find(|(_, names)| names.split(' ').any(|name| name == folded)).map(|(tag, _)| *tag)
}

#[derive(Default)]
struct Reader {
    open: Option<Tag>,
    lines: Vec<String>,
    thoughts: Vec<String>,
    action: Option<String>,
    input: Option<String>,
    /// Whether the first pair of action and input is over.
    paired: bool,
    answer: Option<String>,
    invented: bool,
}

impl Reader {
    fn open(&mut self, tag: Tag, rest: &str) {
        self.end();
        self.open = Some(tag);
        self.add(rest);
    }

    fn close(&mut self, rest: &str) {
        self.end();
        self.add(rest);
    }

    fn add(&mut self, line: &str) {
        // A closing tag at the end of a line closes, and is no part of the value.
        match line.rfind("</").and_then(|at| Some((line.get(..at)?, bracketed(line.get(at..)?)?))) {
            Some((kept, Opened { closes: true, rest, .. })) if rest.trim().is_empty() => {
                self.lines.push(kept.to_owned());
                self.end();
            }
            _ => self.lines.push(line.to_owned()),
        }
    }

    /// Ends the open section. What no tag opened is thought.
    fn end(&mut self) {
        let text = std::mem::take(&mut self.lines).join("\n").trim().to_owned();
        match self.open.take().unwrap_or(Tag::Thought) {
            Tag::Question | Tag::Observation => {}
            Tag::Thought if text.is_empty() => {}
            Tag::Thought => self.thoughts.push(text),
            Tag::Action if self.action.is_none() => self.action = Some(text),
            Tag::Action => self.paired = true,
            Tag::Input if self.input.is_none() && self.action.is_some() && !self.paired => self.input = Some(text),
            Tag::Input => {}
            Tag::Answer => self.answer = Some(text),
        }
    }

    fn parsed(mut self) -> Parsed {
        self.end();
        let action = self.action.and_then(|name| Action::of(&name, self.input));
        Parsed {
            thought: self.thoughts.join("\n"),
            actions: action.into_iter().collect(),
            answer: self.answer,
            nothing_found: false,
            invented: self.invented,
        }
    }
}
