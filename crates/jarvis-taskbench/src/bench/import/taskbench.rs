//! TaskBench (microsoft/JARVIS `taskbench`), both releases, and UltraTool as GNN4TaskPlan keeps it (`data/ultratool`): a
//! folder with `tool_desc.json`, `data.json` and mostly `graph_desc.json`.

use std::path::Path;
use std::sync::Arc;

use super::notes_of;
use crate::bench::form::name_of;
use crate::bench::{BenchError, Form, PlanGraph, PlanSet, Sample};
use crate::data::{Domain, GoldRecord, ToolGraph};
use crate::evaluate::strict::Catalogue;
use crate::evaluate::strict::plan::Plan;
use crate::json::Look;

pub(super) fn form(path: &Path) -> Form {
    let known = Domain::open(path).ok().and_then(|domain| domain.known_as());
    if known == Some("ultratool") { Form::UltraTool } else { Form::TaskBench }
}

pub(super) fn read(path: &Path, form: Form) -> Result<PlanSet, BenchError> {
    let domain = Domain::open(path)?;
    let tools = Arc::new(domain.tools()?);
    let dependency = tools.dependency();
    let catalogue = Catalogue::new(&tools, dependency);
    let mut notes = Vec::new();
    let graph = graph(&domain, &mut notes);
    let gold = domain.gold()?;
    let (mut samples, mut bad) = (Vec::new(), Vec::new());
    for record in gold.records() {
        let sample = match record {
            Ok(record) => sample(&record, &catalogue, None).map_err(|why| (record.line, why)),
            Err(line) => Err((line.line, line.reason)),
        };
        match sample {
            Ok(sample) => samples.push(Sample { tools: Arc::clone(&tools), ..sample }),
            Err(why) => bad.push(why),
        }
    }
    notes.extend(notes_of(&bad, "line"));
    Ok(PlanSet { name: name_of(path), path: path.to_owned(), form, dependency, graph, samples, notes })
}

/// The tool graph, where there is one.
pub(super) fn graph(domain: &Domain, notes: &mut Vec<String>) -> Option<ToolGraph> {
    domain.path("graph_desc.json").exists().then(|| domain.graph()).transpose().unwrap_or_else(|error| {
        notes.push(format!("{error}; the offline planner plans without the tool graph"));
        None
    })
}

/// A sample; `asked` is its request where the record has none.
pub(super) fn sample(record: &GoldRecord<'_>, catalogue: &Catalogue, asked: Option<&str>) -> Result<Sample, String> {
    let request = record.user_request.as_ref().and_then(Look::text).or(asked);
    let request = request.ok_or("it has no text under `user_request`")?;
    let plan = Plan::of_gold(record, catalogue);
    if let Some((_, why)) = plan.malformed {
        return Err(why);
    }
    Ok(Sample {
        id: record.id.to_string(),
        request: request.to_owned(),
        dialogue: Vec::new(),
        tools: Arc::default(),
        gold: PlanGraph { nodes: plan.written, links: plan.edges },
        workflows: None,
    })
}
