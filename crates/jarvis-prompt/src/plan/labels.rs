//! What the tasks of a reply are called in it: by number, by word, by tool, by variable. Finds the task that an expression
//! such as `0`, `task_0.output`, `tasks[0].text`, `caption` or `output of step 1` stands for.

use jarvis_plan::{FieldPath, Vocabulary};
use serde_json::Value;

use super::call::Call;

/// What an expression stands for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Denoted {
    /// The output, or a part of it, of the task at this place.
    Task(usize, FieldPath),
    /// A number that no task has.
    Missing(i64),
    /// One of several tasks, by their places.
    Several(Vec<usize>),
}

/// From which number tasks without ids are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Zero,
    One,
    /// Both countings are possible.
    Open,
}

pub(super) struct Labels<'a> {
    calls: &'a [Call],
    /// The name of each task's tool as the vocabulary has it.
    tools: Vec<Option<&'a str>>,
    vocabulary: &'a Vocabulary,
    ids: Vec<Option<i64>>,
    base: Base,
}

/// Words around a number or a name that only say that it stands for a result.
const AROUND: [&str; 30] = [
    "generated",
    "output",
    "outputs",
    "result",
    "results",
    "response",
    "value",
    "the",
    "of",
    "from",
    "a",
    "an",
    "task",
    "tasks",
    "step",
    "steps",
    "node",
    "nodes",
    "resource",
    "resources",
    "action",
    "call",
    "tool",
    "id",
    "no",
    "number",
    "by",
    "in",
    "text",
    "content",
];

/// Words that say that a result is meant.
const RESULT: [&str; 9] =
    ["generated", "output", "outputs", "result", "results", "response", "resource", "node", "value"];

/// Fields that stand for the whole output of a task whose tool gives a text or a medium.
const WHOLE: [&str; 21] = [
    "output",
    "outputs",
    "result",
    "results",
    "response",
    "text",
    "value",
    "content",
    "data",
    "image",
    "audio",
    "video",
    "generated_text",
    "caption",
    "description",
    "summary",
    "translation",
    "transcript",
    "transcription",
    "answer",
    "speech",
];

impl<'a> Labels<'a> {
    pub(super) fn new(calls: &'a [Call], tools: Vec<Option<&'a str>>, vocabulary: &'a Vocabulary) -> Labels<'a> {
        let ids: Vec<Option<i64>> = calls.iter().map(|call| call.id.as_ref().and_then(number)).collect();
        Labels { calls, tools, vocabulary, ids, base: Base::Zero }
    }

    /// Decides from which number tasks are counted, where they have no ids, or none that is referred to: as all numbers that are referred to allow. Each
    /// comes with the place of the task that refers to it.
    pub(super) fn count(&mut self, referred: &[(usize, i64)]) {
        let counts_from_one = (1..).zip(&self.ids).all(|(place, id)| *id == Some(place));
        if counts_from_one && referred.iter().any(|(_, number)| *number == 0) {
            // Ids of an endpoint or a list; the references count by place.
            self.ids.fill(None);
        }
        if self.ids.iter().any(Option::is_some) {
            return;
        }
        let possible = |base: i64| {
            referred.iter().all(|(at, number)| usize::try_from(number - base).is_ok_and(|place| place < *at))
        };
        self.base = match (possible(0), possible(1)) {
            (true, true) if !referred.is_empty() => Base::Open,
            (false, true) => Base::One,
            _ => Base::Zero,
        };
    }

    /// The task of a number, as seen from the task at `from`. With `exact`, the number is an id of the plan format; else it
    /// may also count the tasks.
    pub(super) fn number(&self, number: i64, from: usize, exact: bool) -> Denoted {
        let place = |place: i64| usize::try_from(place).ok().filter(|place| *place < self.calls.len());
        let task = |place: usize| Denoted::Task(place, FieldPath::default());
        if self.ids.iter().any(Option::is_some) {
            let has_it = |at: &usize| self.ids.get(*at) == Some(&Some(number));
            let places: Vec<usize> = (0..self.ids.len()).filter(has_it).collect();
            let earlier: Vec<usize> = places.iter().copied().filter(|at| *at < from).collect();
            return match (places.as_slice(), earlier.as_slice()) {
                ([], _) => Denoted::Missing(number),
                // A task that counts from 1 in words, and by ids from 0.
                ([at], _) if *at == from && !exact && from > 0 => task(from - 1),
                ([at], _) | (_, [at]) => task(*at),
                // An id that several tasks have tells none of them.
                (several, []) | (_, several) => Denoted::Several(several.to_vec()),
            };
        }
        let counted = match self.base {
            Base::Zero => place(number),
            Base::One => place(number - 1),
            Base::Open if exact => place(number),
            Base::Open => match (place(number), place(number - 1)) {
                (Some(zero), Some(one)) => return Denoted::Several(vec![one, zero]),
                (zero, one) => zero.or(one),
            },
        };
        counted.map_or(Denoted::Missing(number), task)
    }

    /// The task that has a name: its id, the name of its result, or its tool, where only one task before `from` has that.
    fn name(&self, name: &str, from: usize) -> Option<Denoted> {
        let said = fold(name);
        if said.is_empty() {
            return None;
        }
        let has_label = |call: &Call| {
            let id = call.id.as_ref().and_then(Value::as_str);
            id.into_iter().chain(call.labels.iter().map(String::as_str)).any(|label| fold(label) == said)
        };
        let labelled: Vec<usize> =
            (0..self.calls.len()).filter(|at| self.calls.get(*at).is_some_and(has_label)).collect();
        let found = if labelled.is_empty() {
            let tool = self.vocabulary.find(name)?.name.as_str();
            (0..from).filter(|at| self.tools.get(*at).copied().flatten() == Some(tool)).collect()
        } else {
            labelled
        };
        match found.as_slice() {
            [] => None,
            [only] => Some(Denoted::Task(*only, FieldPath::default())),
            _ => Some(Denoted::Several(found)),
        }
    }

    /// What an expression between the marks of a reference stands for; `None` when it names nothing.
    pub(super) fn expression(&self, said: &str, from: usize) -> Option<Denoted> {
        let said = said.trim().trim_matches(['"', '\'', '`']).trim_start_matches(['$', '#', '@']);
        // The longest beginning that is a name, what follows being a path.
        let borders = said.char_indices().filter(|(_, c)| matches!(c, '.' | '[')).map(|(at, _)| at);
        let mut ends: Vec<usize> = borders.chain([said.len()]).collect();
        while let Some(end) = ends.pop() {
            let (Some(head), Some(tail)) = (said.get(..end), said.get(end..)) else { continue };
            let (path, length) = FieldPath::at_start(tail);
            if length == tail.len()
                && let Some(found) = self.head(head, from)
            {
                return Some(self.with_path(found, path));
            }
        }
        self.listed(said, from)
    }

    /// `tasks[0].output`, `steps.1`: a list of tasks, and a place in it.
    fn listed(&self, said: &str, from: usize) -> Option<Denoted> {
        let end = said.find(['.', '['])?;
        let (head, tail) = said.split_at(end);
        let (path, length) = FieldPath::at_start(tail);
        let is_list = words(head).iter().all(|word| AROUND.contains(&word.as_str()));
        let (first, rest) = path.0.split_first().filter(|_| is_list && length == tail.len())?;
        let found = match first {
            jarvis_plan::Step::Index(index) => self.number(i64::try_from(*index).ok()?, from, true),
            jarvis_plan::Step::Field(name) => self.head(name, from)?,
            jarvis_plan::Step::Each => return None,
        };
        Some(self.with_path(found, FieldPath(rest.to_vec())))
    }

    fn with_path(&self, found: Denoted, path: FieldPath) -> Denoted {
        match found {
            Denoted::Task(at, _) => Denoted::Task(at, self.meant(at, path)),
            other => other,
        }
    }

    /// A path without the fields that stand for the whole output.
    pub(super) fn meant(&self, at: usize, path: FieldPath) -> FieldPath {
        let tool = self.tools.get(at).copied().flatten().and_then(|name| self.vocabulary.find(name));
        let gives_one = tool.is_some_and(|tool| tool.params.iter().all(|param| param.schema.is_none()));
        let names_all = |step: &jarvis_plan::Step| match step {
            // `<GENERATED>-0.jpg` is the picture.
            jarvis_plan::Step::Field(name) => is_whole(name),
            jarvis_plan::Step::Index(index) => *index == 0,
            jarvis_plan::Step::Each => false,
        };
        if gives_one && path.0.iter().all(names_all) { FieldPath::default() } else { path }
    }

    /// A number, a name, or either among words that only say that it is a result.
    fn head(&self, said: &str, from: usize) -> Option<Denoted> {
        if let Ok(number) = said.trim().parse::<i64>() {
            return Some(self.number(number, from, true));
        }
        if let Some(found) = self.name(said, from) {
            return Some(found);
        }
        let words = words(said);
        let before = |word: &String| word == "previous" || word == "last" || word == "prior";
        let mut rest: Vec<&String> = words.iter().filter(|word| !AROUND.contains(&word.as_str())).collect();
        if let [only] = rest.as_slice() {
            if let Ok(number) = only.parse() {
                return Some(self.number(number, from, false));
            }
            if before(only) {
                return from.checked_sub(1).map(|at| Denoted::Task(at, FieldPath::default()));
            }
            // `t1`, `e1`, `step1`: a short name and a number.
            let letters = only.trim_end_matches(|c: char| c.is_ascii_digit());
            if letters.len() < only.len()
                && (letters.len() <= 1 || AROUND.contains(&letters))
                && let Some(Ok(number)) = only.get(letters.len()..).map(str::parse)
            {
                return Some(self.number(number, from, false));
            }
        }
        if rest.len() < words.len() {
            rest.retain(|word| word.parse::<i64>().is_err());
            let name = rest.iter().map(|word| word.as_str()).collect::<Vec<_>>().join("-");
            return self.name(&name, from);
        }
        None
    }

    /// What a whole value in words stands for, such as `output of task 0`; it must say that it is a result.
    pub(super) fn phrase(&self, said: &str, from: usize) -> Option<Denoted> {
        let words = words(said);
        let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
        let says_which = has(&["task", "step", "action", "call", "tool", "previous", "prior", "node", "resource"]);
        if words.len() > 8 || !(has(&RESULT) || (says_which && words.len() <= 2)) {
            return None;
        }
        let has_number = words.iter().any(|word| word.parse::<i64>().is_ok());
        if says_which || has_number || words.len() > 1 { self.head(said, from) } else { None }
    }

    /// What a bare word stands for: the id or the variable of a task.
    pub(super) fn word(&self, said: &str, from: usize) -> Option<Denoted> {
        let said = fold(said);
        let has_label = |call: &Call| {
            let id = call.id.as_ref().and_then(Value::as_str).filter(|id| id.parse::<i64>().is_err());
            id.into_iter().chain(call.labels.iter().map(String::as_str)).any(|label| fold(label) == said)
        };
        let at = self.calls.iter().take(from).position(has_label)?;
        Some(Denoted::Task(at, FieldPath::default()))
    }
}

/// Whether a word behind a reference says no more than that all of the output is meant.
pub(super) fn is_whole(word: &str) -> bool {
    WHOLE.contains(&word.to_lowercase().as_str()) || jarvis_plan::Kind::of_name(&format!("x.{word}")).is_some()
}

/// An id as a number, or as the number at the end of a word such as `task_1`.
fn number(id: &Value) -> Option<i64> {
    match id {
        Value::Number(number) => number.as_i64().or_else(|| {
            number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 1e6).map(|number| number as i64)
        }),
        Value::String(text) => {
            let text = text.trim();
            let letters = text.trim_end_matches(|c: char| c.is_ascii_digit());
            let word = letters.trim_end_matches(['_', '-', ' ', '#']).to_lowercase();
            let is_counted = letters.is_empty() || word.len() <= 1 || AROUND.contains(&word.as_str());
            text.get(letters.len()..)?.parse().ok().filter(|_| is_counted)
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
    .filter(|id: &i64| (0..=jarvis_plan::DraftTask::MAX_ID).contains(id))
}

fn fold(name: &str) -> String {
    words(name).join("-")
}

/// The words of an expression in lower case, a number that ends a word split off where the word is one of [`AROUND`].
fn words(said: &str) -> Vec<String> {
    let mut words = Vec::new();
    for word in said.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let word = word.to_lowercase();
        let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
        if letters.len() < word.len() && AROUND.contains(&letters) {
            words.push(letters.to_owned());
            words.push(word.trim_start_matches(letters).to_owned());
        } else if word != "s" {
            words.push(word);
        }
    }
    words
}
