//! What holds for every plan file, and the words that are meant when one is misspelt. What is forgiven and refused is
//! tested in `tests/it/plans.rs`.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Executable, PlanFileError, PlanLimits, Sources, nearest, read_plan};

#[test]
fn the_nearest_word_is_near() {
    let names = ["image-to-text", "text-to-image", "canny-control", "summarization"];
    for (word, want) in [
        ("image-to-txt", Some("image-to-text")),
        ("Image To Text", Some("image-to-text")),
        ("summarisation", Some("summarization")),
        ("cany_control", Some("canny-control")),
        ("time-travel", None),
        ("", None),
    ] {
        assert_eq!(nearest(word, names.into_iter()), want, "{word}");
    }
}

/// Native models, and those that the catalogue lists.
fn sources() -> Sources {
    Sources::new(jarvis_catalogue::Catalogue::builtin(), jarvis_catalogue::Wanted::native_only())
}

fn read(value: &Value) -> Result<Executable, PlanFileError> {
    read_plan(value, &jarvis_catalogue::vocabulary(), &sources(), PlanLimits::default())
}

const KEYS: &str = "execution_config tasks task_id task_type id task dep dependencies args image text model_id hosted_on \
    alternatives message decisions planned_tasks model_selections 0";

/// JSON that looks like a plan from far away.
fn odd_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2..4i64).prop_map(Value::from),
        prop::sample::select(vec![
            "",
            "-1",
            "0",
            "1",
            "image-to-text",
            "canny-control",
            "native/canny",
            "N/A",
            "native",
            "<GENERATED>-0",
            "<GENERATED>-1,<GENERATED>-2",
            "<GENERATED>",
            "{\"tasks\": []}",
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        let key = prop::sample::select(KEYS.split(' ').collect::<Vec<_>>());
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..6).prop_map(|fields| {
                Value::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
            }),
        ]
    })
}

/// Task lists of which many can be executed.
fn task_list() -> impl Strategy<Value = Value> {
    let task = (
        prop::sample::select(vec!["image-to-text", "canny-control", "summarization", "text-to-speech"]),
        prop::collection::vec(0..30i64, 0..3),
        prop::sample::select(vec!["image", "text"]),
        prop::option::of(0..30i64),
    );
    prop::collection::btree_map(0..30i64, task, 1..7).prop_map(|tasks| {
        tasks
            .into_iter()
            .map(|(id, (task, dep, arg, of))| {
                let value =
                    of.filter(|of| *of < id).map_or("/images/a.png".to_owned(), |of| format!("<GENERATED>-{of}"));
                let dep: Vec<i64> = dep.into_iter().filter(|dep| *dep < id).collect();
                json!({"id": id, "task": task, "dep": dep, "args": {arg: value}})
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn whatever_is_read_is_a_plan_or_a_list_of_faults(value in odd_json()) {
        for value in [value.clone(), json!({"tasks": value}), json!([value])] {
            match read(&value) {
                Ok(plan) => {
                    prop_assert!(!plan.plan.tasks().is_empty());
                    prop_assert_eq!((plan.pins.len(), plan.ids.len()), (plan.plan.tasks().len(), plan.plan.tasks().len()));
                    prop_assert!(plan.plan.tasks().iter().all(|task| task.faults.is_empty()));
                }
                Err(error) => prop_assert!(!error.faults.is_empty() && !error.hint().is_empty()),
            }
        }
    }

    #[test]
    fn a_plan_that_is_read_and_written_is_read_the_same(list in task_list()) {
        let Ok(first) = read(&list) else { return Ok(()) };
        // References that dangle were refused, so whoever got here refers to earlier tasks alone.
        let again = read(&jarvis_plan::export::tasks_json(&first.plan)).unwrap();
        prop_assert_eq!(&again.plan, &first.plan);
        let dense: Vec<String> = (0..first.plan.tasks().len()).map(|id| id.to_string()).collect();
        prop_assert_eq!(&again.ids, &dense);
        // Ids keep their order, and each row its arguments.
        let rows = list.as_array().unwrap();
        prop_assert_eq!(first.ids, rows.iter().map(|row| row["id"].to_string()).collect::<Vec<_>>());
    }
}
