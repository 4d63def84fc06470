//! The worst samples: what was asked, both graphs side by side, and in words what is wrong.

use maud::{Markup, html};

use super::super::measure::Sample;
use super::super::plan::{Names, PlanView};
use super::super::text::{cut, several};
use super::graph::{Arrow, Drawn, graph};
use super::ticked;

/// Widest drawing of which two stand side by side, in pixels.
const SIDE_BY_SIDE: f64 = 560.0;
/// Widest drawing that is made smaller to fit a broad window; wider ones are scrolled.
const FITTED: f64 = 1_600.0;
/// Cells of a request.
const REQUEST: usize = 1_500;
/// Cells of a step or an argument.
const STEP: usize = 400;
/// Steps and calls that are listed, and arguments of a call.
const LISTED: usize = 40;
const ARGUMENTS: usize = 12;

/// One sample.
pub(super) fn sample(rank: usize, sample: &Sample, names: &Names) -> Markup {
    let nothing = PlanView::default();
    let predicted = sample.predicted.as_ref().unwrap_or(&nothing);
    let (gold_graph, gold_width) =
        drawn("Gold plan", &sample.gold, &sample.diff.gold_nodes, &sample.diff.gold_links, names, "missing");
    let (own_graph, own_width) = drawn(
        "Predicted plan",
        predicted,
        &sample.diff.predicted_nodes,
        &sample.diff.predicted_links,
        names,
        "surplus",
    );
    let widest = gold_width.max(own_width);
    html! {
        article.sample {
            h5 {
                span.rank { (rank) "." } " " code { (cut(&sample.id, 120)) }
                span.facts {
                    @if let Some(shape) = &sample.shape { (cut(shape, 20)) ", " }
                    (several(sample.gold.nodes.len(), "node"))
                    " · nodes F1 " (percent(sample.diff.nodes_f1()))
                    @if sample.diff.links.gold + sample.diff.links.predicted > 0 { " · links F1 " (percent(sample.diff.links.f1())) }
                }
            }
            blockquote { (cut(&sample.request, REQUEST)) }
            ul.wrong {
                @for complaint in &sample.complaints { li { (ticked(complaint)) } }
                @if let Some(reason) = sample.left_out.as_ref().filter(|_| sample.predicted.is_some()) { li { "Left out of the original's figures: " (ticked(reason)) } }
            }
            div class=(if widest > SIDE_BY_SIDE { if widest > FITTED { "graphs wide" } else { "graphs wide fitted" } } else { "graphs" }) {
                figure { figcaption { "Gold" } div.scroll { (gold_graph) } }
                figure {
                    figcaption { "Predicted" }
                    @if sample.predicted.is_some() { div.scroll { (own_graph) } } @else { p.soft { "no plan" } }
                }
            }
            details {
                summary { "Steps and calls" }
                div.graphs {
                    div { (texts("Gold", &sample.gold, names)) }
                    div { (texts("Predicted", predicted, names)) }
                }
            }
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:.0}", share * 100.0)
}

fn drawn(
    title: &str,
    plan: &PlanView,
    nodes: &[bool],
    links: &[bool],
    names: &Names,
    word: &'static str,
) -> (Markup, f64) {
    let nodes: Vec<Drawn> = plan
        .nodes
        .iter()
        .zip(nodes)
        .map(|(node, hit)| {
            let name = names.shown(&node.key).to_owned();
            let arguments: Vec<String> = node.arguments.iter().take(8).map(|text| cut(text, 80)).collect();
            let tooltip = format!("{}({})", cut(&name, 120), arguments.join(", "));
            Drawn { name, tooltip, hit: *hit, known: names.has(&node.key) }
        })
        .collect();
    let arrows: Vec<Arrow> =
        plan.links.iter().zip(links).map(|((from, to), hit)| Arrow { from: *from, to: *to, hit: *hit }).collect();
    // The drawing in words, for who cannot see it.
    let listed: Vec<String> = nodes.iter().map(|node| cut(&node.name, 60)).collect();
    graph(&format!("{title}: {}", cut(&listed.join(", "), 600)), &nodes, &arrows, word)
}

fn texts(title: &str, plan: &PlanView, names: &Names) -> Markup {
    html! {
        h6 { (title) " steps" }
        @if plan.steps.is_empty() { p.soft { "none" } }
        ol { @for step in plan.steps.iter().take(LISTED) { li { (cut(step, STEP)) } } }
        h6 { (title) " calls" }
        @if plan.nodes.is_empty() { p.soft { "none" } }
        ol start="0" {
            @for node in plan.nodes.iter().take(LISTED) {
                li {
                    code { (cut(names.shown(&node.key), 120)) }
                    @for argument in node.arguments.iter().take(ARGUMENTS) { " " span.argument { (cut(argument, STEP)) } }
                }
            }
        }
    }
}
