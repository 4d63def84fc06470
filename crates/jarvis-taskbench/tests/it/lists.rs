//! The lists of `examples/lists`: how well they are planned must not fall, and each must be above both floors; also where a request is
//! offered what it wants and nothing else, or one tool that has nothing to do with it.

use std::path::Path;
use std::sync::Arc;

use jarvis_ask::Events;
use jarvis_taskbench::bench::form::{PlanGraph, PlanSet};
use jarvis_taskbench::bench::import::read_all;
use jarvis_taskbench::bench::run::score_floors;
use jarvis_taskbench::bench::score::{Figures, SampleScore, figures};
use jarvis_taskbench::bench::{Options, plan_set};
use jarvis_taskbench::data::{BenchTool, ToolList};
use jarvis_taskbench::evaluate::strict::Bootstrap;
use jarvis_taskbench::infer::PlanBy;
use tokio_util::sync::CancellationToken;

fn read(folder: &str) -> Vec<PlanSet> {
    read_all(&[Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/lists").join(folder)], None).unwrap()
}

async fn planned(sets: &[PlanSet]) -> Vec<SampleScore> {
    let mut planned = Vec::new();
    for set in sets {
        let (events, _receiver) = Events::channel(jarvis_plan::RunId("r".into()));
        let (by, stop) = (PlanBy::offline(), CancellationToken::new());
        let own = plan_set(set, &by, &Options::default(), (None, "p"), (&events, &(), &stop)).await.unwrap();
        planned.extend(own.scores);
    }
    planned
}

/// F1 of tools and of links, 0 to 100.
fn f1(scores: &[SampleScore]) -> [f64; 2] {
    let how = Bootstrap { resamples: 1, ..Bootstrap::default() };
    let Figures { nodes, links, .. } = figures(scores.iter(), None, how);
    [nodes[2].value, links[2].value].map(|value| value.unwrap_or_default() * 100.0)
}

/// F1 of the planner's tools and links, which must be at least these.
async fn at_least(folder: &str, sets: &[PlanSet], [tools, links]: [f64; 2]) -> [f64; 2] {
    let own = f1(&planned(sets).await);
    assert!(own[0] >= tools && own[1] >= links, "{folder}: {own:?}, at least {tools} and {links}");
    own
}

/// Plans the lists of a folder; F1 of tools and of links must be at least these.
async fn check(folder: &str, least: [f64; 2]) {
    let sets = read(folder);
    let mut floors: [Vec<SampleScore>; 2] = Default::default();
    for set in &sets {
        for (all, (_, scores)) in floors.iter_mut().zip(score_floors(set)) {
            all.extend(scores);
        }
    }
    let (own, floors) = (at_least(folder, &sets, least).await, floors.map(|scores| f1(&scores)));
    let above = |floor: &[f64; 2]| own[0] > floor[0] && own[1] > floor[1];
    assert!(floors.iter().all(above), "{folder}: {own:?}, floors {floors:?}");
}

#[tokio::test]
async fn hubs_of_functions() {
    check("hub", [81.0, 58.0]).await;
}

#[tokio::test]
async fn functions_worded_as_people_do() {
    check("api", [59.0, 41.0]).await;
}

#[tokio::test]
async fn described_functions() {
    check("functions", [81.0, 57.0]).await;
}

#[tokio::test]
async fn service_agents_in_dialogues() {
    check("service", [70.0, 43.0]).await;
}

/// The same where each request is offered what it wants, and nothing else.
async fn check_wanted_alone(folder: &str, least: [f64; 2]) {
    let mut sets = read(folder);
    for sample in sets.iter_mut().flat_map(|set| &mut set.samples) {
        let wanted = sample.tools.tools.iter().filter(|tool| sample.gold.nodes.contains(&tool.id)).cloned().collect();
        sample.tools = Arc::new(ToolList { tools: wanted });
    }
    at_least(folder, &sets, least).await;
}

#[tokio::test]
async fn most_of_a_short_list_is_meant() {
    check_wanted_alone("hub", [93.0, 70.0]).await;
    check_wanted_alone("api", [86.0, 71.0]).await;
    check_wanted_alone("functions", [91.0, 67.0]).await;
    check_wanted_alone("service", [91.0, 63.0]).await;
}

/// Of a hundred requests that are offered so many tools of other lists, how many get no plan.
async fn refused(offered: usize) -> usize {
    let others: Vec<BenchTool> = ["hub", "api"]
        .into_iter()
        .flat_map(read)
        .filter_map(|set| set.samples.first().and_then(|sample| sample.tools.tools.first().cloned()))
        .collect();
    let mut sets = read("functions");
    for (at, sample) in sets.iter_mut().flat_map(|set| &mut set.samples).enumerate() {
        let tools = others.iter().cycle().skip(at).take(offered).cloned().collect();
        sample.tools = Arc::new(ToolList { tools });
        sample.gold = PlanGraph::default();
    }
    let scores = planned(&sets).await;
    assert_eq!(scores.len(), 100);
    scores.iter().filter(|score| score.exact).count()
}

#[tokio::test]
async fn the_only_tool_is_not_called_for_what_it_does_not_do() {
    let refused = refused(1).await;
    assert!(refused >= 90, "{refused}");
}

#[tokio::test]
async fn few_tools_are_seldom_called_for_what_none_of_them_does() {
    let refused = refused(3).await;
    assert!(refused >= 70, "{refused}");
}
