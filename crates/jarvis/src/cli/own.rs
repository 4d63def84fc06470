//! Arguments of `jarvis self`.

use clap::{Args, Subcommand};

use crate::config::env_vars;

pub(super) const SELF_EXAMPLES: &str = "Examples:\n  \
    jarvis self update --check    # whether there is a newer release; installs nothing\n  \
    jarvis self update\n  \
    jarvis self update --version 0.2.0    # this one, be it older\n  \
    jarvis self uninstall";

/// `jarvis self`.
#[derive(Debug, Subcommand)]
pub(crate) enum SelfCommand {
    /// Install the latest release in the place of this program
    Update(UpdateArgs),
    /// Remove the program and what install.sh and `jarvis completions --install` put beside it; configuration and data stay
    Uninstall(UninstallArgs),
}

/// `jarvis self update`.
#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    /// Say whether there is a newer release, and install nothing
    #[arg(long)]
    pub(crate) check: bool,
    /// Install this version, newer or older, instead of the latest
    #[arg(long, value_name = "VERSION")]
    pub(crate) version: Option<semver::Version>,
    /// Where releases are: https, or http on this machine [default: where install.sh had it from]
    #[arg(long, value_name = "URL", env = env_vars::INSTALL_BASE_URL)]
    pub(crate) from: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `jarvis self uninstall`.
#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}
