//! What bounds the runs of this process: which calls wait for leave, what model calls cost, and what a run may take.

use std::sync::Arc;

use jarvis_engine::{Gate, Meter, Prices};
use jarvis_events::COMMAND_LINE;
use jarvis_pipeline::approval::{Approve, Approver, Gatekeeper, Rules};

use super::Tools;
use crate::approval::ApprovalArgs;
use crate::config::Config;
use crate::failure::Failure;

/// Which calls of tools that change something wait for leave.
pub(super) fn rules(config: &Config, approval: &ApprovalArgs) -> Result<Rules, Failure> {
    let approve = if approval.yes { Approve::Never } else { config.approve };
    let approved = config.approved.iter().chain(&approval.approve).map(String::as_str);
    Rules::new(approve, approved).map_err(|error| {
        Failure::usage(error).hint("`approved` and `--approve` take names of tools, or patterns such as `shop/*`")
    })
}

/// Who lets calls of tools that change something go on.
pub(super) fn gate(
    config: &Config,
    approval: &ApprovalArgs,
    approver: Arc<dyn Approver>,
    tools: &Tools,
) -> Result<Arc<dyn Gate>, Failure> {
    let rules = rules(config, approval)?;
    let serving = tools.serving();
    let serving = serving.iter().map(|one| (one.model.task.as_str(), one.model.id.as_str()));
    Ok(Arc::new(Gatekeeper::new(Arc::clone(&tools.registry), serving, rules, approver)))
}

fn prices(config: &Config) -> Result<Prices, Failure> {
    Prices::new(&config.prices.currency, &config.prices.models)
        .map_err(|error| Failure::usage(error).hint("prices are numbers from 0 up, by patterns of model names"))
}

/// A model that may be asked and has no price.
pub(crate) fn unpriced(config: &Config) -> Result<Option<&str>, Failure> {
    let (prices, llm) = (prices(config)?, &config.llm);
    let named = std::iter::once(llm.name()).chain(llm.stages.values().map(String::as_str));
    let mut named = named.chain(llm.fallback.iter().map(|other| other.model.as_str()));
    Ok(named.find(|name| !prices.knows(name)).filter(|_| !llm.is_offline()))
}

/// Whether every model that may be asked has a price, which `what` needs.
pub(crate) fn check_prices(config: &Config, what: &str) -> Result<(), Failure> {
    match unpriced(config)? {
        Some(unpriced) => Err(Failure::usage(format!("{what} needs prices, and none is known for `{unpriced}`"))
            .hint("set `prices.models` in the configuration")),
        None => Ok(()),
    }
}

/// What model calls cost and what a run may take.
pub(crate) fn meter(config: &Config) -> Result<Meter, Failure> {
    let prices = prices(config)?;
    let budget = config.budget.budget();
    if let Some(problem) = budget.problem() {
        return Err(Failure::usage(format!("the budget cannot be used: {problem}")));
    }
    if budget.max_cost.is_some() {
        check_prices(config, "a budget of cost")?;
    }
    Ok(Meter {
        prices: Arc::new(prices),
        budget,
        settings: Arc::default(),
        engine: None,
        weights: None,
        door: COMMAND_LINE,
        account: Arc::default(),
    })
}
