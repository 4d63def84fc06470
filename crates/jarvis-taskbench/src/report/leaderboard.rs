//! The leaderboards that TaskBench published, as data.
//!
//! Source: microsoft/JARVIS `taskbench/README.md`, the tables of Multimedia Tools, HuggingFace Tools and Daily Life APIs.
//! Figures are times 100, on the full human-verified sets.

use std::sync::LazyLock;

const CSV: &str = include_str!("../../data/leaderboard.csv");

/// One model's published figures in one domain, times 100.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// As [`crate::data::Domain::known_as`] names it.
    pub domain: String,
    pub llm: String,
    /// In the order of [`super::METRICS`].
    pub figures: [f64; 7],
}

/// All published rows: 17 models in each of three domains.
pub fn leaderboard() -> &'static [Published] {
    static ROWS: LazyLock<Vec<Published>> = LazyLock::new(|| {
        let rows = csv::Reader::from_reader(CSV.as_bytes()).into_deserialize();
        let rows = rows.map(|row| row.map(|(domain, llm, figures)| Published { domain, llm, figures }));
        rows.collect::<Result<_, _>>().expect("the built-in table is valid")
    });
    &ROWS
}

pub fn published(domain: &str) -> impl Iterator<Item = &'static Published> {
    leaderboard().iter().filter(move |row| row.domain == domain)
}

/// How many samples the published figures of a domain rest on.
pub fn full_size(domain: &str) -> Option<usize> {
    match domain {
        "huggingface" => Some(7_546),
        "multimedia" => Some(5_584),
        "dailylifeapis" => Some(4_320),
        _ => None,
    }
}
