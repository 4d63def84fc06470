//! The strict profile on the sample domains.

use std::collections::HashMap;
use std::path::Path;

use jarvis_taskbench::data::{DependencyType, Domain, Lines, SampleId};
use jarvis_taskbench::evaluate::Wanted;
use jarvis_taskbench::evaluate::rouge::Rouge;
use jarvis_taskbench::evaluate::strict::{Catalogue, StrictSample, pool, score};
use jarvis_taskbench::json::{Json, Look, parse};
use serde_json::Value;

use crate::data::{assert_near, example, expected};

/// Scores a folder against a prediction file; lines are `{id, result}` or gold lines.
pub(crate) fn scored(domain: &Domain, predictions: &str, dependency: DependencyType) -> (Catalogue, Vec<StrictSample>) {
    let catalogue = Catalogue::new(&domain.tools().unwrap(), dependency);
    let lines = Lines::read(&domain.path(predictions)).unwrap();
    let said: HashMap<SampleId, Json<'_>> = lines
        .iter()
        .map(|(_, line)| parse(line).unwrap())
        .map(|line| (line.look("id").and_then(SampleId::of).unwrap(), line))
        .collect();
    let rouge = Rouge::new();
    let gold = domain.gold().unwrap();
    let samples = gold.records().map(|record| {
        let record = record.unwrap();
        let said = said.get(&record.id).map(|line| Ok(line.look("result").unwrap_or(line)));
        score(&record, said, &catalogue, Some(&rouge))
    });
    let samples = samples.collect();
    (catalogue, samples)
}

pub(crate) fn assert_gold_is_perfect(dir: &Path, dependency: DependencyType) {
    let (catalogue, samples) = scored(&Domain::open(dir).unwrap(), "data.json", dependency);
    let made = pool(samples.iter(), &catalogue, Wanted::ALL, None).to_value();
    for (family, figure, expected) in [
        ("nodes", "f1", 1.0),
        ("nodes", "exact", 1.0),
        ("links", "f1", 1.0),
        ("edit_distance", "list", 0.0),
        ("edit_distance", "topological", 0.0),
        ("rouge", "rouge1", 1.0),
        ("rouge", "rougeLsum", 1.0),
    ] {
        assert_eq!(made[family][figure], expected, "{} {family} {figure}", dir.display());
    }
    assert_eq!(made["nodes"]["macro"]["f1"], 1.0, "{}", dir.display());
    // Plans without arguments, such as UltraTool's, have no figure for them.
    let arguments = &made["argument_values"];
    let f1 = if arguments["gold"] == 0 { Value::Null } else { 1.0.into() };
    assert_eq!(arguments["f1"], f1, "{}", dir.display());
}

const EXAMPLES: [(&str, DependencyType); 3] = [
    ("data_studio", DependencyType::Resource),
    ("data_errands", DependencyType::Temporal),
    ("without_arguments", DependencyType::Temporal),
];

#[test]
fn gold_plans_as_predictions_are_perfect() {
    for (name, dependency) in EXAMPLES {
        assert_gold_is_perfect(&example(name), dependency);
    }
}

#[test]
fn figures_equal_an_independent_implementation() {
    for (name, dependency) in EXAMPLES {
        let domain = Domain::open(example(name)).unwrap();
        let (catalogue, samples) = scored(&domain, "predictions/example-model.json", dependency);
        let found = pool(samples.iter(), &catalogue, Wanted::ALL, None).to_value();
        let expected = expected(name)["strict"].clone();
        let malformed: u64 = found["malformed"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
        assert_eq!((&found["samples"], &found["missing"]), (&expected["samples"], &expected["missing"]), "{name}");
        assert_eq!(expected["malformed"], malformed, "{name}");
        for family in ["nodes", "links", "argument_names", "argument_values"] {
            let sums: Value = ["common", "predicted", "gold"].iter().map(|sum| found[family][sum].clone()).collect();
            assert_eq!(sums, expected[family], "{name} {family}");
        }
        for (found, expected) in [
            (&found["nodes"]["exact"], &expected["exact"]),
            (&found["nodes"]["macro"]["f1"], &expected["macro_f1"]),
            (&found["edit_distance"]["list"], &expected["edit_distance"][0]),
            (&found["edit_distance"]["topological"], &expected["edit_distance"][1]),
            (&found["rouge"]["rouge1"], &expected["rouge"][0]),
            (&found["rouge"]["rouge2"], &expected["rouge"][1]),
            (&found["rouge"]["rougeL"], &expected["rouge"][2]),
        ] {
            assert_near(found, expected, name);
        }
    }
}
