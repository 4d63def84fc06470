//! Which parameter each argument of a call goes to, and what of an argument only says which it is.

use indexmap::IndexMap;
use jarvis_plan::{DraftTask, Fault, Kind, Meant, Param, Tool, spell_out, text_of};
use serde_json::{Map, Value};

use super::args::{Reading, only_text};
use super::call::{Call, calls};
use super::reference::{numbers, quoted};

/// Words for a kind in the names of arguments.
const WORDS: [(Kind, &[&str]); 4] = [
    (Kind::Image, &["image", "img", "picture", "photo", "photograph", "pic", "images", "frame"]),
    (Kind::Audio, &["audio", "sound", "recording", "voice", "wav", "mp3"]),
    (Kind::Video, &["video", "movie", "clip", "footage"]),
    (
        Kind::Text,
        &[
            "text",
            "prompt",
            "question",
            "query",
            "sentence",
            "content",
            "message",
            "caption",
            "description",
            "string",
            "words",
            "body",
            "passage",
            "document",
            "context",
            "instruction",
            "transcript",
            "say",
            "speech",
            "script",
        ],
    ),
];

impl Reading<'_> {
    /// The arguments of a call under the names of the tool's parameters, in the order of the call.
    pub(super) fn sorted(
        &mut self,
        at: usize,
        call: &Call,
        tool: Option<&Tool>,
        task: &mut DraftTask,
    ) -> IndexMap<String, Value> {
        let is_there = |value: &&Value| !value.is_null();
        let named = call.named.iter().filter(|(_, value)| is_there(value));
        let Some(tool) = tool.filter(|tool| !tool.params.is_empty()) else {
            return named.map(|(name, value)| (name.clone(), value.clone())).collect();
        };
        let mut sorted: IndexMap<String, Value> = IndexMap::new();
        let mut loose: Vec<(Option<&str>, &Value)> = Vec::new();
        for (name, value) in named.chain(call.beside.iter().filter(|(_, value)| is_there(value))) {
            match by_name(tool, name) {
                Some(param) if !sorted.contains_key(&param.name) => {
                    sorted.insert(param.name.clone(), value.clone());
                }
                _ => loose.push((Some(name), value)),
            }
        }
        loose.extend(call.listed.iter().filter(is_there).map(|value| (None, value)));
        let mut beside = Vec::new();
        for (name, value) in loose {
            let free: Vec<&Param> = tool.params.iter().filter(|param| !sorted.contains_key(&param.name)).collect();
            match self.place(name, value, &free) {
                Ok(Some(param)) => {
                    sorted.insert(param.name.clone(), value.clone());
                    if let Some(name) = name {
                        self.note(at, &format!("its argument `{name}` was taken as `{}`", param.name));
                    }
                }
                Ok(None) => beside.push((name, value)),
                Err(readings) => {
                    let arg = name.unwrap_or("?").to_owned();
                    task.faults.push(Fault::Ambiguous { arg, value: quoted(&text_of(value)), readings });
                }
            }
        }
        for (name, value) in beside {
            // What a task is to work on is not left out.
            if self.kind(value).is_none_or(Kind::is_media) {
                task.faults.push(Fault::BadValue {
                    arg: name.unwrap_or("?").to_owned(),
                    value: quoted(&text_of(value)),
                    takes: format!("left out, since `{}` takes no more; write a task for each input", tool.name),
                });
                continue;
            }
            // Nor is a task.
            if self.holds_task(value) {
                task.faults.push(Fault::BadValue {
                    arg: name.unwrap_or("?").to_owned(),
                    value: quoted(&text_of(value)),
                    takes: "left out and written as a task of its own".to_owned(),
                });
                continue;
            }
            match name {
                Some(name) => self.note(at, &format!("`{}` takes no `{name}`; it was left out", tool.name)),
                None => {
                    self.note(at, &format!("`{}` takes no {}; it was left out", tool.name, quoted(&text_of(value))))
                }
            }
        }
        sorted
    }

    /// The free parameter for a value whose name is none of the tool's: by what the name says, else the next in order for a
    /// value without a name, else the only one of its kind.
    fn place<'p>(
        &self,
        name: Option<&str>,
        value: &Value,
        free: &[&'p Param],
    ) -> Result<Option<&'p Param>, Vec<String>> {
        let one = |fitting: Vec<&'p Param>| match fitting.as_slice() {
            [] => Ok(None),
            [only] => Ok(Some(*only)),
            several => {
                let required: Vec<&&Param> = several.iter().filter(|param| param.required).collect();
                match required.as_slice() {
                    [only] => Ok(Some(**only)),
                    _ => Err(several.iter().map(|param| param.name.clone()).collect()),
                }
            }
        };
        if let Some(name) = name {
            let words: Vec<String> = spell_out(name).to_lowercase().split_whitespace().map(str::to_owned).collect();
            let says = |param: &Param| {
                let own = spell_out(&param.name).to_lowercase();
                words.iter().any(|word| own.split_whitespace().any(|own| own == word))
            };
            let by_word: Vec<&Param> = free.iter().copied().filter(|param| says(param)).collect();
            if let [only] = by_word.as_slice() {
                return Ok(Some(only));
            }
            let kind = WORDS.iter().find(|(_, known)| words.iter().any(|word| known.contains(&word.as_str())));
            if let Some((kind, _)) = kind {
                let of_kind: Vec<&Param> = free.iter().copied().filter(|param| self.takes(param, *kind)).collect();
                if let Ok(Some(param)) = one(of_kind) {
                    return Ok(Some(param));
                }
            }
        }
        let kind = self.kind(value);
        let fitting: Vec<&Param> = free
            .iter()
            .copied()
            .filter(|param| match (&param.schema, kind) {
                (Some(schema), _) => self.may_be(value, schema),
                (None, Some(kind)) => self.takes(param, kind),
                (None, None) => true,
            })
            .collect();
        match name {
            // A value without a name goes to the next parameter that takes it.
            None => Ok(fitting.first().copied()),
            // An own name that says nothing of a parameter: only what must be given is taken to be meant.
            Some(_) => one(fitting.into_iter().filter(|param| param.required).collect()),
        }
    }

    /// Whether a value names a tool, or is a call of one.
    fn holds_task(&self, value: &Value) -> bool {
        let knows = |name: &str| matches!(self.scope.tools.meant(name), Meant::Tool(_));
        match value {
            Value::String(name) => !name.trim().contains(char::is_whitespace) && knows(name),
            Value::Array(_) | Value::Object(_) => calls(value, &knows).is_some_and(|calls| !calls.is_empty()),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    fn takes(&self, param: &Param, kind: Kind) -> bool {
        param.kind == kind && param.schema.as_ref().is_none_or(|schema| jarvis_plan::schema::takes(schema, &"x".into()))
    }

    fn may_be(&self, value: &Value, schema: &Value) -> bool {
        let is_reference =
            value.as_str().is_some_and(|text| !numbers(text).is_empty() && text.contains(['<', '$', '{']));
        let read = jarvis_plan::schema::coerced(value.clone(), schema);
        is_reference || jarvis_plan::schema::takes(schema, &read)
    }

    /// The kind of a value, where it is one of a medium: the kind of the attachment it names, or by its ending.
    fn kind(&self, value: &Value) -> Option<Kind> {
        let text = match value {
            Value::String(text) => text.as_str(),
            Value::Array(items) => items.first()?.as_str()?,
            Value::Object(fields) => fields.values().next()?.as_str()?,
            Value::Null | Value::Bool(_) | Value::Number(_) => return Some(Kind::Text),
        };
        if !numbers(text).is_empty() {
            return None;
        }
        let by_ending = Kind::of_name(text.trim().trim_end_matches(')')).filter(|kind| kind.is_media());
        let attached = [Kind::Image, Kind::Audio, Kind::Video];
        let named = || attached.into_iter().find(|kind| self.files.names(text, *kind));
        Some(by_ending.or_else(named).unwrap_or(Kind::Text))
    }

    /// A text without what only says which argument it is, `text=…`, and without the marks around a reference.
    pub(super) fn bare(&self, name: &str, text: &str) -> String {
        let whole = text.trim();
        if self.scope.request.text.contains(whole) {
            return text.to_owned();
        }
        let marks = ['"', '\'', '`', '*'];
        let inner = || {
            let fields: Map<String, Value> = serde_json::from_str(whole).ok()?;
            only_text(&fields)
        };
        let labelled = || {
            let rest = whole
                .get(name.len()..)
                .filter(|_| whole.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)))?;
            let rest = rest.trim_start();
            let value =
                rest.strip_prefix('=').or_else(|| rest.strip_prefix(':').filter(|value| !numbers(value).is_empty()))?;
            Some(value.trim().trim_matches(marks).to_owned())
        };
        let unmarked = || {
            let inside = whole.trim_matches(marks);
            (inside.len() < whole.len()
                && inside.starts_with('<')
                && inside.ends_with(|ch: char| ch.is_alphanumeric() || ch == '>'))
            .then(|| inside.to_owned())
        };
        inner().or_else(labelled).or_else(unmarked).unwrap_or_else(|| text.to_owned())
    }
}

/// The parameter of a name, without regard to case and separators.
fn by_name<'t>(tool: &'t Tool, name: &str) -> Option<&'t Param> {
    let fold = |name: &str| spell_out(name).to_lowercase().split_whitespace().collect::<String>();
    tool.param(name).or_else(|| {
        let said = fold(name);
        tool.params.iter().find(|param| fold(&param.name) == said)
    })
}
