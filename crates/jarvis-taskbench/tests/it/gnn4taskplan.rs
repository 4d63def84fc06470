//! The figures of GNN4TaskPlan on the sample domains, against an independent implementation.

use jarvis_taskbench::data::Domain;
use jarvis_taskbench::evaluate::gnn4taskplan::{Options, evaluate_file};

use crate::data::{assert_near, example, expected};

#[test]
fn figures_equal_an_independent_implementation() {
    for name in ["data_studio", "data_errands", "without_arguments"] {
        let domain = Domain::open(example(name)).unwrap();
        let predictions = domain.path("predictions/example-model.json");
        let found = evaluate_file(&domain, &predictions, Options::default()).unwrap().to_value();
        let expected = expected(name)["gnn4taskplan"].clone();
        assert_eq!(found["samples"], expected["samples"], "{name}");
        for key in ["NF", "LF", "Acc", "NH-1", "NH-2", "LH-1", "LH-2"] {
            // These figures are written with four decimals.
            let wanted = (expected[key].as_f64().unwrap() * 1e4).round() / 1e4;
            assert_near(&found[key], &wanted.into(), &format!("{name} {key}"));
        }
    }
}

/// Gold plans as predictions: what is left to lose are a repeated tool and a link outside the graph.
#[test]
fn gold_plans_score_as_counted_by_hand() {
    let domain = Domain::open(example("without_arguments")).unwrap();
    let options = Options { steps: true, ..Options::default() };
    let figures = evaluate_file(&domain, &domain.path("data.json"), options).unwrap();
    assert!(figures.errors.is_empty());
    // One of five chains has three nodes with two names: its F1 is 2/3. One of its two links is off the graph, and the only
    // link of another.
    insta::assert_snapshot!(figures.to_value(), @r#"{"mode":"chain","samples":5,"NF":0.9333,"LF":1.0,"Acc":0.8,"NH-1":0.0,"NH-2":0.0,"LH-1":0.3,"LH-2":0.4,"rouge1":1.0,"rouge2":1.0,"notes":["no `chain` list in split_ids.json: every such gold sample counts"],"errors":[]}"#);
}
