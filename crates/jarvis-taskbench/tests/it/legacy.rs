//! The original's figures, against the oracles and against cases counted by hand.

use std::path::Path;

use jarvis_taskbench::data::{DependencyType, Domain, Lines};
use jarvis_taskbench::evaluate::{Evaluation, Grouping, Options, Predictions, Profile, Wanted, evaluate};
use serde_json::Value;

use crate::data::shared;

fn run(dir: &Path, dependency: DependencyType, wanted: Wanted) -> Evaluation {
    let domain = Domain::open(dir).unwrap();
    let (gold, tools) = (domain.gold().unwrap(), domain.tools().unwrap());
    let lines = Lines::read(&domain.path("predictions/model.json")).unwrap();
    let groups = Grouping::all().groups();
    let options = Options { wanted, groups, ..Options::new(&tools, dependency, Profile::Legacy) };
    evaluate(&gold, &Predictions::of(&lines), &options)
}

fn differences(path: &str, found: &Value, expected: &Value, out: &mut Vec<String>) {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            if found.keys().ne(expected.keys()) {
                out.push(format!("{path}: keys {:?}, not {:?}", found.keys(), expected.keys()));
            }
            for (key, expected) in expected {
                differences(&format!("{path}.{key}"), found.get(key).unwrap_or(&Value::Null), expected, out);
            }
        }
        (found, expected) => {
            let near = found.as_f64().zip(expected.as_f64()).is_some_and(|(a, b)| (a - b).abs() < 1e-9);
            if !near && found != expected {
                out.push(format!("{path}: {found}, not {expected}"));
            }
        }
    }
}

#[test]
fn equals_the_original_on_the_samples() {
    for (name, dependency) in [("resource", DependencyType::Resource), ("temporal", DependencyType::Temporal)] {
        let Some(dir) = shared(&format!("sample/{name}")) else { return };
        let read = |file: &str| -> Value { serde_json::from_slice(&std::fs::read(dir.join(file)).unwrap()).unwrap() };
        let (mut expected, means) = (read("metrics.json"), read("rouge_mean.json"));
        // The original's ROUGE is one draw of a random bootstrap; the means are what is to be matched.
        for (group, figures) in expected.as_object_mut().unwrap() {
            for (key, value) in figures.as_object_mut().unwrap() {
                if key.starts_with("step_rouge") {
                    *value = means["groups"][group][key].clone();
                }
            }
        }
        let evaluation = run(&dir, dependency, Wanted::ALL);
        let found: Value =
            evaluation.legacy.iter().map(|(group, figures)| (group.to_string(), figures.to_value())).collect();
        let mut out = Vec::new();
        differences(name, &found, &expected, &mut out);
        assert!(out.is_empty(), "{}", out.join("\n"));
    }
}
