//! Flags that bound what a run may take.

use std::time::Duration;

use clap::Args;
use jarvis_plan::Budget;

/// The most that a run may take; the configuration's `budget` holds too.
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = "Budget")]
pub(crate) struct BudgetArgs {
    /// Start nothing new after this time, such as `90s` or `5m`; what runs may end
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) max_time: Option<Duration>,
    /// Use at most so many tokens of chat models, sent and received
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<u64>,
    /// Make at most so many calls of chat models
    #[arg(long, value_name = "N")]
    pub(crate) max_calls: Option<u32>,
    /// Spend at most so much on chat models, in the currency of the configuration's `prices`
    #[arg(long, value_name = "AMOUNT", value_parser = amount)]
    pub(crate) max_cost: Option<f64>,
}

impl BudgetArgs {
    pub(crate) fn budget(self) -> Budget {
        let BudgetArgs { max_time, max_tokens, max_calls, max_cost } = self;
        Budget { max_time_s: max_time.map(|time| time.as_secs_f64()), max_tokens, max_calls, max_cost }
    }
}

/// Seconds, or a time with units.
fn time(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    match seconds {
        Some(time) => Ok(time),
        None => humantime::parse_duration(text).map_err(|error| format!("{error}; write `90s` or `5m`")),
    }
}

fn amount(text: &str) -> Result<f64, String> {
    let amount = text.parse::<f64>().ok().filter(|amount| amount.is_finite() && *amount >= 0.0);
    amount.ok_or_else(|| "it must be a number from 0 up".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_amounts_are_read() {
        for (text, want) in [("90", Some(90)), ("90s", Some(90)), ("5m", Some(300)), ("-1", None), ("soon", None)] {
            assert_eq!(time(text).ok().map(|time| time.as_secs()), want, "{text}");
        }
        for (text, want) in [("0.25", Some(0.25)), ("0", Some(0.0)), ("-1", None), ("inf", None), ("x", None)] {
            assert_eq!(amount(text).ok(), want, "{text}");
        }
    }
}
