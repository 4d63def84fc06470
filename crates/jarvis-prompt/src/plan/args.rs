//! Calls to tasks: names to tools, keys to parameters, values to what the plan format has for them.

use indexmap::IndexMap;
use jarvis_plan::{
    Arg, Draft, DraftRef, DraftTask, EACH, Fault, FieldPath, Kind, Meant, Note, Param, Piece, Tool, spell_out, text_of,
};
use serde_json::{Map, Value};

use super::call::Call;
use super::each;
use super::given;
use super::labels::{Denoted, Labels};
use super::media::{Files, Medium};
use super::reference::{Place, numbers, quoted};
use super::{Scope, reference};
use crate::reader::{Want, read_json};

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

/// The most calls that are read as tasks; no plan is allowed as many.
const MOST: usize = 256;

/// The draft that calls amount to.
pub(super) fn draft(calls: &[Call], scope: Scope<'_>) -> Draft {
    let all = calls.len();
    let calls = calls.get(..MOST).unwrap_or(calls);
    let mut reading = Reading::new(calls, scope);
    if all > MOST {
        reading.notes.push(Note::left_out(format!("the plan has {all} tasks; only the first {MOST} were read")));
    }
    let tasks = (0..calls.len()).map(|at| reading.task(at)).collect();
    let mut draft = Draft { tasks, raw: String::new(), notes: reading.notes };
    given::fill(&mut draft, scope);
    given::hold(&mut draft, scope);
    given::part(&mut draft, scope);
    draft
}

struct Reading<'a> {
    calls: &'a [Call],
    scope: Scope<'a>,
    files: Files<'a>,
    labels: Labels<'a>,
    ids: Vec<i64>,
    notes: Vec<Note>,
    /// Whether the task that is read has a list beside its arguments.
    in_each: bool,
}

impl<'a> Reading<'a> {
    fn new(calls: &'a [Call], scope: Scope<'a>) -> Reading<'a> {
        let tools = calls.iter().map(|call| scope.tools.find(&call.name).map(|tool| tool.name.as_str())).collect();
        let mut labels = Labels::new(calls, tools, scope.tools);
        let mut referred = Vec::new();
        for (at, call) in calls.iter().enumerate() {
            let values = call.named.values().chain(&call.listed).chain(call.beside.values()).chain(&call.each);
            let mut texts = Vec::new();
            values.for_each(|value| strings(value, &mut texts));
            let said = texts.into_iter().filter(|text| !scope.request.text.contains(text.trim()));
            referred.extend(said.flat_map(numbers).map(|number| (at, number)));
            referred.extend(call.dep.iter().filter_map(Value::as_i64).filter(|id| *id >= 0).map(|id| (at, id)));
        }
        labels.count(&referred);
        let ids = (0..).take(calls.len()).collect();
        Reading { calls, scope, files: Files::new(scope), labels, ids, notes: Vec::new(), in_each: false }
    }

    fn note(&mut self, at: usize, text: &str) {
        self.notes.push(format!("task {}: {text}", at + 1).into());
    }

    fn task(&mut self, at: usize) -> DraftTask {
        let call = self.calls.get(at).expect("the place is one of the calls");
        let id = *self.ids.get(at).expect("each call has an id");
        let mut task = DraftTask::new(id, call.name.clone());
        self.deps(at, call, &mut task);
        let tool = match self.scope.tools.meant(&call.name) {
            Meant::Tool(tool) => {
                if tool.name != call.name {
                    self.note(at, &format!("`{}` was read as `{}`", call.name, tool.name));
                    task.task.clone_from(&tool.name);
                }
                Some(tool)
            }
            Meant::Several(tools) => {
                let candidates = tools.iter().map(|tool| tool.name.clone()).collect();
                task.faults.push(Fault::AmbiguousTask { candidates });
                None
            }
            Meant::Nothing => None,
        };
        let sorted = self.sorted(at, call, tool, &mut task);
        let Some(each) = &call.each else {
            for (name, value) in sorted {
                let param = tool.and_then(|tool| tool.param(&name));
                let arg = self.value(at, &name, param, &value, &mut task.faults);
                task.args.insert(name, arg);
            }
            return task;
        };
        let list = self.data(at, EACH, each, &mut task.faults);
        let of_list = match list.as_reference() {
            Some(Piece::Output(of)) => Some((*of, FieldPath::default())),
            Some(Piece::Part(of, path)) => Some((*of, path.clone())),
            Some(Piece::Text(_)) | None => None,
        };
        if of_list.is_none() && task.faults.is_empty() {
            let shown = quoted(&text_of(each));
            let problem = format!("{shown} is no reference to a list; write one task for each value");
            task.faults.push(Fault::NotEach { problem });
        }
        self.in_each = of_list.is_some();
        for (name, value) in sorted {
            let param = tool.and_then(|tool| tool.param(&name));
            let arg = match of_list.as_ref().filter(|_| each::has_element(&value)) {
                // What stands for an element is of whatever type the argument takes.
                Some((of, path)) => {
                    self.data(at, &name, &each::with_element(&value), &mut task.faults).of_each(*of, path)
                }
                None => self.value(at, &name, param, &value, &mut task.faults),
            };
            task.args.insert(name, arg);
        }
        self.in_each = false;
        if let Some((of, path)) = &of_list {
            each::hold(&list, *of, path, &mut task);
        }
        task
    }

    fn deps(&mut self, at: usize, call: &Call, task: &mut DraftTask) {
        for dep in &call.dep {
            let denoted = match dep {
                Value::Number(number) if number.as_i64() == Some(-1) => continue,
                Value::Number(number) => number.as_i64().map(|number| self.labels.number(number, at, true)),
                Value::String(text) if ["", "-1", "none", "None", "null"].contains(&text.trim()) => continue,
                Value::String(text) => self.labels.expression(text.trim_matches(['<', '>', '{', '}']), at),
                Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
            };
            match denoted {
                Some(Denoted::Task(of, _)) if of != at => task.dep.extend(self.ids.get(of)),
                _ => self.note(at, &format!("dependency {dep} names no other task and was left out")),
            }
        }
    }

    /// The arguments of a call under the names of the tool's parameters, in the order of the call.
    fn sorted(&mut self, at: usize, call: &Call, tool: Option<&Tool>, task: &mut DraftTask) -> IndexMap<String, Value> {
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

    /// A value as the plan format has it.
    fn value(
        &mut self,
        at: usize,
        name: &str,
        param: Option<&Param>,
        value: &Value,
        faults: &mut Vec<Fault>,
    ) -> Arg<DraftRef> {
        let kind = param.map_or_else(|| name.parse().unwrap_or(Kind::Text), |param| param.kind);
        if kind.is_media() {
            return self.medium(at, name, kind, value, faults);
        }
        let schema = param.and_then(|param| param.schema.as_ref());
        if let (Value::String(text), Some(schema)) = (value, schema)
            && !jarvis_plan::schema::takes(schema, value)
            && let Some(read) = as_data(text)
        {
            return self.data(at, name, &read, faults);
        }
        match (value, schema) {
            (Value::Array(items), None) if items.len() == 1 => {
                let only = items.first().expect("there is one");
                self.value(at, name, param, only, faults)
            }
            (Value::Object(fields), None) => match only_text(fields) {
                Some(text) => self.text(at, name, param, &text, faults),
                None => {
                    let takes = param.map_or_else(|| "text".to_owned(), Param::takes);
                    faults.push(Fault::BadValue {
                        arg: name.to_owned(),
                        value: jarvis_plan::schema::shown(value),
                        takes,
                    });
                    Arg::Value(value.clone())
                }
            },
            (Value::String(text), _) => self.text(at, name, param, text, faults),
            (Value::Number(_) | Value::Bool(_), None) => Arg::literal(text_of(value).into_owned()),
            _ => self.data(at, name, value, faults),
        }
    }

    fn text(
        &mut self,
        at: usize,
        name: &str,
        param: Option<&Param>,
        text: &str,
        faults: &mut Vec<Fault>,
    ) -> Arg<DraftRef> {
        let is_plain = param.is_none_or(|param| param.schema.is_none());
        if is_plain && let Some(file) = self.files.text(text) {
            if file != text.trim() {
                self.note(at, &format!("{} in `{name}` was read as `{file}`", quoted(text)));
            }
            return Arg::literal(file);
        }
        // A path in the place of words would be read aloud, translated, painted.
        if is_plain && self.files.is_medium(text) {
            let takes = param.map_or_else(|| "text".to_owned(), Param::takes);
            faults.push(Fault::BadValue {
                arg: name.to_owned(),
                value: quoted(text),
                takes: format!("{takes}, not a file"),
            });
        }
        self.scanned(at, name, text, faults)
    }

    fn scanned(&mut self, at: usize, name: &str, text: &str, faults: &mut Vec<Fault>) -> Arg<DraftRef> {
        let request = self.scope.request;
        let place = Place {
            at,
            arg: name,
            labels: &self.labels,
            ids: &self.ids,
            request: &request.text,
            in_each: self.in_each,
        };
        let scanned = place.scan(text);
        faults.extend(scanned.faults);
        if scanned.mended {
            let read = scanned.arg.to_string();
            self.note(at, &format!("{} in `{name}` was read as {}", quoted(text), quoted(&read)));
        }
        scanned.arg
    }

    fn data(&mut self, at: usize, name: &str, value: &Value, faults: &mut Vec<Fault>) -> Arg<DraftRef> {
        match value {
            Value::String(text) => self.scanned(at, name, text, faults),
            Value::Array(items) => Arg::list(items.iter().map(|item| self.data(at, name, item, faults)).collect()),
            Value::Object(fields) => Arg::object(
                fields.iter().map(|(key, field)| (key.clone(), self.data(at, name, field, faults))).collect(),
            ),
            Value::Null | Value::Bool(_) | Value::Number(_) => Arg::Value(value.clone()),
        }
    }

    fn medium(&mut self, at: usize, name: &str, kind: Kind, value: &Value, faults: &mut Vec<Fault>) -> Arg<DraftRef> {
        match value {
            Value::Array(items) => match items.as_slice() {
                [only] => self.medium(at, name, kind, only, faults),
                _ => Arg::list(items.iter().map(|item| self.medium(at, name, kind, item, faults)).collect()),
            },
            Value::Object(fields) => match fields.values().find(|value| value.is_string()) {
                Some(inner) => self.medium(at, name, kind, inner, faults),
                None => Arg::Value(value.clone()),
            },
            Value::String(text) => {
                let request = self.scope.request;
                let (labels, ids, in_each) = (&self.labels, &self.ids, self.in_each);
                let place = Place { at, arg: name, labels, ids, request: &request.text, in_each };
                let scanned = place.scan(text);
                if scanned.arg.references().next().is_some() {
                    // No path is made of a path and words.
                    faults.extend(scanned.faults);
                    let mut references = reference::references(&scanned.arg);
                    if scanned.mended {
                        self.note(at, &format!("{} in `{name}` was read as a reference", quoted(text)));
                    }
                    return if references.len() > 1 { scanned.arg } else { references.pop().unwrap_or(scanned.arg) };
                }
                if let Some(several) = self.files.several(text, kind) {
                    self.note(at, &format!("{} in `{name}` was read as a list", quoted(text)));
                    return Arg::list(several.into_iter().map(Arg::literal).collect());
                }
                match self.files.medium(name, text, kind) {
                    Medium::Path(path) => {
                        if path != text.trim() {
                            self.note(at, &format!("{} in `{name}` was read as `{path}`", quoted(text)));
                        }
                        Arg::literal(path)
                    }
                    Medium::Fault(fault) => {
                        faults.push(fault);
                        Arg::literal(text.clone())
                    }
                    // Words for a medium that no file is: an earlier task may make it.
                    Medium::Words if scanned.faults.is_empty() => Arg::default(),
                    Medium::Words => {
                        faults.extend(scanned.faults);
                        Arg::literal(text.clone())
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Arg::default(),
        }
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

/// A list or an object that is written as text. A reference in brackets is none.
fn as_data(text: &str) -> Option<Value> {
    let text = text.trim();
    let is_one = (text.starts_with('[') && text.ends_with(']')) || (text.starts_with('{') && text.ends_with('}'));
    if !is_one || text.starts_with("{{") {
        return None;
    }
    read_json(text, Want::Any).ok().map(|read| read.value).filter(|value| value.is_array() || value.is_object())
}

/// What an object around a text, or around the number of a task, stands for.
fn only_text(fields: &Map<String, Value>) -> Option<String> {
    let mut fields = fields.iter();
    match (fields.next()?, fields.next()) {
        ((_, Value::String(text)), None) => Some(text.clone()),
        ((key, Value::Number(number)), None) if numbers(&format!("{{{{{key} {number}}}}}")).len() == 1 => {
            Some(format!("{{{{{key} {number}}}}}"))
        }
        _ => None,
    }
}

/// Every text in a value.
pub(super) fn strings<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| strings(field, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
