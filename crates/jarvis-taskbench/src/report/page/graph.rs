//! A small plan as a drawing, left to right, gold or predicted, with what is missing and surplus marked by line, word
//! and colour.
//!
//! Unlike a checked plan's drawing (`jarvis_plan::export::svg`), a prediction may be anything: links may form a cycle,
//! names may repeat or be unknown.

use maud::{Markup, html};

use super::super::text::{clean, cut, wrap};
use super::charts::px;

/// A node as it is drawn.
pub(super) struct Drawn {
    /// The name.
    pub(super) name: String,
    /// What hovers over it: name and arguments.
    pub(super) tooltip: String,
    /// Whether the other plan has it.
    pub(super) hit: bool,
    /// Whether the catalogue has it.
    pub(super) known: bool,
}

/// A link as it is drawn.
pub(super) struct Arrow {
    /// The place of the node it comes from.
    pub(super) from: usize,
    /// The place of the node it leads to.
    pub(super) to: usize,
    /// Whether the other plan has it.
    pub(super) hit: bool,
}

/// Nodes that are drawn; others are counted.
const MOST: usize = 24;
/// Links that are drawn; others are counted.
const MOST_LINKS: usize = 80;
const BOX: f64 = 122.0;
const LINE: f64 = 14.0;
const ACROSS: f64 = 34.0;
const DOWN: f64 = 14.0;
/// Cells of a line of a name.
const CELLS: usize = 16;
/// Room that a link takes in a column that it passes.
const LANE: f64 = 10.0;

/// What stands in a column: a node, or a link on its way to a later column.
#[derive(Clone, Copy, PartialEq)]
enum Item {
    Node(usize),
    Lane(usize),
}

/// Draws the plan; `word` is what a node is that the other plan lacks (`missing` or `surplus`). Returns the width in
/// pixels too, for who places two side by side.
pub(super) fn graph(title: &str, nodes: &[Drawn], arrows: &[Arrow], word: &'static str) -> (Markup, f64) {
    let shown = nodes.get(..nodes.len().min(MOST)).unwrap_or_default();
    let arrows: Vec<&Arrow> = arrows.iter().filter(|a| a.from < shown.len() && a.to < shown.len()).collect();
    let more_links = arrows.len().saturating_sub(MOST_LINKS);
    let arrows = arrows.get(..arrows.len().min(MOST_LINKS)).unwrap_or_default();
    let names: Vec<Vec<String>> =
        shown.iter().enumerate().map(|(at, node)| wrap(&format!("{at}. {}", node.name), CELLS, 3)).collect();
    let tall = |at: usize| {
        let lines = names.get(at).map_or(1, Vec::len)
            + usize::from(shown.get(at).is_some_and(|node| !tag(node, word).is_empty()));
        12.0 + LINE * lines as f64
    };
    let pairs: Vec<(usize, usize)> = arrows.iter().map(|arrow| (arrow.from, arrow.to)).collect();
    let (layers, back) = layers(shown.len(), &pairs);
    let columns = columns(&layers, &pairs, &back);
    let size = |item: &Item| match item {
        Item::Node(at) => tall(*at),
        Item::Lane(_) => LANE,
    };
    let heights: Vec<f64> = columns
        .iter()
        .map(|column| column.iter().map(size).sum::<f64>() + DOWN * column.len().saturating_sub(1) as f64)
        .collect();
    let body = heights.iter().copied().fold(24.0, f64::max);
    // The top of each node, and the height at which each link passes each column.
    let mut tops = vec![0.0; shown.len()];
    let mut lanes: Vec<Vec<(usize, f64)>> = vec![Vec::new(); pairs.len()];
    for (layer, (column, height)) in columns.iter().zip(&heights).enumerate() {
        let mut y = (body - height) / 2.0;
        for item in column {
            match item {
                Item::Node(at) => tops.iter_mut().skip(*at).take(1).for_each(|top| *top = y),
                Item::Lane(link) => {
                    lanes.iter_mut().skip(*link).take(1).for_each(|lane| lane.push((layer, y + LANE / 2.0)));
                }
            }
            y += size(item) + DOWN;
        }
    }
    let at = |node: usize| -> (f64, f64) {
        let layer = layers.get(node).copied().unwrap_or(0) as f64;
        (layer * (BOX + ACROSS), tops.get(node).copied().unwrap_or(0.0))
    };
    let returning = back.iter().filter(|back| **back).count() as f64;
    let width = (columns.len().max(1) as f64) * (BOX + ACROSS) - ACROSS;
    let height = body + if returning > 0.0 { 16.0 + 8.0 * returning } else { 0.0 };
    let mut nth_back = 0.0;
    let drawn = html! {
        svg.graph viewBox=(format!("-4 -4 {} {}", px(width + 8.0), px(height + 8.0))) width=(px(width + 8.0)) height=(px(height + 8.0))
            role="img" aria-label=(title) {
            @if shown.is_empty() { text.label x="0" y="16" { "no nodes" } }
            @for (link, arrow) in arrows.iter().enumerate() {
                @let from = (at(arrow.from).0 + BOX, at(arrow.from).1 + tall(arrow.from) / 2.0);
                @let to = (at(arrow.to).0, at(arrow.to).1 + tall(arrow.to) / 2.0);
                g class=(if arrow.hit { "link hit" } else { word_class(word, true) }) {
                    title {
                        (cut(shown.get(arrow.from).map_or("", |node| &node.name), 60)) " → "
                        (cut(shown.get(arrow.to).map_or("", |node| &node.name), 60))
                        @if !arrow.hit { " (" (word) ")" }
                    }
                    @if back.get(link).copied().unwrap_or(false) {
                        @let below = body + 8.0 + 8.0 * { nth_back += 1.0; nth_back };
                        path.line d=(around(from, to, at(arrow.from).1 + tall(arrow.from), at(arrow.to).1 + tall(arrow.to), below)) {}
                        path.head d=(format!("M{} {}l-4 8h8z", px(to.0 + BOX / 2.0), px(at(arrow.to).1 + tall(arrow.to)))) {}
                    } @else {
                        path.line d=(through(from, (to.0 - 6.0, to.1), lanes.get(link).map_or(&[], Vec::as_slice))) {}
                        path.head d=(format!("M{} {}l-8 -4v8z", px(to.0), px(to.1))) {}
                    }
                }
            }
            @for (place, node) in shown.iter().enumerate() {
                @let (x, y) = at(place);
                g class=(if node.hit { "node hit" } else { word_class(word, false) }) {
                    title { (clean(&node.tooltip)) }
                    rect.box x=(px(x)) y=(px(y)) width=(px(BOX)) height=(px(tall(place))) rx="6" {}
                    @for (line, text) in names.get(place).into_iter().flatten().enumerate() {
                        text.name x=(px(x + 8.0)) y=(px(y + 17.0 + LINE * line as f64)) { (text) }
                    }
                    @if !tag(node, word).is_empty() {
                        text.tag x=(px(x + 8.0)) y=(px(y + 16.0 + LINE * names.get(place).map_or(1, Vec::len) as f64)) { (tag(node, word)) }
                    }
                }
            }
        }
        @if more_links > 0 { p.soft { "and " (more_links) " more links" } }
        @if nodes.len() > shown.len() { p.soft { "and " (nodes.len() - shown.len()) " more nodes" } }
    };
    (drawn, width + 8.0)
}

/// What is written under a name.
fn tag(node: &Drawn, word: &'static str) -> &'static str {
    match (node.hit, node.known) {
        (true, true) => "",
        (true, false) => "not in catalogue",
        (false, true) => word,
        (false, false) if word == "surplus" => "unknown tool",
        (false, false) => word,
    }
}

fn word_class(word: &str, link: bool) -> &'static str {
    match (word, link) {
        ("missing", true) => "link missing",
        ("missing", false) => "node missing",
        (_, true) => "link surplus",
        (_, false) => "node surplus",
    }
}

/// A curve from box to box through the lanes of the columns between.
fn through(from: (f64, f64), to: (f64, f64), lanes: &[(usize, f64)]) -> String {
    let mut path = format!("M{} {}", px(from.0), px(from.1));
    let mut here = from;
    let curve = |path: &mut String, here: (f64, f64), there: (f64, f64)| {
        let middle = px(f64::midpoint(here.0, there.0));
        path.push_str(&format!("C{middle} {} {middle} {} {} {}", px(here.1), px(there.1), px(there.0), px(there.1)));
    };
    for (layer, y) in lanes {
        let x = *layer as f64 * (BOX + ACROSS);
        curve(&mut path, here, (x, *y));
        path.push_str(&format!("H{}", px(x + BOX)));
        here = (x + BOX, *y);
    }
    curve(&mut path, here, to);
    path
}

/// A line under all boxes, for a link that leads back.
fn around(from: (f64, f64), to: (f64, f64), from_bottom: f64, to_bottom: f64, below: f64) -> String {
    let (x1, x2) = (from.0 - BOX / 2.0 + 10.0, to.0 + BOX / 2.0);
    format!("M{} {}V{}H{}V{}", px(x1), px(from_bottom), px(below), px(x2), px(to_bottom + 6.0))
}

/// The column of each node, and for each link whether it leads back (which cycles make one do).
fn layers(nodes: usize, links: &[(usize, usize)]) -> (Vec<usize>, Vec<bool>) {
    // A depth-first walk: a link to a node that is still open leads back.
    let mut back = vec![false; links.len()];
    let mut state = vec![0u8; nodes];
    let mut done = Vec::with_capacity(nodes);
    for start in 0..nodes {
        if state.get(start) != Some(&0) {
            continue;
        }
        let mut open = vec![(start, 0)];
        set(&mut state, start, 1);
        while let Some((node, next)) = open.pop() {
            let out = links.iter().enumerate().skip(next).find(|(_, (from, _))| *from == node);
            let Some((link, (_, to))) = out else {
                set(&mut state, node, 2);
                done.push(node);
                continue;
            };
            open.push((node, link + 1));
            match state.get(*to) {
                Some(1) => set(&mut back, link, true),
                Some(0) => {
                    set(&mut state, *to, 1);
                    open.push((*to, 0));
                }
                Some(_) | None => {}
            }
        }
    }
    let mut layers = vec![0; nodes];
    for node in done.into_iter().rev() {
        let own = layers.get(node).copied().unwrap_or(0);
        for ((_, to), _) in links.iter().zip(&back).filter(|((from, _), back)| *from == node && !**back) {
            let to_layer = layers.get(*to).copied().unwrap_or(0);
            set(&mut layers, *to, to_layer.max(own + 1));
        }
    }
    (layers, back)
}

fn set<T>(all: &mut [T], at: usize, value: T) {
    if let Some(own) = all.get_mut(at) {
        *own = value;
    }
}

/// What stands in each column, from the top, so that links cross little: each item goes where its neighbours are.
fn columns(layers: &[usize], links: &[(usize, usize)], back: &[bool]) -> Vec<Vec<Item>> {
    let count = layers.iter().max().map_or(0, |last| last + 1);
    let mut columns: Vec<Vec<Item>> = vec![Vec::new(); count];
    let layer = |node: usize| layers.get(node).copied().unwrap_or(0);
    for (node, own) in layers.iter().enumerate() {
        columns.iter_mut().skip(*own).take(1).for_each(|column| column.push(Item::Node(node)));
    }
    // The items that each link passes, in order.
    let mut ways: Vec<Vec<Item>> = Vec::with_capacity(links.len());
    for (link, (from, to)) in links.iter().enumerate() {
        if back.get(link).copied().unwrap_or(false) {
            continue;
        }
        let between = layer(*from) + 1..layer(*to);
        columns.iter_mut().take(between.end).skip(between.start).for_each(|column| column.push(Item::Lane(link)));
        let lanes = std::iter::repeat_n(Item::Lane(link), between.len());
        ways.push(std::iter::once(Item::Node(*from)).chain(lanes).chain([Item::Node(*to)]).collect());
    }
    for round in 0..6 {
        let forward = round % 2 == 0;
        for nth in 1..count {
            let (own, other) = if forward { (nth, nth - 1) } else { (count - 1 - nth, count - nth) };
            let beside: Vec<Item> = columns.get(other).cloned().unwrap_or_default();
            let place = |item: &Item| beside.iter().position(|found| found == item);
            let Some(column) = columns.get_mut(own) else { continue };
            let mean = |item: &Item, at: usize| -> f64 {
                let mut sum = 0.0;
                let mut of = 0.0;
                for way in &ways {
                    for step in way.windows(2) {
                        let &[before, after] = step else { continue };
                        let (mine, theirs) = if forward { (after, before) } else { (before, after) };
                        if mine == *item
                            && let Some(place) = place(&theirs)
                        {
                            sum += place as f64;
                            of += 1.0;
                        }
                    }
                }
                if of > 0.0 { sum / of } else { at as f64 }
            };
            let mut keyed: Vec<(f64, Item)> =
                column.iter().enumerate().map(|(at, item)| (mean(item, at), *item)).collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            *column = keyed.into_iter().map(|(_, item)| item).collect();
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::{columns, layers};

    #[test]
    fn layers_follow_the_longest_way_and_cycles_lead_back_once() {
        for (nodes, links, expected, returning) in [
            (3, vec![(0, 1), (1, 2), (0, 2)], vec![0, 1, 2], 0),
            (3, vec![(2, 1), (1, 0)], vec![2, 1, 0], 0),
            (2, vec![(0, 1), (1, 0)], vec![0, 1], 1),
            (3, vec![(0, 1), (1, 2), (2, 0)], vec![0, 1, 2], 1),
            (2, vec![], vec![0, 0], 0),
            (0, vec![], vec![], 0),
        ] {
            let (found, back) = layers(nodes, &links);
            assert_eq!(found, expected, "{links:?}");
            assert_eq!(back.iter().filter(|back| **back).count(), returning, "{links:?}");
            let items: usize = columns(&found, &links, &back).iter().map(Vec::len).sum();
            assert!(items >= nodes);
        }
    }
}
