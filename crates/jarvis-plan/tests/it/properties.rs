//! What holds for every draft, however wild.

use std::collections::{HashMap, HashSet};

use jarvis_plan::{
    Arg, Draft, DraftRef, DraftTask, Fault, Limits, Piece, Plan, TaskId, check, dialect, export, graph, text_of,
};
use proptest::prelude::*;

use crate::drawings::drawn;
use crate::vocabulary;

fn id() -> impl Strategy<Value = i64> {
    let extreme =
        prop_oneof![Just(i64::MIN), Just(i64::MAX), Just(1_000_000), Just(1_000_001), Just(i64::from(u32::MAX) + 1)];
    prop_oneof![16 => 0i64..8, 2 => 8i64..40, 2 => Just(-3), 1 => extreme]
}

fn value() -> impl Strategy<Value = String> {
    let reference = prop_oneof![
        id().prop_map(|id| format!("<GENERATED>-{id}")),
        id().prop_map(|id| format!("<generated-{id}>")),
        id().prop_map(|id| format!("<GENERATED>-{id}.rows[1]")),
        id().prop_map(|id| format!("<GENERATED-{id}.rows>")),
        Just(".name".to_owned()),
        Just("<GENERATED>".to_owned()),
    ];
    let piece = prop_oneof![4 => reference, 1 => Just(",".to_owned()), 1 => Just(" and ".to_owned()), 1 => ".{0,6}"];
    prop_oneof![
        2 => proptest::collection::vec(piece.clone(), 0..4).prop_map(|pieces| pieces.concat()),
        1 => proptest::collection::vec(id(), 2..4)
            .prop_map(|ids| ids.iter().map(|id| format!("<GENERATED>-{id}")).collect::<Vec<_>>().join(", ")),
        1 => Just("/images/a.png".to_owned()),
    ]
}

fn task() -> impl Strategy<Value = DraftTask> {
    let name = prop_oneof![
        Just("image-to-image"),
        Just("image-to-text"),
        Just("translation"),
        Just("tts"),
        Just("visual-question-answering"),
        Just("unheard-of")
    ];
    // Most arguments are read from text; planners may also build them, with ids that no text can hold.
    let arg = prop_oneof![
        4 => value().prop_map(|value| Arg::parse(&value)),
        // Null is what structured output writes for no value, and is left out when read.
        2 => json().prop_filter("a value", |value| !value.is_null()).prop_map(|value| Arg::of(&value)),
        1 => proptest::collection::vec(id(), 1..3).prop_map(|ids| {
            Arg::text(ids.into_iter().flat_map(|id| [Piece::Output(DraftRef(Some(id))), Piece::Text(",".into())]))
        }),
    ];
    let args = proptest::collection::vec((prop_oneof![Just("image"), Just("text"), Just("audio")], arg), 0..3);
    let from = proptest::option::weighted(0.1, id());
    (id(), name, proptest::collection::vec(id(), 0..3), args, from).prop_map(|(id, name, dep, args, unfolded_from)| {
        let mut task = DraftTask::new(id, name);
        task.dep = dep;
        task.args = args.into_iter().map(|(name, arg)| (name.to_owned(), arg)).collect();
        task.unfolded_from = unfolded_from;
        task
    })
}

fn draft() -> impl Strategy<Value = Draft> {
    proptest::collection::vec(task(), 0..9).prop_map(|tasks| Draft { tasks, ..Draft::default() })
}

const LIMITS: Limits = Limits { max_tasks: 24 };

fn checked(draft: &Draft) -> Plan {
    check(draft, &vocabulary(), LIMITS)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn ids_are_dense_and_the_graph_has_no_cycle(draft in draft()) {
        let plan = checked(&draft);
        let mut ids: Vec<u32> = plan.tasks().iter().map(|task| task.id.0).collect();
        ids.sort_unstable();
        prop_assert_eq!(ids, (0..plan.tasks().len() as u32).collect::<Vec<_>>());
        prop_assert!(plan.tasks().len() <= LIMITS.max_tasks);
        prop_assert_eq!(graph::topological_order(&plan).len(), plan.tasks().len());
    }

    #[test]
    fn every_reference_is_a_dependency_on_a_task_of_the_plan(draft in draft()) {
        let plan = checked(&draft);
        let ids: HashSet<TaskId> = plan.tasks().iter().map(|task| task.id).collect();
        for task in plan.tasks() {
            for dep in &task.dep {
                prop_assert!(ids.contains(dep) && *dep != task.id);
            }
            for reference in task.args.values().flat_map(Arg::references) {
                prop_assert!(task.dep.contains(&reference));
            }
        }
    }

    #[test]
    fn no_list_of_references_is_left_to_unfold(draft in draft()) {
        for task in checked(&draft).tasks().iter().filter(|task| task.faults.is_empty()) {
            prop_assert!(task.args.values().all(|arg| arg.as_list().is_none()));
        }
    }

    #[test]
    fn explicit_order_survives_where_the_draft_is_acyclic(edges in proptest::collection::vec((0i64..10, 0i64..10), 0..20)) {
        let mut draft = Draft::default();
        for id in 0..10 {
            let mut task = DraftTask::new(id, "translation").arg("text", "a");
            task.dep = edges.iter().filter(|(_, to)| *to == id).map(|(from, _)| *from).filter(|from| *from < id).collect();
            draft.tasks.push(task);
        }
        let plan = checked(&draft);
        for (from, to) in edges.iter().filter(|(from, to)| from < to) {
            let task = plan.task(TaskId(*to as u32)).expect("no task was lost");
            prop_assert!(task.dep.contains(&TaskId(*from as u32)));
        }
        prop_assert!(plan.notes().is_empty());
    }

    #[test]
    fn checking_twice_changes_nothing(draft in draft()) {
        let once = checked(&draft);
        let again = checked(&Draft::from(&once));
        prop_assert_eq!(once.tasks(), again.tasks());
        let written = export::tasks_json(&once);
        let read = dialect::read(&written).expect("a plan reads back");
        let again = checked(&read);
        prop_assert_eq!(once.tasks(), again.tasks());
    }

    #[test]
    fn a_plan_grows_without_changing_what_it_was(first in draft(), second in draft()) {
        let mut plan = checked(&first);
        let before = plan.clone();
        let added = plan.grow(&second, &vocabulary(), LIMITS).to_vec();
        prop_assert_eq!(&plan.tasks()[..before.tasks().len()], before.tasks());
        prop_assert_eq!(&plan.tasks()[before.tasks().len()..], &added);
        prop_assert!(plan.tasks().len() <= LIMITS.max_tasks);
        let mut ids: Vec<u32> = plan.tasks().iter().map(|task| task.id.0).collect();
        ids.sort_unstable();
        prop_assert_eq!(ids, (0..plan.tasks().len() as u32).collect::<Vec<_>>());
        prop_assert_eq!(graph::topological_order(&plan).len(), plan.tasks().len());
        for task in plan.tasks() {
            for reference in task.args.values().flat_map(Arg::references) {
                prop_assert!(task.dep.contains(&reference));
            }
        }
    }

    #[test]
    fn faults_are_real(draft in draft()) {
        let plan = checked(&draft);
        let known: HashMap<u32, &str> = plan.tasks().iter().map(|task| (task.id.0, task.task.as_str())).collect();
        for task in plan.tasks() {
            for fault in &task.faults {
                match fault {
                    Fault::UnknownTask { .. } => prop_assert_eq!(task.task.as_str(), "unheard-of"),
                    Fault::DanglingReference { to } => prop_assert!(!known.contains_key(&(*to as u32))),
                    Fault::UnboundReference { arg } => prop_assert!(task.args.contains_key(arg)),
                    Fault::MissingArgument { arg, .. } => {
                        let given = task.args.get(arg).and_then(Arg::as_value);
                        prop_assert!(given.is_none_or(|value| text_of(value).trim().is_empty()));
                    }
                    Fault::ReferenceCycle => {}
                    other => prop_assert!(false, "no such task was drafted: {other}"),
                }
            }
        }
    }

    #[test]
    fn no_json_panics(value in json()) {
        if let Ok(draft) = dialect::read(&value) {
            let plan = checked(&draft);
            let diagram = export::plan(&plan, |_| Vec::new());
            let _ = (diagram.dot(), diagram.mermaid(), graph::stages(&plan));
            drawn(&plan, |_| vec!["native/tool".to_owned()]);
        }
    }
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        value().prop_map(Into::into),
    ];
    let key = prop_oneof![Just("task"), Just("id"), Just("dep"), Just("args"), Just("image"), Just("tasks")];
    leaf.prop_recursive(4, 32, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            proptest::collection::vec((key.clone(), inner), 0..6).prop_map(|pairs| {
                serde_json::Value::Object(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
            }),
        ]
    })
}
