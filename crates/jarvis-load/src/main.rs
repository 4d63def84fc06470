//! Measures the real binary, `jarvis serve`, from outside: `cargo xtask load`. Prints figures and fails only when the server
//! does not stay correct; the targets stand in `docs/performance.md`. Not part of what jarvis ships.

// A development command has no printer to go through.
#![allow(clippy::print_stdout)]

mod client;
mod load;
mod model;
mod questions;
mod server;
mod streams;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::{Parser, ValueEnum};

use crate::load::HEAD;
use crate::model::{Kind, Model};
use crate::server::Server;

/// Measures `jarvis serve` on the loopback interface.
#[derive(Debug, Parser)]
struct Args {
    /// What to measure [default: everything]
    #[arg(value_enum)]
    what: Vec<What>,
    /// The binary to measure
    #[arg(long, default_value = "target/release/jarvis", value_name = "FILE")]
    binary: PathBuf,
    /// Numbers of clients, one figure for each
    #[arg(long, value_delimiter = ',', default_value = "1,8,32,256", value_name = "N,…")]
    clients: Vec<usize>,
    /// The most requests of one figure
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    requests: usize,
    /// The longest time of one figure, in seconds
    #[arg(long, default_value_t = 10, value_name = "S")]
    seconds: u64,
    /// Concurrent event streams
    #[arg(long, default_value_t = 1_000, value_name = "N")]
    streams: usize,
    /// Concurrent questions
    #[arg(long, default_value_t = 200, value_name = "N")]
    questions: usize,
    /// More flags for `jarvis serve`
    #[arg(last = true, value_name = "FLAG")]
    serve: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// Requests per second with the offline planner
    Offline,
    /// Requests per second with a recorded model
    Replay,
    /// Requests per second with a model on a socket that answers at once
    Socket,
    /// Memory after up to 20,000 requests
    Memory,
    /// Many event streams of one run, and many runs that stream
    Streams,
    /// Streams that nobody reads
    Slow,
    /// More runs than there are places
    Overload,
    /// Questions about documents over gRPC
    Questions,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let faults = runtime.block_on(measure(&args))?;
    anyhow::ensure!(faults.is_empty(), "the server did not stay correct:\n  {}", faults.join("\n  "));
    Ok(())
}

async fn measure(args: &Args) -> Result<Vec<String>> {
    let what = if args.what.is_empty() { What::value_variants() } else { &args.what };
    let seconds = Duration::from_secs(args.seconds);
    let rates: Vec<_> = args.clients.iter().map(|clients| (*clients, args.requests, seconds)).collect();
    let memory = [1_000, 9_000, 10_000].map(|requests| (32, requests, Duration::from_secs(120)));
    let mut faults = Vec::new();
    for what in what {
        faults.extend(match what {
            What::Offline => rate(args, "Offline planner, one native task", Kind::Offline, &rates).await?,
            What::Replay => rate(args, "Recorded model, one native task", Kind::Replay, &rates).await?,
            What::Socket => rate(args, "Model on a socket, one native task", Kind::Socket, &rates).await?,
            What::Memory => rate(args, "Memory, recorded model, one native task", Kind::Replay, &memory).await?,
            What::Streams => streams::many(args).await?,
            What::Slow => streams::unread(args).await?,
            What::Overload => overload(args).await?,
            What::Questions => questions::measure(args).await?,
        });
    }
    Ok(faults)
}

/// One row for each number of clients, of requests, and longest time.
async fn rate(args: &Args, title: &str, kind: Kind, loads: &[(usize, usize, Duration)]) -> Result<Vec<String>> {
    println!("\n## {title}\n");
    let model = Model::start(kind).await?;
    let server = Server::start(&args.binary, &model.flags, &args.serve).await?;
    println!("idle: {}\n\n{HEAD}", server.memory()?);
    load::rate(&server, &model, 8, 200, Duration::from_secs(5)).await?;
    let mut faults = Vec::new();
    for (clients, requests, limit) in loads {
        let figure = load::rate(&server, &model, *clients, *requests, *limit).await?;
        println!("| {clients} clients | {figure} |");
        faults.extend(figure.faults());
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    println!("\ntwo seconds later: {}", server.memory()?);
    faults.extend(server.stop().await?);
    Ok(faults)
}

async fn overload(args: &Args) -> Result<Vec<String>> {
    println!("\n## 2,000 runs at once, and a model that does not answer\n");
    let model = Model::start(Kind::Held).await?;
    let server = Server::start(&args.binary, &model.flags, &args.serve).await?;
    println!("idle: {}", server.memory()?);
    let mut faults = load::overload(&server, &model, 2_000).await?;
    faults.extend(server.stop().await?);
    Ok(faults)
}
