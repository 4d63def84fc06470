//! The figures of the benchmarks, counted by hand.

use serde_json::{Value, json};

use super::workflow::Workflows;
use super::{chain, complex, edit_distance, figures};
use crate::bench::{Form, PlanGraph};
use crate::evaluate::strict::plan::Plan;

/// `a b c; a>b b>c`: tools, then links between their places by name.
fn plan(text: &str) -> Plan {
    let (nodes, links) = text.split_once(';').unwrap_or((text, ""));
    let nodes: Vec<String> = nodes.split_whitespace().map(str::to_owned).collect();
    let place = |name: &str| nodes.iter().position(|node| node == name).unwrap();
    let links = links.split_whitespace().map(|link| link.split_once('>').unwrap());
    let links = links.map(|(from, to)| (place(from), place(to))).collect();
    PlanGraph { nodes, links }.to_plan()
}

#[track_caller]
fn close(found: f64, wanted: f64, what: &str) {
    assert!((found - wanted).abs() < 1e-9, "{what}: {found}, wanted {wanted}");
}

#[test]
fn chains_and_graphs_of_worfbench() {
    // Gold plan, predicted plan, f1_chain, f1_graph.
    let cases = [
        ("a b c; a>b b>c", "a b c; a>b b>c", 1.0, 1.0),
        ("a b; a>b", "", 0.0, 0.0),
        // The gold graph has c after both others.
        ("a b c; a>b b>c", "c a b; a>b b>c", 2.0 / 3.0, 1.0),
        // Independent tasks may come in any order.
        ("a b", "b a", 1.0, 1.0),
        // START>a and b>END are in both, in two parts of two.
        ("a b; a>b", "a b", 1.0, 0.5),
        // START>a alone; END follows another task: 2 of 4 and 2 of 3.
        ("a b; a>b", "a; ", 2.0 / 3.0, 4.0 / 7.0),
        // The second `a` has no partner.
        ("a b; a>b", "a a b; a>b", 0.8, 8.0 / 9.0),
        ("a b", "x y", 0.0, 0.25),
    ];
    for (gold, predicted, of_chain, of_graph) in cases {
        let (gold, predicted, what) = (plan(gold), plan(predicted), format!("{gold} / {predicted}"));
        close(chain::chain_f1(&gold, &predicted), of_chain, &what);
        close(chain::graph_f1(&gold, &predicted), of_graph, &what);
    }
}

#[test]
fn edges_of_complextool_plan() {
    // Gold plan, predicted plan, mean precision and recall of nodes and of edges, exact.
    let cases = [
        ("a b c; a>b a>c", "a b c; a>b a>c", [1.0, 1.0, 1.0, 1.0, 1.0]),
        // Predicted nodes are a and b; predicted edges a->b and the bare c.
        ("a b c; a>b a>c", "a b c; a>b", [1.0, 2.0 / 3.0, 0.5, 0.5, 0.0]),
        ("a", "a", [1.0, 1.0, 1.0, 1.0, 1.0]),
        ("a b; a>b", "", [0.0; 5]),
    ];
    for (gold, predicted, wanted) in cases {
        let values = complex(&plan(gold), &plan(predicted));
        for (found, wanted) in values.iter().zip(wanted) {
            close(*found, wanted, &format!("{gold} / {predicted}"));
        }
    }
    // F1 is of the means: 0.5 and 1 over two samples give 2·0.75·1/(0.75+1).
    let [node, edge, exact, ..] = figures(Form::ComplexToolPlan, [0.75, 1.0, 0.5, 0.5, 0.25, 0.0]);
    close(node.unwrap(), 1.5 / 1.75, "node");
    close(edge.unwrap(), 0.5, "edge");
    close(exact.unwrap(), 0.25, "exact");
}

fn workflows(value: &Value) -> Workflows {
    Workflows::of(value)
}

/// A workflow of steps `agent/state`, behind a dependency under this key.
fn workflow(steps: &[&str], dependency: Option<(&str, &str)>) -> Value {
    let step = |step: &&str| {
        let (agent, state) = step.split_once('/').unwrap();
        json!({"name": agent, "status": state})
    };
    let mut made = json!({"steps": steps.iter().map(step).collect::<Vec<_>>()});
    if let Some((key, on)) = dependency {
        made[key] = json!([on]);
    }
    made
}

#[test]
fn halves_of_orchestrationbench() {
    let one = |steps: &[&str]| json!({"workflow_1": workflow(steps, None)});
    let two = |key: &str| json!({"workflow_1": workflow(&["x/pending"], None), "workflow_2": workflow(&["y/pending"], Some((key, "workflow_1")))});
    // Gold workflows, the plan; structure with `depends_on` alone, with both keys, component.
    let cases = [
        (one(&["x/pending"]), "x", [1.0, 1.0, 1.0]),
        // The state differs: 0.2 of 2. The agent differs: 0.8 of 2. Both differ: 1 of 2.
        (one(&["x/waiting"]), "x", [1.0, 1.0, 0.9]),
        (one(&["x/pending"]), "z", [1.0, 1.0, 0.6]),
        (one(&["x/waiting"]), "z", [1.0, 1.0, 0.5]),
        (one(&["x/pending", "y/pending"]), "x y; x>y", [1.0, 1.0, 1.0]),
        // One workflow where the gold plan has two and an edge: 2 of 4. Agents and their order are right.
        (two("depends_on"), "x y; x>y", [0.5, 0.5, 1.0]),
        // The edge is under the other key: for the structure half there are two workflows and nothing else, 1 of 3.
        (two("depend_on"), "x y; x>y", [2.0 / 3.0, 0.5, 1.0]),
        // Without the link the plan is better by the structure half, and right by it where the key is the other one.
        (two("depends_on"), "x y", [0.8, 0.8, 0.8]),
        (two("depend_on"), "x y", [1.0, 0.8, 0.8]),
    ];
    for (gold, predicted, [structure, both_keys, component]) in cases {
        let what = format!("{gold} / {predicted}");
        let gold = workflows(&gold);
        let predicted = gold.with_plan(&plan(predicted));
        close(predicted.structure(&gold, false), structure, &what);
        close(predicted.structure(&gold, true), both_keys, &what);
        close(predicted.component(&gold), component, &what);
    }
    // A failed plan is a zero and counts once more: of two plans, one perfect, 1 of 3.
    let [plan, structure, ..] = figures(Form::OrchestrationBench, [0.5, 0.5, 0.5, 0.0, 0.5, 0.0]);
    close(plan.unwrap(), 1.0 / 3.0, "plan score");
    close(structure.unwrap(), 0.5, "structure");
}

#[test]
fn plans_become_workflows() {
    // A fork: the tasks behind it are workflows of their own. What follows a single task alone joins it.
    let made = Workflows::default().with_plan(&plan("a b c d; a>b a>c c>d"));
    let shown: Vec<String> = made
        .workflows
        .iter()
        .map(|workflow| {
            let agents: Vec<&str> = workflow.steps.iter().map(|step| step.agent.as_str()).collect();
            format!("{} {} after {}", workflow.name, agents.join(","), workflow.depends_on.join(","))
        })
        .collect();
    assert_eq!(
        shown,
        ["workflow_new_1 a after ", "workflow_new_2 b after workflow_new_1", "workflow_new_3 c,d after workflow_new_1"]
    );
    // What is done stands before it, and a link in a circle ends too.
    let before = json!({"workflow_1": workflow(&["x/pending"], None)});
    let gold = Workflows { done: workflows(&before).steps_as_done(), ..Workflows::default() };
    let made = gold.with_plan(&plan("a b; a>b b>a"));
    assert_eq!(made.workflows[0].steps[0].state, "completed");
    assert_eq!(made.workflows.len(), 2);
}

#[test]
fn distances_between_graphs() {
    use edit_distance::{Graph, similarity};
    let graph = |text: &str| {
        let plan = plan(text);
        Graph { nodes: plan.nodes.clone(), edges: plan.edges.iter().copied().collect() }
    };
    let differs = |a: &String, b: &String| f64::from(u8::from(a != b));
    // Two graphs, the distance, the size of both.
    let cases = [
        ("", "", 0.0, 0.0),
        ("a", "", 1.0, 1.0),
        ("a", "a b; a>b", 2.0, 4.0),
        ("a b; a>b", "b a; b>a", 2.0, 6.0),
        ("a b c; a>b b>c", "a b c; a>b a>c", 2.0, 10.0),
        // As many agents as OrchestrationBench lists, for a gold plan of six: the search must end at once.
        ("a b c d e f; a>b b>c c>d d>e e>f", "q p o n m l k j i h g f e d c b a", 16.0, 28.0),
        ("a b c d e f; a>b b>c c>d d>e e>f", "f e d c b a; f>e e>d d>c c>b b>a", 6.0, 22.0),
    ];
    for (a, b, distance, size) in cases {
        let wanted = if size > 0.0 { 1.0 - distance / size } else { 1.0 };
        close(similarity(&graph(a), &graph(b), &differs), wanted, &format!("{a} / {b}"));
        close(similarity(&graph(b), &graph(a), &differs), wanted, &format!("{b} / {a}"));
    }
}
