//! The command line of `jarvis models`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

/// `jarvis models …`.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// List the models of the catalogue
    List {
        /// Only the models of this task type
        #[arg(long, value_name = "TASK")]
        task: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Ask which models can be used now
    Probe {
        /// Only the candidates of this task type
        #[arg(long, value_name = "TASK")]
        task: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a catalogue file from what the Hugging Face Hub serves now
    Refresh {
        /// The file to write; use it with the configuration key `catalogue`
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// Models per task type
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
        /// Write the list of models that `pull` knows instead, pinned to what the Hub has now; for maintainers
        #[arg(long, conflicts_with = "limit")]
        pins: bool,
    },
    /// Download models that jarvis runs itself
    #[command(after_help = "Examples:\n  \
        jarvis models pull caption                      # a name of the catalogue\n  \
        jarvis models pull automatic-speech-recognition # the default of a task type\n  \
        jarvis models pull org/repo@v1.0:Q4_K_M -y      # a repository, revision and quantisation\n\n\
        Licence, size, revision and free space are shown before anything is downloaded. A download that was stopped goes on\n\
        where it ended. Weights that can run code (pickles) are never downloaded.")]
    Pull {
        /// Names of the catalogue, task types, or `org/repo[@revision][:file]`
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
        /// How the weights are stored
        #[arg(long, value_enum, value_name = "PRECISION")]
        precision: Option<PrecisionArg>,
        /// Print progress as lines of JSON, in the words of Ollama
        #[arg(long)]
        json: bool,
    },
    /// List the models on this machine
    Ls {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one model: licence, files, hashes, tasks, memory
    Show {
        /// The model
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove models that jarvis pulled, and forget those that it imported
    Rm {
        /// The models
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Remove revisions that were replaced, and what stopped downloads left
    Prune {
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Compute the hashes of models again
    Verify {
        /// The models; all that jarvis pulled or imported otherwise
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the models that a running server has in memory
    Ps {
        /// The server [default: that of `http_listen`, else 127.0.0.1:8004 and 8005]
        #[arg(long, value_name = "URL")]
        server: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Use a model that is on this machine already: a folder (ONNX or safetensors with its settings) or a GGUF file
    Import {
        /// The folder or file; it stays where it is
        path: PathBuf,
        /// What to call it [default: the name of the folder or file]
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// A task type that it serves; may be repeated [default: by its config.json]
        #[arg(long = "task", value_name = "TASK")]
        tasks: Vec<String>,
        /// Copy the files
        #[arg(long)]
        copy: bool,
    },
    /// Say what to pull on this machine for the task types that nothing serves yet
    Suggest {
        /// List all models of the catalogue
        #[arg(long)]
        all: bool,
        /// Only for this task type
        #[arg(long, value_name = "TASK")]
        task: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// How weights are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrecisionArg {
    /// 32 bits
    Fp32,
    /// 16 bits
    Fp16,
    /// 8 bits
    Q8,
    /// 4 bits
    Q4,
}
