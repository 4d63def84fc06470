//! What must never stand in what is kept as experience: the keys and tokens that this process knows.

use jarvis_net::Secret;

use super::{experts, token};
use crate::config::{Config, env_vars};

/// Shorter ones are words.
const SHORTEST: usize = 6;

pub(super) fn secrets(config: &Config) -> Vec<Secret> {
    let usual = [env_vars::OPENAI_API_KEY, env_vars::TOKEN, env_vars::ADMIN_TOKEN, env_vars::AWS_SECRET_ACCESS_KEY];
    let of_fallbacks = config.llm.fallback.iter().filter_map(|other| other.api_key_env.as_deref());
    let named =
        [config.llm.api_key_env.as_deref(), config.decisions.model_api_key_env.as_deref()].into_iter().flatten();
    let names = usual.into_iter().chain(of_fallbacks).chain(named);
    let secrets = names.filter_map(|name| experts::secret(&[name])).chain(token(config));
    secrets.filter(|secret| secret.expose().len() >= SHORTEST).collect()
}
