//! The folders of jarvis, by the configuration and the platform.

use std::path::PathBuf;

use crate::config::Config;
use crate::failure::Failure;

/// Where jarvis keeps what it is given and makes.
#[derive(Debug)]
pub(crate) struct Folders {
    pub(crate) public: PathBuf,
    /// Where a person finds the files that are made, unless another folder is named.
    pub(crate) results: PathBuf,
    pub(crate) journal: PathBuf,
    pub(crate) logs: PathBuf,
    pub(crate) plans: PathBuf,
    pub(crate) prompts: PathBuf,
    /// Vectors of texts, by text and model.
    pub(crate) vectors: PathBuf,
    /// The descriptions of tools that were approved.
    pub(crate) approvals: PathBuf,
    /// Who allowed what, and who administered the server.
    pub(crate) audit: PathBuf,
    /// The whole data folder, of which each crate has a part.
    pub(crate) data: PathBuf,
}

impl Folders {
    pub(crate) fn of(config: &Config) -> Result<Folders, Failure> {
        let data = match &config.data_dir {
            Some(data) => data.clone(),
            None => default_data_folder()?,
        };
        Ok(Folders {
            public: config.public_dir.clone().unwrap_or_else(|| data.join("public")),
            results: data.join("results"),
            journal: data.join("runs.db"),
            logs: data.join("logs"),
            plans: config.decisions.plan_dir.clone().unwrap_or_else(|| data.join("execution_configs")),
            prompts: config.decisions.prompt_log_dir.clone().unwrap_or_else(|| data.join("prompt_logs")),
            vectors: data.join("vectors"),
            approvals: data.join("approved_tools.json"),
            audit: data.join("audit.jsonl"),
            data,
        })
    }
}

fn strategy() -> Result<(PathBuf, PathBuf), Failure> {
    use etcetera::BaseStrategy;
    let base = etcetera::choose_base_strategy()
        .map_err(|error| Failure::work(error).hint("name a folder with --data-dir, or set HOME"))?;
    Ok((base.config_dir().join("jarvis"), base.data_dir().join("jarvis")))
}

/// Where jarvis keeps its configuration and the receipt of `install.sh`.
pub(crate) fn config_folder() -> Result<PathBuf, Failure> {
    Ok(strategy()?.0)
}

/// The platform's data folder of jarvis, which is used unless another is configured.
pub(crate) fn default_data_folder() -> Result<PathBuf, Failure> {
    Ok(strategy()?.1)
}
