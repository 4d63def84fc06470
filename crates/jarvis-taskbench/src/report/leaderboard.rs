//! The leaderboards that TaskBench published, as data.
//!
//! Source: microsoft/JARVIS `taskbench/README.md`, the tables of Multimedia Tools, HuggingFace Tools and Daily Life APIs.
//! Figures are times 100, on the full human-verified sets.

use std::sync::LazyLock;

use serde::Deserialize;

/// The published figures, as comma-separated values.
const CSV: &str = include_str!("../../data/leaderboard.csv");

/// One model's published figures in one domain, times 100.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Published {
    /// As [`crate::data::Domain::known_as`] names it.
    pub domain: String,
    pub llm: String,
    #[serde(rename = "R1")]
    pub rouge1: f64,
    #[serde(rename = "R2")]
    pub rouge2: f64,
    #[serde(rename = "BsF")]
    pub bertscore: f64,
    #[serde(rename = "n-F1")]
    pub node_f1: f64,
    #[serde(rename = "e-F1")]
    pub link_f1: f64,
    #[serde(rename = "t-F1")]
    pub name_f1: f64,
    /// F1 of argument names with values.
    #[serde(rename = "v-F1")]
    pub value_f1: f64,
}

impl Published {
    /// The figures in the order of [`super::METRICS`].
    pub fn figures(&self) -> [f64; 7] {
        let Published { domain: _, llm: _, rouge1, rouge2, bertscore, node_f1, link_f1, name_f1, value_f1 } = self;
        [*rouge1, *rouge2, *bertscore, *node_f1, *link_f1, *name_f1, *value_f1]
    }
}

/// All published rows: 17 models in each of three domains.
pub fn leaderboard() -> &'static [Published] {
    // Rows that cannot be read would be left out; a test counts them.
    static ROWS: LazyLock<Vec<Published>> =
        LazyLock::new(|| csv::Reader::from_reader(CSV.as_bytes()).deserialize().filter_map(Result::ok).collect());
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
