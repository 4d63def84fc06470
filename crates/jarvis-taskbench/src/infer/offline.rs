//! Plans without a model: catalogue entries become tools of the offline planner, and its drafts become predictions.

use std::collections::{BTreeSet, HashMap};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use indexmap::IndexSet;
use jarvis_plan::{Arg, Draft, DraftRef, DraftTask, Kind, Param, Piece, Request, Tool};
use jarvis_planner::{Basis, Encoder, Experience, Learned, Offline, ToolIndex, Weights};
use serde_json::{Value, json};

use super::Links;
use crate::data::{BenchTool, DependencyType, ToolGraph, ToolList, normalised};

/// The offline planner with a domain's tools.
pub struct OfflinePlans {
    index: ToolIndex,
    weights: Weights,
    doing: HashMap<String, String>,
    dependency: DependencyType,
    links: Links,
}

impl OfflinePlans {
    /// Reads the tools and, where there is one, their graph; takes milliseconds.
    pub fn new(tools: &ToolList, graph: Option<&ToolGraph>, dependency: DependencyType) -> OfflinePlans {
        let list: Vec<Tool> = tools.tools.iter().map(|tool| as_tool(tool, dependency)).collect();
        let doing = tools.tools.iter().map(|tool| (tool.id.clone(), doing(tool))).collect();
        let links = graph.into_iter().flat_map(|graph| &graph.links);
        let links = links.map(|link| (link.source.as_str(), link.target.as_str()));
        let index = ToolIndex::new(&list).with_graph(links);
        OfflinePlans { index, weights: Weights::default(), doing, dependency, links: Links::Order }
    }

    /// The tools as the planner knows them.
    pub fn index(&self) -> &ToolIndex {
        &self.index
    }

    /// The same on another basis: other weights and what was learned with them, or a sentence model.
    pub fn on(self, basis: &Basis) -> OfflinePlans {
        let plans = self.taught(&basis.fitted.learned).read_by(basis.encoder.as_ref());
        let weights = basis.weights(&plans.index).clone();
        plans.weighed(weights)
    }

    /// The same with a sentence model, where there is one. Blocks for as long as it needs to read the tools.
    pub fn read_by(self, encoder: Option<&Arc<dyn Encoder>>) -> OfflinePlans {
        match encoder {
            Some(encoder) => OfflinePlans { index: self.index.encoded(Arc::clone(encoder)), ..self },
            None => self,
        }
    }

    /// The same with other gold plans to compare requests with.
    pub fn taught(self, learned: &Learned) -> OfflinePlans {
        OfflinePlans { index: self.index.with_learned(learned), ..self }
    }

    /// The same with other weights, for measuring what each part of the planner brings.
    pub fn weighed(self, weights: Weights) -> OfflinePlans {
        OfflinePlans { weights, ..self }
    }

    /// The same with this meaning of links; [`Links::Order`] unless set.
    pub fn linked(self, links: Links) -> OfflinePlans {
        let index = match links {
            Links::Order => self.index,
            // A graph of what may follow what says nothing of who needs what.
            Links::Data => self.index.with_graph([]),
        };
        OfflinePlans { index, links, ..self }
    }

    /// The plan for a request, in the form of a prediction's `result`; takes a fraction of a millisecond.
    pub fn plan(&self, request: &str) -> Result<Value, String> {
        self.plan_request(&Request::new(request))
    }

    /// The plan for the last turn of a conversation, whose earlier turns are the request's history.
    pub fn plan_request(&self, request: &Request) -> Result<Value, String> {
        let draft = self.draft(request, &self.weights, &Experience::default())?;
        Ok(match self.dependency {
            DependencyType::Resource => self.resource(&draft),
            DependencyType::Temporal => temporal(&draft, self.links),
        })
    }

    fn draft(&self, request: &Request, weights: &Weights, before: &Experience) -> Result<Draft, String> {
        let draft = || Offline::draft_by(&self.index, request, weights, before);
        std::panic::catch_unwind(AssertUnwindSafe(draft))
            .map_err(|_| "the offline planner panicked on this request".to_owned())
    }

    /// What scores look at of a plan with other weights and by plans from before, without writing the plan: names of tools and
    /// linked names. A request without a plan has none.
    pub(crate) fn names(
        &self,
        request: &Request,
        weights: &Weights,
        before: &Experience,
    ) -> (Vec<String>, BTreeSet<(String, String)>) {
        let Ok(draft) = self.draft(request, weights, before) else { return Default::default() };
        let named = |(source, target): (&str, &str)| (normalised(source), normalised(target));
        let links = match self.dependency {
            DependencyType::Resource => used(&draft).map(named).collect(),
            DependencyType::Temporal => links(&draft, self.links).into_iter().map(named).collect(),
        };
        (draft.tasks.iter().map(|task| normalised(&task.task)).collect(), links)
    }

    fn resource(&self, draft: &Draft) -> Value {
        let places = places(draft);
        let (mut steps, mut nodes) = (Vec::new(), Vec::new());
        for (at, task) in draft.tasks.iter().enumerate() {
            let mut arguments: Vec<String> = Vec::new();
            let mut shown: Vec<String> = Vec::new();
            for arg in task.args.values() {
                let of = |id: DraftRef| id.0.and_then(|id| places.get(&id)).copied();
                let parts = arg.as_list().unwrap_or_else(|| arg.as_output().into_iter().collect());
                if parts.is_empty() {
                    let text = written(arg, |id| of(id).map(|place| format!("<node-{place}>")));
                    shown.push(short(&written(arg, |id| {
                        of(id).map(|place| format!("the result of step {}", place + 1))
                    })));
                    arguments.push(text);
                    continue;
                }
                for place in parts.into_iter().filter_map(of) {
                    arguments.push(format!("<node-{place}>"));
                    shown.push(format!("the result of step {}", place + 1));
                }
            }
            let doing = self.doing.get(&task.task).map_or(task.task.as_str(), String::as_str);
            let on = if shown.is_empty() { String::new() } else { format!(": {}", shown.join(" and ")) };
            steps.push(format!("Step {}: {doing}{on}", at + 1));
            nodes.push(json!({"task": task.task, "arguments": arguments}));
        }
        json!({"task_steps": steps, "task_nodes": nodes})
    }
}

fn temporal(draft: &Draft, links_mean: Links) -> Value {
    let places = places(draft);
    let named = |id: i64| places.get(&id).and_then(|place| draft.tasks.get(*place)).map(|task: &DraftTask| &task.task);
    let (mut steps, mut nodes) = (Vec::new(), Vec::new());
    for (at, task) in draft.tasks.iter().enumerate() {
        let (mut arguments, mut shown) = (Vec::new(), Vec::new());
        for (name, arg) in &task.args {
            let value = written(arg, |id| id.0.and_then(named).cloned());
            shown.push(format!("{name}: '{value}'"));
            arguments.push(json!({"name": name, "value": value}));
        }
        let with = if shown.is_empty() { String::new() } else { format!(" with {}", shown.join(" and ")) };
        steps.push(format!("Step {}: Call {}{with}", at + 1, task.task));
        nodes.push(json!({"task": task.task, "arguments": arguments}));
    }
    let links: Vec<Value> = links(draft, links_mean)
        .into_iter()
        .map(|(source, target)| json!({"source": source, "target": target}))
        .collect();
    json!({"task_steps": steps, "task_nodes": nodes, "task_links": links})
}

/// Which task uses what of which, by their names.
fn used(draft: &Draft) -> impl Iterator<Item = (&str, &str)> {
    let places = places(draft);
    draft.tasks.iter().flat_map(move |task| {
        let used = task.args.values().flat_map(Arg::references).filter_map(|id| id.0);
        let sources: Vec<&DraftTask> = used.filter_map(|id| draft.tasks.get(*places.get(&id)?)).collect();
        sources.into_iter().map(|source| (source.task.as_str(), task.task.as_str()))
    })
}

/// The links of a plan that lists them, by names.
fn links(draft: &Draft, links_mean: Links) -> IndexSet<(&str, &str)> {
    let places = places(draft);
    let named = |id: i64| places.get(&id).and_then(|place| draft.tasks.get(*place)).map(|task: &DraftTask| &task.task);
    let mut links: IndexSet<(&str, &str)> = IndexSet::new();
    for (at, task) in draft.tasks.iter().enumerate() {
        let used = task.args.values().flat_map(Arg::references).filter_map(|id| id.0);
        let before: Vec<&String> = task.dep.iter().copied().chain(used).filter_map(named).collect();
        // Links are the order of the calls: what waits for nothing is called after the one before it.
        let previous = at.checked_sub(1).filter(|_| links_mean == Links::Order).and_then(|at| draft.tasks.get(at));
        let previous = previous.map(|task| &task.task);
        let mut before = if before.is_empty() { previous.into_iter().collect() } else { before };
        before.retain(|source| **source != task.task);
        links.extend(before.into_iter().map(|source| (source.as_str(), task.task.as_str())));
    }
    links
}

/// For each task's id its place in the list.
fn places(draft: &Draft) -> HashMap<i64, usize> {
    draft.tasks.iter().enumerate().map(|(at, task)| (task.id, at)).collect()
}

/// An argument as text, with what stands for the output of a task in place of each reference.
fn written(arg: &Arg<DraftRef>, output: impl Fn(DraftRef) -> Option<String>) -> String {
    arg.map::<DraftRef>(&mut |id| vec![Piece::Text(output(id).unwrap_or_default())]).to_string()
}

fn short(text: &str) -> String {
    let mut letters = text.chars();
    let start: String = letters.by_ref().take(80).collect();
    if letters.next().is_some() { format!("{start}…") } else { start }
}

/// A catalogue entry as the planner knows tools. A web address is text of its own name; a kind that occurs more than once
/// has numbered names.
fn as_tool(tool: &BenchTool, dependency: DependencyType) -> Tool {
    let kinds = |words: &Option<Vec<String>>| -> Vec<Kind> { words.iter().flatten().map(|word| kind(word)).collect() };
    let mut planned = Tool::typed(&tool.id, &tool.desc, &[], &kinds(&tool.outputs));
    planned.params = match dependency {
        DependencyType::Resource => {
            let words: Vec<String> = tool.inputs.iter().flatten().map(|word| word.to_lowercase()).collect();
            let numbered = |at: usize, word: &String| {
                let nth = words.iter().take(at).filter(|before| *before == word).count() + 1;
                let several = words.iter().filter(|other| *other == word).count() > 1;
                if several { format!("{word}{nth}") } else { word.clone() }
            };
            words.iter().enumerate().map(|(at, word)| Param::required(&numbered(at, word), kind(word))).collect()
        }
        DependencyType::Temporal => tool.parameters.iter().flatten().filter_map(parameter).collect(),
    };
    planned.output_schema = ["returns", "responses", "output"].iter().find_map(|key| match tool.entry.get(key)? {
        Value::String(text) => Some(json!({"description": text})),
        schema @ Value::Object(_) => Some(json!({"properties": schema})),
        _ => None,
    });
    planned
}

fn kind(word: &str) -> Kind {
    match word.to_lowercase().as_str() {
        "image" => Kind::Image,
        "audio" => Kind::Audio,
        "video" => Kind::Video,
        _ => Kind::Text,
    }
}

fn parameter(entry: &Value) -> Option<Param> {
    let name = entry.get("name").and_then(Value::as_str).or_else(|| entry.as_str())?;
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let schema = entry.get("schema").cloned().unwrap_or_else(|| json!({"type": text("type").unwrap_or("string")}));
    Some(Param {
        description: text("desc").unwrap_or_default().to_owned(),
        schema: Some(schema),
        required: entry.get("required").and_then(Value::as_bool).unwrap_or(true),
        ..Param::required(name, Kind::Text)
    })
}

/// What a tool does, as an order: the first part of a description that says it (`Extracts the audio track from …` →
/// `Extract the audio track from …`), else `Perform` and its name.
fn doing(tool: &BenchTool) -> String {
    let first = tool.desc.split(['.', ',', ';', '(']).next().expect("`split` gives a part").trim();
    let (verb, rest) = first.split_once(' ').unwrap_or((first, ""));
    let letters = verb.chars().all(char::is_alphabetic);
    let base = match verb {
        _ if !letters || rest.is_empty() => None,
        verb if verb.ends_with("ies") => verb.strip_suffix("ies").map(|stem| format!("{stem}y")),
        verb if ["ches", "shes", "sses", "xes", "zzes"].iter().any(|end| verb.ends_with(end)) => {
            verb.strip_suffix("es").map(str::to_owned)
        }
        verb if verb.ends_with("ss") || verb.ends_with("is") || verb.ends_with("us") => None,
        verb => verb.strip_suffix('s').map(str::to_owned),
    };
    // A name before a verb ("Image Segmentation divides …") is no verb, and neither is a plural before another.
    let is_verb = !tool.id.to_lowercase().starts_with(&verb.to_lowercase()) && !rest.contains(" is ");
    match base.filter(|_| is_verb) {
        Some(base) => format!("{base} {rest}"),
        None => format!("Perform {}", tool.id.replace('_', " ").to_lowercase()),
    }
}
