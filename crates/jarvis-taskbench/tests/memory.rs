//! What the offline planner takes of memory. A program of its own, since it counts whatever the process allocates.

// Helpers of tests may panic as the tests do.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use jarvis_taskbench::bench::import::read_all;
use jarvis_taskbench::data::{BenchTool, DependencyType, ToolList};
use jarvis_taskbench::infer::{Links, OfflinePlans};
use peak_alloc::PeakAlloc;
use serde_json::json;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

#[test]
fn requests_of_all_lists_are_planned_over_260_tools_within_20_megabytes() {
    let lists = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/lists");
    let sets = read_all(&["hub", "api", "functions", "service"].map(|folder| lists.join(folder)), None).unwrap();
    let mut tools: Vec<BenchTool> = Vec::new();
    for tool in sets.iter().flat_map(|set| set.samples.first()).flat_map(|sample| &sample.tools.tools) {
        if tools.len() < 260 && tools.iter().all(|other| other.id != tool.id) {
            tools.push(tool.clone());
        }
    }
    assert_eq!(tools.len(), 260);
    let tools = ToolList { tools };
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    let plans = OfflinePlans::new(&tools, None, DependencyType::Temporal).linked(Links::Data);
    let samples = sets.iter().flat_map(|set| &set.samples).step_by(3);
    let planned =
        samples.filter(|sample| plans.plan(&sample.request).is_ok_and(|plan| plan["task_nodes"] != json!([])));
    let planned = planned.count();
    let megabytes = (HEAP.peak_usage() - before) / 1_000_000;
    assert!(planned > 100, "{planned} plans");
    assert!(megabytes <= 20, "{megabytes} MB for {planned} plans");
}
