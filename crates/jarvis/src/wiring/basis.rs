//! What the offline planner plans by: what it is fitted to (compiled in, or a file that `planning.weights` names), and the sentence model
//! that `planning.embedder` names.

use std::sync::Arc;

use jarvis_planner::{Basis, Fitted};

use crate::config::Config;
use crate::failure::Failure;

/// What the configuration says.
pub(crate) async fn basis(config: &Config) -> Result<Basis, Failure> {
    let fitted = fitted(config)?;
    let Some(name) = config.planning.embedder.as_deref().map(str::trim).filter(|name| !name.is_empty()) else {
        return Ok(fitted.into());
    };
    #[cfg(feature = "bench")]
    return Ok(Basis { fitted, encoder: Some(super::sentences::encoder(name, config).await?) });
    #[cfg(not(feature = "bench"))]
    Err(Failure::usage(format!("this jarvis was built without sentence models, and `planning.embedder` is `{name}`"))
        .hint("build it with `cargo build --release`, which has them, or leave `planning.embedder` out"))
}

/// What it is fitted to.
fn fitted(config: &Config) -> Result<Arc<Fitted>, Failure> {
    let Some(path) = &config.planning.weights else { return Ok(Arc::clone(Fitted::built_in())) };
    let fitted = Fitted::read(path).map_err(|error| {
        let hint = error.hint();
        Failure::usage(error).hint(hint)
    })?;
    Ok(Arc::new(fitted))
}

/// What tells it apart from what is compiled in; `None` for that.
pub(crate) fn differs(basis: &Basis) -> Option<String> {
    let weights = (*basis.fitted != **Fitted::built_in()).then(|| format!("weights {}", basis.fitted.fingerprint()));
    let encoder = basis.encoder.as_ref().map(|encoder| format!("sentences by {}", encoder.id()));
    let both: Vec<String> = weights.into_iter().chain(encoder).collect();
    (!both.is_empty()).then(|| both.join(" and "))
}
