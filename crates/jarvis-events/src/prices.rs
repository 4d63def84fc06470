//! What model calls cost: a table of prices by patterns of model names.

use globset::{Glob, GlobMatcher};
use indexmap::IndexMap;
use jarvis_plan::{Money, Tokens};
use serde::Deserialize;

/// What a million tokens of a model cost.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Of those sent.
    pub input: f64,
    /// Of those sent that the endpoint had kept from calls before; as `input` unless set.
    #[serde(default)]
    pub cached_input: Option<f64>,
    /// Of those received.
    pub output: f64,
}

/// Prices by model, in one currency.
#[derive(Debug, Clone, Default)]
pub struct Prices {
    currency: String,
    rows: Vec<(GlobMatcher, Price)>,
}

/// A table of prices that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the price of `{model}` cannot be used: {reason}")]
pub struct InvalidPrice {
    /// The pattern of model names.
    pub model: String,
    /// Why.
    pub reason: String,
}

impl Prices {
    /// Prices in a currency, by patterns of model names such as `gpt-4o-mini*`; the first that fits a name counts.
    ///
    /// # Errors
    /// When a pattern cannot be read or a price is no number from 0 up.
    pub fn new(currency: &str, prices: &IndexMap<String, Price>) -> Result<Prices, InvalidPrice> {
        let row = |(model, price): (&String, &Price)| {
            let invalid = |reason: String| InvalidPrice { model: model.clone(), reason };
            let parts = [Some(price.input), price.cached_input, Some(price.output)];
            if !parts.into_iter().flatten().all(|part| part.is_finite() && part >= 0.0) {
                return Err(invalid("it must be made of numbers from 0 up".to_owned()));
            }
            let glob = Glob::new(model).map_err(|error| invalid(error.kind().to_string()))?;
            Ok((glob.compile_matcher(), *price))
        };
        let rows = prices.iter().map(row).collect::<Result<_, _>>()?;
        Ok(Prices { currency: currency.to_owned(), rows })
    }

    /// Whether there are any.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether a model has a price.
    pub fn knows(&self, model: &str) -> bool {
        self.price(model).is_some()
    }

    /// What a call of a model cost; `None` without a price.
    pub fn cost(&self, model: &str, tokens: Tokens) -> Option<Money> {
        let price = self.price(model)?;
        let cached = tokens.cached.min(tokens.prompt);
        let parts = [
            ((tokens.prompt - cached) as f64, price.input),
            (cached as f64, price.cached_input.unwrap_or(price.input)),
            (tokens.completion as f64, price.output),
        ];
        let amount = parts.iter().map(|(tokens, price)| tokens * price / 1e6).sum();
        Some(Money { amount, currency: self.currency.clone() })
    }

    fn price(&self, model: &str) -> Option<&Price> {
        self.rows.iter().find(|(glob, _)| glob.is_match(model)).map(|(_, price)| price)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_cost_what_the_first_fitting_price_says() {
        let price = |input, cached_input, output| Price { input, cached_input, output };
        let table = IndexMap::from([
            ("gpt-4o-mini*".to_owned(), price(0.15, Some(0.075), 0.6)),
            ("gpt-4o*".to_owned(), price(2.5, None, 10.0)),
            ("local/*".to_owned(), price(0.0, None, 0.0)),
        ]);
        let prices = Prices::new("USD", &table).unwrap();
        let tokens = Tokens { prompt: 1_000_000, cached: 400_000, completion: 500_000, estimated: false };
        for (model, want) in [
            ("gpt-4o-mini-2024", Some(0.09 + 0.03 + 0.3)),
            ("gpt-4o", Some(2.5 + 5.0)),
            ("local/smollm2", Some(0.0)),
            ("qwen3:8b", None),
        ] {
            let cost = prices.cost(model, tokens).map(|cost| cost.amount);
            assert_eq!(cost.map(|cost| (cost * 1e9).round()), want.map(|want: f64| (want * 1e9).round()), "{model}");
        }
        let bad = IndexMap::from([("a".to_owned(), price(-1.0, None, 0.0))]);
        assert!(Prices::new("USD", &bad).is_err());
    }
}
