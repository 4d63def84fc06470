//! `jarvis taskbench graph …`: the binary on the sample domains.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::Harness;

pub(crate) fn example(name: &str) -> String {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/taskbench").join(name);
    path.display().to_string()
}

const GRAPH: [&str; 2] = ["taskbench", "graph"];

fn graph(harness: &Harness, args: &[&str]) -> crate::harness::Ended {
    harness.run(&[&GRAPH[..], args].concat())
}

#[test]
fn the_sample_domains_graphs_are_what_build_makes() {
    let harness = Harness::new();
    for name in ["data_studio", "data_errands"] {
        let dir = example(name);
        let published = std::fs::read_to_string(Path::new(&dir).join("graph_desc.json")).expect("a graph");
        let tools = format!("{dir}/tool_desc.json");
        let built = graph(&harness, &["build", "--tools", &tools, "--out", &format!("{name}.json")]);
        assert_eq!((built.code, built.stdout.as_str()), (0, ""), "{}", built.stderr);
        assert_eq!(std::fs::read_to_string(harness.work().join(format!("{name}.json"))).expect("written"), published);
        let printed = graph(&harness, &["build", "--tool_desc", &tools, "--out", "-"]);
        assert_eq!((printed.code, printed.stdout.trim_end()), (0, published.as_str()));
    }
}

#[test]
fn the_tool_list_is_never_written_over() {
    let harness = Harness::new();
    let tools = std::fs::read(format!("{}/tool_desc.json", example("data_studio"))).expect("tools");
    harness.file("tool_desc.json", &tools);
    for out in ["tool_desc.json", "./tool_desc.json", "link.json"] {
        #[cfg(unix)]
        let _ = std::os::unix::fs::symlink("tool_desc.json", harness.work().join("link.json"));
        #[cfg(not(unix))]
        if out == "link.json" {
            continue;
        }
        let ended = graph(&harness, &["build", "--tools", "tool_desc.json", "--out", out]);
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        assert!(ended.stderr.contains("hint:"), "{}", ended.stderr);
        assert_eq!(std::fs::read(harness.work().join("tool_desc.json")).expect("still there"), tools);
    }
    let ended = graph(&harness, &["build", "--data-dir", "."]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(harness.work().join("graph_desc.json").exists());
    assert_eq!(graph(&harness, &["build", "--tools", "tool_desc.json"]).code, 2);
    assert_eq!(graph(&harness, &["build", "--tools", "nothing.json", "--out", "g.json"]).code, 2);
}

#[test]
fn samples_repeat_and_can_be_drawn() {
    let harness = Harness::new();
    let dir = example("data_studio");
    let args = ["taskbench", "graph", "sample", "--data-dir", &dir, "--method", "dag", "--n", "4", "--seed", "3"];
    let (code, first) = harness.json(&[&args[..], &["--count", "5", "--json"]].concat());
    let (_, more) = harness.json(&[&args[..], &["--count", "9", "--json"]].concat());
    assert_eq!((code, first.as_array().map(Vec::len)), (0, Some(5)));
    assert_eq!(first[4], more[4]);
    assert_eq!(first[0]["nodes"].as_array().map(Vec::len), Some(4));

    let plain = harness.run(&["taskbench", "graph", "sample", "--data_dir", &dir]);
    assert_eq!((plain.code, plain.stderr.as_str()), (0, ""));
    assert_eq!(plain.stdout.lines().count(), 2);
    assert_eq!(plain.stdout.matches(" -> ").count(), 2, "a chain of three: {}", plain.stdout);
    assert_eq!(harness.run(&["taskbench", "graph", "sample", "--data-dir", &dir]).stdout, plain.stdout);

    assert_eq!(harness.run(&[&args[..], &["--draw", "dag.svg"]].concat()).code, 0);
    let drawn = std::fs::read_to_string(harness.work().join("dag.svg")).expect("drawn");
    assert!(drawn.starts_with("<svg") && drawn.contains(">Graph of 4 tools and "), "{drawn}");
    assert!(drawn.contains("class=\"jp-ground\""), "it can be read alone: {drawn}");
    harness.file("samples.json", first.to_string());
    let many = graph(&harness, &["draw", "--subset", "samples.json"]);
    assert_eq!((many.code, many.stdout.as_str()), (2, ""));
    assert!(many.stderr.contains("it holds 5 samples") && many.stderr.contains("hint:"), "{}", many.stderr);
    harness.file("sample.json", first[0].to_string());
    for (format, start) in [("svg", "<svg"), ("dot", "digraph"), ("mermaid", "flowchart")] {
        let whole = graph(&harness, &["draw", "--data-dir", &dir, "--format", format]);
        let part = graph(&harness, &["draw", "--subset", "sample.json", "--format", format]);
        for drawn in [&whole, &part] {
            assert_eq!((drawn.code, drawn.stderr.as_str()), (0, ""));
            assert!(drawn.stdout.starts_with(start), "{}", drawn.stdout);
        }
        assert!(whole.stdout.len() > part.stdout.len() && whole.stdout.contains("Slideshow Maker"));
    }
    harness.file("sample", first[0].to_string());
    let over = graph(&harness, &["draw", "--subset", "sample", "--out", "./sample"]);
    assert!(over.code == 2 && over.stderr.contains("would be overwritten"), "{}", over.stderr);
    assert_eq!(std::fs::read_to_string(harness.work().join("sample")).unwrap(), first[0].to_string());
    let foreign = graph(&harness, &["draw", "--data-dir", &example("data_errands"), "--subset", "sample.json"]);
    assert_eq!(foreign.code, 2, "{}", foreign.stderr);
    let far = graph(&harness, &["sample", "--data-dir", &dir, "--n", "99"]);
    assert_eq!((far.code, far.stdout.as_str()), (1, ""));
    assert!(
        far.stderr.contains("no graph of 99 tools can be drawn: there are 13") && far.stderr.contains("hint:"),
        "{}",
        far.stderr
    );
    assert_eq!(graph(&harness, &["sample", "--data-dir", &dir, "--method", "bush"]).code, 2);
    assert_eq!(graph(&harness, &["sample"]).code, 2);
    assert_eq!(graph(&harness, &["sample", &dir, "--count", "0"]).code, 2);
}

#[test]
fn a_drawing_is_what_its_name_says() {
    let harness = Harness::new();
    let dir = example("data_studio");
    for (out, format, start) in [
        ("a.svg", None, "<svg"),
        ("a.SVG", Some("svg"), "<svg"),
        ("a.gv", None, "digraph"),
        ("a.mmd", None, "flowchart"),
        ("a.md", Some("mermaid"), "```mermaid\nflowchart"),
        ("drawing", None, "<svg"),
        ("drawing", Some("dot"), "digraph"),
    ] {
        let args =
            [&["draw", &dir, "--out", out][..], &format.map_or(vec![], |format| vec!["--format", format])].concat();
        assert_eq!(graph(&harness, &args).code, 0, "{args:?}");
        let drawn = std::fs::read_to_string(harness.work().join(out)).expect("drawn");
        assert!(drawn.starts_with(start), "{args:?}: {drawn}");
    }
    for (args, said) in [
        (&["draw", &dir, "--out", "a.png"][..], "a drawing is .svg, .dot, .gv, .mmd or .md, not .png"),
        (&["sample", &dir, "--draw", "a.png"], "not .png"),
        (&["draw", &dir, "--out", "b.svg", "--format", "dot"], "a .svg file holds svg, not dot"),
    ] {
        let ended = graph(&harness, args);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{args:?}");
        assert!(ended.stderr.contains(said) && ended.stderr.contains("hint:"), "{args:?}: {}", ended.stderr);
    }
    assert!(!harness.work().join("a.png").exists() && !harness.work().join("b.svg").exists());
}

#[test]
fn another_graph_is_not_written_over() {
    let harness = Harness::new();
    std::fs::create_dir(harness.work().join("mine")).expect("a folder");
    let tools = format!("{}/tool_desc.json", example("data_studio"));
    let published = std::fs::read(format!("{}/graph_desc.json", example("data_studio"))).expect("a graph");
    // The original's command line.
    let original = ["build", "--tool_desc", &tools, "--data_dir", "mine", "--dependency_type"];
    let built =
        |dependency: &'static str, more: &[&str]| graph(&harness, &[&original[..], &[dependency], more].concat());
    for _ in 0..2 {
        let made = built("resource", &[]);
        assert_eq!(made.code, 0, "{}", made.stderr);
        assert_eq!(std::fs::read(harness.work().join("mine/graph_desc.json")).expect("written"), published);
    }
    let refused = built("temporal", &[]);
    assert_eq!(refused.code, 2);
    insta::assert_snapshot!(refused.stderr, @r"
    error: mine/graph_desc.json is there and has 38 links, not 156

    hint: --out FILE writes elsewhere, --overwrite replaces it
    ");
    assert_eq!(built("temporal", &["--out", "other.json"]).code, 0);
    assert_eq!(built("temporal", &["--overwrite"]).code, 0);
    assert_ne!(std::fs::read(harness.work().join("mine/graph_desc.json")).expect("written"), published);
}

#[test]
fn graphs_are_described() {
    let harness = Harness::new();
    let dir = example("data_studio");
    let (code, stats): (i32, Value) = harness.json(&["taskbench", "graph", "stats", "--data-dir", &dir, "--json"]);
    assert_eq!((code, stats["tools"].as_u64(), stats["links"].as_u64()), (0, Some(13), Some(38)));
    let told = graph(&harness, &["stats", &dir]);
    assert!(told.stdout.contains("chains of      1 to 10 tools, and longer ones were not tried\n"), "{}", told.stdout);
    assert_eq!(graph(&harness, &["stats", &dir, "--data-dir", &dir]).code, 2);
    assert!(told.stdout.contains("only sources   2: Article Reader, Video Fetcher"), "{}", told.stdout);
}
