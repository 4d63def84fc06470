//! WorFBench (zjunlp/WorFBench, `gold_traj/seal_tools/graph_eval.json`): a list of `{"source", "id", "conversations":
//! [{"role", "content"}]}`.
//!
//! The last user turn has the request after `Task:` and the tools, a Python literal, after `list you can …:`; the last
//! assistant turn is the gold workflow: `Node:` with numbered subtasks in words, then `Edge:` with pairs such as `(START,1)
//! (1,2) (2,END)`. (Read in a mirror of the repository, mugitaku/WorfBench, with `node_eval.py`.)
//!
//! The subtasks name no tools. Where a file of Seal-Tools with the same request and as many calls lies in the same folder,
//! its calls are their tools. Otherwise each subtask gets the listed tool with which it shares the largest part of its
//! words, the best pairs first and each tool once while there are as many tools as subtasks. Samples without a list of
//! tools, as the sources outside tool use have, are left out.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, LazyLock};

use regex::Regex;
use serde_json::Value;

use super::{each, id, records, seal_tools, text};
use crate::bench::form::name_of;
use crate::bench::{BenchError, Form, PlanGraph, PlanSet, Sample};
use crate::data::{BenchTool, DependencyType, ToolList};

static NODE: LazyLock<Regex> = LazyLock::new(|| jarvis_plan::pattern(r"(?m)^\s*([0-9]+)\s*[:.]\s*(.+)$"));
static EDGE: LazyLock<Regex> = LazyLock::new(|| jarvis_plan::pattern(r"\(\s*([0-9]+)\s*,\s*([0-9]+)\s*\)"));

pub(super) fn read(path: &Path) -> Result<PlanSet, BenchError> {
    let calls = calls_beside(path)?;
    let (read, mut notes) = each(records::all(path)?, "record", |at, record| sample(at, record, &calls));
    let guessed = read.iter().filter(|(_, guessed)| *guessed).count();
    if guessed > 0 {
        notes.push(format!(
            "in {guessed} of {} gold plans the tools were found by the words of the subtasks, since the workflows name none",
            read.len()
        ));
    }
    let above = path.parent().map(name_of).unwrap_or_default();
    let name = if name_of(path) == "graph_eval" { above } else { name_of(path) };
    Ok(PlanSet {
        name: format!("worfbench {name}"),
        path: path.to_owned(),
        form: Form::WorfBench,
        dependency: DependencyType::Temporal,
        graph: None,
        samples: read.into_iter().map(|(sample, _)| sample).collect(),
        notes,
    })
}

/// The calls of Seal-Tools by request, from the files beside this one.
fn calls_beside(path: &Path) -> Result<HashMap<String, Vec<Value>>, BenchError> {
    let mut calls = HashMap::new();
    let entries = path.parent().and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten();
    for file in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if file.extension().is_none_or(|ending| ending != "jsonl") {
            continue;
        }
        for (_, record) in records::all(&file)? {
            let Ok(record) = record else { continue };
            if let (Some(request), Some(calling)) =
                (text(&record, "query"), record.get("calling").and_then(Value::as_array))
            {
                calls.insert(plain(request), calling.clone());
            }
        }
    }
    Ok(calls)
}

/// A request without quotes and repeated blanks around and in it.
fn plain(request: &str) -> String {
    let words: Vec<&str> = request.split_whitespace().collect();
    words.join(" ").trim_matches('"').to_lowercase()
}

fn sample(at: usize, record: &Value, known: &HashMap<String, Vec<Value>>) -> Result<(Sample, bool), String> {
    let turns = record.get("conversations").and_then(Value::as_array).ok_or("it has no `conversations`")?;
    let last = |role: &str| {
        let turn = turns.iter().rev().find(|turn| text(turn, "role") == Some(role));
        turn.and_then(|turn| text(turn, "content")).ok_or(format!("it has no turn of the {role}"))
    };
    let (asked, workflow) = (last("user")?, last("assistant")?);
    let marker = asked.find("list you can").ok_or("it lists no tools")?;
    let line = asked.get(..marker).and_then(|before| before.rfind('\n')).unwrap_or(0);
    let (request, listed) = asked.split_at(line);
    let (start, end) = (listed.find('['), listed.rfind(']'));
    let listed = start.zip(end).and_then(|(start, end)| listed.get(start..=end)).ok_or("it lists no tools")?;
    let listed = seal_tools::literal(listed)?;
    let tools: Vec<BenchTool> = listed.as_array().into_iter().flatten().filter_map(seal_tools::tool).collect();
    if tools.is_empty() {
        return Err("it lists no tools".into());
    }
    let request = request.split_once("Task:").map_or(request, |(_, request)| request).trim();
    let request = request.strip_suffix("Output:").unwrap_or(request).trim().trim_matches('"');

    let subtasks: Vec<(usize, &str)> = NODE
        .captures_iter(workflow)
        .filter_map(|found| Some((found.get(1)?.as_str().parse().ok()?, found.get(2)?.as_str().trim())))
        .collect();
    if subtasks.is_empty() {
        return Err("its workflow has no nodes".into());
    }
    let place = |number: &str| subtasks.iter().position(|(own, _)| number.parse() == Ok(*own));
    let links = EDGE.captures_iter(workflow);
    let links =
        links.filter_map(|found| Some((place(found.get(1)?.as_str())?, place(found.get(2)?.as_str())?))).collect();
    let calls = known.get(&plain(request)).filter(|calls| calls.len() == subtasks.len());
    let (nodes, guessed) = match calls.and_then(|calls| seal_tools::graph(calls, &seal_tools::Results::new()).ok()) {
        Some(graph) => (graph.nodes, false),
        None => (assigned(&subtasks, &tools), true),
    };
    let sample = Sample {
        id: id(record, "id").unwrap_or_else(|| at.to_string()),
        request: request.to_owned(),
        dialogue: Vec::new(),
        tools: Arc::new(ToolList { tools }),
        gold: PlanGraph { nodes, links },
        workflows: None,
    };
    Ok((sample, guessed))
}

/// A tool for each subtask, by the words they share.
fn assigned(subtasks: &[(usize, &str)], tools: &[BenchTool]) -> Vec<String> {
    let about: Vec<[BTreeSet<String>; 2]> = tools.iter().map(|tool| [words(&tool.id), words(&tool.desc)]).collect();
    let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
    for (at, (_, subtask)) in subtasks.iter().enumerate() {
        let own = words(subtask);
        for (tool, about) in about.iter().enumerate() {
            // A name is short and chosen with care, so that its words count like the whole description.
            let shared = about.iter().map(|words| words.intersection(&own).count() as f64 / words.len().max(1) as f64);
            pairs.push((shared.sum(), at, tool));
        }
    }
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    let each_once = tools.len() >= subtasks.len();
    let mut chosen: Vec<Option<usize>> = vec![None; subtasks.len()];
    for (_, at, tool) in pairs {
        let is_taken = each_once && chosen.contains(&Some(tool));
        if let Some(place @ None) = chosen.get_mut(at)
            && !is_taken
        {
            *place = Some(tool);
        }
    }
    chosen.into_iter().flatten().filter_map(|tool| tools.get(tool)).map(|tool| tool.id.clone()).collect()
}

/// The words of a text in lower case, names of several words apart, without endings of number and person.
fn words(text: &str) -> BTreeSet<String> {
    let mut apart = String::with_capacity(text.len() + 8);
    let mut before = ' ';
    for letter in text.chars() {
        if letter.is_uppercase() && before.is_lowercase() {
            apart.push(' ');
        }
        apart.push(letter);
        before = letter;
    }
    let lower = apart.to_lowercase();
    let words = lower.split(|letter: char| !letter.is_alphanumeric()).filter(|word| word.len() > 2);
    words.map(|word| word.strip_suffix('s').unwrap_or(word).to_owned()).collect()
}
