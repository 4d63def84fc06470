//! The strict profile on the oracles' samples.

use std::collections::HashMap;

use jarvis_taskbench::data::{DependencyType, Domain, Lines, SampleId};
use jarvis_taskbench::evaluate::Wanted;
use jarvis_taskbench::evaluate::rouge::Rouge;
use jarvis_taskbench::evaluate::strict::{Bootstrap, Catalogue, StrictSample, pool, score};
use jarvis_taskbench::json::{Json, Look, parse};

use crate::data::shared;

/// Scores a folder against a prediction file; lines are `{id, result}` or gold lines.
fn scored(domain: &Domain, predictions: &str, dependency: DependencyType) -> (Catalogue, Vec<StrictSample>) {
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

#[test]
fn gold_plans_as_predictions_are_perfect() {
    let cases = [
        ("sample/resource", DependencyType::Resource),
        ("sample/temporal", DependencyType::Temporal),
        ("ultratool", DependencyType::Temporal),
    ];
    for (name, dependency) in cases {
        let Some(dir) = shared(name) else { return };
        let (catalogue, samples) = scored(&Domain::open(&dir).unwrap(), "data.json", dependency);
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
            assert_eq!(made[family][figure], expected, "{name} {family} {figure}");
        }
        assert_eq!(made["nodes"]["macro"]["f1"], 1.0, "{name}");
        // UltraTool plans have no arguments.
        let arguments = if name == "ultratool" { serde_json::Value::Null } else { 1.0.into() };
        assert_eq!(made["argument_values"]["f1"], arguments, "{name}");
    }
}

#[test]
fn every_sample_counts() {
    for (name, dependency) in
        [("sample/resource", DependencyType::Resource), ("sample/temporal", DependencyType::Temporal)]
    {
        let Some(dir) = shared(name) else { return };
        let (catalogue, samples) = scored(&Domain::open(&dir).unwrap(), "predictions/model.json", dependency);
        let how = Some(Bootstrap { resamples: 200, seed: 1, all: true });
        let pooled = pool(samples.iter(), &catalogue, Wanted::ALL, how);
        assert_eq!((pooled.samples, pooled.rouge.unwrap().0), (30, 30));
        let repeated = pool(samples.iter(), &catalogue, Wanted::ALL, how);
        assert_eq!(pooled.to_value().to_string(), repeated.to_value().to_string());
        // Computed once by another program, written from the description alone, in another language.
        let (sums, distances) = match dependency {
            DependencyType::Resource => (
                [[60, 67, 108], [31, 37, 72], [60, 74, 127], [64, 83, 138]],
                [0.439_973_544_973_545, 0.444_417_989_417_989_4, 0.656_199_056_199_056_4],
            ),
            DependencyType::Temporal => (
                [[103, 110, 117], [76, 79, 87], [142, 156, 168], [139, 156, 168]],
                [0.250_149_817_502_758_7, 0.208_483_150_836_092, 0.894_131_161_236_425_4],
            ),
        };
        let value = pooled.to_value();
        for (family, sums) in ["nodes", "links", "argument_names", "argument_values"].into_iter().zip(sums) {
            let found = ["common", "predicted", "gold"].map(|sum| value[family][sum].as_u64().unwrap());
            assert_eq!(found, sums, "{name} {family}");
        }
        let found =
            [&value["edit_distance"]["list"], &value["edit_distance"]["topological"], &value["nodes"]["macro"]["f1"]];
        for (found, expected) in found.into_iter().zip(distances) {
            assert!((found.as_f64().unwrap() - expected).abs() < 1e-12, "{name}: {found}, not {expected}");
        }
        // These follow from the files' list of changes.
        let told = pooled.to_value();
        let told =
            format!("{} {} {} {}", told["missing"], told["malformed"], told["malformed_links"], told["repaired"]);
        match dependency {
            DependencyType::Resource => {
                insta::assert_snapshot!(told, @r#"3 {"no_task_nodes":2,"node_not_an_object":1,"node_without_task":1,"not_an_object":2} 0 {"named_references":1,"single_argument":1,"single_node":1,"steps":2}"#)
            }
            DependencyType::Temporal => insta::assert_snapshot!(told, @r#"0 {"node_without_task":1} 0 {"steps":5}"#),
        }
    }
}
