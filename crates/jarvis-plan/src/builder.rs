//! Graphs written down in code: tasks by name, in any order, checked strictly. What planners write is read more leniently
//! by [`crate::check()`].

use indexmap::IndexMap;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::{Arg, Draft, DraftRef, DraftTask, Limits, Plan, TaskId, Vocabulary};

/// The key of an object that stands for a task's output, see [`out`].
const OUTPUT: &str = "$output";

/// The output of the task of that name, as a value among the arguments of another.
pub fn out(task: &str) -> Out<'_> {
    Out(task)
}

/// A reference by name, see [`out`]. Serialises as `{"$output": name}`.
#[derive(Debug, Clone, Copy)]
pub struct Out<'a>(&'a str);

impl Serialize for Out<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(OUTPUT, self.0)?;
        map.end()
    }
}

/// Why a graph cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// Two tasks have the same name.
    #[error("two tasks are named `{0}`; give one of them another name with `named`")]
    DuplicateName(String),
    /// A task waits for or refers to a task that does not exist.
    #[error("`{task}` needs `{needs}`, which is not a task of the graph")]
    UnknownName {
        /// The task.
        task: String,
        /// The name that no task has.
        needs: String,
    },
    /// No tool has this name.
    #[error("`{task}` calls `{tool}`, which is not one of the tools")]
    UnknownTool {
        /// The task.
        task: String,
        /// The name that no tool has.
        tool: String,
    },
    /// The arguments of a task are not an object.
    #[error("the arguments of `{0}` are not a JSON object")]
    NotAnObject(String),
    /// Tasks wait for each other.
    #[error("`{0}` waits for itself, directly or through other tasks")]
    Cycle(String),
}

#[derive(Debug, Clone)]
struct Row {
    name: String,
    tool: String,
    after: Vec<String>,
    args: Value,
}

/// Collects tasks; see [`Plan::builder`].
#[derive(Debug, Clone, Default)]
pub struct GraphBuilder {
    rows: Vec<Row>,
}

impl Plan {
    /// A graph to be written down task by task.
    ///
    /// ```
    /// use jarvis_plan::{Plan, Vocabulary, out};
    /// use serde_json::json;
    ///
    /// let graph = Plan::builder()
    ///     .task("fetch", json!({"url": "a"}))
    ///     .task("sum", json!({"text": out("fetch")}))
    ///     .check(&Vocabulary::named(["fetch", "sum"]))?;
    /// assert_eq!(graph.tasks()[1].dep, [graph.names()["fetch"]]);
    /// # Ok::<(), jarvis_plan::GraphError>(())
    /// ```
    pub fn builder() -> GraphBuilder {
        GraphBuilder::default()
    }
}

impl GraphBuilder {
    /// Adds a task that calls a tool and has the tool's name. It waits for the tasks whose output it takes.
    pub fn task(self, tool: &str, args: Value) -> GraphBuilder {
        self.named(tool, tool, [], args)
    }

    /// Adds a task that also waits for other tasks.
    pub fn task_after<'a>(self, tool: &str, after: impl IntoIterator<Item = &'a str>, args: Value) -> GraphBuilder {
        self.named(tool, tool, after, args)
    }

    /// Adds a task with a name of its own, for tools that are called more than once.
    pub fn named<'a>(
        mut self,
        name: &str,
        tool: &str,
        after: impl IntoIterator<Item = &'a str>,
        args: Value,
    ) -> GraphBuilder {
        let after = after.into_iter().map(str::to_owned).collect();
        self.rows.push(Row { name: name.to_owned(), tool: tool.to_owned(), after, args });
        self
    }

    /// Checks the graph. Nothing is mended.
    ///
    /// # Errors
    /// Names the first task that is wrong.
    pub fn check(self, tools: &Vocabulary) -> Result<Plan, GraphError> {
        let mut names: IndexMap<String, TaskId> = IndexMap::with_capacity(self.rows.len());
        for (row, id) in self.rows.iter().zip(0..) {
            if names.insert(row.name.clone(), TaskId(id)).is_some() {
                return Err(GraphError::DuplicateName(row.name.clone()));
            }
            if tools.find(&row.tool).is_none() {
                return Err(GraphError::UnknownTool { task: row.name.clone(), tool: row.tool.clone() });
            }
        }
        let mut draft = Draft::default();
        for (row, id) in self.rows.iter().zip(0..) {
            let Value::Object(fields) = &row.args else { return Err(GraphError::NotAnObject(row.name.clone())) };
            let find = |needs: &str| match names.get(needs) {
                Some(id) => Ok(i64::from(id.0)),
                None => Err(GraphError::UnknownName { task: row.name.clone(), needs: needs.to_owned() }),
            };
            let mut task = DraftTask::new(id, row.tool.clone());
            task.dep = row.after.iter().map(|name| find(name)).collect::<Result<_, _>>()?;
            for (name, value) in fields {
                task.args.insert(name.clone(), arg(value, &find)?);
            }
            draft.tasks.push(task);
        }
        if let Some(id) = first_in_cycle(&draft) {
            return Err(GraphError::Cycle(self.rows.get(id).expect("ids count the rows").name.clone()));
        }
        let mut plan = crate::check(&draft, tools, Limits { max_tasks: usize::MAX });
        plan.names = names;
        Ok(plan)
    }
}

/// An argument in which `{"$output": name}` are references. Strings are text, whatever stands in them.
fn arg(value: &Value, find: &impl Fn(&str) -> Result<i64, GraphError>) -> Result<Arg<DraftRef>, GraphError> {
    Ok(match value {
        Value::Object(fields) => match (fields.len(), fields.get(OUTPUT)) {
            (1, Some(Value::String(name))) => Arg::output(DraftRef(Some(find(name)?))),
            _ => Arg::object(
                fields.iter().map(|(name, field)| Ok((name.clone(), arg(field, find)?))).collect::<Result<_, _>>()?,
            ),
        },
        Value::Array(items) => Arg::list(items.iter().map(|item| arg(item, find)).collect::<Result<_, _>>()?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Arg::Value(value.clone()),
    })
}

/// The first task that is part of a cycle or waits for one. Ids are positions.
fn first_in_cycle(draft: &Draft) -> Option<usize> {
    let deps: Vec<Vec<usize>> = draft
        .tasks
        .iter()
        .map(|task| {
            let referenced = task.args.values().flat_map(Arg::references).filter_map(|of| of.0);
            let id = |id| usize::try_from(id).expect("ids are positions");
            task.dep.iter().copied().chain(referenced).map(id).collect()
        })
        .collect();
    let mut done = vec![false; deps.len()];
    loop {
        let is_done = |dep: &usize| done.get(*dep).copied().unwrap_or(false);
        let free = deps.iter().enumerate().find(|(id, dep)| !is_done(id) && dep.iter().all(is_done));
        match free.map(|(id, _)| id).and_then(|id| done.get_mut(id)) {
            Some(done) => *done = true,
            None => return done.iter().position(|done| !done),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(builder: GraphBuilder) -> Result<String, String> {
        let plan = builder.check(&Vocabulary::named(["fetch", "sum"])).map_err(|error| error.to_string())?;
        assert_eq!(plan.notes(), []);
        let lines =
            plan.tasks().iter().map(|task| format!("{}:{}{:?}{}", task.id, task.task, task.dep, json!(task.args)));
        Ok(lines.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn names_become_ids_and_outputs_become_dependencies() {
        let graph = Plan::builder()
            .named("b", "sum", ["a"], json!({"all": [out("a"), {"n": 1}], "by": {"x": out("c")}}))
            .named("a", "fetch", [], json!({"url": "<GENERATED>-9", "n": 5}))
            .named("c", "fetch", ["a"], json!({}));
        assert_eq!(
            check(graph).as_deref(),
            Ok(concat!(
                r#"0:sum[TaskId(1), TaskId(2)]{"all":["<GENERATED>-1",{"n":1}],"by":{"x":"<GENERATED>-2"}} "#,
                r#"1:fetch[]{"url":"<GENERATED>-9","n":5} 2:fetch[TaskId(1)]{}"#
            ))
        );
    }

    #[test]
    fn nothing_is_mended() {
        for (graph, want) in [
            (Plan::builder().task("fetch", json!({})).task("fetch", json!({})), "two tasks are named `fetch`"),
            (Plan::builder().task("walk", json!({})), "`walk` calls `walk`, which is not one of the tools"),
            (Plan::builder().task_after("sum", ["fetch"], json!({})), "`sum` needs `fetch`"),
            (Plan::builder().task("sum", json!({"x": out("y")})), "`sum` needs `y`"),
            (Plan::builder().task("sum", json!(5)), "the arguments of `sum` are not a JSON object"),
            (Plan::builder().task("sum", json!({"x": out("sum")})), "`sum` waits for itself"),
            (
                Plan::builder().task_after("sum", ["fetch"], json!({})).task("fetch", json!({"x": out("sum")})),
                "`sum` waits for itself",
            ),
        ] {
            let told = check(graph).expect_err(want);
            assert!(told.contains(want), "{told}");
        }
    }
}
