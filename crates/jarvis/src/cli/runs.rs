//! The arguments of `jarvis runs`.

use clap::{ArgGroup, Args, Subcommand, ValueEnum};

use crate::approval::ApprovalArgs;

/// `jarvis runs …`.
#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// List the latest runs
    List {
        /// How many
        #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Sum what model calls took, by day, model and pipeline
    Cost {
        /// By which of these to sum
        #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = ["day", "model", "pipeline"],
              default_values = ["day", "model", "pipeline"])]
        by: Vec<String>,
        /// Of how many days, today included
        #[arg(long, value_name = "N", default_value_t = 30)]
        days: u32,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Open the files that a run made, or say where they are
    Open {
        /// The run's id, or the start of it; without one, the latest run that made files
        id: Option<String>,
        /// Only say where they are
        #[arg(long)]
        print: bool,
    },
    /// Show one run: request, plan, choices, outcomes, answer
    Show {
        /// The run's id, or the start of it
        id: String,
        /// Show when each step ran, as bars
        #[arg(long, conflicts_with_all = ["reply", "json"])]
        timeline: bool,
        /// Also show what models replied, word for word
        #[arg(long)]
        reply: bool,
        /// Print every event as JSON
        #[arg(long)]
        json: bool,
    },
    /// Go on with a run that was cut off: what is done is not done again
    #[command(after_help = "Example:\n  jarvis runs list    # shows which were interrupted\n  jarvis runs resume 01a")]
    Resume(ResumeArgs),
    /// Try a run anew as another one, which takes over what succeeded
    #[command(
        after_help = "Examples:\n  jarvis runs retry 01a\n  jarvis runs retry 01a --from 3    # task 3 and all that need it"
    )]
    Retry {
        /// From this task on, as `runs show` numbers it; without it, what did not succeed
        #[arg(long, value_name = "TASK", value_parser = clap::value_parser!(u32).range(1..))]
        from: Option<u32>,
        #[command(flatten)]
        run: ResumeArgs,
    },
    /// Say whether the plan of a run is one to plan by
    #[command(after_help = "Example:\n  jarvis runs rate 01a1f8 bad    # no later request is planned by it\n\n\
        A run that succeeded counts as good unless it is rated: docs/experience.md.")]
    Rate {
        /// The run's id, or the start of it
        id: String,
        /// What it is
        rating: Rating,
    },
    /// Cancel a run, here or in the process that goes on with it
    Cancel {
        /// The run's id, or the start of it
        id: String,
    },
    /// Remove runs that have ended, with the files that no other run speaks of
    #[command(group(ArgGroup::new("which").required(true).multiple(true)))]
    #[command(after_help = "Examples:\n  jarvis runs prune --older 30d --dry-run\n  jarvis runs prune --most 500MB")]
    Prune {
        /// Those that ended longer ago than this: `30d`, `12h`
        #[arg(long, value_name = "AGE", value_parser = humantime::parse_duration, group = "which")]
        older: Option<std::time::Duration>,
        /// The oldest, until all take at most this: `500MB`, `2GB`
        #[arg(long, value_name = "SIZE", value_parser = bytes, group = "which")]
        most: Option<u64>,
        /// Only say what would be removed
        #[arg(long)]
        dry_run: bool,
    },
}

/// Whether a plan is one to plan by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rating {
    Good,
    Bad,
}

impl Rating {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Rating::Good => "good",
            Rating::Bad => "bad",
        }
    }
}

/// What a run that goes on may do, and how it is shown.
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// The run's id, or the start of it
    pub(crate) id: String,
    /// Print one JSON document instead of the answer
    #[arg(long, conflicts_with = "events")]
    pub(crate) json: bool,
    /// Print every event as a line of JSON while it happens, instead of the answer
    #[arg(long)]
    pub(crate) events: bool,
    #[command(flatten)]
    pub(crate) approval: ApprovalArgs,
}

/// A size such as `500MB`.
fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match text.get(digits.len()..).unwrap_or_default().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" | "k" => 1_000,
        "mb" | "m" => 1_000_000,
        "gb" | "g" => 1_000_000_000,
        other => return Err(format!("`{other}` is no unit: B, KB, MB or GB")),
    };
    let number: u64 = digits.parse().map_err(|_| "a size is a number with a unit, such as 500MB".to_owned())?;
    number.checked_mul(factor).ok_or_else(|| "the size is too large".to_owned())
}
