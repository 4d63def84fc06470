//! The original's figures, against an independent implementation.

use std::path::{Path, PathBuf};

use jarvis_taskbench::data::{DependencyType, Domain, Lines};
use jarvis_taskbench::evaluate::{Counts, Evaluation, Grouping, Options, Predictions, Profile, Wanted, evaluate};
use serde_json::{Value, json};

pub(crate) fn run(dir: &Path, dependency: DependencyType, wanted: Wanted) -> Evaluation {
    let domain = Domain::open(dir).unwrap();
    let (gold, tools) = (domain.gold().unwrap(), domain.tools().unwrap());
    let lines = Lines::read(&domain.path("predictions/model.json")).unwrap();
    let groups = Grouping::all().groups();
    let options = Options { wanted, groups, ..Options::new(&tools, dependency, Profile::Legacy) };
    evaluate(&gold, &Predictions::of(&lines), &options)
}

pub(crate) fn differences(path: &str, found: &Value, expected: &Value, out: &mut Vec<String>) {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            if found.keys().ne(expected.keys()) {
                out.push(format!("{path}: keys {:?}, not {:?}", found.keys(), expected.keys()));
            }
            for (key, expected) in expected {
                differences(&format!("{path}.{key}"), found.get(key).unwrap_or(&Value::Null), expected, out);
            }
        }
        (Value::Array(found), Value::Array(expected)) if found.len() == expected.len() => {
            for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
                differences(&format!("{path}[{at}]"), found, expected, out);
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

/// A fixture of hostile samples with the figures of an independent implementation.
pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/legacy").join(name)
}

/// The fixture's cases, one rule of the specification each; the figures come from an independent implementation.
#[test]
fn equals_an_independent_reference_on_hostile_samples() {
    for (name, dependency) in [("resource", DependencyType::Resource), ("temporal", DependencyType::Temporal)] {
        let dir = fixture(name);
        let without = Wanted { rouge: false, ..Wanted::ALL };
        for (file, wanted) in [("metrics.json", Wanted::ALL), ("metrics_no_steps.json", without)] {
            let expected: Value = serde_json::from_slice(&std::fs::read(dir.join(file)).unwrap()).unwrap();
            let wanted = Wanted { bertscore: false, ..wanted };
            let evaluation = run(&dir, dependency, wanted);
            let found: Value =
                evaluation.legacy.iter().map(|(group, figures)| (group.to_string(), figures.to_value())).collect();
            let mut out = Vec::new();
            differences(&format!("{name}/{file}"), &found, &expected, &mut out);
            assert!(out.is_empty(), "{}", out.join("\n"));
        }
        samples(&dir, dependency);
    }
}

/// Each sample by itself, so that a wrong rule is named.
fn samples(dir: &Path, dependency: DependencyType) {
    let cases: Value = serde_json::from_slice(&std::fs::read(dir.join("cases.json")).unwrap()).unwrap();
    let evaluation = run(dir, dependency, Wanted { bertscore: false, ..Wanted::ALL });
    let (mut out, mut checked) = (Vec::new(), 0);
    for sample in &evaluation.samples {
        let case = &cases[sample.id.to_value().to_string()];
        let Some(legacy) = sample.legacy.as_ref().filter(|_| case.is_object()) else { continue };
        checked += 1;
        let plan = legacy.plan.as_ref();
        let three = |counts: Counts| json!([counts.common, counts.predicted, counts.gold]);
        let mut same = |what: &str, found: Value| {
            if case.get(what).is_some_and(|expected| !expected.is_null()) {
                differences(&format!("{}: {what} ({})", sample.id, case["tests"]), &found, &case[what], &mut out);
            }
        };
        same("counts", json!([u8::from(legacy.steps.is_some()), u8::from(legacy.arguments), u8::from(plan.is_some())]));
        if let Some(rouge) = legacy.steps.and_then(|steps| steps.rouge) {
            same("rouge", json!(rouge.values()));
        }
        if let Some(plan) = plan {
            same("argname", three(plan.argument_names));
            same("argvalue", three(plan.argument_values));
            same("link", three(plan.links));
            same("ratio", json!(plan.likeness));
        }
    }
    assert!(out.is_empty(), "{}", out.join("\n"));
    assert!(checked >= 25, "only {checked} cases were found");
}
