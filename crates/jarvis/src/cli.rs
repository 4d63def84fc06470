//! The command line. Parsing does no work; the commands interpret the arguments.

#[cfg(feature = "self-update")]
mod own;
mod runs;
mod setup;

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

use jarvis_hugginggpt::Look;

use crate::approval::ApprovalArgs;
use crate::budget::BudgetArgs;
use crate::commands::ask::AskArgs;
use crate::commands::experience::{ExperienceArgs, ExperienceCommand};
use crate::commands::models::ModelsCommand;
use crate::commands::tools::ToolsCommand;
#[cfg(feature = "bench")]
use crate::commands::{
    bench::BenchCommand, easytool::EasytoolCommand, planner::PlannerCommand, taskbench::TaskbenchCommand,
};
use crate::config::env_vars;
use crate::wiring::pipelines::PIPELINES;

#[cfg(feature = "self-update")]
pub(crate) use own::{SelfCommand, UninstallArgs, UpdateArgs};
pub(crate) use runs::{Rating, ResumeArgs, RunsCommand};
pub(crate) use setup::{CompletionsArgs, DoctorArgs, ManArgs, SetupArgs};

/// Plans a request into a task graph, chooses a model for each task, runs the graph in parallel, and answers.
#[derive(Debug, Parser)]
#[command(
    name = "jarvis",
    version,
    max_term_width = 110,
    arg_required_else_help = true,
    after_help = "Examples:\n  \
        jarvis run \"find the edges of this picture\" --file photo.jpg\n  \
        jarvis run \"summarise notes.txt and read the summary aloud\"\n  \
        jarvis run \"what is in this picture?\" --file photo.jpg --llm auto    # the model of a local server, such as Ollama\n  \
        jarvis run \"what is in this picture?\" --file photo.jpg --llm gpt-4o-mini\n  \
        jarvis plan \"segment photo.jpg, then find the edges of the result\" --format mermaid\n  \
        jarvis setup    # finds what this machine has, and writes the configuration\n  \
        jarvis doctor\n\n\
        Without --llm jarvis plans with its offline planner, and works with its native models unless others are configured."
)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// What holds for every command.
    #[command(flatten)]
    pub(crate) global: Global,
}

/// Flags of every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Global {
    /// The chat model: `offline`, a model name such as `gpt-4o-mini`, `auto` for the best one of a local server that answers
    /// (Ollama, LM Studio, llama-server, vLLM), `local/NAME` for a language model that jarvis
    /// runs itself (`jarvis models`), or `replay:FILE` [env: JARVIS_LLM]
    #[arg(long, global = true, value_name = "MODEL")]
    pub(crate) llm: Option<String>,
    /// Base URL of an OpenAI-compatible endpoint [default: OpenAI's] [env: OPENAI_BASE_URL]
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Append every model call to this file, for `--llm replay:FILE`
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// The configuration (YAML)
    #[arg(long, global = true, env = env_vars::CONFIG, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Where media, the journal and the logs are kept [env: JARVIS_DATA_DIR]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Weights of the offline planner, as `jarvis planner fit` writes them [default: those built in]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) planner_weights: Option<PathBuf>,
    /// A sentence model that the offline planner compares requests and tools with: `local/NAME`, `local:DIR`, or one at the embeddings
    /// endpoint [default: none; words are compared]
    #[arg(long, global = true, value_name = "MODEL")]
    pub(crate) planner_embedder: Option<String>,
    /// Open no connection to the Hugging Face Hub: nothing is downloaded or looked up [env: HF_HUB_OFFLINE]
    #[arg(long, global = true)]
    pub(crate) offline: bool,
    /// Say nothing on stderr but errors
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// How logs on stderr are written
    #[arg(long, global = true, value_enum, env = env_vars::LOG_FORMAT, value_name = "FORMAT", default_value_t = LogFormat::Text, hide_possible_values = true, hide_default_value = true)]
    pub(crate) log_format: LogFormat,
    /// Say more on stderr; twice for debug logs
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// How logs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// A line of JSON for each.
    Json,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Plan, choose, execute, answer
    #[command(after_help = "Examples:\n  \
        jarvis run \"make it grey and half the size\" --file photo.jpg --out results/\n  \
        jarvis run \"tell the mood of review.txt and list the names in it\" --json\n  \
        jarvis run \"разбей фото photo.jpg на области и найди контуры результата\"\n  \
        echo \"read this aloud: hello\" | jarvis run -\n  \
        jarvis run \"(17 + 4) * 2, in words\" --pipeline rewoo --llm gpt-4o-mini\n  \
        jarvis plan \"find the edges of photo.jpg\" --out plan.json && jarvis run --plan plan.json\n\n\
        Exit status: 0 when the request was carried out, 1 when it was not, 2 for wrong use.")]
    Run(RunArgs),
    /// The same as a conversation; what was said and made before can be referred to
    #[command(after_help = "Examples:\n  \
        jarvis chat --file photo.jpg\n  \
        jarvis chat --once \"find the edges of photo.jpg\"\n  \
        printf 'segment photo.jpg\\nfind the edges of it\\n' | jarvis chat --json\n\n\
        `exit`, the end of input or Ctrl-C end it. Of piped input the exit status is 1 when anything was not done.")]
    Chat(ChatArgs),
    /// Decide only: a plan with a model for each task; nothing is executed
    #[command(after_help = "Examples:\n  \
        jarvis plan \"describe photo.jpg and read the description aloud\" --out plan.json\n  \
        jarvis run --plan plan.json    # as it is, or after editing tasks, arguments and models\n  \
        jarvis plan \"describe photo.jpg and read the description aloud\" --format svg --out plan.svg\n  \
        jarvis plan \"a van burns beside a shop\" --format pipeline\n  \
        jarvis plan --evaluate examples.json --record answers.jsonl    # then --llm replay:answers.jsonl costs no calls\n\n\
        Exit status: 0 for a plan of all that was asked for, 1 where a part is left out or a task cannot run as it is, 2 for wrong use.")]
    Plan(PlanArgs),
    /// Ask about a document: thought, action and observation, with charts
    Ask(AskArgs),
    #[cfg(feature = "serve")]
    /// Serve HTTP (the web page, the API, an OpenAI-compatible endpoint, MCP) and gRPC
    #[command(after_help = "Examples:\n  \
        jarvis serve    # then open http://127.0.0.1:8004/\n  \
        jarvis serve --llm qwen3:8b --base-url http://localhost:11434/v1\n  \
        jarvis serve --grpc    # questions about documents at 127.0.0.1:50051 too; --no-http for these alone\n  \
        JARVIS_TOKEN=… jarvis serve --http 0.0.0.0:8004    # other machines need the token\n  \
        curl -s http://127.0.0.1:8004/hugginggpt -H 'Content-Type: application/json' \\\n    \
          -d '{\"messages\": [{\"role\": \"user\", \"content\": \"read this aloud: hello\"}]}'\n\n\
        The API is described at /docs and /openapi.json; MCP clients call /mcp. On an address that other machines can reach, a token is required.")]
    Serve(ServeArgs),
    #[cfg(feature = "restate")]
    /// Perform tasks of runs on many machines, for a Restate server
    #[command(after_help = "Examples:\n  \
        jarvis worker --restate-admin http://127.0.0.1:9070\n  \
        jarvis worker --restate-admin http://restate:9070 --listen 0.0.0.0:9080 --advertise http://worker-1:9080 --slots 8\n  \
        jarvis worker --restate-admin http://restate:9070 --kinds object-detection --kinds image-to-text\n\n\
        docs/scale.md says how it all fits together.")]
    Worker(WorkerArgs),
    #[cfg(feature = "serve")]
    /// Be an MCP server for one client, over standard input and output
    #[command(after_help = "Examples, in the configuration of an MCP client, which starts this itself:\n  \
        {\"mcpServers\": {\"jarvis\": {\"command\": \"jarvis\", \"args\": [\"mcp\"]}}}\n\n\
        with a chat model:\n  \
        {\"mcpServers\": {\"jarvis\": {\"command\": \"jarvis\",\n    \
          \"args\": [\"mcp\", \"--llm\", \"qwen3:8b\", \"--base-url\", \"http://localhost:11434/v1\"]}}}\n\n\
        Try it:\n  \
        npx @modelcontextprotocol/inspector --cli jarvis mcp --method tools/list\n\n\
        The tools are `run` (do a request), `plan` (decide only) and `ask` (a question about a document).\n\
        `jarvis serve` serves the same at /mcp, for clients that speak HTTP.\n\n\
        Standard output holds the protocol and nothing else; logs go to stderr.\n\
        It ends when standard input is closed.")]
    Mcp,
    /// The tools: built-in, gRPC, HTTP APIs, MCP servers; call one
    #[command(after_help = "Examples:\n  \
        jarvis tools call calculator '{\"expression\": \"(17 + 4) * 2\"}'\n  \
        jarvis tools call plot '{\"x\": [\"pear\", \"fig\"], \"y\": [2, 1]}' --out chart.png\n  \
        jarvis tools list --json\n  \
        jarvis tools approve everything/echo    # its description changed, and the change is fine\n\n\
        Remote tools stand under `tools` and `mcp_servers` in the configuration: docs/tools.md.")]
    #[command(subcommand)]
    Tools(ToolsCommand),
    /// What models there are, and which can be used now; pull models that run in this process
    #[command(after_help = "Examples:\n  \
        jarvis models suggest    # what to pull on this machine, and how large it is\n  \
        jarvis models pull caption whisper-tiny\n  \
        jarvis models pull org/repo@main:Q4_K_M -y --json\n  \
        jarvis models ls\n  \
        jarvis models list --task image-to-text\n  \
        jarvis models probe --task captioning --json\n  \
        jarvis models refresh --out models.jsonl    # then `catalogue: models.jsonl` in the configuration")]
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Past runs, from the journal
    #[command(after_help = "Examples:\n  \
        jarvis runs list -n 5\n  \
        jarvis runs show 01a1f8 --reply    # with what models said, word for word")]
    #[command(subcommand)]
    Runs(RunsCommand),
    /// The plans of finished runs, by which new requests are planned
    #[command(after_help = "Examples:\n  \
        jarvis experience list \"find the edges\"    # what is most like these words\n  \
        jarvis runs rate 01a1f8 bad    # never planned by again\n  \
        jarvis experience forget --all\n\n\
        `planning.experience` in the configuration, and --no-experience of a run, say what is kept and used: docs/experience.md.")]
    #[command(subcommand)]
    Experience(ExperienceCommand),
    #[cfg(feature = "bench")]
    /// Measure planners on planning benchmarks: TaskBench, UltraTool, OrchestrationBench, ComplexTool-Plan and others
    #[command(after_help = "Examples, on the samples of the repository:\n  \
        jarvis bench plan examples/plans\n  \
        jarvis bench plan examples/plans/worfbench --reasons")]
    #[command(subcommand)]
    Bench(BenchCommand),
    #[cfg(feature = "bench")]
    /// Fit the offline planner to gold plans
    #[command(after_help = "Examples, on the samples of the repository:\n  \
        jarvis planner fit --data-dir examples/lists/hub --measure\n  \
        jarvis planner fit --data-dir examples/lists/hub --out weights.json\n  \
        jarvis bench plan examples/lists/functions --planner-weights weights.json")]
    #[command(subcommand)]
    Planner(PlannerCommand),
    #[cfg(feature = "bench")]
    /// The planning benchmark TaskBench: plan its requests, score plans, compare runs, make new samples
    #[command(after_help = "Examples, on the sample domain of the repository:\n  \
        jarvis taskbench inspect examples/taskbench/data_studio\n  \
        jarvis taskbench infer --data-dir examples/taskbench/data_studio --llm offline\n  \
        jarvis taskbench evaluate --data-dir examples/taskbench/data_studio --llm offline \\\n    \
          --splits all --n-tools all\n  \
        jarvis taskbench report --data-dir examples/taskbench/data_studio --html report.html\n\n\
        Options may be written as the original writes them (`--data_dir`).")]
    #[command(subcommand)]
    Taskbench(TaskbenchCommand),
    #[cfg(feature = "bench")]
    /// EasyTool: concise tool instructions, questions answered with tools, scores
    #[command(after_help = "Examples, on the samples of the repository:\n  \
        jarvis easytool instruct examples/easytool/library.yaml --out tools.json\n  \
        jarvis easytool funcqa --kind multi-hop --data examples/easytool/questions.json \\\n    \
          --llm replay:examples/easytool/answers.jsonl\n  \
        jarvis easytool call multiply_ '[535323, 0.03]'")]
    #[command(subcommand)]
    Easytool(EasytoolCommand),
    #[cfg(not(feature = "serve"))]
    #[command(hide = true)]
    Serve(Absent),
    #[cfg(not(feature = "serve"))]
    #[command(hide = true)]
    Mcp(Absent),
    #[cfg(not(feature = "bench"))]
    #[command(hide = true)]
    Bench(Absent),
    #[cfg(not(feature = "bench"))]
    #[command(hide = true)]
    Planner(Absent),
    #[cfg(not(feature = "bench"))]
    #[command(hide = true)]
    Taskbench(Absent),
    #[cfg(not(feature = "bench"))]
    #[command(hide = true)]
    Easytool(Absent),
    /// Find what this machine has and write the configuration
    #[command(after_help = setup::SETUP_EXAMPLES)]
    Setup(SetupArgs),
    /// Say what works, what does not, and how to mend it
    #[command(after_help = setup::DOCTOR_EXAMPLES)]
    Doctor(DoctorArgs),
    /// Say whether a server answers: exit status 0 when it does, for health checks
    #[cfg(feature = "serve")]
    #[command(after_help = "Examples:\n  \
        jarvis health\n  \
        jarvis health http://127.0.0.1:9000 --timeout 2")]
    Health(HealthArgs),
    /// Update or remove a jarvis that install.sh installed
    #[cfg(feature = "self-update")]
    #[command(name = "self", after_help = own::SELF_EXAMPLES)]
    #[command(subcommand)]
    Own(SelfCommand),
    #[cfg(not(feature = "self-update"))]
    #[command(name = "self", hide = true)]
    Own(Absent),
    /// Take the text out of a PDF, an office file or a web page: from standard input to standard output
    #[cfg(feature = "documents")]
    #[command(hide = true)]
    DocumentText,
    /// Run a local model for another process: from standard input to standard output
    #[cfg(any(feature = "experts", feature = "llm"))]
    #[command(hide = true)]
    LocalModel,
    /// Print or install completions for a shell
    #[command(after_help = setup::COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),
    /// Write man pages, one for each command
    #[command(hide = true)]
    Man(ManArgs),
}

/// `jarvis health`.
#[cfg(feature = "serve")]
#[derive(Debug, Args)]
pub(crate) struct HealthArgs {
    /// The address of the server
    #[arg(default_value = "http://127.0.0.1:8004", value_name = "URL")]
    pub(crate) address: String,
    /// How long to wait for its answer
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    pub(crate) timeout: u64,
}

/// `jarvis run`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("what").args(["request", "plan"]).required(true).multiple(true)))]
pub(crate) struct RunArgs {
    /// What you want, in your own words; `-` reads it from standard input
    pub(crate) request: Option<String>,
    /// Execute this plan, as `jarvis plan` writes it or as you edited it; `-` reads it from standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// The pipeline that carries the request out
    #[arg(long, value_name = "NAME", value_parser = pipelines(), default_value = jarvis_hugginggpt::NAME, conflicts_with = "plan")]
    pub(crate) pipeline: String,
    /// A picture, sound, video, text or document the request is about, or a folder of them; `-` is standard input; may be
    /// repeated
    #[arg(short, long = "file", value_name = "PATH")]
    pub(crate) files: Vec<PathBuf>,
    /// Put the files that are made into this folder instead of the one that the configuration names
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON document instead of the answer
    #[arg(long, conflicts_with = "events")]
    pub(crate) json: bool,
    /// Print every event as a line of JSON while it happens, instead of the answer
    #[arg(long)]
    pub(crate) events: bool,
    /// When to look at what came of the plan and plan on; the configuration's `planning.replan` unless given
    #[arg(long, value_name = "WHEN", value_parser = look)]
    pub(crate) replan: Option<Look>,
    #[command(flatten)]
    pub(crate) experience: ExperienceArgs,
    #[command(flatten)]
    pub(crate) approval: ApprovalArgs,
    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
}

fn look(text: &str) -> Result<Look, String> {
    match text {
        "never" => Ok(Look::Never),
        "failures" => Ok(Look::Failures),
        "always" => Ok(Look::Always),
        _ => Err("it is `never`, `failures` or `always`".to_owned()),
    }
}

/// The names of the pipelines, with what each does.
fn pipelines() -> PossibleValuesParser {
    PossibleValuesParser::new(PIPELINES.iter().map(|entry| PossibleValue::new(entry.name).help(entry.about)))
}

/// `jarvis chat`.
#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// A file the first request is about, or a folder of such; may be repeated
    #[arg(short, long = "file", value_name = "PATH")]
    pub(crate) files: Vec<PathBuf>,
    /// The pipeline that carries the requests out
    #[arg(long, value_name = "NAME", value_parser = pipelines(), default_value = jarvis_hugginggpt::NAME)]
    pub(crate) pipeline: String,
    /// Put the files that are made into this folder instead of the one that the configuration names
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Answer this one request and end
    #[arg(long, value_name = "TEXT")]
    pub(crate) once: Option<String>,
    /// Print each answer as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) experience: ExperienceArgs,
    #[command(flatten)]
    pub(crate) approval: ApprovalArgs,
    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
}

/// `jarvis plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// What you want, in your own words; `-` reads it from standard input
    #[arg(required_unless_present = "evaluate")]
    pub(crate) request: Option<String>,
    /// A file the request is about, or a folder of such; may be repeated
    #[arg(short, long = "file", value_name = "PATH")]
    pub(crate) files: Vec<PathBuf>,
    /// Measure planning instead: plan for the examples of this file and print how many plans are right, as JSON
    #[arg(long, value_name = "FILE", conflicts_with_all = ["request", "files", "reply", "format"])]
    pub(crate) evaluate: Option<PathBuf>,
    /// The file that numbers the categories of the examples
    #[arg(long, value_name = "FILE", requires = "evaluate")]
    pub(crate) categories: Option<PathBuf>,
    /// Show the planner no examples while measuring; otherwise one of each category is shown and not measured
    #[arg(long, requires = "evaluate")]
    pub(crate) no_few_shots: bool,
    /// Go on with a measurement that was stopped: samples whose plans are beside --out are not planned for again
    #[arg(long, requires_all = ["evaluate", "out"])]
    pub(crate) resume: bool,
    /// How the plan is written
    #[arg(long, value_enum, default_value_t = PlanFormat::Json)]
    pub(crate) format: PlanFormat,
    /// Write the plan to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print what the chat model would be asked first, as JSON, and ask nothing
    #[arg(long, conflicts_with_all = ["format", "reply", "evaluate"])]
    pub(crate) dry_run_prompts: bool,
    /// Print the whole reply of the decision API: candidates counted, warnings, calls
    #[arg(long, conflicts_with = "format")]
    pub(crate) reply: bool,
    /// Say on stderr what the plan comes from: which earlier runs counted, and how the offline planner reads the request
    #[arg(long, conflicts_with = "evaluate")]
    pub(crate) explain: bool,
    #[command(flatten)]
    pub(crate) experience: ExperienceArgs,
}

/// How a plan is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanFormat {
    /// The execution plan: tasks, models, levels; what `run --plan` takes.
    Json,
    /// The task list alone.
    Tasks,
    /// Graphviz.
    Dot,
    /// Mermaid.
    Mermaid,
    /// A drawing.
    Svg,
    /// A vision pipeline for a scene: the request describes it, or is a scenario as JSON. Needs a chat model.
    Pipeline,
}

/// Arguments of a command that this build lacks.
#[cfg(not(all(feature = "serve", feature = "bench", feature = "self-update")))]
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Absent {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<std::ffi::OsString>,
}

#[cfg(feature = "restate")]
/// How this process takes part in runs on many machines.
#[derive(Debug, Clone, Args)]
pub(crate) struct RestateArgs {
    /// Where Restate reaches this process, or the load balancer before it [default: the address it listens on]
    #[arg(long, value_name = "URL")]
    pub(crate) advertise: Option<url::Url>,
    /// Restate's public key (`publickeyv1_…`); calls that are not signed with it are refused
    #[arg(long, value_name = "KEY")]
    pub(crate) identity_key: Option<String>,
}

#[cfg(feature = "restate")]
/// What a worker is told.
#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// Restate's admin API, where the worker is registered
    #[arg(long, value_name = "URL")]
    pub(crate) restate_admin: url::Url,
    /// Where to listen for Restate: it goes on with calls under way at the same address, so keep it over restarts
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:9080")]
    pub(crate) listen: std::net::SocketAddr,
    /// Serve only these task types and tools [default: all that a backend is configured for]
    #[arg(long, value_name = "NAME")]
    pub(crate) kinds: Vec<String>,
    /// The most tasks at once [default: `limits.concurrency`]
    #[arg(long, value_name = "N")]
    pub(crate) slots: Option<std::num::NonZeroUsize>,
    #[command(flatten)]
    pub(crate) restate: RestateArgs,
}

/// `jarvis serve`.
#[cfg(feature = "serve")]
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Where to listen; port 0 takes a free one [default: 127.0.0.1:8004]
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<String>,
    /// Serve gRPC too: questions about documents (FileBasedQA). With port 0 the port is the first line on standard
    /// output [default: 127.0.0.1:50051]
    #[arg(long, alias = "listen", value_name = "ADDR", num_args = 0..=1, default_missing_value = "")]
    pub(crate) grpc: Option<String>,
    /// Serve gRPC alone
    #[arg(long, conflicts_with = "http")]
    pub(crate) no_http: bool,
    /// Keep no journal: runs are forgotten when they end, and a journal that cannot be used does not keep the server from starting
    #[arg(long)]
    pub(crate) no_journal: bool,
    /// Serve the models of this machine and nothing else: the protocol of HuggingGPT's model server, and the OpenAI routes
    /// for chat, embeddings and speech [default address: 127.0.0.1:8005]
    #[arg(long, conflicts_with_all = ["no_http", "grpc"])]
    pub(crate) models_only: bool,
    #[cfg(feature = "restate")]
    /// Host runs on many machines: Restate's ingress
    #[arg(long, value_name = "URL", requires = "restate_admin", conflicts_with = "models_only")]
    pub(crate) restate: Option<url::Url>,
    #[cfg(feature = "restate")]
    /// Restate's admin API, where this server is registered
    #[arg(long, value_name = "URL")]
    pub(crate) restate_admin: Option<url::Url>,
    #[cfg(feature = "restate")]
    /// Where to listen for Restate: it goes on with runs under way at the same address, so keep it over restarts
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:9081")]
    pub(crate) restate_listen: std::net::SocketAddr,
    #[cfg(feature = "restate")]
    #[command(flatten)]
    pub(crate) restate_endpoint: RestateArgs,
}
