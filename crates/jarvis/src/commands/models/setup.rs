//! From flags, configuration and environment to the models on this machine and the Hub that they come from.

use jarvis_models::{Environment, Hub, HubOptions, ModelError, Reference, Store};
use jarvis_net::Secret;

use crate::cli::Global;
use crate::config::Config;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::wiring::{self, Folders};

/// The models of this machine.
pub(crate) fn store(global: &Global, printer: Printer) -> Result<(Store, Environment, Config), Failure> {
    let config = wiring::load_config(global, printer)?.config;
    let environment = environment(&config, global)?;
    let store = Store::new(&environment, &Folders::of(&config)?.data);
    Ok((store, environment, config))
}

/// The Hub, which is not asked before it is needed.
pub(crate) fn hub(environment: &Environment, config: &Config) -> Hub {
    let proxy = config.proxy.as_deref().and_then(Secret::new);
    Hub::new(HubOptions { proxy, ..HubOptions::new(environment) })
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

/// What was typed: a name of the catalogue, a task type under any of its names, or a repository.
pub(crate) fn reference(store: &Store, typed: &str) -> Result<Reference, Failure> {
    let catalogue = store.catalogue();
    let task = jarvis_catalogue::find(typed).filter(|_| catalogue.find(typed).is_none() && !typed.contains('/'));
    let Some(task) = task else { return Reference::parse(typed, catalogue).map_err(failure) };
    if catalogue.default_of(task.name).is_none() {
        return Err(Failure::usage(format!("the catalogue has no model for {}", task.name))
            .hint("name a repository: jarvis models pull org/repo"));
    }
    Reference::parse(task.name, catalogue).map_err(failure)
}

/// What is wrongly typed is wrong use; the rest is work that failed.
pub(crate) fn failure(error: ModelError) -> Failure {
    let hint = error.hint();
    let failure = match &error {
        ModelError::UnknownName { .. } | ModelError::InvalidName(_) => Failure::usage(error),
        _ => Failure::work(error),
    };
    failure.maybe_hint(hint)
}
