//! The drawing of a plan: well-formed, nothing on top of anything, every edge to the right, hostile text as text.

use std::collections::HashMap;

use jarvis_plan::export::{Diagram, Edge, Ground, Node as Drawn};
use jarvis_plan::{Arg, Draft, DraftTask, Limits, Plan, TaskId, check, export};
use roxmltree::{Document, Node};

use crate::{planned, vocabulary};

type Points = Vec<(f64, f64)>;

/// What a drawing shows, read back from the SVG.
struct Drawing {
    /// The box of each task: left, top, right, bottom.
    boxes: HashMap<String, [f64; 4]>,
    /// Where each edge goes: its tasks and all the points of its path, control points included.
    edges: Vec<(String, String, Points)>,
    /// All the text shown, tooltips left out.
    text: Vec<String>,
    title: String,
    description: String,
}

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).unwrap_or_else(|| panic!("{name} is missing")).parse().unwrap()
}

fn read(svg: &str) -> Drawing {
    let document = Document::parse(svg).unwrap_or_else(|error| panic!("{error}\n{svg}"));
    let root = document.root_element();
    let view: Vec<f64> = root.attribute("viewBox").unwrap().split(' ').map(|n| n.parse().unwrap()).collect();
    let child = |name: &str| root.children().find(|node| node.has_tag_name(("http://www.w3.org/2000/svg", name)));
    let mut boxes = HashMap::new();
    let mut edges = Vec::new();
    for node in root.children().filter(|node| node.is_element()) {
        if let Some(task) = node.attribute("data-task") {
            let shape = node.children().find(|node| node.attribute("class") == Some("jp-box")).unwrap();
            let (x, y) = (number(shape, "x"), number(shape, "y"));
            let (width, height) = (number(shape, "width"), number(shape, "height"));
            assert!(
                x >= 0.0 && y >= -0.1 && x + width <= view[2] && y + height <= view[3],
                "task {task} is off the page"
            );
            let was = boxes.insert(task.to_owned(), [x, y, x + width, y + height]);
            assert!(was.is_none(), "task {task} is drawn twice");
        }
        if let Some(from) = node.attribute("data-from") {
            let path = node.attribute("d").unwrap().replace(['M', 'L', 'C'], " ");
            let numbers: Vec<f64> = path.split_whitespace().map(|n| n.parse().unwrap()).collect();
            let points = numbers.chunks(2).map(|pair| (pair[0], pair[1])).collect();
            edges.push((from.to_owned(), node.attribute("data-to").unwrap().to_owned(), points));
        }
    }
    let text = document
        .descendants()
        .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "text")))
        .map(|node| node.text().unwrap_or_default().to_owned())
        .collect();
    let words = |name| child(name).and_then(|node| node.text()).unwrap_or_default().to_owned();
    Drawing { boxes, edges, text, title: words("title"), description: words("desc") }
}

/// Draws a plan and checks what holds for every drawing.
pub(crate) fn drawn(plan: &Plan, extra: impl Fn(TaskId) -> Vec<String>) -> String {
    let svg = export::plan(plan, extra).svg(Ground::Transparent);
    let drawing = read(&svg);
    assert_eq!(drawing.boxes.len(), plan.tasks().len(), "{svg}");
    assert_eq!(drawing.edges.len(), plan.tasks().iter().map(|task| task.dep.len()).sum::<usize>(), "{svg}");
    let boxes: Vec<_> = drawing.boxes.iter().collect();
    for (nth, (a, [left, top, right, bottom])) in boxes.iter().enumerate() {
        for (b, other) in boxes.iter().take(nth) {
            let apart = *right <= other[0] || other[2] <= *left || *bottom <= other[1] || other[3] <= *top;
            assert!(apart, "{a} and {b} overlap\n{svg}");
        }
    }
    for (from, to, points) in &drawing.edges {
        for pair in points.windows(2) {
            assert!(pair[0].0 <= pair[1].0, "the edge from {from} to {to} goes back\n{svg}");
        }
        let (first, last) = (points[0], points[points.len() - 1]);
        let (start, end) = (drawing.boxes[from], drawing.boxes[to]);
        assert!(first.0 < last.0, "the edge from {from} to {to} does not go to the right\n{svg}");
        assert!((first.0 - start[2]).abs() < 0.2 && start[1] < first.1 && first.1 < start[3], "{from} to {to}\n{svg}");
        assert!((last.0 - end[0]).abs() < 0.2 && end[1] < last.1 && last.1 < end[3], "{from} to {to}\n{svg}");
        for (task, [left, top, right, bottom]) in &drawing.boxes {
            // The level stretches of an edge; its curves lie in the gaps between columns.
            for (a, b) in points.iter().zip(points.iter().skip(1)).filter(|(a, b)| a.1 == b.1) {
                let through = a.0 < right - 0.2 && b.0 > left + 0.2 && a.1 > *top && a.1 < *bottom;
                assert!(!through, "the edge from {from} to {to} runs through {task}\n{svg}");
            }
        }
    }
    svg
}

fn plan_of(deps: &[&[i64]]) -> Plan {
    let tasks = deps.iter().zip(0..).map(|(dep, id)| {
        let mut task = DraftTask::new(id, "translation");
        task.dep = dep.to_vec();
        task.args.insert("text".into(), Arg::literal("x".repeat(3 + 7 * (id as usize % 5))));
        task
    });
    check(&Draft { tasks: tasks.collect(), ..Draft::default() }, &vocabulary(), Limits { max_tasks: 2_000 })
}

#[test]
fn every_shape_is_drawn_apart() {
    let dense: Vec<Vec<i64>> = (0..32).map(|id| (0..id).collect()).collect();
    let dense: Vec<&[i64]> = dense.iter().map(Vec::as_slice).collect();
    let chain: Vec<Vec<i64>> = (0..40).map(|id| (id - 1..id).filter(|dep| *dep >= 0).collect()).collect();
    let chain: Vec<&[i64]> = chain.iter().map(Vec::as_slice).collect();
    let cases: [(&str, &[&[i64]]); 8] = [
        ("empty", &[]),
        ("one", &[&[]]),
        ("apart", &[&[], &[], &[]]),
        ("diamond with a short cut", &[&[], &[0], &[0], &[1, 2], &[0, 3]]),
        ("two chains that cross", &[&[], &[], &[1], &[0], &[2, 0], &[3, 1]]),
        ("fan", &[&[], &[0], &[0], &[0], &[0], &[0], &[1, 2, 3, 4, 5]]),
        ("chain", &chain),
        ("everything after everything", &dense),
    ];
    for (name, deps) in cases {
        let plan = plan_of(deps);
        assert_eq!(plan.tasks().len(), deps.len(), "{name}");
        drawn(&plan, |id| if id.0 % 2 == 0 { vec!["native/tool".to_owned()] } else { Vec::new() });
    }
}

#[test]
fn a_great_plan_is_drawn_too() {
    // More columns passed than have lanes: 300 levels, and edges that skip most of them.
    let deps: Vec<Vec<i64>> = (0..300)
        .map(|id: i64| [id - 1, id / 2, id / 3].into_iter().filter(|dep| (0..id).contains(dep)).collect())
        .collect();
    let deps: Vec<&[i64]> = deps.iter().map(Vec::as_slice).collect();
    let svg = export::plan(&plan_of(&deps), |_| Vec::new()).svg(Ground::Transparent);
    assert_eq!(read(&svg).boxes.len(), 300);
}

#[test]
fn any_graph_is_drawn() {
    type Links<'a> = &'a [(usize, usize)];
    let complete: Vec<(usize, usize)> = (0..9).flat_map(|from| (0..9).map(move |to| (from, to))).collect();
    let cases: [(&str, usize, Links<'_>); 6] = [
        ("cycle of two", 2, &[(0, 1), (1, 0)]),
        ("to itself", 1, &[(0, 0)]),
        ("the same twice", 2, &[(0, 1), (0, 1)]),
        ("cycle with a way in and a way out", 5, &[(0, 1), (1, 2), (2, 3), (3, 1), (3, 4)]),
        ("off the list", 1, &[(0, 7)]),
        ("complete", 9, &complete),
    ];
    for (name, count, links) in cases {
        let nodes = (0..).take(count).map(|id| Drawn { id, name: format!("n{id}"), ..Drawn::default() }).collect();
        let edges = links.iter().map(|(from, to)| Edge { from: *from, to: *to, label: Some("text".to_owned()) });
        let diagram = Diagram { name: "tools", title: name.to_owned(), nodes, edges: edges.collect() };
        let drawing = read(&diagram.svg(Ground::Painted));
        assert_eq!(drawing.boxes.len(), count, "{name}");
        let inside = links.iter().filter(|(from, to)| *from.max(to) < count);
        assert_eq!(drawing.edges.len(), inside.count(), "{name}");
        for (from, to, points) in drawing.edges.iter().filter(|(from, to, _)| from != to) {
            let is_forward = drawing.boxes[from][0] < drawing.boxes[to][0];
            assert_eq!(is_forward, points[0].0 < points[points.len() - 1].0, "{name}: from {from} to {to}");
            assert_ne!(drawing.boxes[from][0], drawing.boxes[to][0], "{name}: {from} and {to} share a column");
        }
    }
}

#[test]
fn what_a_drawing_says() {
    let plan = planned(
        r#"[
        {"task":"image-to-text","id":0,"dep":[-1],"args":{"image":"/images/房子.jpg"}},
        {"task":"translation","id":1,"dep":[0],"args":{"text":"<GENERATED>-0","to":"русский"}},
        {"task":"nonsense","id":2,"dep":[-1],"args":{"text":"a text that is much too long to be shown in full in a node"}}]"#,
    );
    let svg = drawn(&plan, |id| if id.0 == 1 { vec!["native/translate".to_owned()] } else { Vec::new() });
    let drawing = read(&svg);
    insta::assert_snapshot!(drawing.text.join("\n"), @r"
    0. image-to-text
    image: /images/房子.jpg
    1. translation
    text: <GENERATED>-0
    to: русский
    native/translate
    2. nonsense
    text: a text that is much too long to…
    no tool of this name is known
    ");
    insta::assert_snapshot!(drawing.title, @"Plan of 3 tasks in 2 stages");
    insta::assert_snapshot!(drawing.description, @r"
    0. image-to-text
    1. translation, after 0. image-to-text
    2. nonsense; unusable: no tool of this name is known
    ");
    assert_eq!(svg.matches("jp-node jp-fault").count(), 1);
    assert!(svg.contains("much too long to be shown in full in a node"), "the tooltip holds the whole text\n{svg}");
}

#[test]
fn hostile_text_stays_text() {
    let cases = [
        "</text><script>alert(1)</script>",
        "\"><image href=x onerror=alert(1)>",
        "' onload='alert(1)",
        "<![CDATA[ ]]> & &amp; &#x3c;",
        "nul \0, bell \u{7}, escape \u{1b}[31m, not a character \u{ffff}",
        "right to left \u{202e}gpj.exe and isolates \u{2066}x\u{2069}, tags \u{e0041}\u{e0042}",
        "line\nbreak\r\n\tand tab",
        "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
        "\u{200b}\u{200b}\u{200b}",
        "",
    ];
    for case in cases {
        for long in [case.to_owned(), case.repeat(2_000)] {
            let mut task = DraftTask::new(0, long.clone());
            task.args.insert(long.clone(), Arg::literal(long.clone()));
            let plan = check(&Draft { tasks: vec![task], ..Draft::default() }, &vocabulary(), Limits::default());
            let svg = drawn(&plan, |_| vec![long.clone()]);
            let document = Document::parse(&svg).unwrap();
            for node in document.descendants().filter(Node::is_element) {
                let name = node.tag_name().name();
                let known = ["svg", "title", "desc", "style", "defs", "marker", "path", "g", "rect", "text"];
                assert!(known.contains(&name), "<{name}> from {case:?}");
                assert!(node.attributes().all(|attribute| !attribute.name().starts_with("on")), "{case:?}");
            }
            let odd =
                |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}');
            assert!(!svg.contains(odd), "{case:?}");
            assert!(svg.len() < 20_000, "{} bytes for {case:?}", svg.len());
        }
    }
}
