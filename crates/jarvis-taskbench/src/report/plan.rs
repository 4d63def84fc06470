//! A plan as a person would read it, gold or predicted: nodes, links between them, steps. It forgives what can be
//! understood and says what cannot; scoring has its own, stricter eyes.

use std::collections::HashMap;

use super::text::cut;
use crate::data::{DependencyType, ToolList, normalised};
use crate::json::{Json, Look};

/// Nodes, links and references that are looked at; a reply with more nodes says so.
const MOST: usize = 200;
/// Cells of what is said about a fault.
const FAULT: usize = 160;
/// References that are looked at; a plan of [`MOST`] nodes has no need of more.
const MOST_REFERENCES: usize = 2_000;
/// Faults that are told.
const MOST_FAULTS: usize = 50;

/// The names of a catalogue, found by their normalised form.
#[derive(Debug, Clone, Default)]
pub struct Names(HashMap<String, String>);

impl Names {
    /// The names of these tools.
    pub fn of(tools: &ToolList) -> Names {
        Names(tools.tools.iter().map(|tool| (normalised(&tool.id), tool.id.clone())).collect())
    }

    /// True when the catalogue has this normalised name.
    pub fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// The name as the catalogue writes it, or as it is; `(empty)` when there is nothing to see.
    pub fn shown<'a>(&'a self, key: &'a str) -> &'a str {
        let name = self.0.get(key).map_or(key, String::as_str);
        if name.trim().is_empty() { "(empty)" } else { name }
    }
}

/// A plan, read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanView {
    /// The nodes, in list order.
    pub nodes: Vec<NodeView>,
    /// Links between nodes, by place in `nodes`, each once, in order of appearance.
    pub links: Vec<(usize, usize)>,
    /// The steps in words.
    pub steps: Vec<String>,
    /// What could not be read or leads nowhere, in words.
    pub faults: Vec<String>,
}

/// A node of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeView {
    /// The tool's name, normalised: what is compared.
    pub key: String,
    /// The arguments in words, one each.
    pub arguments: Vec<String>,
}

impl PlanView {
    /// Reads steps, nodes and links, each of which may be missing or odd. `None` when there is no list of nodes.
    pub fn read(
        steps: Option<&Json<'_>>,
        nodes: Option<&Json<'_>>,
        links: Option<&Json<'_>>,
        dependency: DependencyType,
    ) -> Option<PlanView> {
        let nodes = nodes?;
        let bare = [nodes];
        let items: Vec<&Json<'_>> = match nodes.list() {
            Some(items) => items.iter().collect(),
            None if nodes.look("task").is_some() => bare.to_vec(),
            None if nodes.is_empty_container() => Vec::new(),
            None => return None,
        };
        let mut view = PlanView { steps: step_texts(steps), ..PlanView::default() };
        if items.len() > MOST {
            view.fault(format!("only the first {MOST} of {} nodes are shown", items.len()));
        }
        // Where each item of the list became a node: references count items.
        let mut places = Vec::new();
        let mut references = Vec::new();
        for (at, item) in items.into_iter().take(MOST).enumerate() {
            let name =
                ["task", "id", "name"].into_iter().find_map(|key| item.look(key)?.text()).or_else(|| item.text());
            let Some(name) = name else {
                view.fault(format!("node {at} names no task"));
                places.push(None);
                continue;
            };
            let own = view.nodes.len();
            places.push(Some(own));
            let arguments = item.look("arguments");
            if dependency == DependencyType::Resource
                && let Some(arguments) = arguments
            {
                texts_in(arguments, &mut |text| {
                    let room = (MOST_REFERENCES + 1).saturating_sub(references.len());
                    references.extend(references_in(text).take(room).map(|found| (found, own)));
                });
            }
            view.nodes.push(NodeView { key: normalised(name), arguments: argument_texts(arguments) });
        }
        if references.len() > MOST_REFERENCES {
            view.fault(format!("only the first {MOST_REFERENCES} references are shown"));
        }
        for (reference, target) in references.into_iter().take(MOST_REFERENCES) {
            view.refer(&reference, target, &places);
        }
        if dependency == DependencyType::Temporal || view.links.is_empty() {
            view.link(links);
        }
        Some(view)
    }

    /// The number of a node that has this name, when it is clear which.
    fn find(&self, name: &str) -> Option<usize> {
        let key = normalised(name);
        self.nodes.iter().position(|node| node.key == key)
    }

    fn refer(&mut self, reference: &Reference, target: usize, places: &[Option<usize>]) {
        let (source, said) = match reference {
            Reference::Node(index) => {
                let place = usize::try_from(*index).ok().and_then(|index| places.get(index).copied().flatten());
                (place, format!("<node-{index}>"))
            }
            Reference::Output(name) => (self.find(name), format!("<output_of_{name}>")),
        };
        match source {
            Some(source) if source == target => self.fault(format!("node {target} refers to itself")),
            Some(source) => self.connect(source, target),
            None => self.fault(format!("`{said}` leads to no node")),
        }
    }

    fn link(&mut self, links: Option<&Json<'_>>) {
        let Some(links) = links else { return };
        let Some(items) = links.list() else {
            if !links.is_empty_container() {
                self.fault(format!("the links are {}, not a list", links.what()));
            }
            return;
        };
        if items.len() > MOST {
            self.fault(format!("only the first {MOST} of {} links are shown", items.len()));
        }
        for item in items.iter().take(MOST) {
            let end = |key: &str| item.look(key).and_then(Look::text);
            let (Some(source), Some(target)) = (end("source"), end("target")) else {
                self.fault("a link has no source or target".to_owned());
                continue;
            };
            match (self.find(source), self.find(target)) {
                (Some(source), Some(target)) if source == target => {
                    self.fault(format!("node {target} is linked to itself"));
                }
                (Some(source), Some(target)) => self.connect(source, target),
                (None, _) => self.fault(format!("a link comes from `{source}`, which is no node")),
                (_, None) => self.fault(format!("a link leads to `{target}`, which is no node")),
            }
        }
    }

    fn connect(&mut self, source: usize, target: usize) {
        if !self.links.contains(&(source, target)) {
            self.links.push((source, target));
        }
    }

    fn fault(&mut self, words: String) {
        let words = cut(&words, FAULT);
        if self.faults.len() < MOST_FAULTS && !self.faults.contains(&words) {
            self.faults.push(words);
        }
    }
}

/// What an argument refers to.
enum Reference {
    /// `<node-j>`.
    Node(i64),
    /// `<output_of_X>`, as some gold plans have it.
    Output(String),
}

fn references_in(text: &str) -> impl Iterator<Item = Reference> {
    text.split('<').skip(1).filter_map(|piece| {
        let (inside, _) = piece.split_once('>')?;
        match (inside.strip_prefix("node-"), inside.strip_prefix("output_of_")) {
            (Some(index), _) => index.trim().parse().ok().map(Reference::Node),
            (None, Some(name)) => Some(Reference::Output(name.to_owned())),
            (None, None) => None,
        }
    })
}

/// Calls `each` with every text inside.
fn texts_in(value: &Json<'_>, each: &mut impl FnMut(&str)) {
    if let Some(text) = value.text() {
        each(text);
    }
    value.list().into_iter().flatten().for_each(|item| texts_in(item, each));
    value.pairs().into_iter().flatten().for_each(|(_, item)| texts_in(item, each));
}

fn argument_texts(arguments: Option<&Json<'_>>) -> Vec<String> {
    let Some(arguments) = arguments else { return Vec::new() };
    match (arguments.list(), arguments.pairs()) {
        (Some(items), _) => items.iter().take(MOST).map(argument_text).collect(),
        (None, Some(pairs)) => pairs.iter().take(MOST).map(|(key, value)| format!("{key}: {}", words(value))).collect(),
        (None, None) => vec![words(arguments)],
    }
}

fn argument_text(item: &Json<'_>) -> String {
    match (item.look("name"), item.look("value")) {
        (Some(name), Some(value)) => format!("{}: {}", words(name), words(value)),
        (Some(_) | None, Some(_) | None) => words(item),
    }
}

/// A text as it is, anything else as JSON.
fn words(value: &Json<'_>) -> String {
    value.text().map_or_else(|| value.to_serde().to_string(), str::to_owned)
}

fn step_texts(steps: Option<&Json<'_>>) -> Vec<String> {
    let Some(steps) = steps else { return Vec::new() };
    let Some(items) = steps.list() else { return vec![words(steps)] };
    let text = |item: &Json<'_>| {
        let keys = ["task", "step", "id", "step_name", "description", "text"];
        keys.into_iter().find_map(|key| item.look(key)?.text()).map_or_else(|| words(item), str::to_owned)
    };
    items.iter().take(MOST).map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::PlanView;
    use crate::data::DependencyType;
    use crate::json::parse;

    fn said(json: &str, dependency: DependencyType) -> String {
        use crate::json::Look;
        let value = parse(json.as_bytes()).unwrap();
        let look = |key: &str| value.look(key);
        let Some(view) = PlanView::read(look("s"), look("n"), look("l"), dependency) else { return "none".into() };
        let nodes: Vec<&str> = view.nodes.iter().map(|node| node.key.as_str()).collect();
        format!("{} {:?} {}", nodes.join(","), view.links, view.faults.join("; "))
    }

    #[test]
    fn what_is_looked_at_has_an_end() {
        let many: String = (5..100_000).map(|at| format!("<node-{at}>")).collect();
        let json =
            format!(r#"{{"n":[{{"task":"a","arguments":["{many}"]}},{{"task":"b","arguments":["<node-0>"]}}]}}"#);
        let said = said(&json, DependencyType::Resource);
        let told: Vec<&str> = said.split("; ").collect();
        assert_eq!(told.len(), super::MOST_FAULTS, "{said}");
        assert_eq!(told.first(), Some(&"a,b [] only the first 2000 references are shown"));
        let links = vec![r#"{"source":"a","target":"b"}"#; 201].join(",");
        let json = format!(r#"{{"n":[{{"task":"a"}},{{"task":"b"}}],"l":[{links}]}}"#);
        assert_eq!(
            self::said(&json, DependencyType::Temporal),
            "a,b [(0, 1)] only the first 200 of 201 links are shown"
        );
    }

    #[test]
    fn reads_what_can_be_understood() {
        use DependencyType::{Resource, Temporal};
        for (json, dependency, expected) in [
            (
                r#"{"n":[{"task":"a_b","arguments":["x"]},{"task":"c","arguments":["<node-0>"]}]}"#,
                Resource,
                "a b,c [(0, 1)] ",
            ),
            (
                r#"{"n":[{"task":"a"},{"task":"b","arguments":[{"name":"image","value":"<node-0> and <output_of_a>"}]}]}"#,
                Resource,
                "a,b [(0, 1)] ",
            ),
            (
                r#"{"n":[{"task":"a","arguments":["<node-0>"]},{"task":"b","arguments":["<node-7>"]}]}"#,
                Resource,
                "a,b [] node 0 refers to itself; `<node-7>` leads to no node",
            ),
            (
                r#"{"n":[{"task":"a"},{"x":1},{"task":"b","arguments":["<node-2>","<node-1>"]}]}"#,
                Resource,
                "a,b [] node 1 names no task; node 1 refers to itself; `<node-1>` leads to no node",
            ),
            (r#"{"n":[{"task":"a"},{"task":"b"}],"l":[{"source":"a","target":"b"}]}"#, Resource, "a,b [(0, 1)] "),
            (
                r#"{"n":[{"task":"a"},{"task":"b"}],"l":[{"source":"b","target":"a"},{"source":"b","target":"z"},{"source":1}]}"#,
                Temporal,
                "a,b [(1, 0)] a link leads to `z`, which is no node; a link has no source or target",
            ),
            (r#"{"n":[{"task":"a"}],"l":"x"}"#, Temporal, "a [] the links are text, not a list"),
            (r#"{"n":{"task":"a"}}"#, Resource, "a [] "),
            (r#"{"n":""}"#, Resource, " [] "),
            (r#"{"n":"call a"}"#, Resource, "none"),
            (r#"{"n":3}"#, Resource, "none"),
            ("{}", Resource, "none"),
        ] {
            assert_eq!(said(json, dependency), expected, "{json}");
        }
    }
}
