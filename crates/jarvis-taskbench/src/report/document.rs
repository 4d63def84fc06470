//! The report as one JSON document, for programs.

use serde_json::{Map, Value, json};

use super::table::{Cells, EXTRA_COLUMNS, Source, notes, rows, wanted};
use super::{Metric, Report};

/// The report: its `domains`; its `rows`, one for each model and domain, in the table's order, with figures from 0 to 100
/// (`null` where there is none) under `figures` and, of runs, `strict`; and its `notes` in words.
pub fn document(report: &Report) -> Value {
    let metrics = wanted(report.wanted);
    let mut lines = Vec::new();
    for row in rows(report) {
        for (domain, cells) in report.domains.iter().zip(&row.cells) {
            let Some(cells) = cells else { continue };
            let run = domain.runs.iter().find(|run| row.source == Source::Run && run.name == row.name);
            lines.push(json!({
                "model": row.name,
                "source": row.source.as_str(),
                "domain": domain.name,
                "file": run.map(|run| run.file.display().to_string()),
                "n": cells.samples.map(|(scored, _)| scored),
                "of": cells.samples.map(|(_, gold)| gold),
                "missing": run.map(|run| run.coverage.gold.saturating_sub(run.coverage.predicted)),
                "left_out": run.map(|run| &run.coverage.dropped),
                "figures": figures(cells, &metrics),
                "strict": run.map(|_| strict(cells)),
            }));
        }
    }
    let domains: Vec<Value> = report
        .domains
        .iter()
        .map(|domain| {
            json!({
                "name": domain.name,
                "dependency_type": domain.dependency.as_str(),
                "tools": domain.tools.tools.len(),
                "gold": domain.runs.first().map(|run| run.coverage.gold),
            })
        })
        .collect();
    json!({"domains": domains, "rows": lines, "notes": notes(report)})
}

fn figures(cells: &Cells, metrics: &[(usize, &Metric)]) -> Map<String, Value> {
    let figure = |at: usize| cells.figures.get(at).copied().flatten().map_or(Value::Null, rounded);
    metrics.iter().map(|(at, metric)| (metric.short.to_owned(), figure(*at))).collect()
}

fn strict(cells: &Cells) -> Map<String, Value> {
    let known = EXTRA_COLUMNS.iter().zip(&cells.extra).filter_map(|((header, _, _), figure)| {
        let figure = figure.as_ref()?;
        let name = header.strip_prefix("strict ").unwrap_or(header);
        Some((name.to_owned(), figure.as_f64().map_or(Value::Null, |figure| rounded(figure * 100.0))))
    });
    known.collect()
}

fn rounded(figure: f64) -> Value {
    ((figure * 1e4).round() / 1e4).into()
}
