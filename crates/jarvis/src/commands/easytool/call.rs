//! `jarvis easytool call`: calls functions of the function hub, one or a file of them.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use jarvis_prompt::literal::Literal;
use jarvis_store::files;
use jarvis_tools::hub::{Function, Hub, HubError, HubFault, Mode};

use crate::failure::Failure;
use crate::printer::Printer;

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/call.txt").trim_end())]
pub(crate) struct CallArgs {
    /// The function, such as add_ (see --list)
    #[arg(value_name = "FUNCTION", required_unless_present_any = ["batch", "list"], requires = "input")]
    function: Option<String>,
    /// Its arguments: a JSON list, or an object with `input`
    #[arg(value_name = "JSON")]
    input: Option<String>,
    /// How results are shown: precise (all digits) or compat (the original's rounding)
    #[arg(long, value_name = "MODE", default_value_t)]
    mode: Mode,
    /// Print one JSON document
    #[arg(long, conflicts_with_all = ["batch", "list"])]
    json: bool,
    /// Call for each line of a JSON Lines file; - reads stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["function", "list"])]
    batch: Option<PathBuf>,
    /// Write the answers of a batch to a file, at once when all are there
    #[arg(long, value_name = "FILE", requires = "batch")]
    out: Option<PathBuf>,
    /// List the functions
    #[arg(long, conflicts_with = "function")]
    list: bool,
}

pub(super) async fn run(args: CallArgs, printer: Printer) -> Result<ExitCode, Failure> {
    tokio::task::spawn_blocking(move || call(&args, printer)).await.map_err(Failure::work)?
}

fn call(args: &CallArgs, printer: Printer) -> Result<ExitCode, Failure> {
    let hub = Hub::new(args.mode);
    if args.list {
        for function in Function::ALL {
            printer.out(&format!("{:<11} {}", function.name(), function.summary()));
        }
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(batch) = &args.batch {
        return of_file(hub, batch, args.out.as_deref(), printer);
    }
    let function = args.function.as_deref().expect("clap requires a function without --batch and --list");
    let written = args.input.as_deref().expect("clap requires an input with a function");
    let input = Literal::parse(written).map_err(|error| {
        Failure::usage(format!("the arguments cannot be read: {error}"))
            .hint("write a list such as '[1, 2.5]', or an object such as '{\"input\": [1, 2.5]}'")
    })?;
    let outcome = hub.call_named(function, &input).map(|result| result.text);
    if args.json {
        let mut fields = vec![("function", Literal::Text(function.to_owned())), ("args", input)];
        fields.push(outcome_field(&outcome));
        let document = Literal::Map(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect());
        printer.out(&document.to_string());
    }
    match outcome {
        Ok(text) => {
            if !args.json {
                printer.out(&text);
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(error) if error.fault == HubFault::UnknownFunction => {
            Err(Failure::usage(error).hint("`jarvis easytool call --list` shows the arguments of each"))
        }
        Err(error) => Err(Failure::work(error)),
    }
}

fn outcome_field(outcome: &Result<String, HubError>) -> (&'static str, Literal) {
    match outcome {
        Ok(text) => ("result", Literal::Text(text.clone())),
        Err(error) => ("error", Literal::Text(format!("{}: {error}", error.fault))),
    }
}

/// Bytes of answers that are gathered before they are printed.
const PIECE: usize = 64 * 1024;

/// Bytes that a line may have.
const LONGEST_LINE: usize = 16 * 1024 * 1024;

/// Calls for every line of a file, in order.
fn of_file(hub: Hub, batch: &Path, out: Option<&Path>, printer: Printer) -> Result<ExitCode, Failure> {
    let unreadable = |error: std::io::Error| {
        Failure::usage(format!("{} cannot be read: {error}", batch.display()))
            .hint("name a file of lines such as {\"function\": \"add_\", \"args\": [1, 2]}, or - for stdin")
    };
    let from_stdin = batch == Path::new("-");
    if let Some(out) = out.filter(|out| !from_stdin && is_same(out, batch)) {
        return Err(Failure::usage(format!("{} is read for this batch and would be overwritten", out.display()))
            .hint("name another file with --out"));
    }
    let mut reader: Box<dyn BufRead> = if from_stdin {
        Box::new(BufReader::new(std::io::stdin()))
    } else {
        let file = File::open(batch).map_err(unreadable)?;
        if file.metadata().is_ok_and(|about| about.is_dir()) {
            return Err(unreadable(std::io::Error::from(std::io::ErrorKind::IsADirectory)));
        }
        Box::new(BufReader::new(file))
    };
    let mut gathered = String::new();
    let (mut number, mut results, mut errors) = (0_usize, 0_usize, 0_usize);
    let mut line = Vec::new();
    while next_line(&mut reader, &mut line).map_err(unreadable)? {
        number += 1;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let (answer, succeeded) = of_line(hub, &line, number);
        *(if succeeded { &mut results } else { &mut errors }) += 1;
        gathered.push_str(&answer);
        gathered.push('\n');
        // Who asks line by line waits for each answer.
        if out.is_none() && (from_stdin || gathered.len() >= PIECE) {
            printer.out_piece(&gathered);
            gathered.clear();
        }
    }
    match out {
        Some(path) => files::replace(path, gathered.as_bytes()).map_err(Failure::work)?,
        None => printer.out_piece(&gathered),
    }
    let failed = if errors == 1 { "error" } else { "errors" };
    printer.progress(&format!("{} calls: {results} with a result, {errors} {failed}", results + errors));
    Ok(ExitCode::SUCCESS)
}

/// Reads the next line, or as much of it as a line may have and one byte more; the rest is passed over.
fn next_line(reader: &mut dyn BufRead, line: &mut Vec<u8>) -> std::io::Result<bool> {
    line.clear();
    let most = LONGEST_LINE as u64 + 1;
    let read = Read::take(&mut *reader, most).read_until(b'\n', line)?;
    if line.len() > LONGEST_LINE && !line.ends_with(b"\n") {
        loop {
            let seen = reader.fill_buf()?;
            let (length, ends) = match seen.iter().position(|byte| *byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (seen.len(), seen.is_empty()),
            };
            reader.consume(length);
            if ends {
                break;
            }
        }
    }
    Ok(read > 0)
}

/// The answer to a line, and whether it has a result.
fn of_line(hub: Hub, line: &[u8], number: usize) -> (String, bool) {
    let bad = |what: String| {
        let fields = [
            ("line".to_owned(), Literal::Int(number.into())),
            ("error".to_owned(), Literal::Text(format!("Syntax: {what}"))),
        ];
        (Literal::Map(fields.into_iter().collect()).to_string(), false)
    };
    if line.len() > LONGEST_LINE {
        return bad(format!("the line is longer than {LONGEST_LINE} bytes"));
    }
    let Ok(text) = std::str::from_utf8(line) else { return bad("the line is not UTF-8".to_owned()) };
    let mut fields = match Literal::parse(text) {
        Ok(Literal::Map(fields)) => fields,
        Ok(
            Literal::Null
            | Literal::Bool(_)
            | Literal::Int(_)
            | Literal::Float(_)
            | Literal::Text(_)
            | Literal::List(_),
        ) => return bad("the line is no object".to_owned()),
        Err(error) => return bad(error.to_string()),
    };
    let lacks = |what: &str| HubError {
        fault: HubFault::Type,
        message: format!("the line has no `{what}`; it needs `function` and `args`"),
    };
    let outcome = match (fields.get("function").and_then(Literal::as_text), fields.get("args")) {
        (Some(function), Some(args)) => hub.call_named(function, args).map(|result| result.text),
        (None, _) => Err(lacks("function")),
        (Some(_), None) => Err(lacks("args")),
    };
    // What an earlier run said of the line is replaced.
    fields.shift_remove("result");
    fields.shift_remove("error");
    let (name, value) = outcome_field(&outcome);
    fields.insert(name.to_owned(), value);
    (Literal::Map(fields).to_string(), outcome.is_ok())
}

fn is_same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}
