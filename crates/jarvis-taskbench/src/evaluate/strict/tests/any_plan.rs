//! What must hold for any plan and any JSON.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{catalogue, scored};
use crate::data::DependencyType;
use crate::evaluate::Wanted;
use crate::evaluate::strict::pool;

const NAMES: [&str; 7] = ["Draw", "Read", "Send", "Look_Up", "Cut Out", "Fly", "Ünknown Tool"];

fn arguments(dependency: DependencyType) -> BoxedStrategy<Value> {
    match dependency {
        DependencyType::Resource => prop_oneof![
            "[a-z.]{0,8}".prop_map(Value::from),
            (0_usize..6).prop_map(|at| format!("<node-{at}>").into()),
            Just(json!("<output_of_Read>")),
            Just(json!({"name": "x", "value": "<node-1>"})),
            any::<i32>().prop_map(Value::from),
        ]
        .boxed(),
        DependencyType::Temporal => {
            ("[a-c]", prop_oneof![any::<i32>().prop_map(Value::from), "[a-z ]{0,5}".prop_map(Value::from)])
                .prop_map(|(name, value)| json!({"name": name, "value": value}))
                .boxed()
        }
    }
}

fn plan(dependency: DependencyType) -> impl Strategy<Value = Value> {
    let node = (0..NAMES.len(), proptest::collection::vec(arguments(dependency), 0..4))
        .prop_map(|(name, arguments)| json!({"task": NAMES[name], "arguments": arguments}));
    let link = (0..NAMES.len(), 0..NAMES.len()).prop_map(|(a, b)| json!({"source": NAMES[a], "target": NAMES[b]}));
    (
        proptest::collection::vec(node, 1..6),
        proptest::collection::vec(link, 0..5),
        proptest::collection::vec("[a-z ]{1,12}", 1..6),
    )
        .prop_map(|(nodes, links, steps)| json!({"task_steps": steps, "task_nodes": nodes, "task_links": links}))
}

fn any_plan() -> impl Strategy<Value = (DependencyType, Value)> {
    prop_oneof![Just(DependencyType::Resource), Just(DependencyType::Temporal)]
        .prop_flat_map(|dependency| (Just(dependency), plan(dependency)))
}

/// JSON of the keys and shapes that are looked for, and of others.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| serde_json::Number::from_f64(number).map_or(Value::Null, Value::Number)),
        ".{0,6}".prop_map(Value::from),
        prop_oneof![
            Just("<node-0>"),
            Just("<node-"),
            Just("<output_of_Read>"),
            Just("Read"),
            Just("Step 1"),
            Just("2"),
            Just("")
        ]
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        let key = prop_oneof![
            Just("task_nodes"),
            Just("task_links"),
            Just("task_steps"),
            Just("task"),
            Just("arguments"),
            Just("name"),
            Just("value"),
            Just("source"),
            Just("target"),
            Just("x"),
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((key, inner), 0..5).prop_map(|pairs| Value::Object(
                pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            )),
        ]
    })
}

/// Every number under these names is this one.
fn each_figure(value: &Value, check: &mut dyn FnMut(&str, &Value)) {
    if let Some(map) = value.as_object() {
        for (name, value) in map {
            if ["precision", "recall", "f1", "exact", "rouge1", "rouge2", "rougeL", "rougeLsum", "list", "topological"]
                .contains(&name.as_str())
            {
                check(name, value);
            }
            each_figure(value, check);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_gold_plan_itself_is_perfect((dependency, plan) in any_plan()) {
        let sample = scored(dependency, &plan, Some(&plan.to_string()));
        let pooled = pool([sample.clone()].iter(), &catalogue(dependency), Wanted::ALL, None).to_value();
        let mut seen = 0;
        each_figure(&pooled, &mut |name, value| {
            let expected = if ["list", "topological"].contains(&name) { 0.0 } else { 1.0 };
            assert!(value.is_null() || *value == json!(expected), "{name} is {value} of {plan}");
            seen += usize::from(!value.is_null());
        });
        prop_assert!(seen >= 6);
        prop_assert!(sample.exact_nodes);
        let told: Vec<&str> = sample.lost.iter().map(|why| &**why).filter(|why| !why.starts_with("repaired") && !why.starts_with("dangling")).collect();
        prop_assert!(told.is_empty(), "{told:?}");
    }

    #[test]
    fn no_prediction_has_no_recall((dependency, plan) in any_plan()) {
        let sample = scored(dependency, &plan, None);
        let pooled = pool([sample].iter(), &catalogue(dependency), Wanted::ALL, None).to_value();
        each_figure(&pooled, &mut |name, value| {
            let expected = if ["list", "topological"].contains(&name) { 1.0 } else { 0.0 };
            assert!(value.is_null() || *value == json!(expected), "{name} is {value} of {plan}");
        });
    }

    #[test]
    fn leaving_a_node_out_never_helps((dependency, plan) in any_plan()) {
        let whole = scored(dependency, &plan, Some(&plan.to_string()));
        let mut less = plan.clone();
        less["task_nodes"].as_array_mut().unwrap().pop();
        let less = scored(dependency, &plan, Some(&less.to_string()));
        prop_assert!(less.nodes.common <= whole.nodes.common && less.argument_values.common <= whole.argument_values.common);
        prop_assert!(less.edit_distance[0] > 0.0 && !less.exact_nodes);
        prop_assert_eq!(less.nodes.gold, whole.nodes.gold);
    }

    #[test]
    fn the_places_of_nodes_do_not_matter_to_sets((dependency, plan) in any_plan(), turn in 0_usize..5) {
        // Turns the list of nodes round and keeps every reference on its node.
        let nodes = plan["task_nodes"].as_array().unwrap().clone();
        let count = nodes.len();
        let moved = |at: usize| (at + count - turn % count) % count;
        let mut turned = nodes.clone();
        turned.rotate_left(turn % count);
        let text = Value::Array(turned).to_string();
        let text = (0..count).fold(text, |text, at| text.replace(&format!("<node-{at}>"), &format!("<NODE-{}>", moved(at))));
        let mut predicted = plan.clone();
        predicted["task_nodes"] = serde_json::from_str(&text.replace("<NODE-", "<node-")).unwrap();
        let sample = scored(dependency, &plan, Some(&predicted.to_string()));
        prop_assert!(sample.exact_nodes);
        prop_assert_eq!(sample.nodes.common, sample.nodes.gold);
        prop_assert_eq!(sample.links, scored(dependency, &plan, Some(&plan.to_string())).links);
    }

    #[test]
    fn any_json_is_scored((dependency, plan) in any_plan(), predicted in any_json(), as_gold in any_json()) {
        let sample = scored(dependency, &plan, Some(&predicted.to_string()));
        let fields = as_gold.as_object().cloned().unwrap_or_default();
        let gold = Value::Object(fields);
        let odd = scored(dependency, &gold, Some(&plan.to_string()));
        let same = scored(dependency, &gold, Some(&gold.to_string()));
        prop_assert_eq!(same.nodes.common, same.nodes.gold);
        prop_assert_eq!(same.argument_values.common, same.argument_values.gold);
        for sample in [sample, odd, same] {
            each_figure(&sample.to_value(), &mut |name, value| {
                assert!(value.is_null() || value.as_f64().is_some_and(|value| (0.0..=1.0).contains(&value)), "{name} is {value}");
            });
        }
    }
}
