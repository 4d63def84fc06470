//! Calls to tasks: names to tools, keys to parameters, values to what the plan format has for them.

use jarvis_plan::{Arg, Draft, DraftRef, DraftTask, EACH, Fault, Kind, Meant, Note, Param, Piece, text_of};
use serde_json::{Map, Value};

use super::again;
use super::call::Call;
use super::each;
use super::given;
use super::labels::{Denoted, Labels};
use super::media::{Files, Medium};
use super::reference::{Place, numbers, quoted};
use super::{Scope, reference};
use crate::reader::{Want, read_json};

/// The most calls that are read as tasks; no plan is allowed as many.
const MOST: usize = 256;

/// The draft that calls amount to.
pub(super) fn draft(calls: &[Call], scope: Scope<'_>) -> Draft {
    let all = calls.len();
    // A task called "none" that does nothing says that there are no more.
    let is_end = |call: &Call| {
        ["none", "null", "end", "done", "finish"].contains(&call.name.to_lowercase().as_str())
            && call.named.is_empty()
            && call.listed.is_empty()
            && matches!(scope.tools.meant(&call.name), Meant::Nothing)
    };
    let calls = match calls {
        [before @ .., last] if !before.is_empty() && is_end(last) => before,
        calls => calls,
    };
    let calls = calls.get(..MOST).unwrap_or(calls);
    let mut reading = Reading::new(calls, scope);
    if all > MOST {
        reading.notes.push(Note::left_out(format!("the plan has {all} tasks; only the first {MOST} were read")));
    }
    let tasks = (0..calls.len()).map(|at| reading.task(at)).collect();
    let mut draft = Draft { tasks, notes: reading.notes, ..Draft::default() };
    again::once(&mut draft, scope);
    given::fill(&mut draft, scope);
    given::hold(&mut draft, scope);
    given::part(&mut draft, scope);
    given::unnamed(&mut draft);
    draft
}

pub(super) struct Reading<'a> {
    pub(super) calls: &'a [Call],
    pub(super) scope: Scope<'a>,
    pub(super) files: Files<'a>,
    pub(super) labels: Labels<'a>,
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

    pub(super) fn note(&mut self, at: usize, text: &str) {
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
        let of_list = list.as_reference().and_then(Piece::place);
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
            (Value::String(text), None) => {
                let text = self.bare(name, text);
                match self.awaited(at, &text) {
                    Some(of) => {
                        self.note(at, &format!("{} in `{name}` was read as the output of that task", quoted(&text)));
                        Arg::output(of)
                    }
                    None => self.text(at, name, param, &text, faults),
                }
            }
            (Value::String(text), _) => self.text(at, name, param, text, faults),
            (Value::Number(_) | Value::Bool(_), None) => {
                let text = text_of(value).into_owned();
                self.awaited(at, &text).map_or_else(|| Arg::literal(text), Arg::output)
            }
            _ => self.data(at, name, value, faults),
        }
    }

    /// The task that a bare number in the place of a text stands for: one that the task waits for.
    fn awaited(&self, at: usize, text: &str) -> Option<DraftRef> {
        let number: i64 = text.trim().parse().ok()?;
        let call = self.calls.get(at)?;
        let waits = call.dep.iter().any(|dep| match dep {
            Value::Number(dep) => dep.as_i64() == Some(number),
            Value::String(dep) => dep.trim().parse() == Ok(number),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
        });
        match self.labels.number(number, at, true) {
            Denoted::Task(of, _) if waits && of != at => Some(DraftRef(self.ids.get(of).copied())),
            Denoted::Task(..) | Denoted::Missing(_) | Denoted::Several(_) => None,
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
                let text = &self.bare(name, text);
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
pub(super) fn only_text(fields: &Map<String, Value>) -> Option<String> {
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
