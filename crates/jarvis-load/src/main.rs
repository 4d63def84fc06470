//! Measures the real binary, `jarvis serve`, from outside: `cargo xtask load`. Prints figures and asserts nothing but that
//! the server stayed correct; the targets stand in `docs/performance.md`. Not a test, and not part of what jarvis ships.

// It talks to the person who ran it.
#![allow(clippy::print_stdout)]

mod client;
mod model;
mod questions;
mod rate;
mod server;
mod streams;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Parser;

use crate::model::{Kind, Model};
use crate::server::Server;

/// Measures `jarvis serve` on the loopback interface.
#[derive(Debug, Parser)]
struct Args {
    /// What to measure: all of it when nothing is named
    #[arg(value_enum)]
    what: Vec<What>,
    /// The binary to measure
    #[arg(long, default_value = "target/release/jarvis", value_name = "FILE")]
    binary: PathBuf,
    /// Clients that ask at the same time, one figure for each
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
    /// Questions at the same time
    #[arg(long, default_value_t = 200, value_name = "N")]
    questions: usize,
    /// More flags for `jarvis serve`
    #[arg(last = true, value_name = "FLAG")]
    serve: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum What {
    /// Requests a second with the offline planner
    Offline,
    /// Requests a second with a recorded model
    Replay,
    /// Requests a second with a model that answers at once on a socket
    Socket,
    /// Memory before and after 10,000 requests
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

const ALL: [What; 8] = [
    What::Offline,
    What::Replay,
    What::Socket,
    What::Memory,
    What::Streams,
    What::Slow,
    What::Overload,
    What::Questions,
];

fn main() -> Result<()> {
    let args = Args::parse();
    // Half of the machine is the server's.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(measure(&args))
}

async fn measure(args: &Args) -> Result<()> {
    let what: &[What] = if args.what.is_empty() { &ALL } else { &args.what };
    let mut wrong = Vec::new();
    for what in what {
        let found = match what {
            What::Offline => throughput(args, "offline planner, one native task", Kind::Offline).await?,
            What::Replay => throughput(args, "recorded model, one native task", Kind::Replay).await?,
            What::Socket => throughput(args, "model on a socket, one native task", Kind::Socket).await?,
            What::Memory => memory(args).await?,
            What::Streams => streams::many(args.streams, &args.binary, &args.serve).await?,
            What::Slow => streams::unread(&args.binary, &args.serve).await?,
            What::Overload => overload(args).await?,
            What::Questions => questions::ask(args.questions, &args.binary, &args.serve).await?,
        };
        wrong.extend(found);
    }
    if wrong.is_empty() {
        return Ok(());
    }
    anyhow::bail!("the server did not stay correct:\n  {}", wrong.join("\n  "))
}

async fn throughput(args: &Args, title: &str, kind: Kind) -> Result<Vec<String>> {
    let model = Model::start(kind).await?;
    let server = Server::start(&args.binary, &model.flags(), &args.serve).await?;
    println!("\n## {title}\n");
    println!("idle: {}", server.memory()?);
    rate::run(&server, &model, 8, 200, Duration::from_secs(5)).await?;
    println!("\n| clients | requests/s | p50 ms | p99 ms | max ms | not 200 | server CPU ms/request | memory |");
    println!("|---|---|---|---|---|---|---|---|");
    let mut wrong = Vec::new();
    for clients in &args.clients {
        let figure = rate::run(&server, &model, *clients, args.requests, Duration::from_secs(args.seconds)).await?;
        println!("| {clients} | {figure} | {} |", server.memory()?);
        if figure.broken() {
            wrong.push(format!("{title}, {clients} clients: {}", figure.statuses()));
        }
    }
    wrong.extend(server.stop().await?);
    Ok(wrong)
}

async fn memory(args: &Args) -> Result<Vec<String>> {
    let model = Model::start(Kind::Replay).await?;
    let server = Server::start(&args.binary, &model.flags(), &args.serve).await?;
    println!("\n## Memory, 32 clients, recorded model\n");
    println!("idle: {}", server.memory()?);
    let mut done = 0;
    for requests in [1_000, 9_000, 10_000] {
        let figure = rate::run(&server, &model, 32, requests, Duration::from_secs(120)).await?;
        done += figure.count();
        println!("after {done} requests: {}", server.memory()?);
    }
    tokio::time::sleep(Duration::from_secs(5)).await;
    println!("five seconds later: {}", server.memory()?);
    println!("data folder: {} MB", server.data_bytes() / 1_000_000);
    server.stop().await
}

async fn overload(args: &Args) -> Result<Vec<String>> {
    let model = Model::start(Kind::Held).await?;
    let server = Server::start(&args.binary, &model.flags(), &args.serve).await?;
    println!("\n## Overload: 2,000 runs at once, and a model that does not answer\n");
    let before = server.memory()?;
    let (refused, wrong) = rate::overload(&server, &model, 2_000).await?;
    println!("{refused}");
    println!("memory: {before}, then {}", server.memory()?);
    let mut wrong: Vec<String> = wrong.into_iter().map(|wrong| format!("overload: {wrong}")).collect();
    wrong.extend(server.stop().await?);
    Ok(wrong)
}
