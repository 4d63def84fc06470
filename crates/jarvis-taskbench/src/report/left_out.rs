//! What the figures of runs leave out, in words.

use jarvis_plan::export::text::cut;

use super::{DomainReport, Run};

/// Names of runs that are listed before the rest is counted.
const LISTED: usize = 6;

/// What the figures of a run leave out; `None` when they count everything.
fn left_out(run: &Run) -> Option<String> {
    let coverage = &run.coverage;
    let mut parts: Vec<String> =
        coverage.dropped.iter().map(|(reason, times)| format!("left out {times} where {reason}")).collect();
    let mut count = |n: usize, one: &str, more: &str| {
        if n > 0 {
            parts.push(format!("{n} {}", if n == 1 { one } else { more }));
        }
    };
    let missing = coverage.gold.saturating_sub(coverage.predicted);
    count(missing, "gold plan without a prediction", "gold plans without a prediction");
    count(coverage.surplus, "prediction for an unknown id", "predictions for unknown ids");
    count(coverage.repeated, "prediction that a later line replaced", "predictions that later lines replaced");
    let links = usize::try_from(coverage.malformed_links).unwrap_or(usize::MAX);
    count(links, "malformed link", "malformed links");
    let (one, more) = ("prediction line that cannot be read", "prediction lines that cannot be read");
    count(coverage.bad_predictions.len(), one, more);
    count(coverage.bad_gold.len(), "gold line that cannot be read", "gold lines that cannot be read");
    if parts.is_empty() { None } else { Some(parts.join("; ")) }
}

/// One sentence for all runs of a domain that leave out the same, in the order of the runs.
pub(super) fn sentences(domain: &DomainReport, names_domain: bool) -> Vec<String> {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for run in &domain.runs {
        let Some(words) = left_out(run) else { continue };
        match groups.iter_mut().find(|(known, _)| *known == words) {
            Some((_, names)) => names.push(&run.name),
            None => groups.push((words, vec![&run.name])),
        }
    }
    let place = if names_domain { format!(" in {}", domain.name) } else { String::new() };
    groups
        .into_iter()
        .map(|(words, names)| {
            let mut listed: Vec<String> = names.iter().take(LISTED).map(|name| cut(name, 60)).collect();
            if names.len() > LISTED {
                listed.push(format!("and {} more", names.len() - LISTED));
            }
            format!("{}{place}: {words}.", listed.join(", "))
        })
        .collect()
}
