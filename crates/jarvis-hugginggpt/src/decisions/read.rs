//! Reads a saved or edited plan back, checks it wholly, and says everything that is wrong with it.
//!
//! What can be worked out anew is not read: levels, the graph, the order, the count. A dependency on a task that was
//! deleted is dropped; a reference to one is a fault.

mod models;
mod rows;

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use jarvis_plan::{
    Arg, Draft, DraftRef, DraftTask, Fault, FieldPath, Limits as PlanLimits, Piece, Plan, Selection, Task, Vocabulary,
    check, text_of,
};
use serde_json::Value;

use self::rows::Row;
use super::reply::levels;
use crate::source::Sources;

/// A plan that may be executed: checked, with a model pinned to the tasks that name one.
#[derive(Debug, Clone, PartialEq)]
pub struct Executable {
    pub request: Option<String>,
    /// What was read.
    pub document: Value,
    pub plan: Plan,
    /// The pinned models by plan id; `None` leaves the choice to be made.
    pub pins: Vec<Option<Selection>>,
    /// The ids as the file wrote them, by plan id. Copies that were made of a task have its id.
    pub ids: Vec<String>,
    /// What was taken another way than the file says, and harmlessly so. The plan has notes of its own.
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanFault {
    /// The task, as the file calls it; `None` for the plan as a whole.
    pub task: Option<String>,
    /// The field, such as `task_type` or `args.image`.
    pub field: String,
    pub message: String,
    pub hint: Option<String>,
}

impl fmt::Display for PlanFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(task) = &self.task {
            write!(f, "task {task}, ")?;
        }
        write!(f, "`{}`: {}", self.field, self.message)
    }
}

/// Why a plan is not executed: everything that is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanFileError {
    /// What is wrong, in the order of the file; never empty.
    pub faults: Vec<PlanFault>,
}

impl fmt::Display for PlanFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the plan cannot be executed: ")?;
        for (at, fault) in self.faults.iter().enumerate() {
            let separator = if at == 0 { "" } else { "; " };
            write!(f, "{separator}{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for PlanFileError {}

impl PlanFileError {
    pub fn code(&self) -> &'static str {
        "bad_plan"
    }

    /// What to do: for each fault the task, the field and the advice.
    pub fn hint(&self) -> String {
        let advice = |fault: &PlanFault| {
            let hint = fault.hint.as_deref().unwrap_or("mend it, or take the task out");
            match &fault.task {
                Some(task) => format!("task {task}, `{}`: {hint}", fault.field),
                None => hint.to_owned(),
            }
        };
        self.faults.iter().map(advice).collect::<Vec<_>>().join("; ")
    }

    fn of_plan(field: &str, message: impl Into<String>) -> PlanFileError {
        let hint = Some("a plan is what `jarvis plan` prints: {\"execution_config\": {\"tasks\": […]}}".to_owned());
        PlanFileError { faults: vec![PlanFault { task: None, field: field.into(), message: message.into(), hint }] }
    }
}

const MOST_FAULTS: usize = 100;

#[derive(Debug, Default)]
struct Faults(Vec<PlanFault>);

impl Faults {
    fn push(&mut self, task: &str, field: impl Into<String>, message: impl Into<String>) {
        if self.0.len() < MOST_FAULTS {
            self.0.push(PlanFault {
                task: Some(task.into()),
                field: field.into(),
                message: message.into(),
                hint: None,
            });
        }
    }

    /// The faults in the order of the file; those of rows that could not be read come first.
    fn in_order(mut self, rows: &[Row]) -> PlanFileError {
        self.0.sort_by_key(|fault| rows.iter().position(|row| fault.task.as_deref() == Some(&row.id)));
        PlanFileError { faults: self.0 }
    }

    /// The same, with what to do about it.
    fn advise(&mut self, task: &str, field: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) {
        self.push(task, field, message);
        if let Some(fault) = self.0.last_mut() {
            fault.hint = Some(hint.into());
        }
    }
}

/// Reads a plan: `{"execution_config": …}`, its inner object, a whole reply of the decision API, or a task list as the
/// original's `/tasks` gives it.
///
/// # Errors
/// Names every fault, with the task and the field. Nothing may be executed then.
pub fn read_plan(
    value: &Value,
    vocabulary: &Vocabulary,
    sources: &Sources,
    limits: PlanLimits,
) -> Result<Executable, PlanFileError> {
    let file = rows::find(value)?;
    if file.rows.is_empty() {
        return Err(PlanFileError::of_plan("tasks", "there are no tasks"));
    }
    if file.rows.len() > limits.max_tasks {
        let message = format!("there are {} tasks; the limit is {}", file.rows.len(), limits.max_tasks);
        let mut error = PlanFileError::of_plan("tasks", message);
        if let [fault] = error.faults.as_mut_slice() {
            fault.hint = Some("take some out, or raise `planning.max_tasks`".to_owned());
        }
        return Err(error);
    }
    let mut faults = Faults::default();
    let mut notes = Vec::new();
    let rows: Vec<Row> =
        file.rows.iter().enumerate().filter_map(|(at, row)| rows::read(row, at, &mut faults)).collect();
    unique_ids(&rows, &mut faults);
    let numbers = numbers(&rows);
    let drafted: Vec<DraftTask> =
        rows.iter().map(|row| draft(row, &rows, &numbers, vocabulary, &mut faults, &mut notes)).collect();
    acyclic(&rows, &drafted, &mut faults);
    let mut pinned: HashMap<i64, Selection> = HashMap::new();
    for (row, task) in rows.iter().zip(&drafted) {
        // What an unknown task type needs is not known.
        if let Some(tool) = vocabulary.find(&row.task)
            && let Some(pin) = models::pin(row, &tool.name, sources, &mut faults, &mut notes)
        {
            pinned.insert(task.id, pin);
        }
    }
    // Two tasks of one id would be mended by the check, which is not for it to do here.
    let plan = match faults.0.is_empty() {
        true => check(&Draft { tasks: drafted, more: file.more, ..Draft::default() }, vocabulary, limits),
        false => return Err(faults.in_order(&rows)),
    };
    // Copies that the check made of a task have ids beyond those of the file.
    let origin = |task: &Task| {
        let own = i64::from(task.id.0);
        let is_copy = usize::try_from(own).is_ok_and(|own| own >= rows.len());
        if is_copy { task.unfolded_from.unwrap_or(own) } else { own }
    };
    let mut pins = vec![None; plan.tasks().len()];
    let mut ids = vec![String::new(); plan.tasks().len()];
    for task in plan.tasks() {
        let origin = origin(task);
        let Some(row) = rows.iter().find(|row| numbers.get(row.id.as_str()) == Some(&origin)) else { continue };
        for fault in &task.faults {
            match fault {
                Fault::UnboundReference { arg } => {
                    let message = "it refers to no task, and no earlier one gives what it needs";
                    faults.push(&row.id, format!("args.{arg}"), message);
                }
                Fault::MissingArgument { arg, .. } | Fault::BadValue { arg, .. } => {
                    faults.push(&row.id, format!("args.{arg}"), fault.to_string());
                }
                fault => faults.push(&row.id, "args", fault.to_string()),
            }
        }
        let at = usize::try_from(task.id.0).unwrap_or(usize::MAX);
        if let (Some(pin), Some(id)) = (pins.get_mut(at), ids.get_mut(at)) {
            *pin = pinned.get(&origin).map(|pin| Selection { task: task.id, ..pin.clone() });
            id.clone_from(&row.id);
        }
    }
    if !faults.0.is_empty() {
        return Err(faults.in_order(&rows));
    }
    let moved: Vec<String> = ids
        .iter()
        .enumerate()
        .filter(|(at, id)| **id != at.to_string())
        .map(|(at, id)| format!("task {id} of the plan is task {at} here"))
        .collect();
    if !moved.is_empty() {
        notes.insert(0, moved.join("; "));
    }
    Ok(Executable { request: file.request, document: value.clone(), plan, pins, ids, notes })
}

fn unique_ids(rows: &[Row], faults: &mut Faults) {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for row in rows {
        let times = seen.entry(&row.id).or_default();
        *times += 1;
        if *times == 2 {
            faults.advise(&row.id, row.names.id, "two tasks have this id", "give each task an id of its own");
        }
    }
}

/// Dense numbers for the ids of a file: numbers keep their order, words follow in the order of the file.
fn numbers(rows: &[Row]) -> HashMap<&str, i64> {
    let mut ids: Vec<(&str, Option<i64>)> = rows.iter().map(|row| (row.id.as_str(), row.id.parse().ok())).collect();
    ids.sort_by_key(|(_, number)| number.unwrap_or(i64::MAX));
    let mut numbers = HashMap::new();
    for (id, _) in ids {
        let next = i64::try_from(numbers.len()).unwrap_or(i64::MAX);
        numbers.entry(id).or_insert(next);
    }
    numbers
}

/// The row as a drafted task, its ids turned into the dense numbers.
fn draft(
    row: &Row,
    rows: &[Row],
    numbers: &HashMap<&str, i64>,
    vocabulary: &Vocabulary,
    faults: &mut Faults,
    notes: &mut Vec<String>,
) -> DraftTask {
    if vocabulary.find(&row.task).is_none() {
        let hint = nearest(&row.task, vocabulary.tools().iter().map(|tool| tool.name.as_str())).map_or_else(
            || "`jarvis models list` shows the task types".to_owned(),
            |name| format!("did you mean `{name}`?"),
        );
        faults.advise(&row.id, row.names.task, format!("no task type `{}` is known", row.task), hint);
    }
    let number = |id: &str| numbers.get(id).copied();
    let mut task = DraftTask::new(number(&row.id).expect("every row has a number"), row.task.clone());
    for id in &row.dependencies {
        match number(id) {
            Some(_) if *id == row.id => {
                faults.push(&row.id, row.names.dependencies, "it depends on itself");
            }
            Some(dep) => task.dep.push(dep),
            None => {
                notes.push(format!("task {}: the dependency on {id}, which is not in the plan, is dropped", row.id))
            }
        }
    }
    let tool = vocabulary.find(&row.task);
    let list = row.each.as_ref().and_then(|each| list(row, each, faults));
    let mut takes_element = false;
    for (name, value) in &row.args {
        let is_plain = tool.and_then(|tool| tool.param(name)).is_some_and(|param| param.schema.is_none());
        let arg: Arg<DraftRef> = match value {
            // A parameter of a kind takes a text.
            Value::Number(_) | Value::Bool(_) if is_plain => Arg::literal(text_of(value).into_owned()),
            _ => Arg::of(value),
        };
        let arg = match &list {
            Some((whole, of, path)) => {
                let arg = if arg == *whole { Arg::literal("<EACH>") } else { arg };
                let element = arg.clone().of_each(*of, path);
                takes_element |= element != arg;
                element
            }
            None => arg,
        };
        if list.is_none() && arg.clone().of_each(DraftRef(None), &FieldPath::default()) != arg {
            let hint = "name the list with it: `<GENERATED>-0.rows[].id`";
            faults.advise(&row.id, format!("args.{name}"), "`<EACH>` is an element of no list", hint);
        }
        let gone = arg.references().find_map(|reference| {
            let id = reference.0?;
            number(&id.to_string()).is_none().then_some(id)
        });
        if let Some(id) = gone {
            let message = format!("it refers to the output of task {id}, which is not in the plan");
            let known: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
            let hint = format!("name a file or text, or refer to one of the tasks {}", known.join(", "));
            faults.advise(&row.id, format!("args.{name}"), message, hint);
        }
        let renumbered = arg.map(&mut |reference| {
            let id = reference.0.map(|id| number(&id.to_string()).unwrap_or(id));
            vec![Piece::Output(DraftRef(id))]
        });
        task.args.insert(name.clone(), renumbered);
    }
    if list.is_some() && !takes_element {
        let hint = "write `<EACH>`, or `<EACH>.field`, in the argument that takes it";
        faults.advise(&row.id, "each", "no argument is an element of the list", hint);
    }
    task
}

/// The list that `each` names: as an argument, and its task and path.
fn list(row: &Row, each: &Value, faults: &mut Faults) -> Option<(Arg<DraftRef>, DraftRef, FieldPath)> {
    let arg: Arg<DraftRef> = Arg::of(each);
    let found = arg.as_reference().and_then(Piece::place);
    if found.is_none() {
        faults.advise(&row.id, "each", "it is no reference to a list", "write one such as `<GENERATED>-0.rows`");
    }
    found.map(|(of, path)| (arg, of, path))
}

/// Tells of every task that waits for itself by way of others.
fn acyclic(rows: &[Row], drafted: &[DraftTask], faults: &mut Faults) {
    let needs = |task: &DraftTask| {
        let referred = task.args.values().flat_map(Arg::references).filter_map(|reference| reference.0);
        task.dep.iter().copied().chain(referred).collect::<Vec<i64>>()
    };
    let mut graph: BTreeMap<i64, Vec<i64>> = drafted.iter().map(|task| (task.id, needs(task))).collect();
    // What no cycle can be reached from is free of them, seen from either end.
    for _ in 0..2 {
        let free = levels(&graph).of;
        graph.retain(|id, _| !free.contains_key(id));
        let mut turned: BTreeMap<i64, Vec<i64>> = graph.keys().map(|id| (*id, Vec::new())).collect();
        for (id, deps) in &graph {
            for dep in deps {
                turned.entry(*dep).and_modify(|waiting| waiting.push(*id));
            }
        }
        graph = turned;
    }
    let named = |id: &i64| drafted.iter().position(|task| task.id == *id).and_then(|at| rows.get(at));
    let ring: Vec<&Row> = graph.keys().filter_map(named).collect();
    let ids: Vec<&str> = ring.iter().map(|row| row.id.as_str()).collect();
    for row in &ring {
        let message = match ids.as_slice() {
            [_] => "its arguments refer to its own output".to_owned(),
            _ => format!("the tasks {} wait for each other in a circle", ids.join(", ")),
        };
        let hint = "take one of the dependencies, or of the references in `args`, out";
        faults.advise(&row.id, row.names.dependencies, message, hint);
    }
}

/// The known word that differs least, when it differs little.
fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase().replace([' ', '_'], "-");
    let close = known.map(|name| (strsim::levenshtein(&word, name), name)).min_by_key(|(distance, _)| *distance)?;
    (close.0 <= 2.max(word.chars().count() / 4)).then_some(close.1)
}

#[cfg(test)]
mod tests;
