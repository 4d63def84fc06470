//! Arguments of the commands that set jarvis up: `setup`, `doctor`, `completions`, `man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

pub(super) const SETUP_EXAMPLES: &str = "Examples:\n  \
    jarvis setup    # asks a few questions; Enter takes the default\n  \
    jarvis setup --yes    # asks nothing\n  \
    jarvis setup --print    # the file that it would write\n  \
    jarvis setup --yes --llm gpt-4o-mini    # with OPENAI_API_KEY in the environment\n\n\
    It reads which keys the environment has by their names, and neither asks for a key nor stores one.\n\
    A configuration that is already there keeps its other keys, and a backup of it stays beside it.";

pub(super) const DOCTOR_EXAMPLES: &str = "Examples:\n  \
    jarvis doctor\n  \
    jarvis doctor --fix    # mends what needs neither root nor the network\n  \
    jarvis doctor --llm auto    # which local model that is, and what it can do\n  \
    jarvis doctor --llm qwen3:8b --base-url http://localhost:11434/v1    # tests that model too";

pub(super) const COMPLETIONS_EXAMPLES: &str = "Examples:\n  \
    jarvis completions --install    # for the shell in $SHELL: bash, zsh or fish\n  \
    jarvis completions zsh --install\n  \
    jarvis completions --uninstall\n  \
    jarvis completions powershell    # prints them";

/// `jarvis setup`.
#[derive(Debug, Args)]
pub(crate) struct SetupArgs {
    /// Ask nothing and take the defaults; replace a configuration that is there, and keep a backup
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Print the configuration and write nothing
    #[arg(long, visible_alias = "dry-run")]
    pub(crate) print: bool,
    /// Print what was found and written as JSON; asks nothing
    #[arg(long)]
    pub(crate) json: bool,
}

/// `jarvis doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Mend what can be mended without root and without the network, and say what was done
    #[arg(long)]
    pub(crate) fix: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[cfg(feature = "restate")]
    /// Look at a Restate server too: its ingress
    #[arg(long, value_name = "URL", requires = "restate_admin")]
    pub(crate) restate: Option<url::Url>,
    #[cfg(feature = "restate")]
    /// Its admin API
    #[arg(long, value_name = "URL", requires = "restate")]
    pub(crate) restate_admin: Option<url::Url>,
}

/// `jarvis completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell; with --install and --uninstall that of $SHELL unless given
    #[arg(required_unless_present_any = ["install", "uninstall"])]
    pub(crate) shell: Option<Shell>,
    /// Write them where the shell looks for completions of this user
    #[arg(long)]
    pub(crate) install: bool,
    /// Remove what --install wrote
    #[arg(long, conflicts_with = "install")]
    pub(crate) uninstall: bool,
}

/// `jarvis man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The folder, which is made where it is missing
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}
