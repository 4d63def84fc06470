//! `jarvis ask`: a question about documents or over tools, answered in this process or by a server.

#[cfg(feature = "grpc")]
mod remote;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use clap::Args;
use jarvis_react::{Agent, AgentAnswer, Asked, Finish, Round};
use jarvis_store::files;
use jarvis_tools::Documents;
use serde_json::{Value, json};

use super::{picture_place, read_input, request_text};
use crate::approval::ApprovalArgs;
use crate::budget::BudgetArgs;
use crate::cli::Global;
use crate::failure::Failure;
use crate::ingest::{self, Intake};
use crate::printer::Printer;
use crate::session::{Live, Watched, watch};
use crate::wiring::{App, Flags};

/// The largest document that is read at all, in bytes.
const MAX_DOCUMENT: u64 = 256 << 20;

/// `jarvis ask`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    jarvis ask \"which fruit is most frequent? draw it\" --file fruits.txt --chart fruits.png\n  \
    jarvis ask \"what was the total revenue?\" --file sales.csv --llm qwen3:8b --base-url http://localhost:11434/v1\n  \
    jarvis ask \"文件中有几种水果？用柱状图表示\" --file fruits.txt --chart fruits.png --json\n  \
    cat report.txt | jarvis ask \"when was the company founded?\" --file -\n  \
    jarvis ask \"what is new in v2.md since v1.md?\" --llm qwen3:8b    # files of the working folder that it names\n  \
    jarvis ask \"who is online?\" --llm qwen3:8b    # over tools alone\n  \
    jarvis ask \"who signed it?\" --file contract.pdf --addr 127.0.0.1:50051    # a running `jarvis serve --grpc`\n\n\
    Without --llm an extractive agent answers what can be found, counted and added up. A document is text\n\
    (UTF-8, UTF-16, GB18030 or a Cyrillic encoding) or a PDF, office or HTML file. Tools are those of `jarvis tools list`.\n\n\
    Exit status: 0 when there is an answer or a chart, 1 when none was found, 2 for wrong use.")]
pub(crate) struct AskArgs {
    /// The question, in any language; `-` reads it from standard input
    question: String,
    /// A document; `-` reads it from standard input, and several are read one after the other. Default: the files of the
    /// working folder that the question names
    #[arg(short, long = "file", value_name = "DOC")]
    files: Vec<PathBuf>,
    /// Write the last chart to this file (PNG)
    #[arg(long, alias = "out", value_name = "FILE")]
    chart: Option<PathBuf>,
    /// Ask a server: HOST:PORT, or https://HOST:PORT; a token goes from JARVIS_TOKEN
    #[arg(long, value_name = "ADDR")]
    addr: Option<String>,
    /// The certificates (PEM) that sign the server's, for https
    #[arg(long, value_name = "FILE", requires = "addr")]
    tls_ca: Option<PathBuf>,
    /// Seconds to wait for an answer
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// The most rounds of thought and action
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_steps: Option<u32>,
    /// Print one JSON document instead of the answer
    #[arg(long, conflicts_with = "events")]
    json: bool,
    /// Print every event as a line of JSON while it happens, instead of the answer
    #[arg(long, conflicts_with = "addr")]
    events: bool,
    #[command(flatten)]
    pub(crate) approval: ApprovalArgs,
    #[command(flatten)]
    budget: BudgetArgs,
}

#[derive(Debug, Default)]
struct Answered {
    text: String,
    images: Vec<Vec<u8>>,
    steps: Vec<Round>,
    finish_reason: String,
    warnings: Vec<String>,
    /// What only this process knows: the run, its usage and time.
    more: Vec<(&'static str, Value)>,
}

pub(super) async fn run(args: AskArgs, global: &Global, printer: Printer) -> Result<ExitCode, Failure> {
    let ended = match asked(&args, global) {
        Ok(question) => answered(&args, &question, global, printer).await,
        Err(failure) => Err(failure),
    };
    if let (Err(failure), true) = (&ended, args.json) {
        printer.out(&failure.document().to_string());
    }
    let answered = ended?;
    // A chart that cannot be written does not take the answer with it.
    let mut unwritten = None;
    let chart = match (&args.chart, answered.images.last()) {
        (Some(path), Some(png)) => match files::replace(path, png) {
            Ok(()) => Some(path.as_path()),
            Err(error) => {
                unwritten = Some(Failure::work(error).hint("name a file in a folder that you may write to"));
                None
            }
        },
        (Some(_), None) => {
            printer.warning("no chart was made");
            None
        }
        (None, _) => None,
    };
    let found = !answered.text.is_empty() && !Finish::is_failure(&answered.finish_reason);
    let drawn = !answered.images.is_empty() && answered.finish_reason != Finish::NotDone.as_str();
    let ok = found || drawn;
    if args.json {
        printer.json(&document(answered, chart))?;
    } else if !args.events {
        show(&answered, chart, printer);
    }
    if let Some(failure) = unwritten {
        return Err(failure);
    }
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The question, and whether the rest of what was typed can be done, before any work.
fn asked(args: &AskArgs, global: &Global) -> Result<String, Failure> {
    if args.question.trim().is_empty() {
        return Err(Failure::usage("the question is empty")
            .hint("say what you want to know: jarvis ask \"…\" --file report.txt"));
    }
    let ours = [
        ("--llm", global.llm.is_some()),
        ("--base-url", global.base_url.is_some()),
        ("--record", global.record.is_some()),
    ];
    if let (Some(_), Some((flag, _))) = (&args.addr, ours.iter().find(|(_, given)| *given)) {
        return Err(Failure::usage(format!("{flag} does nothing with --addr: the server's model answers"))
            .hint(format!("leave out {flag}, or give it to `jarvis serve --grpc`")));
    }
    if let Some(chart) = &args.chart {
        picture_place(chart)?;
        let is_document =
            |chart: PathBuf| args.files.iter().any(|file| file.canonicalize().is_ok_and(|file| chart == file));
        if chart.is_file() && chart.canonicalize().is_ok_and(is_document) {
            return Err(Failure::usage(format!(
                "the chart would take the place of the document `{}`",
                chart.display()
            ))
            .hint("name another file with --chart, such as chart.png"));
        }
    }
    request_text(&args.question)
}

async fn answered(args: &AskArgs, question: &str, global: &Global, printer: Printer) -> Result<Answered, Failure> {
    let files = ingest::each_file(&args.files)?;
    let given = files.iter().map(|file| Ok((file.as_path(), read(file)?))).collect::<Result<Vec<_>, Failure>>()?;
    match &args.addr {
        #[cfg(feature = "grpc")]
        Some(addr) => remote::ask(addr, args, question, only(given)?, printer).await,
        #[cfg(not(feature = "grpc"))]
        Some(_) => Err(super::not_built("grpc")),
        None => here(args, question, given, global, printer).await,
    }
}

async fn here(
    args: &AskArgs,
    question: &str,
    given: Vec<(&Path, Bytes)>,
    global: &Global,
    printer: Printer,
) -> Result<Answered, Failure> {
    let flags = Flags { approval: args.approval.clone(), budget: args.budget, ..Flags::default() };
    let app = App::build_with(flags, global, printer).await?;
    let (documents, warnings) = documents(question, given, &app, printer).await?;
    let asked = Asked { documents, warnings, ..Asked::over_tools(question) };
    // What is typed wins over the configuration.
    let mut agent = Agent::clone(&app.agent);
    agent.settings.max_steps = args.max_steps.unwrap_or(agent.settings.max_steps);
    agent.settings.deadline = args.timeout.map_or(agent.settings.deadline, std::time::Duration::from_secs);
    let live = if args.events { Live::Events } else { Live::Nothing };
    let watched = watch(&app, live, printer, async |events, cancel| agent.ask(&asked, events, cancel).await).await;
    let Watched { run_id, ended, usage, ms, .. } = watched;
    let reached = ended.map_err(|error| {
        let (hint, code) = (error.hint(), error.code());
        Failure::work(error).of_run(run_id.clone(), code).maybe_hint(hint)
    })?;
    let AgentAnswer { text, images, rounds, finish, warnings, .. } = reached;
    let media = &app.media;
    let pictures = images.iter().map(|url| media.read(url, MAX_DOCUMENT)).collect::<Result<Vec<_>, _>>();
    Ok(Answered {
        text,
        images: pictures.map_err(Failure::work)?,
        steps: rounds,
        finish_reason: finish.as_str().to_owned(),
        warnings,
        more: vec![
            ("run_id", json!(run_id)),
            ("model", json!(app.agent.model_name())),
            ("image_urls", json!(images)),
            ("usage", json!(usage)),
            ("ms", json!(ms)),
        ],
    })
}

/// The text of the documents, each under its name where there are several, and what is odd about them.
async fn documents(
    question: &str,
    mut given: Vec<(&Path, Bytes)>,
    app: &App,
    printer: Printer,
) -> Result<(Documents, Vec<String>), Failure> {
    let mut named = Vec::new();
    if given.is_empty() {
        let (paths, missing) = ingest::named(question, Intake::of(app));
        missing.iter().for_each(|what| printer.warning(what));
        named = paths;
    }
    for path in &named {
        given.push((path, read(path)?));
    }
    let most = app.config.limits.max_input_bytes;
    let bytes: u64 = given.iter().map(|(_, bytes)| bytes.len() as u64).sum();
    if bytes > most {
        let words = match given.as_slice() {
            [(path, _)] => format!("the document `{}` has", path.display()),
            _ => "the documents have".to_owned(),
        };
        return Err(Failure::usage(format!("{words} {bytes} bytes, more than the limit of {most}"))
            .hint("raise limits.max_input_bytes in the configuration"));
    }
    let (mut texts, mut warnings) = (Vec::new(), Vec::new());
    for (path, bytes) in given {
        let document = app.agent.read(bytes).await.map_err(|error| {
            Failure::usage(format!("the document `{}` cannot be read: {error}", path.display()))
                .hint("give a plain text (UTF-8 is best), or a PDF, office or HTML file with text in it")
        })?;
        warnings.extend(document.warnings);
        texts.push((path.display().to_string(), document.text));
    }
    Ok((Documents::new(texts), warnings))
}

/// The one document of a question that a server answers.
#[cfg(feature = "grpc")]
fn only(mut given: Vec<(&Path, Bytes)>) -> Result<Bytes, Failure> {
    match (given.pop(), given.is_empty()) {
        (Some((_, bytes)), true) => Ok(bytes),
        (None, _) => Err(Failure::usage("a server is asked about a document, and none is given")
            .hint("name it with --file, or leave out --addr to ask here")),
        (Some(_), false) => Err(Failure::usage("a server takes one document, and several are given")
            .hint("leave out --addr to ask here, or give one --file")),
    }
}

fn read(path: &Path) -> Result<Bytes, Failure> {
    let bytes = read_input(path, MAX_DOCUMENT + 1).map_err(|error| {
        Failure::usage(format!("cannot read the document `{}`: {error}", path.display()))
            .hint("name a text, PDF, office or HTML file with --file, or `-` for standard input")
    })?;
    if bytes.len() as u64 > MAX_DOCUMENT {
        return Err(Failure::usage(format!("the document has more than {} MiB", MAX_DOCUMENT >> 20)));
    }
    Ok(bytes.into())
}

fn document(answered: Answered, chart: Option<&Path>) -> Value {
    let Answered { text, images, steps, finish_reason, warnings, more } = answered;
    let mut document = json!({
        "has_text": !text.is_empty(),
        "text_answer": (!text.is_empty()).then_some(text),
        "has_image": !images.is_empty(),
        "image_data": images.last().map(|png| STANDARD.encode(png)),
        "images": images.len(),
        "chart": chart,
        "steps": steps,
        "finish_reason": finish_reason,
        "warnings": warnings,
    });
    if let Value::Object(fields) = &mut document {
        fields.extend(more.into_iter().map(|(name, value)| (name.to_owned(), value)));
    }
    document
}

fn show(answered: &Answered, chart: Option<&Path>, printer: Printer) {
    if !answered.text.is_empty() {
        printer.out(&answered.text);
    }
    match (chart, answered.images.is_empty()) {
        (Some(path), _) => printer.progress(&format!("the chart is in {}", path.display())),
        (None, false) => printer.progress("a chart was made too; write it to a file with --chart FILE"),
        (None, true) => {}
    }
    if answered.text.is_empty() && answered.images.is_empty() {
        printer.progress("there is no answer");
    }
    if answered.finish_reason == "max_steps" {
        printer.warning("the rounds were used up before there was a final answer; --max-steps grants more");
    }
}
