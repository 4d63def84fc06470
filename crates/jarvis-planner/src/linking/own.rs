//! Calls of tools that somebody brought: what [`crate::own`] read in a clause, with the outputs and files that it points at.

use jarvis_plan::{Arg, DraftRef, DraftTask, Fault, Kind, Medium, Param, Source, Tool, medium};
use serde_json::Value;

use super::{Linker, StepContext, Thing, ids, own_things};
use crate::candidate::Step;
use crate::clauses::{Clause, Join};
use crate::own::clauses::Part;
use crate::own::{Call, Meant};

/// How plainly a clause must say an own tool that something else could serve as well.
const SURE: f32 = 1.1;

impl Linker<'_> {
    /// Plans the clause with own tools, where it means one; `false` where `steps` are to be taken.
    pub(crate) fn own(&mut self, at: usize, steps: &[Step], part: &Part) -> bool {
        let (reading, index) = (self.reading, self.index);
        let Some(clause) = reading.clauses.get(at) else { return false };
        let meant = match part {
            Part::Own(meant) => meant,
            Part::Absorbed => return true,
        };
        match meant {
            Meant::Nothing => false,
            Meant::Call(call) if !steps.is_empty() && (call.score < SURE || self.idle(clause, call)) => false,
            Meant::Call(call) => {
                self.call(at, clause, call);
                true
            }
            Meant::Equal(_) if !steps.is_empty() => false,
            Meant::Equal(tools) => {
                let names: Vec<String> = tools.iter().filter_map(|at| Some(index.tool(*at)?.name.clone())).collect();
                let Some(id) = self.next_id() else { return true };
                let mut task = DraftTask::new(id, names.join(" or "));
                task.faults.push(Fault::AmbiguousTask { candidates: names });
                self.tasks.push(task);
                true
            }
        }
    }

    /// Whether the clause names a picture or a sound that the tool has no use for.
    fn idle(&self, clause: &Clause, call: &Call) -> bool {
        let Some(tool) = self.index.tool(call.tool) else { return true };
        let media = own_things(clause, self.request)
            .iter()
            .any(|thing| [Kind::Image, Kind::Audio, Kind::Video].into_iter().any(|kind| thing.is(kind)));
        let takes = |param: &Param| param.kind.is_media() || is_path(param);
        media && !tool.params.iter().any(takes)
    }

    fn call(&mut self, at: usize, clause: &Clause, call: &Call) {
        let index = self.index;
        let Some(tool) = index.tool(call.tool) else { return };
        let mut against = call.against.clone();
        let left = crate::words::distinct(call.left.iter().chain(&call.strange));
        let step = Step { own: true, ..Step::of_tool(call.tool) };
        let things = own_things(clause, self.request);
        let waits: Vec<i64> = if clause.join == Join::Then { ids(&self.last) } else { Vec::new() };
        let mut made = Vec::new();
        for row in &call.rows {
            let Some(id) = self.next_id() else { break };
            let mut task = DraftTask::new(id, tool.name.clone());
            task.dep.clone_from(&waits);
            for param in &tool.params {
                let given =
                    row.iter().find(|(name, _)| *name == param.name).map(|(_, value)| self.given_value(param, value));
                let cx = StepContext { at, clause, step: &step, own: &things, inner: &[] };
                if let Some(arg) = given.or_else(|| self.pointed(cx, tool, param)) {
                    for of in arg.references().filter_map(|reference| reference.0) {
                        if !task.dep.contains(&of) {
                            task.dep.push(of);
                        }
                    }
                    task.args.insert(param.name.clone(), arg);
                } else if param.required && call.open {
                    let takes = param.takes();
                    task.faults.push(Fault::MissingArgument { arg: param.name.clone(), takes });
                }
            }
            // What lacks an argument is asked about, and called only then.
            let lacks = tool.params.iter().any(|param| param.required && !task.args.contains_key(&param.name));
            let pointed = |text: &&&String| {
                let bare = text.trim_matches(|c| "\"'`«»“”‘’".contains(c));
                !task.args.values().any(|arg| arg.as_literal().is_some_and(|value| value == bare))
            };
            let left: Vec<String> = left.iter().filter(pointed).map(|text| format!("\"{text}\"")).collect();
            if !left.is_empty() && !lacks && against.is_none() {
                let why = "it is called only when all is understood";
                against = Some(format!("no argument of `{}` takes {}; {why}", tool.name, left.join(", ")));
            }
            // "Send the result to Bob" is not "send to Bob".
            let linked = task.args.values().any(|arg| arg.references().next().is_some());
            if call.writes && clause.pointers.result && !linked && against.is_none() {
                against = Some("it speaks of a result, and no argument takes one".to_owned());
            }
            // It keeps its place, so that what stands beside it in the request is withheld too.
            if let Some(why) = &against {
                task.faults.push(Fault::NotOrdered { why: why.clone() });
            }
            made.push(Thing::Made { id: self.add(task, false), kinds: tool.outputs.clone() });
        }
        self.made.extend(made.iter().cloned());
        if !made.is_empty() {
            self.by_clause.push((at, made.clone()));
            self.last = made;
            self.last_nature = None;
        }
    }

    /// A value as the tool is to get it: a path is the one that the person wrote, not the place of our copy.
    fn given_value(&self, param: &Param, value: &Value) -> Arg<DraftRef> {
        let display = value.as_str().filter(|_| is_path(param));
        let named = display.and_then(|display| {
            let copy = |source: &Source| matches!(source, Source::Public(path) if path == display);
            self.request.attachments.iter().find(|file| copy(&file.source))?.name.clone()
        });
        match (named, value) {
            (Some(name), _) => Arg::literal(name),
            (None, Value::String(text)) => Arg::literal(text.clone()),
            (None, value) => Arg::Value(value.clone()),
        }
    }

    /// What the clause points at for a parameter that it gives no value: the result before, a file.
    fn pointed(&mut self, cx: StepContext<'_>, tool: &Tool, param: &Param) -> Option<Arg<DraftRef>> {
        if param.kind.is_media() {
            if !param.required && cx.own.is_empty() {
                return None;
            }
            return self.bind(cx, param.kind).first().map(Thing::arg);
        }
        let points = cx.clause.pointers.pronoun || cx.clause.pointers.result;
        let name = crate::words::stems(&jarvis_plan::spell_out(&param.name));
        let free = name.iter().any(|word| {
            crate::words::listed("bodi messag content text comment note summari input data document", word)
        });
        let only = tool.params.iter().filter(|param| param.required).count() == 1;
        if tool.params.iter().any(is_path) || !free || !param.required {
            return None;
        }
        let made = |thing: &&Thing| matches!(thing, Thing::Made { .. }) && thing.is(Kind::Text);
        if points && let Some(thing) = self.last.iter().find(made) {
            return Some(thing.arg());
        }
        // A text that is attached or named is what a tool for texts works on.
        let named = cx.own.iter().find(|thing| thing.is(Kind::Text));
        named.or_else(|| self.attachments.iter().find(|thing| thing.is(Kind::Text)).filter(|_| only)).map(Thing::arg)
    }
}

fn is_path(param: &Param) -> bool {
    param.schema.as_ref().is_some_and(|schema| medium(&param.name, schema) == Medium::Path)
}
