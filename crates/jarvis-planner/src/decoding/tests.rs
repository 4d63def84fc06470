//! Choices for all clauses together, on a small catalogue with an order between its tools.

use rustc_hash::FxHashMap;

use jarvis_plan::{Kind, Tool};

use super::{Weights, decode};
use crate::candidate::{Candidate, Step};
use crate::retrieval::ToolIndex;

const NAMES: [&str; 6] = ["search_trains", "book_train", "cancel_train", "login", "delete_account", "find_trains"];

fn index(links: &[(&str, &str)]) -> ToolIndex {
    let tools: Vec<Tool> = NAMES.iter().map(|name| Tool::typed(name, "", &[], &[])).collect();
    ToolIndex::new(&tools).with_graph(links.iter().copied())
}

/// One clause: tools with what the clause says for them.
fn clause(candidates: &[(&str, f32)]) -> Vec<Candidate> {
    let step = |(name, score): &(&str, f32)| {
        let tool = NAMES.iter().position(|other| other == name).unwrap();
        Candidate { steps: vec![Step::of_tool(tool)], score: *score }
    };
    candidates.iter().map(step).collect()
}

fn check(links: &[(&str, &str)], said: &[(&str, f32)], clauses: &[&[(&str, f32)]], expected: &str) {
    let index = index(links);
    let whole: Vec<f32> = NAMES
        .iter()
        .map(|name| said.iter().find(|(other, _)| other == name).map_or(0.0, |(_, score)| *score))
        .collect();
    let lattice: Vec<Vec<Candidate>> = clauses.iter().map(|candidates| clause(candidates)).collect();
    // Prices that the cases below were written for; the planner's own are fitted.
    let weights =
        Weights { gap: 0.12, bridge: 0.6, bridge_cost: 0.6, edge_cost: 0.6, tail_cost: 0.6, ..Weights::default() };
    let steps = decode(&lattice, &whole, &FxHashMap::default(), &index, &weights);
    let shown: Vec<String> =
        steps.iter().map(|steps| steps.iter().map(|step| NAMES[step.tool]).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(shown.join(" | "), expected, "{links:?} {clauses:?}");
}

const ORDER: &[(&str, &str)] = &[
    ("search_trains", "book_train"),
    ("book_train", "cancel_train"),
    ("login", "cancel_train"),
    ("delete_account", "book_train"),
];

#[test]
fn the_best_of_each_clause_is_taken_where_the_graph_says_nothing() {
    check(
        &[],
        &[],
        &[&[("book_train", 1.0), ("cancel_train", 0.9)], &[("cancel_train", 1.0)]],
        "book_train | cancel_train",
    );
    check(&[], &[], &[&[("book_train", 0.3)], &[("cancel_train", 1.0)]], " | cancel_train");
    check(&[], &[], &[&[("book_train", -0.5)]], "");
    check(&[], &[], &[], "");
}

#[test]
fn what_follows_in_the_graph_wins_over_what_is_a_little_better() {
    check(ORDER, &[], &[&[("book_train", 1.2)], &[("login", 1.0), ("cancel_train", 0.9)]], "book_train | cancel_train");
    check(&[], &[], &[&[("book_train", 1.2)], &[("login", 1.0), ("cancel_train", 0.9)]], "book_train | login");
}

#[test]
fn a_look_up_is_put_before_and_a_deed_is_not() {
    let said = [("search_trains", 0.9), ("delete_account", 0.9)];
    check(ORDER, &said, &[&[("book_train", 1.2)]], "search_trains book_train");
    check(ORDER, &[("delete_account", 0.9)], &[&[("book_train", 1.2)]], "book_train");
}

#[test]
fn a_step_that_no_clause_names_closes_a_gap() {
    let links = &[
        ("login", "find_trains"),
        ("find_trains", "cancel_train"),
        ("login", "delete_account"),
        ("delete_account", "cancel_train"),
    ];
    let clauses: &[&[(&str, f32)]] = &[&[("login", 1.2)], &[("cancel_train", 1.2)]];
    check(links, &[("find_trains", 0.9), ("delete_account", 0.9)], clauses, "login | find_trains cancel_train");
    check(links, &[("delete_account", 0.9)], clauses, "login | cancel_train");
}

#[test]
fn a_thing_is_done_once() {
    let again: &[(&str, f32)] = &[("search_trains", 0.7)];
    check(&[], &[], &[&[("search_trains", 1.2)], again], "search_trains | ");
    check(&[], &[], &[&[("search_trains", 1.2)], &[("find_trains", 0.7)]], "search_trains | ");
    check(&[], &[], &[&[("search_trains", 1.2)], &[("book_train", 0.8)]], "search_trains | book_train");
}

#[test]
fn a_typed_list_knows_no_gaps() {
    let tools =
        [Tool::typed("a", "", &[Kind::Text], &[Kind::Image]), Tool::typed("b", "", &[Kind::Audio], &[Kind::Text])];
    let index = ToolIndex::new(&tools).with_graph([("b", "a")]);
    assert!(!index.is_ordered());
}
