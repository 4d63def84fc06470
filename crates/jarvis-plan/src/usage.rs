//! Usage: how many model calls a run made, by stage, the tokens they took and what they cost; and the bounds of it.

use std::fmt;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// Model calls and tokens of a run, in all and by stage. Retries of one call by the client count once.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Calls made, by stage, in the order first made.
    pub calls: IndexMap<String, u32>,
    /// Tokens sent.
    pub prompt_tokens: u64,
    /// Tokens received.
    pub completion_tokens: u64,
    /// The same by stage.
    #[serde(default)]
    pub by_stage: IndexMap<String, StageUsage>,
    /// What the calls cost, as far as their models have a price; `None` where none has.
    #[serde(default)]
    pub cost: Option<Money>,
    /// Models that were called and have no price.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unpriced: Vec<String>,
}

/// What the calls of one stage took.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StageUsage {
    /// Calls made.
    pub calls: u32,
    /// Tokens sent.
    pub prompt_tokens: u64,
    /// Those of them that the endpoint had kept from calls before.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Tokens received.
    pub completion_tokens: u64,
    /// Whether tokens of a call were counted here because its endpoint told none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
    /// What they cost, in the currency of [`Usage::cost`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// An amount of money.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Money {
    /// How much.
    pub amount: f64,
    /// The currency that the prices are in, such as `USD`.
    pub currency: String,
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = if self.amount < 0.01 { 6 } else { 4 };
        write!(f, "{:.digits$} {}", self.amount, self.currency)
    }
}

/// What one call took.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tokens {
    /// Tokens sent.
    pub prompt: u64,
    /// Those of them that the endpoint had kept from calls before.
    pub cached: u64,
    /// Tokens received.
    pub completion: u64,
    /// Whether they were counted here because the endpoint told none.
    pub estimated: bool,
}

impl Usage {
    /// Adds one call, with what it cost where its model has a price.
    pub fn add_call(&mut self, stage: &str, model: &str, tokens: Tokens, cost: Option<Money>) {
        *entry(&mut self.calls, stage) += 1;
        self.prompt_tokens += tokens.prompt;
        self.completion_tokens += tokens.completion;
        let of_stage = entry(&mut self.by_stage, stage);
        of_stage.calls += 1;
        of_stage.prompt_tokens += tokens.prompt;
        of_stage.cached_tokens += tokens.cached;
        of_stage.completion_tokens += tokens.completion;
        of_stage.estimated |= tokens.estimated;
        match cost {
            Some(cost) => {
                *of_stage.cost.get_or_insert(0.0) += cost.amount;
                match &mut self.cost {
                    Some(all) => all.amount += cost.amount,
                    None => self.cost = Some(cost),
                }
            }
            None if !self.unpriced.iter().any(|known| known == model) => self.unpriced.push(model.to_owned()),
            None => {}
        }
    }

    /// Calls in all.
    pub fn total_calls(&self) -> u32 {
        self.calls.values().sum()
    }

    /// Tokens in all, sent and received.
    pub fn total_tokens(&self) -> u64 {
        self.prompt_tokens + self.completion_tokens
    }
}

fn entry<'m, V: Default>(map: &'m mut IndexMap<String, V>, stage: &str) -> &'m mut V {
    // No name is copied for the calls after the first.
    let at = match map.get_index_of(stage) {
        Some(at) => at,
        None => map.insert_full(stage.to_owned(), V::default()).0,
    };
    map.get_index_mut(at).expect("the place is an entry's").1
}

fn is_zero(tokens: &u64) -> bool {
    *tokens == 0
}

/// The most that a run may take. At a bound nothing new starts; what runs may end within its time.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// Seconds from its start, without those in which somebody is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_time_s: Option<f64>,
    /// Tokens sent and received, of all its model calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Model calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_calls: Option<u32>,
    /// What its model calls cost, in the currency of the prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<f64>,
}

impl Budget {
    /// The budget within two others.
    #[must_use]
    pub fn within(self, other: Budget) -> Budget {
        fn least<T: PartialOrd>(one: Option<T>, other: Option<T>) -> Option<T> {
            match (one, other) {
                (Some(one), Some(other)) => Some(if other < one { other } else { one }),
                (one, other) => one.or(other),
            }
        }
        Budget {
            max_time_s: least(self.max_time_s, other.max_time_s),
            max_tokens: least(self.max_tokens, other.max_tokens),
            max_calls: least(self.max_calls, other.max_calls),
            max_cost: least(self.max_cost, other.max_cost),
        }
    }

    /// What is wrong with it: a bound that is no number from 0 up.
    pub fn problem(&self) -> Option<String> {
        let bad = |value: Option<f64>| value.is_some_and(|value| !(value.is_finite() && value >= 0.0));
        let named = [("max_time_s", self.max_time_s), ("max_cost", self.max_cost)];
        named.into_iter().find(|(_, value)| bad(*value)).map(|(name, _)| format!("`{name}` must be a number from 0 up"))
    }
}

/// How the name of a bound ends that holds for all runs of a user in a day.
pub const DAILY: &str = " a day";

/// A bound of a budget that is used up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Which: `time`, `tokens`, `calls` or `cost`; with [`DAILY`] of all runs of a user together.
    pub bound: String,
    /// The most that was allowed, with its unit.
    pub most: String,
    /// What was used when something more was to start.
    pub used: String,
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whose = if self.bound.ends_with(DAILY) { "day" } else { "run" };
        write!(f, "the budget of the {whose} is used up: {} of {}", self.used, self.most)
    }
}
