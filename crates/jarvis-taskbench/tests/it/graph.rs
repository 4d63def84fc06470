//! Tool graphs: built as published, sampled by properties, drawn the same twice, described.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use jarvis_taskbench::data::{DependencyType, Domain, GraphLink, ToolGraph, ToolList};
use jarvis_taskbench::graph::{
    BuildError, BuildOptions, Drawing, Method, SampleError, SampledGraph, Sampler, SeededRng, build, draw, draw_sample,
    random_method, random_size, stats, to_json, write,
};
use petgraph::algo::{connected_components, is_cyclic_directed};
use petgraph::graphmap::DiGraphMap;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::data::{example, expected};

pub(crate) fn examples() -> [(PathBuf, DependencyType); 2] {
    [(example("data_studio"), DependencyType::Resource), (example("data_errands"), DependencyType::Temporal)]
}

fn graph(nodes: Value, links: &[(&str, &str, &str)]) -> ToolGraph {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("graph.json");
    std::fs::write(&path, json!({"nodes": nodes, "links": []}).to_string()).unwrap();
    let nodes = ToolGraph::read(&path).unwrap().nodes;
    let link = |(a, b, kind): &(&str, &str, &str)| GraphLink {
        source: (*a).into(),
        target: (*b).into(),
        kind: Some((*kind).into()).filter(|kind: &String| !kind.is_empty()),
    };
    ToolGraph { nodes, links: links.iter().map(link).collect() }
}

fn untyped(names: &[&str], links: &[(&str, &str)]) -> ToolGraph {
    let nodes = names.iter().map(|name| json!({"id": name, "desc": ""})).collect();
    let links: Vec<(&str, &str, &str)> = links.iter().map(|(a, b)| (*a, *b, "")).collect();
    graph(nodes, &links)
}

pub(crate) fn assert_built_as_published(dir: &Path, dependency: DependencyType) {
    let domain = Domain::open(dir).unwrap();
    let built = build(&domain.tools().unwrap(), dependency, BuildOptions::default()).unwrap();
    let published = std::fs::read_to_string(dir.join("graph_desc.json")).unwrap();
    assert_eq!(built.links, domain.graph().unwrap().links, "{}", dir.display());
    assert!(to_json(&built) == published, "{}", dir.display());
}

#[test]
fn graphs_are_built_byte_for_byte() {
    for (dir, dependency) in examples() {
        assert_built_as_published(&dir, dependency);
    }
}

#[test]
fn a_links_kind_is_the_first_that_both_know() {
    let tools = json!([
        {"id": "a", "desc": "", "input-type": [], "output-type": ["audio", "Image", "text"]},
        {"id": "b", "desc": "", "input-type": ["text", "image", "text"], "output-type": ["text"]},
    ]);
    let tools = graph(tools, &[]).nodes;
    let kinds = |ignore_case| -> Vec<(String, String, Option<String>)> {
        let built = build(&tools, DependencyType::Resource, BuildOptions { ignore_case }).unwrap();
        built.links.into_iter().map(|link| (link.source, link.target, link.kind)).collect()
    };
    let link = |kind: &str| vec![("a".to_owned(), "b".to_owned(), Some(kind.to_owned()))];
    assert_eq!(kinds(false), link("text"));
    assert_eq!(kinds(true), link("image"));
}

#[test]
fn tools_without_kinds_make_no_typed_graph() {
    let tools = graph(json!([{"id": "a", "desc": ""}, {"id": "b", "desc": ""}]), &[]).nodes;
    let error = build(&tools, DependencyType::Resource, BuildOptions::default()).unwrap_err();
    assert!(matches!(&error, BuildError::Untyped { tool } if tool == "a"), "{error}");
    assert_eq!(build(&tools, DependencyType::Temporal, BuildOptions::default()).unwrap().links.len(), 2);
}

#[test]
fn a_graph_never_overwrites_its_tools() {
    let dir = tempfile::tempdir().unwrap();
    let tools = dir.path().join("tool_desc.json");
    std::fs::copy(example("data_studio").join("tool_desc.json"), &tools).unwrap();
    let before = std::fs::read(&tools).unwrap();
    let built = build(&ToolList::read(&tools).unwrap(), DependencyType::Resource, BuildOptions::default()).unwrap();
    let mut outs = vec![tools.clone(), dir.path().join("./tool_desc.json")];
    #[cfg(unix)]
    {
        let soft = dir.path().join("soft.json");
        std::os::unix::fs::symlink(&tools, &soft).unwrap();
        let hard = dir.path().join("hard.json");
        std::fs::hard_link(&tools, &hard).unwrap();
        outs.extend([soft, hard]);
    }
    for out in outs {
        assert!(matches!(write(&built, &tools, &out, true), Err(BuildError::OverItself { .. })), "{}", out.display());
        assert_eq!(std::fs::read(&tools).unwrap(), before);
    }
    let out = dir.path().join("graph_desc.json");
    write(&built, &tools, &out, false).unwrap();
    assert_eq!(ToolGraph::read(&out).unwrap().links, built.links);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().filter_map(Result::ok).count(), if cfg!(unix) { 4 } else { 2 });
    // The same again is no matter; another graph is.
    write(&built, &tools, &out, false).unwrap();
    let complete = build(&built.nodes, DependencyType::Temporal, BuildOptions::default()).unwrap();
    let error = write(&complete, &tools, &out, false).unwrap_err();
    assert!(error.to_string().ends_with("graph_desc.json is there and has 38 links, not 156"), "{error}");
    assert_eq!(ToolGraph::read(&out).unwrap().links, built.links);
    write(&complete, &tools, &out, true).unwrap();
    assert_eq!(ToolGraph::read(&out).unwrap().links.len(), 156);
}

/// What must hold of every sample.
struct Law<'g> {
    links: HashMap<(&'g str, &'g str), Option<String>>,
    inputs: HashMap<&'g str, Option<Vec<String>>>,
}

impl<'g> Law<'g> {
    fn of(graph: &'g ToolGraph) -> Law<'g> {
        let links = graph.links.iter();
        Law {
            links: links.map(|link| ((link.source.as_str(), link.target.as_str()), link.kind.clone())).collect(),
            inputs: graph.nodes.tools.iter().map(|tool| (tool.id.as_str(), tool.inputs.clone())).collect(),
        }
    }

    fn check(&self, method: Method, n: usize, sample: &SampledGraph) {
        self.check_shape(method, n, sample);
        if method == Method::Dag {
            let nodes: HashSet<&str> = sample.nodes.iter().map(String::as_str).collect();
            let links: Vec<(&str, &str)> =
                sample.links.iter().map(|link| (link.source.as_str(), link.target.as_str())).collect();
            self.check_slots(&nodes, &links);
        }
    }

    fn check_shape(&self, method: Method, n: usize, sample: &SampledGraph) {
        let nodes: HashSet<&str> = sample.nodes.iter().map(String::as_str).collect();
        let links: Vec<(&str, &str)> =
            sample.links.iter().map(|link| (link.source.as_str(), link.target.as_str())).collect();
        assert_eq!(nodes.len(), sample.nodes.len(), "distinct tools: {sample:?}");
        assert_eq!(nodes.len(), method.size(n), "{method} of {n}: {sample:?}");
        assert_eq!(links.iter().collect::<HashSet<_>>().len(), links.len(), "distinct links: {sample:?}");
        for link in &links {
            assert!(self.links.contains_key(link), "{link:?} is no link of the graph");
            assert!(nodes.contains(link.0) && nodes.contains(link.1));
        }
        let mut net: DiGraphMap<&str, ()> = DiGraphMap::from_edges(&links);
        for node in &nodes {
            net.add_node(node);
        }
        assert!(!is_cyclic_directed(&net), "a cycle: {sample:?}");
        match method {
            Method::Single => assert!(links.is_empty()),
            Method::Chain => {
                let path: Vec<(&str, &str)> =
                    sample.nodes.windows(2).map(|pair| (pair[0].as_str(), pair[1].as_str())).collect();
                assert_eq!(links, path, "a path in the order of its tools");
            }
            Method::Dag => {
                assert_eq!(connected_components(&net), 1, "connected: {sample:?}");
                let branches = nodes.iter().any(|node| {
                    links.iter().filter(|link| link.0 == *node).count() >= 2
                        || links.iter().filter(|link| link.1 == *node).count() >= 2
                });
                assert!(branches, "a mere path: {sample:?}");
            }
            Method::RandomWalk => assert_eq!(links.len(), nodes.len() - 1),
            Method::RandomWalkWithRestart => assert!(links.len() < nodes.len()),
        }
    }

    /// No more links of a kind lead into a tool than it has inputs of that kind.
    fn check_slots(&self, nodes: &HashSet<&str>, links: &[(&str, &str)]) {
        for node in nodes {
            let Some(Some(inputs)) = self.inputs.get(node) else { continue };
            let mut left = inputs.clone();
            for link in links.iter().filter(|link| link.1 == *node) {
                let Some(kind) = &self.links[link] else { continue };
                let at = left.iter().position(|slot| slot == kind);
                left.remove(at.unwrap_or_else(|| panic!("no input for {link:?} ({kind})")));
            }
        }
    }
}

/// Draws samples of each method and size, and checks each: 100, or as many as JARVIS_TEST_DRAWS says (10,000 take minutes
/// without --release).
pub(crate) fn assert_samples_keep_the_law(dir: &Path) {
    let draws = std::env::var("JARVIS_TEST_DRAWS").ok().and_then(|draws| draws.parse().ok()).unwrap_or(100);
    let graph = Domain::open(dir).unwrap().graph().unwrap();
    let (law, sampler) = (Law::of(&graph), Sampler::new(&graph));
    for method in Method::ALL {
        for n in 1..=10 {
            if method.size(n) > graph.nodes.tools.len() {
                let error = sampler.sample(method, n, &mut SeededRng::new(0, 0)).unwrap_err();
                assert!(matches!(error, SampleError::NotReachable { .. } | SampleError::TooMany { .. }));
                continue;
            }
            for number in 0..draws {
                let sample = sampler
                    .sample(method, n, &mut SeededRng::new(n as u64, number))
                    .unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
                law.check(method, n, &sample);
            }
        }
    }
}

#[test]
fn samples_keep_the_law() {
    for (dir, _) in examples() {
        assert_samples_keep_the_law(&dir);
    }
}

#[test]
fn the_same_seed_draws_the_same_everywhere() {
    let graph = Domain::open(example("data_studio")).unwrap().graph().unwrap();
    let sampler = Sampler::new(&graph);
    let drawn = |number: u64| sampler.sample(Method::Dag, 5, &mut SeededRng::new(7, number)).unwrap();
    let in_order: Vec<SampledGraph> = (0..50).map(drawn).collect();
    let mut backwards: Vec<SampledGraph> = (0..50).rev().map(drawn).collect();
    backwards.reverse();
    assert_eq!(in_order, backwards);
    assert!(in_order.iter().collect::<Vec<_>>().windows(2).any(|pair| pair[0] != pair[1]));
    // These must never change: whoever repeats a run next year wants the same samples.
    let sample = sampler.sample(Method::Chain, 4, &mut SeededRng::new(0, 0)).unwrap();
    insta::assert_snapshot!(sample.nodes.join(" > "), @r#"Article Reader > Summary Writer > Language Translator > Narrator"#);
    let mut rng = SeededRng::new(1, 2);
    let rolls: Vec<usize> = (0..12).map(|_| rng.below(1000)).collect();
    insta::assert_snapshot!(format!("{rolls:?}"), @r#"[497, 492, 626, 164, 13, 843, 890, 785, 904, 328, 830, 621]"#);
}

#[test]
fn methods_and_sizes_have_their_weights() {
    let mut rng = SeededRng::new(3, 0);
    let mut methods: HashMap<Method, usize> = HashMap::new();
    let mut sizes: HashMap<usize, usize> = HashMap::new();
    for _ in 0..18_000 {
        *methods.entry(random_method(&mut rng)).or_default() += 1;
        *sizes.entry(random_size(&mut rng)).or_default() += 1;
    }
    let near = |seen: usize, wanted: f64| (seen as f64 - wanted).abs() < 6.0 * wanted.sqrt();
    for (method, weight) in [(Method::Single, 3.0), (Method::Chain, 7.0), (Method::Dag, 8.0)] {
        assert!(near(methods[&method], weight * 1000.0), "{methods:?}");
    }
    let weights = [(2, 0.1), (3, 0.2), (4, 0.3), (5, 0.2), (6, 0.1), (7, 0.05), (8, 0.025), (9, 0.025), (10, 0.025)];
    for (size, weight) in weights {
        assert!(near(sizes[&size], weight / 1.025 * 18_000.0), "{size}: {sizes:?}");
    }
    assert_eq!((methods.len(), sizes.len()), (3, 9));
}

#[test]
fn what_cannot_be_reached_is_said() {
    let line = untyped(&["a", "b", "c", "d"], &[("a", "b"), ("b", "c")]);
    let two = untyped(&["a", "b", "c", "d"], &[("a", "b"), ("c", "d")]);
    let turn = untyped(&["a", "b"], &[("a", "b"), ("b", "a")]);
    let fork = untyped(&["a", "b", "c"], &[("a", "b"), ("a", "c")]);
    let cases = [
        (&line, Method::Single, 3, Ok(1)),
        (&line, Method::Chain, 3, Ok(3)),
        (&line, Method::Chain, 4, Err("the graph has no such path")),
        (&line, Method::Chain, 5, Err("there are 4")),
        (&line, Method::Dag, 3, Err("none was found")),
        (&line, Method::RandomWalk, 4, Err("none was found")),
        (&line, Method::RandomWalkWithRestart, 4, Ok(4)),
        (&two, Method::Chain, 3, Err("the graph has no such path")),
        (&two, Method::Dag, 3, Err("none was found")),
        (&turn, Method::Chain, 2, Ok(2)),
        (&turn, Method::Dag, 1, Err("there are 2")),
        (&turn, Method::RandomWalk, 2, Ok(2)),
        (&fork, Method::Dag, 1, Ok(3)),
        (&fork, Method::Chain, 3, Err("the graph has no such path")),
    ];
    for (graph, method, n, wanted) in cases {
        match (Sampler::new(graph).sample(method, n, &mut SeededRng::new(0, 0)), wanted) {
            (Ok(sample), Ok(size)) => assert_eq!(sample.nodes.len(), size, "{method} of {n}"),
            (Err(error), Err(words)) => assert!(error.to_string().contains(words), "{method} of {n}: {error}"),
            (got, wanted) => panic!("{method} of {n}: {got:?}, not {wanted:?}"),
        }
    }
    assert_eq!(Sampler::new(&line).sample(Method::Chain, 0, &mut SeededRng::new(0, 0)), Err(SampleError::Nothing));
    let empty = untyped(&[], &[]);
    assert!(Sampler::new(&empty).sample(Method::Single, 1, &mut SeededRng::new(0, 0)).is_err());
}

#[test]
fn a_hidden_chain_is_found() {
    // One long path, and many dead ends beside it that swallow walks.
    let names: Vec<String> = (0..10).map(|at| format!("p{at}")).chain((0..200).map(|at| format!("d{at}"))).collect();
    let mut links: Vec<(String, String)> = (0..9).map(|at| (format!("p{at}"), format!("p{}", at + 1))).collect();
    links.extend((0..200).map(|at| (format!("p{}", at % 9), format!("d{at}"))));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let links: Vec<(&str, &str)> = links.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let graph = untyped(&names, &links);
    let sample = Sampler::new(&graph).sample(Method::Chain, 10, &mut SeededRng::new(5, 5)).unwrap();
    Law::of(&graph).check(Method::Chain, 10, &sample);
}

pub(crate) fn assert_drawn_whole(dir: &Path) {
    let graph = Domain::open(dir).unwrap().graph().unwrap();
    for drawing in [Drawing::Svg, Drawing::Dot, Drawing::Mermaid] {
        assert_eq!(draw(&graph, drawing), draw(&graph, drawing), "{}", dir.display());
    }
    let svg = draw(&graph, Drawing::Svg);
    for tool in &graph.nodes.tools {
        assert!(svg.contains(&format!(">{}</text>", tool.id)), "{} is not drawn", tool.id);
    }
    assert_eq!(draw(&graph, Drawing::Dot).matches(" -> ").count(), graph.links.len());
}

#[test]
fn drawings_are_the_same_twice_and_escaped() {
    for (dir, _) in examples() {
        assert_drawn_whole(&dir);
    }
    let wild = graph(
        json!([
            {"id": "a\"]; rm \\ <script>", "desc": "<b>&"},
            {"id": "b#quot;`x`\u{202e}\n\u{1}", "desc": ""},
            {"id": "c", "desc": ""},
        ]),
        &[("a\"]; rm \\ <script>", "c", "te\"xt<"), ("c", "c", ""), ("c", "nobody", "text"), ("c", "nobody", "text")],
    );
    insta::assert_snapshot!("drawings_are_the_same_twice_and_escaped_1", draw(&wild, Drawing::Dot));
    insta::assert_snapshot!("drawings_are_the_same_twice_and_escaped_2", draw(&wild, Drawing::Mermaid));
    let svg = draw(&wild, Drawing::Svg);
    assert!(!svg.contains("<script") && !svg.contains('\u{202e}') && !svg.contains('\u{1}'));
    assert!(svg.contains("a&quot;]; rm \\ &lt;script&gt;"), "{svg}");
    assert!(svg.contains(">no tool of the graph</text>"), "{svg}");
}

#[test]
fn samples_are_drawn() {
    let graph = Domain::open(example("data_studio")).unwrap().graph().unwrap();
    let sample = Sampler::new(&graph).sample(Method::Dag, 4, &mut SeededRng::new(0, 0)).unwrap();
    for drawing in [Drawing::Svg, Drawing::Dot, Drawing::Mermaid] {
        let drawn = draw_sample(&sample, drawing);
        for node in &sample.nodes {
            assert!(drawn.contains(node.as_str()), "{drawn}");
        }
        assert_eq!(drawn, draw_sample(&sample, drawing));
    }
    // A circle cannot come from a method, but from a file.
    let link = |a: &str, b: &str| serde_json::from_value(json!({"source": a, "target": b})).unwrap();
    let circle = SampledGraph { nodes: vec!["a".into(), "b".into()], links: vec![link("a", "b"), link("b", "a")] };
    assert_eq!(draw_sample(&circle, Drawing::Mermaid).matches(" --> ").count(), 2);
    assert!(draw_sample(&SampledGraph::default(), Drawing::Svg).starts_with("<svg"));
}

#[test]
fn graphs_are_described() {
    let studio = stats(&Domain::open(example("data_studio")).unwrap().graph().unwrap());
    assert_eq!((studio.tools, studio.links, studio.distinct_links), (13, 38, 38));
    assert_eq!((studio.isolated.len(), studio.components), (0, 1));
    assert_eq!(studio.sources, ["Article Reader", "Video Fetcher"]);
    assert_eq!(studio.odd, [""; 0]);

    let odd = stats(&graph(
        json!([
            {"id": "a_b", "desc": "", "input-type": ["text"], "output-type": ["Image"]},
            {"id": "c", "desc": "", "input-type": ["image"], "output-type": ["smell"]},
            {"id": "d", "desc": "", "input-type": ["text"], "output-type": []},
            {"id": "d", "desc": "", "input-type": ["text"], "output-type": []},
        ]),
        &[("a_b", "c", "image"), ("a_b", "c", "image"), ("c", "c", "x"), ("c", "nobody", "text")],
    ));
    assert_eq!((odd.tools, odd.links, odd.distinct_links, odd.isolated.as_slice()), (4, 4, 2, &["d".to_owned()][..]));
    insta::assert_snapshot!("graphs_are_described", odd.odd.join("\n"));
}

#[test]
fn figures_of_graphs_equal_an_independent_implementation() {
    for name in ["data_studio", "data_errands", "without_arguments"] {
        let found = serde_json::to_value(stats(&Domain::open(example(name)).unwrap().graph().unwrap())).unwrap();
        for (key, expected) in expected(name)["graph"].as_object().unwrap() {
            assert_eq!(&found[key], expected, "{name} {key}");
        }
    }
}

/// What a tool takes or gives, when it says.
type Kinds = Option<Vec<&'static str>>;

/// Any small graph: so many tools, with kinds or without, and links between any two, repeated and to themselves too.
fn any_graph() -> impl Strategy<Value = ToolGraph> {
    let kind = || prop::sample::select(vec!["text", "image", "Audio"]);
    let kinds = move || prop::option::of(prop::collection::vec(kind(), 0..3));
    let links = prop::collection::vec((0..10_usize, 0..10_usize, prop::option::of(kind())), 0..40);
    (prop::collection::vec((kinds(), kinds()), 0..9), links).prop_map(|(tools, links)| {
        let node = |(at, (inputs, outputs)): (usize, &(Kinds, Kinds))| {
            let mut node = json!({"id": format!("t{at}"), "desc": ""});
            for (key, kinds) in [("input-type", inputs), ("output-type", outputs)] {
                if let Some(kinds) = kinds {
                    node[key] = json!(kinds);
                }
            }
            node
        };
        let nodes = tools.iter().enumerate().map(node).collect();
        let names: Vec<(String, String, &str)> =
            links.iter().map(|(a, b, kind)| (format!("t{a}"), format!("t{b}"), kind.unwrap_or_default())).collect();
        let links: Vec<(&str, &str, &str)> = names.iter().map(|(a, b, kind)| (a.as_str(), b.as_str(), *kind)).collect();
        graph(nodes, &links)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_graph_is_sampled_drawn_and_described(graph in any_graph(), seed: u64) {
        let (law, sampler) = (Law::of(&graph), Sampler::new(&graph));
        for method in Method::ALL {
            for n in 1..=6 {
                match sampler.sample(method, n, &mut SeededRng::new(seed, n as u64)) {
                    Ok(sample) => {
                        law.check_shape(method, n, &sample);
                        for drawing in [Drawing::Svg, Drawing::Dot, Drawing::Mermaid] {
                            prop_assert!(!draw_sample(&sample, drawing).is_empty());
                        }
                        prop_assert!(method != Method::Chain || sampler.has_chain(n) == Some(true));
                    }
                    Err(error) => {
                        prop_assert!(matches!(error, SampleError::NotReachable { .. } | SampleError::TooMany { .. }), "{}", error);
                        prop_assert!(method != Method::Chain || sampler.has_chain(n) == Some(false));
                    }
                }
            }
        }
        prop_assert_eq!(stats(&graph).tools, graph.nodes.tools.len());
        prop_assert!(draw(&graph, Drawing::Svg).ends_with("</svg>\n"));
    }
}
