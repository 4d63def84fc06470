//! What holds for every execution plan, whatever the graph.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use jarvis_catalogue::Host;
use jarvis_plan::{Arg, Candidate, Draft, DraftTask, ErrorCode, Limits, Selection, TaskError, Usage, check};
use proptest::prelude::*;
use serde_json::Value;

use super::{Decision, TaskChoice, levels};

/// Any draft of a few tasks: cycles, dangling references, repeated and sparse ids.
fn draft() -> impl Strategy<Value = Draft> {
    let name = prop::sample::select(vec!["image-to-text", "canny-control", "text-to-speech", "no-such-task"]);
    let task = (0..9i64, name, prop::collection::vec(-1..9i64, 0..4), prop::option::of(0..9i64));
    prop::collection::vec(task, 0..9).prop_map(|tasks| {
        let tasks = tasks.into_iter().map(|(id, task, dep, of)| DraftTask {
            dep,
            args: IndexMap::from([(
                "text".to_owned(),
                of.map_or(Arg::parse("hello"), |of| Arg::parse(&format!("<GENERATED>-{of}"))),
            )]),
            ..DraftTask::new(id, task)
        });
        Draft { tasks: tasks.collect(), ..Draft::default() }
    })
}

/// A decision for a draft; every third task has no model.
fn decision(draft: &Draft) -> Decision {
    let plan = check(draft, &jarvis_catalogue::vocabulary(), Limits::default());
    let mut choices: Vec<TaskChoice> = plan
        .tasks()
        .iter()
        .map(|task| {
            let chosen = Candidate { id: "m/x".into(), host: Host::Api.into(), effective_task: task.task.clone() };
            let selection =
                Selection { task: task.id, chosen, fallbacks: Vec::new(), reason: String::new(), notes: Vec::new() };
            let nobody = TaskError::new(ErrorCode::NoModel, "nobody");
            let result = if task.id.0 % 3 == 2 { Err(nobody) } else { Ok(selection) };
            TaskChoice { task: task.id, result, available: 1 }
        })
        .collect();
    choices.sort_by_key(|choice| choice.task);
    Decision {
        request: "r".into(),
        plan_id: "p".into(),
        plan,
        choices,
        mapped: Vec::new(),
        warnings: Vec::new(),
        description: None,
        usage: Usage::default(),
        ms: 0,
        saved: None,
        unsaved: None,
        prompt_logs: None,
    }
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|id| id.as_u64().unwrap()).collect()
}

proptest! {
    #[test]
    fn execution_plans_keep_their_invariants(draft in draft()) {
        let decision = decision(&draft);
        let document = decision.execution_config();
        let config = &document["execution_config"];
        let tasks = config["tasks"].as_array().unwrap();
        prop_assert_eq!(config["total_tasks"].as_u64().unwrap() as usize, tasks.len());
        let level: BTreeMap<u64, u64> = tasks
            .iter()
            .map(|task| (task["task_id"].as_u64().unwrap(), task["execution_level"].as_u64().unwrap()))
            .collect();
        let nodes = numbers(&config["dag"]["nodes"]);
        prop_assert_eq!(&nodes, &level.keys().copied().collect::<Vec<_>>());
        // Every edge raises the level, is between nodes, and is a dependency; every dependency is an edge.
        let mut edges = Vec::new();
        for edge in config["dag"]["edges"].as_array().unwrap() {
            let (from, to) = (edge["from"].as_u64().unwrap(), edge["to"].as_u64().unwrap());
            prop_assert!(level[&from] < level[&to], "{} {}", from, to);
            edges.push((to, from));
        }
        let listed: Vec<(u64, u64)> = tasks
            .iter()
            .flat_map(|task| numbers(&task["dependencies"]).into_iter().map(|dep| (task["task_id"].as_u64().unwrap(), dep)))
            .collect();
        prop_assert_eq!(&edges, &listed);
        // A level is one more than the highest of its dependencies.
        for (id, at) in &level {
            let above = listed.iter().filter(|(to, _)| to == id).map(|(_, from)| level[from] + 1).max().unwrap_or(0);
            prop_assert_eq!(*at, above);
        }
        // Every node is in exactly one level, the one it says; none is empty; they count from 0.
        let mut seen = Vec::new();
        for (at, entry) in config["execution_order"].as_array().unwrap().iter().enumerate() {
            let ids = numbers(&entry["tasks"]);
            prop_assert!(!ids.is_empty() && ids.is_sorted());
            prop_assert_eq!(entry["level"].as_u64().unwrap() as usize, at);
            prop_assert_eq!(entry["parallel"].as_bool().unwrap(), ids.len() > 1);
            prop_assert!(ids.iter().all(|id| level[id] == at as u64));
            seen.extend(ids);
        }
        seen.sort_unstable();
        prop_assert_eq!(seen, nodes);
        // Same input, same bytes.
        prop_assert_eq!(decision.message(), super::tests::decision(&draft).message());
        // The counts of the reply agree with its lists.
        let reply = decision.reply();
        let summary = &reply["decisions"]["summary"];
        let selections = reply["decisions"]["model_selections"].as_object().unwrap();
        prop_assert_eq!(summary["total_tasks"].as_u64().unwrap() as usize, selections.len());
        prop_assert_eq!(
            summary["tasks_with_selections"].as_u64().unwrap() + summary["tasks_unavailable"].as_u64().unwrap(),
            selections.len() as u64
        );
        let keys: Vec<u64> = selections.keys().map(|key| key.parse().unwrap()).collect();
        prop_assert!(keys.is_sorted());
    }

    #[test]
    fn levels_do_not_depend_on_the_names_of_nodes(
        edges in prop::collection::vec((0..10u8, 0..10u8), 0..25),
        names in Just((0..10u8).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let graph = |name: &dyn Fn(u8) -> u8| {
            let mut graph: BTreeMap<u8, Vec<u8>> = (0..10).map(|id| (name(id), Vec::new())).collect();
            for (to, from) in &edges {
                graph.entry(name(*to)).or_default().push(name(*from));
            }
            graph
        };
        let plain = levels(&graph(&|id| id));
        let renamed = levels(&graph(&|id| names[id as usize]));
        let expected: BTreeMap<u8, usize> = plain.of.iter().map(|(id, at)| (names[*id as usize], *at)).collect();
        prop_assert_eq!(renamed.of, expected);
        // Whoever is left out is on a cycle or waits for one: each has a dependency that is left out too.
        let graph = graph(&|id| id);
        let left: BTreeSet<&u8> = graph.keys().filter(|id| !plain.of.contains_key(*id)).collect();
        prop_assert!(left.iter().all(|id| graph[*id].iter().any(|dep| left.contains(dep))));
    }
}
