//! What the offline planner is fitted to: what is compiled in, or a file that `planning.weights` names.

use std::sync::Arc;

use jarvis_planner::Fitted;

use crate::config::Config;
use crate::failure::Failure;

/// What the configuration says.
pub(crate) fn fitted(config: &Config) -> Result<Arc<Fitted>, Failure> {
    let Some(path) = &config.planning.weights else { return Ok(Arc::clone(Fitted::built_in())) };
    let fitted = Fitted::read(path).map_err(|error| {
        let hint = error.hint();
        Failure::usage(error).hint(hint)
    })?;
    Ok(Arc::new(fitted))
}

/// What tells it apart from what is compiled in; `None` for that.
pub(crate) fn other_weights(fitted: &Fitted) -> Option<String> {
    (*fitted != **Fitted::built_in()).then(|| fitted.fingerprint())
}
