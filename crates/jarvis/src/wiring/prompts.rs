//! The prompts of the four stages, with what the configuration puts in their place.

use std::collections::BTreeMap;
use std::path::Path;

use jarvis_hugginggpt::prompts::{Override, Prompts, demos_text, prompt_text};

use crate::config::Config;
use crate::failure::Failure;

/// The prompts, with what the configuration puts in their place.
pub(super) fn prompts(config: &Config) -> Result<Prompts, Failure> {
    let mut overrides: BTreeMap<String, Override> = BTreeMap::new();
    let folder = Path::new("");
    for (stage, text) in &config.tprompt {
        overrides.entry(stage.clone()).or_default().system = Some(prompt_text(text, folder).map_err(Failure::usage)?);
    }
    for (stage, text) in &config.prompt {
        overrides.entry(stage.clone()).or_default().user = Some(prompt_text(text, folder).map_err(Failure::usage)?);
    }
    for (stage, path) in &config.demos_or_presteps {
        overrides.entry(stage.clone()).or_default().demos = Some(demos_text(path).map_err(Failure::usage)?);
    }
    if let Some(stage) = overrides.keys().find(|stage| !Prompts::STAGES.contains(&stage.as_str())) {
        return Err(Failure::usage(format!("`{stage}` is not a stage whose prompt can be replaced"))
            .hint(format!("one of: {}", Prompts::STAGES.join(", "))));
    }
    Prompts::with(&overrides)
        .map_err(|error| Failure::usage(error).hint("see the built-in prompts for the names of the slots"))
}
