//! A tool graph as a picture, readable on light and on dark ground and to a screen reader.

use std::fmt::Write;

use super::layout::{Layout, Point, angle, extent, layout};
use super::text::{cells, cut, xml_escape};
use super::{Net, NetLink, NetNode};
use crate::data::ToolGraph;

/// Cells of a name that is shown whole.
const NAME: usize = 34;
/// Width of a cell of a name: a safe mean of a proportional font of 13 pixels.
const CELL: f64 = 7.4;
/// Height of a label.
const HEIGHT: f64 = 26.0;
/// Space around the drawing.
const MARGIN: f64 = 24.0;
/// Kinds that have a colour of their own; others share the last colour.
const KINDS: [&str; 5] = ["text", "image", "audio", "video", "url"];

const STYLE: &str = "\
svg:root{color-scheme:light dark}.tg-ground{fill:#fff}\
.tg-box{fill:#fff;stroke:#5b6b82;stroke-width:1.4}.tg-odd .tg-box{stroke:#c0392b;stroke-dasharray:5 3}\
.tg-dot{fill:#5b6b82}\
.tg-name,.tg-key{font:500 13px system-ui,'Segoe UI','Noto Sans','Noto Sans CJK SC',sans-serif;fill:#16202e}\
.tg-link{fill:none;stroke-width:1.3}.tg-link,.tg-head{opacity:var(--tg-ink)}\
.tg-c0{stroke:#3465c4}.tg-c1{stroke:#1f8a4c}.tg-c2{stroke:#c2711a}.tg-c3{stroke:#9a3fb5}.tg-c4{stroke:#c23a52}.tg-c5{stroke:#6b7888}\
.tg-h0{fill:#3465c4}.tg-h1{fill:#1f8a4c}.tg-h2{fill:#c2711a}.tg-h3{fill:#9a3fb5}.tg-h4{fill:#c23a52}.tg-h5{fill:#6b7888}\
.tg-n:hover .tg-box{stroke-width:2.6}\
@media (prefers-color-scheme:dark){.tg-ground{fill:#12161c}\
.tg-box{fill:#1b2330;stroke:#8c9ab0}.tg-odd .tg-box{stroke:#ff8a7a}.tg-dot{fill:#8c9ab0}.tg-name,.tg-key{fill:#eef2f8}\
.tg-c0{stroke:#7ea6f4}.tg-c1{stroke:#5ecb8d}.tg-c2{stroke:#f0a957}.tg-c3{stroke:#cf8be4}.tg-c4{stroke:#f28a9b}.tg-c5{stroke:#a5b1c0}\
.tg-h0{fill:#7ea6f4}.tg-h1{fill:#5ecb8d}.tg-h2{fill:#f0a957}.tg-h3{fill:#cf8be4}.tg-h4{fill:#f28a9b}.tg-h5{fill:#a5b1c0}}";

/// The graph as an SVG document: tools where the lengths of the ways between them put them, or on a circle when nearly all
/// are linked; a link's colour is its kind. Long names are cut; the whole name and the description are the tool's tooltip.
/// Tools that only links name have a dashed border. The ground is painted, since a browser shows a drawing that stands alone
/// on white whatever the scheme.
pub fn svg(graph: &ToolGraph) -> String {
    let net = Net::of(graph);
    let names: Vec<String> = net.nodes.iter().map(|node| cut(node.name, NAME)).collect();
    let sizes: Vec<Point> = names.iter().map(|name| (cells(name) as f64 * CELL + 22.0, HEIGHT)).collect();
    let pairs: Vec<(usize, usize)> = net.links.iter().map(|link| (link.from, link.to)).collect();
    let mut body = String::new();
    let (min, max) = match layout(&sizes, &pairs) {
        Layout::Free(places) => {
            free(&mut body, &net, &names, &sizes, &places);
            extent(&places, &sizes)
        }
        Layout::Circle(radius) => {
            circle(&mut body, &net, &names, radius);
            let out = radius + 16.0 + sizes.iter().map(|(width, _)| *width).fold(0.0, f64::max);
            ((-out, -out), (out, out))
        }
    };
    let key = key(&net, (min.0, max.1 + 34.0));
    let below = if key.is_empty() { 0.0 } else { 40.0 };
    let (width, height) = (max.0 - min.0 + 2.0 * MARGIN, max.1 - min.1 + 2.0 * MARGIN + below);
    let (width, height) = (width.max(if key.is_empty() { 0.0 } else { 480.0 }), height);
    let mut out = String::new();
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"{:.0} {:.0} {width:.0} {height:.0}\" role=\"img\" aria-labelledby=\"tg-title tg-desc\" \
         style=\"--tg-ink:{:.2}\">\n<title id=\"tg-title\">Tool graph: {} tool{}, {} link{}</title>\n\
         <desc id=\"tg-desc\">{}</desc>\n<style>{STYLE}</style>\n\
         <rect class=\"tg-ground\" x=\"{:.0}\" y=\"{:.0}\" width=\"100%\" height=\"100%\"/>\n",
        min.0 - MARGIN,
        min.1 - MARGIN,
        ink(net.links.len()),
        net.nodes.len(),
        if net.nodes.len() == 1 { "" } else { "s" },
        net.links.len(),
        if net.links.len() == 1 { "" } else { "s" },
        xml_escape(&description(&net)),
        min.0 - MARGIN,
        min.1 - MARGIN,
    );
    out.push_str(&body);
    out.push_str(&key);
    out.push_str("</svg>\n");
    out
}

/// How strongly links are drawn: the more there are, the fainter.
fn ink(links: usize) -> f64 {
    (9.0 / (links.max(1) as f64).sqrt()).clamp(0.16, 0.85)
}

/// The graph in words: what each tool leads to, for who cannot see it; of large graphs only the first links of a tool.
fn description(net: &Net<'_>) -> String {
    const SHOWN: usize = 6;
    let mut after: Vec<Vec<&str>> = vec![Vec::new(); net.nodes.len()];
    for link in &net.links {
        if let (Some(list), Some(to)) = (after.get_mut(link.from), net.nodes.get(link.to)) {
            list.push(to.name);
        }
    }
    let mut out = String::new();
    for (node, after) in net.nodes.iter().zip(&after) {
        let shown: Vec<String> = after.iter().take(SHOWN).map(|name| cut(name, NAME)).collect();
        let _ = match (after.len(), after.len().saturating_sub(SHOWN)) {
            (0, _) => write!(out, "{}: nothing. ", cut(node.name, NAME)),
            (_, 0) => write!(out, "{}: {}. ", cut(node.name, NAME), shown.join(", ")),
            (_, more) => write!(out, "{}: {} and {more} more. ", cut(node.name, NAME), shown.join(", ")),
        };
    }
    out.truncate(out.trim_end().len());
    out
}

/// The colour of a kind.
fn colour(kind: Option<&str>) -> usize {
    let known = kind.and_then(|kind| KINDS.iter().position(|known| known.eq_ignore_ascii_case(kind)));
    known.unwrap_or(KINDS.len())
}

/// What the colours mean; nothing when there is only one without a name.
fn key(net: &Net<'_>, (mut x, y): Point) -> String {
    let mut used: Vec<(usize, String)> = Vec::new();
    for kind in net.links.iter().map(|link| link.kind) {
        let name = match (colour(kind), kind) {
            (at, Some(kind)) if at < KINDS.len() => kind.to_lowercase(),
            (_, Some(_)) => "another kind".to_owned(),
            (_, None) => "no kind".to_owned(),
        };
        if !used.iter().any(|(_, known)| *known == name) {
            used.push((colour(kind), name));
        }
    }
    used.sort();
    if used.iter().all(|(_, name)| name == "no kind") {
        return String::new();
    }
    let mut out = String::new();
    for (colour, name) in used {
        let _ = writeln!(
            out,
            "<path class=\"tg-link tg-c{colour}\" style=\"opacity:1;stroke-width:3\" d=\"M{x:.0} {y:.0}h22\"/>\
             <text class=\"tg-key\" x=\"{:.0}\" y=\"{:.0}\">{name}</text>",
            x + 28.0,
            y + 4.0,
        );
        x += 28.0 + cells(&name) as f64 * CELL + 22.0;
    }
    out
}

fn tooltip(node: &NetNode<'_>) -> String {
    let name = cut(node.name, 200);
    let text = match (node.known, node.desc) {
        (false, _) => format!("{name}: no tool of the graph"),
        (true, "") => name,
        (true, desc) => format!("{name}: {}", cut(desc, 400)),
    };
    xml_escape(&text)
}

fn free(out: &mut String, net: &Net<'_>, names: &[String], sizes: &[Point], places: &[Point]) {
    for link in &net.links {
        if let (Some(from), Some(to), Some(size)) = (places.get(link.from), places.get(link.to), sizes.get(link.to)) {
            if link.from == link.to {
                own_link(out, link, *from, *size);
            } else {
                curve(out, link, *from, *to, *size);
            }
        }
    }
    for (((node, name), size), place) in net.nodes.iter().zip(names).zip(sizes).zip(places) {
        let _ = writeln!(
            out,
            "<g class=\"tg-n{}\"><title>{}</title><rect class=\"tg-box\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" \
             height=\"{:.1}\" rx=\"13\"/><text class=\"tg-name\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text></g>",
            if node.known { "" } else { " tg-odd" },
            tooltip(node),
            place.0 - size.0 / 2.0,
            place.1 - size.1 / 2.0,
            size.0,
            size.1,
            place.0,
            place.1 + 4.5,
            xml_escape(name),
        );
    }
}

/// A link as a slight curve to the right of its way, so that one there and one back do not cover each other.
fn curve(out: &mut String, link: &NetLink<'_>, from: Point, to: Point, size: Point) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let bend = ((from.0 + to.0) / 2.0 - dy * 0.07, (from.1 + to.1) / 2.0 + dx * 0.07);
    let end = border(bend, to, size);
    line(out, link, from, bend, end);
}

/// A link from a tool to itself: a loop above its label.
fn own_link(out: &mut String, link: &NetLink<'_>, at: Point, size: Point) {
    let colour = colour(link.kind);
    let top = at.1 - size.1 / 2.0;
    let _ =
        writeln!(out, "<path class=\"tg-link tg-c{colour}\" d=\"M{:.1} {top:.1}c-6 -22 26 -22 20 0\"/>", at.0 - 10.0);
}

/// A line with its head.
fn line(out: &mut String, link: &NetLink<'_>, from: Point, bend: Point, end: Point) {
    let colour = colour(link.kind);
    let _ = write!(
        out,
        "<path class=\"tg-link tg-c{colour}\" d=\"M{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}\"/>",
        from.0, from.1, bend.0, bend.1, end.0, end.1
    );
    let (dx, dy) = (end.0 - bend.0, end.1 - bend.1);
    let far = dx.hypot(dy).max(1e-6);
    let (ux, uy) = (dx / far, dy / far);
    let _ = writeln!(
        out,
        "<path class=\"tg-head tg-h{colour}\" d=\"M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}z\"/>",
        end.0,
        end.1,
        end.0 - ux * 8.0 - uy * 3.4,
        end.1 - uy * 8.0 + ux * 3.4,
        end.0 - ux * 8.0 + uy * 3.4,
        end.1 - uy * 8.0 - ux * 3.4,
    );
}

/// Where the line from `from` to the middle of a label meets its border.
fn border(from: Point, middle: Point, size: Point) -> Point {
    let (dx, dy) = (from.0 - middle.0, from.1 - middle.1);
    let share = |half: f64, d: f64| if d.abs() < 1e-9 { f64::MAX } else { half / d.abs() };
    let share = share(size.0 / 2.0 + 1.0, dx).min(share(size.1 / 2.0 + 1.0, dy)).min(1.0);
    (middle.0 + dx * share, middle.1 + dy * share)
}

/// Tools as dots on a circle with their names outside, links as curves towards the middle. Links both ways are one line.
fn circle(out: &mut String, net: &Net<'_>, names: &[String], radius: f64) {
    let n = net.nodes.len();
    let place = |at: usize| (angle(at, n).cos() * radius, angle(at, n).sin() * radius);
    let there: std::collections::HashSet<(usize, usize)> = net.links.iter().map(|link| (link.from, link.to)).collect();
    for link in net.links.iter().filter(|link| link.from != link.to) {
        let both = there.contains(&(link.to, link.from));
        if both && link.from > link.to {
            continue;
        }
        let (from, to) = (place(link.from), place(link.to));
        let bend = ((from.0 + to.0) * 0.3, (from.1 + to.1) * 0.3);
        if both {
            let _ = writeln!(
                out,
                "<path class=\"tg-link tg-c{}\" style=\"stroke-width:0.9\" d=\"M{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}\"/>",
                colour(link.kind),
                from.0,
                from.1,
                bend.0,
                bend.1,
                to.0,
                to.1
            );
        } else {
            line(out, link, from, bend, to);
        }
    }
    for (at, (node, name)) in net.nodes.iter().zip(names).enumerate() {
        let turn = angle(at, n);
        let (x, y) = place(at);
        // Names on the left are turned round, so that none stands on its head.
        let left = turn.cos() < -1e-9;
        let (anchor, away, degrees) =
            if left { ("end", -10.0, turn.to_degrees() + 180.0) } else { ("start", 10.0, turn.to_degrees()) };
        let _ = writeln!(
            out,
            "<g class=\"tg-n{}\"><title>{}</title><circle class=\"tg-dot\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>\
             <text class=\"tg-name\" text-anchor=\"{anchor}\" transform=\"translate({x:.1} {y:.1}) rotate({degrees:.1})\" \
             x=\"{away:.0}\" y=\"4.5\">{}</text></g>",
            if node.known { "" } else { " tg-odd" },
            tooltip(node),
            xml_escape(name),
        );
    }
}
