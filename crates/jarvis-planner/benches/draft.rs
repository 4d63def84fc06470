//! The time of one request against short and long tool lists, index apart.

use std::sync::Arc;

use jarvis_plan::{DraftTask, Kind, Param, Request, Tool};
use jarvis_planner::{Experience, Offline, Past, Planner, ToolIndex, Weights};

fn main() {
    divan::main();
}

const WORDS: &[&str] =
    &["order", "food", "train", "ticket", "weather", "music", "light", "garden", "letter", "photo", "bank", "lesson"];

fn tools(count: usize) -> Vec<Tool> {
    let named =
        ["canny-control", "image-to-text", "summarization", "text-to-speech", "translation", "image-segmentation"];
    let word = |at: usize| WORDS.get(at % WORDS.len()).copied().unwrap_or_default();
    (0..count)
        .map(|at| match named.get(at) {
            Some(name) => Tool::typed(name, "Does what its name says.", &[Kind::Image], &[Kind::Text]),
            None => {
                let name = format!("{}_{}_{at}", word(at), word(at / 5 + 3));
                let description = format!("Handles the {} of a {} for a person, with care.", word(at), word(at + 4));
                let mut tool = Tool::typed(&name, &description, &[], &[]);
                tool.params = vec![Param::required("date", Kind::Text), Param::required("name", Kind::Text)];
                tool
            }
        })
        .collect()
}

const REQUEST: &str = "First segment /images/a.png and find its edges, then describe the result, translate the description into French and read it aloud; order a train ticket for Ann on 2025-05-01.";

#[divan::bench(args = [40, 260, 10_000])]
fn one_request(bencher: divan::Bencher<'_, '_>, count: usize) {
    let index = ToolIndex::new(&tools(count));
    let request = Request::new(REQUEST);
    bencher.bench(|| Offline::draft_with(&index, &request));
}

#[divan::bench(args = [40, 260, 10_000])]
fn index(bencher: divan::Bencher<'_, '_>, count: usize) {
    let tools = tools(count);
    bencher.bench(|| ToolIndex::new(&tools));
}

/// A list of functions, which is planned as a set.
fn functions(count: usize) -> Vec<Tool> {
    let plain = |tool: Tool| Tool { outputs: Vec::new(), ..tool };
    tools(count).into_iter().map(plain).collect()
}

const ORDERS: &str = "Order food for Ann, look up the train to Oslo and its ticket, and tell me the weather there.";

#[divan::bench(args = [40, 260, 10_000])]
fn one_request_of_a_set(bencher: divan::Bencher<'_, '_>, count: usize) {
    let index = ToolIndex::new(&functions(count));
    let request = Request::new(ORDERS);
    bencher.bench(|| Offline::draft_with(&index, &request));
}

/// The same beside plans from before, as many as a user may have kept.
#[divan::bench(args = [10, 200, 2_000])]
fn one_request_beside_plans_from_before(bencher: divan::Bencher<'_, '_>, count: usize) {
    let tools = functions(260);
    let index = ToolIndex::new(&tools);
    let word = |at: usize| WORDS.get(at % WORDS.len()).copied().unwrap_or_default();
    let past = |(at, tool): (usize, &Tool)| Past {
        id: at.to_string(),
        request: format!("Order food for Ann, then look up the {} and tell me of its {}", word(at), word(at / 7)),
        tasks: vec![DraftTask::new(0, tool.name.clone())],
    };
    let experience = Experience::new(tools.iter().cycle().take(count).enumerate().map(past).collect());
    let request = Request::new(ORDERS);
    bencher.bench(|| Offline::draft_by(&index, &request, &Weights::default(), &experience));
}

/// What a server pays for a plan: the list is the one of the call before.
#[divan::bench(args = [260, 10_000])]
fn one_plan_of_a_planner(bencher: divan::Bencher<'_, '_>, count: usize) {
    let planner = Offline::new();
    let tools: Arc<[Tool]> = functions(count).into();
    let request = Request::new(ORDERS);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime needs nothing here");
    let plan = || runtime.block_on(planner.plan(&request, &tools)).expect("the offline planner always answers");
    plan();
    bencher.bench(plan);
}
