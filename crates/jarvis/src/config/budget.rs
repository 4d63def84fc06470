//! What a run may take, and what model calls cost.

use indexmap::IndexMap;
use jarvis_engine::Price;
use jarvis_plan::Budget;
use serde::Deserialize;

use crate::budget::BudgetArgs;

/// The most that a run may take. At a bound nothing new starts, and the answer is made of what is there.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct BudgetConfig {
    /// Seconds of a run, without those in which somebody is asked; then nothing new starts. Also `--max-time`. Default: none.
    pub(crate) max_time_s: Option<f64>,
    /// Tokens of all model calls of a run, sent and received. Also `--max-tokens`. Default: none.
    pub(crate) max_tokens: Option<u64>,
    /// Model calls of a run. Also `--max-calls`. Default: none.
    pub(crate) max_calls: Option<u32>,
    /// Cost of all model calls of a run, in the currency of `prices`. Also `--max-cost`. Default: none.
    pub(crate) max_cost: Option<f64>,
}

impl BudgetConfig {
    /// Takes the bounds that flags give.
    pub(crate) fn set(&mut self, flags: BudgetArgs) {
        let Budget { max_time_s, max_tokens, max_calls, max_cost } = flags.budget();
        self.max_time_s = max_time_s.or(self.max_time_s);
        self.max_tokens = max_tokens.or(self.max_tokens);
        self.max_calls = max_calls.or(self.max_calls);
        self.max_cost = max_cost.or(self.max_cost);
    }

    pub(crate) fn budget(self) -> Budget {
        let BudgetConfig { max_time_s, max_tokens, max_calls, max_cost } = self;
        Budget { max_time_s, max_tokens, max_calls, max_cost }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct PricesConfig {
    /// The currency of all prices.
    pub(crate) currency: String,
    /// What a million tokens of a model cost, by its name or a pattern such as `gpt-4o-mini*`: `{input: 0.15, cached_input: 0.075,
    /// output: 0.6}`. The first pattern that fits counts. Default: no prices, and no cost is told.
    #[cfg_attr(test, serde(skip_serializing), schemars(with = "std::collections::BTreeMap<String, String>"))]
    pub(crate) models: IndexMap<String, Price>,
}

impl Default for PricesConfig {
    fn default() -> PricesConfig {
        PricesConfig { currency: "USD".to_owned(), models: IndexMap::new() }
    }
}
