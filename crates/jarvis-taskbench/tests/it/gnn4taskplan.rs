//! The figures of GNN4TaskPlan on the sample domains, against an independent implementation.

use jarvis_taskbench::data::Domain;
use jarvis_taskbench::evaluate::gnn4taskplan::{Options, evaluate_file};

use crate::data::{assert_near, example, expected};

#[test]
fn figures_equal_an_independent_implementation() {
    for name in ["data_studio", "data_errands"] {
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
