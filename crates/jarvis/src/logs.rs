//! What is logged, and how: lines on stderr, and the traces that are exported.
//!
//! Lines of requests and of security are the server's (`jarvis::request`, `jarvis::security`, `jarvis::audit`, `jarvis::server`); all else
//! is for whoever looks for a fault.

use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jarvis_net::trace::CONTENT;
use tracing_appender::non_blocking::{ErrorCounter, NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::filter::{FilterExt as _, filter_fn};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer, Registry};

use crate::cli::{Cli, Command, LogFormat};
use crate::config::env_vars;
use crate::printer::Printer;

/// What writes the lines of a server on a thread of its own, so that no request waits for a terminal.
static WRITING: Mutex<Option<(WorkerGuard, ErrorCounter)>> = Mutex::new(None);

/// How many lines may wait to be written; more are lost, and counted.
const MOST_WAITING: usize = 1 << 14;

/// Logs that were started, and end in good order.
pub(crate) struct Logs;

#[cfg(feature = "otel")]
static TELEMETRY: std::sync::OnceLock<crate::telemetry::Telemetry> = std::sync::OnceLock::new();

/// Where the server's counts go too.
#[cfg(feature = "otel")]
pub(crate) fn metrics_sink() -> Option<std::sync::Arc<dyn jarvis_server::MetricsSink>> {
    TELEMETRY.get()?.metrics_sink()
}

/// Where the server's counts go too.
#[cfg(all(not(feature = "otel"), feature = "serve"))]
pub(crate) fn metrics_sink() -> Option<std::sync::Arc<dyn jarvis_server::MetricsSink>> {
    None
}

impl Logs {
    /// Logs go to stderr: as `JARVIS_LOG` says, else debug with `-vv`, else errors; of a server also warnings, its requests and what is
    /// audited, unless it is to be quiet.
    pub(crate) fn start(cli: &Cli, printer: Printer) -> Logs {
        // jarvis reports failures of MCP servers itself.
        let is_server = serves(&cli.command);
        let default = match (cli.global.verbose, cli.global.quiet, is_server) {
            (2.., _, _) => "warn,jarvis=debug",
            (_, false, true) => {
                "error,rmcp=off,jarvis=warn,jarvis::request=info,jarvis::audit=info,jarvis::server=info"
            }
            _ => "error,rmcp=off",
        };
        let wanted = std::env::var(env_vars::LOG).unwrap_or_default();
        let wanted = if wanted.is_empty() { default } else { &wanted };
        let filter = EnvFilter::try_new(wanted).unwrap_or_else(|error| {
            printer.warning(&format!("{} is not understood: {error}", env_vars::LOG));
            EnvFilter::new(default)
        });
        let (lines, writing) = match is_server {
            true => {
                let (writer, guard) =
                    NonBlockingBuilder::default().buffered_lines_limit(MOST_WAITING).finish(Batches::of_stderr());
                let lost = writer.error_counter();
                (lines::<NonBlocking>(writer, cli.global.log_format), Some((guard, lost)))
            }
            false => (lines(std::io::stderr, cli.global.log_format), None),
        };
        let layers = tracing_subscriber::registry().with(lines.with_filter(filter.and(filter_fn(is_no_content))));
        #[cfg(feature = "otel")]
        let layers = layers.with(telemetry(printer));
        let _ = layers.try_init();
        *WRITING.lock().unwrap_or_else(PoisonError::into_inner) = writing;
        Logs
    }

    /// Sends what is left of traces and metrics, and writes the lines that are left. Blocks.
    pub(crate) fn end(self) {
        end();
    }
}

fn end() {
    #[cfg(feature = "otel")]
    if let Some(telemetry) = TELEMETRY.get() {
        telemetry.end();
    }
    let writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some((guard, lost)) = writing {
        // More came at once than could be written.
        if lost.dropped_lines() > 0 {
            tracing::error!(lines = lost.dropped_lines(), "lines of this log were lost");
        }
        drop(guard);
    }
}

/// Ends the process at once, with what is left of logs and traces.
pub(crate) fn exit(code: i32) -> ! {
    end();
    std::process::exit(code)
}

/// What is said and done, word for word, is for no log, whatever is asked of it.
fn is_no_content(of: &tracing::Metadata<'_>) -> bool {
    of.target() != CONTENT
}

/// Whether a command is a server, which logs while it works.
fn serves(command: &Command) -> bool {
    match command {
        Command::Serve(_) => true,
        #[cfg(feature = "restate")]
        Command::Worker(_) => true,
        _ => false,
    }
}

fn lines<W>(writer: W, format: LogFormat) -> Box<dyn Layer<Registry> + Send + Sync>
where
    W: for<'writer> MakeWriter<'writer> + Send + Sync + 'static,
{
    let lines = tracing_subscriber::fmt::layer();
    match format {
        LogFormat::Text => lines.with_ansi(std::io::stderr().is_terminal()).with_writer(OneLines(writer)).boxed(),
        LogFormat::Json => lines.json().flatten_event(true).with_current_span(false).with_writer(writer).boxed(),
    }
}

/// Writes what waits at once, and then rests: a line that comes alone is written at once, and of many that follow each other few wake
/// the thread that writes.
struct Batches(BufWriter<io::Stderr>);

impl Batches {
    const REST: Duration = Duration::from_millis(5);

    fn of_stderr() -> Batches {
        Batches(BufWriter::new(io::stderr()))
    }
}

impl Write for Batches {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        self.0.write(lines)
    }

    /// Called when no line waits.
    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.0.flush();
        std::thread::sleep(Batches::REST);
        flushed
    }
}

/// Makes writers of one line for each event.
struct OneLines<W>(W);

impl<'writer, W: MakeWriter<'writer>> MakeWriter<'writer> for OneLines<W> {
    type Writer = OneLine<W::Writer>;

    fn make_writer(&'writer self) -> Self::Writer {
        OneLine(self.0.make_writer())
    }
}

/// Writes each event as one line, so that no text in it looks like another event.
struct OneLine<W>(W);

impl<W: Write> Write for OneLine<W> {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let (text, end) = match event.strip_suffix(b"\n") {
            Some(text) => (text, "\n"),
            None => (event, ""),
        };
        match text.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
            true => {
                let text = String::from_utf8_lossy(text).replace('\n', "\\n").replace('\r', "\\r");
                self.0.write_all(format!("{text}{end}").as_bytes())?;
            }
            false => self.0.write_all(event)?,
        }
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// What exports traces, where the environment asks for it.
#[cfg(feature = "otel")]
fn telemetry<S>(printer: Printer) -> Option<Box<dyn Layer<S> + Send + Sync>>
where
    S: tracing::Subscriber + for<'span> tracing_subscriber::registry::LookupSpan<'span> + Send + Sync,
{
    match crate::telemetry::start() {
        Ok(telemetry) => {
            let telemetry = telemetry?;
            TELEMETRY.get_or_init(|| telemetry).layer().map(|layer| layer.boxed())
        }
        Err(problem) => {
            printer.warning(&format!("no traces and metrics are sent: {problem}"));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_whatever_it_says() {
        for (event, line) in [
            ("INFO all is well\n", "INFO all is well\n"),
            ("INFO x\nINFO forged\r\n", "INFO x\\nINFO forged\\r\n"),
            ("no end", "no end"),
        ] {
            let mut written = OneLine(Vec::new());
            written.write_all(event.as_bytes()).expect("memory takes it");
            assert_eq!(String::from_utf8(written.0).expect("UTF-8"), line);
        }
    }
}
