//! The lists of `examples/lists`: how well they are planned must not fall, and each must be above both floors.

use std::path::Path;

use jarvis_ask::Events;
use jarvis_taskbench::bench::import::read_all;
use jarvis_taskbench::bench::run::score_floors;
use jarvis_taskbench::bench::score::{Figures, SampleScore, figures};
use jarvis_taskbench::bench::{Options, plan_set};
use jarvis_taskbench::evaluate::strict::Bootstrap;
use jarvis_taskbench::infer::PlanBy;
use tokio_util::sync::CancellationToken;

/// Plans the lists of a folder; F1 of tools and of links, 0 to 100, must be at least these.
async fn check(folder: &str, [tools, links]: [f64; 2]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/lists").join(folder);
    let sets = read_all(&[path], None).unwrap();
    let (mut planned, mut floors): (Vec<SampleScore>, [Vec<SampleScore>; 2]) = Default::default();
    for set in &sets {
        let (events, _receiver) = Events::channel(jarvis_plan::RunId("r".into()));
        let (by, stop) = (PlanBy::offline(), CancellationToken::new());
        let own = plan_set(set, &by, &Options::default(), (None, "p"), (&events, &(), &stop)).await.unwrap();
        planned.extend(own.scores);
        for (all, (_, scores)) in floors.iter_mut().zip(score_floors(set)) {
            all.extend(scores);
        }
    }
    let f1 = |scores: &[SampleScore]| {
        let how = Bootstrap { resamples: 1, ..Bootstrap::default() };
        let Figures { nodes, links, .. } = figures(scores.iter(), None, how);
        [nodes[2].value, links[2].value].map(|value| value.unwrap_or_default() * 100.0)
    };
    let (own, floors) = (f1(&planned), floors.map(|scores| f1(&scores)));
    assert!(own[0] >= tools && own[1] >= links, "{folder}: {own:?}, at least {tools} and {links}");
    let above = |floor: &[f64; 2]| own[0] > floor[0] && own[1] > floor[1];
    assert!(floors.iter().all(above), "{folder}: {own:?}, floors {floors:?}");
}

#[tokio::test]
async fn hubs_of_functions() {
    check("hub", [80.0, 56.0]).await;
}

#[tokio::test]
async fn functions_worded_as_people_do() {
    check("api", [59.0, 40.0]).await;
}

#[tokio::test]
async fn described_functions() {
    check("functions", [81.0, 50.0]).await;
}

#[tokio::test]
async fn service_agents_in_dialogues() {
    check("service", [66.0, 40.0]).await;
}
