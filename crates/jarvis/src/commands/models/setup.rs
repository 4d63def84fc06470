//! From flags, configuration and environment to the models on this machine and the Hub that they come from.

use jarvis_models::{Environment, ModelError, Store};

use crate::cli::Global;
use crate::config::Config;
use crate::failure::Failure;
use crate::printer::Printer;
pub(crate) use crate::wiring::pulls::{failure, hub, reference};
use crate::wiring::{self, Folders};

/// The models of this machine.
pub(crate) fn store(global: &Global, printer: Printer) -> Result<(Store, Environment, Config), Failure> {
    let config = wiring::load_config(global, printer)?.config;
    let environment = environment(&config, global)?;
    let store = Store::new(&environment, &Folders::of(&config)?.data);
    Ok((store, environment, config))
}

/// What the environment says, with the flags on top.
fn environment(config: &Config, global: &Global) -> Result<Environment, Failure> {
    let mut environment = wiring::hub_environment(config)?;
    environment.is_offline |= global.offline;
    Ok(environment)
}

/// Whether the Hub may be asked.
pub(crate) fn may_ask(global: &Global, what: &str) -> Result<(), Failure> {
    if global.offline || wiring::hub_variables(None).is_ok_and(|environment| environment.is_offline) {
        return Err(failure(ModelError::Offline { what: what.to_owned() }));
    }
    Ok(())
}
