//! Event streams: many at a time, and such as nobody reads.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use hyper::Response;
use hyper::body::Incoming;
use tokio::task::JoinSet;

use crate::Args;
use crate::client::{Client, Events};
use crate::load::{Figure, HEAD, Outcome};
use crate::model::{Kind, LONG, Model};
use crate::server::Server;

const UNREAD: usize = 100;
/// The receive buffer of such a stream in bytes: small, so that the server feels it soon.
const SMALL_BUFFER: u32 = 4096;

/// Follows one held run with many streams, then starts as many runs that stream.
pub(crate) async fn many(args: &Args) -> Result<Vec<String>> {
    let count = args.streams;
    println!("\n## {count} event streams\n");
    let model = Model::start(Kind::Held).await?;
    let server = Server::start(&args.binary, &model.flags, &args.serve).await?;
    println!("idle: {}", server.memory()?);
    let (mut run, id, _client) = started(&server, &model).await?;
    let start = Instant::now();
    let followers = follow(&server, &format!("/runs/{id}/events"), count, None).await?;
    println!("{count} streams of one run opened in {:.2?}: {}", start.elapsed(), server.memory()?);
    let start = Instant::now();
    model.release();
    let mut ends = JoinSet::new();
    for (client, response) in followers {
        ends.spawn(async move { (Events::new(response).last().await, client) });
    }
    let ends = ends.join_all().await;
    let done = ends.iter().filter(|(last, _)| last.as_ref().is_ok_and(|last| last == "done")).count();
    println!("{done} of {count} ended with `done`, {:.2?} after the answer: {}", start.elapsed(), server.memory()?);
    let mut faults = Vec::new();
    if done != count || run.last().await? != "done" {
        faults.push(format!("only {done} of {count} followers, or not the run itself, ended with `done`"));
    }
    faults.extend(server.stop().await?);

    let model = Model::start(Kind::Replay).await?;
    let server = Server::start(&args.binary, &model.flags, &args.serve).await?;
    let figure = Figure::of(&server, async {
        let mut runs = JoinSet::new();
        for _ in 0..count {
            let client = Client::connect(server.address, None).await?;
            runs.spawn(streamed(client, model.request()));
        }
        Ok(runs.join_all().await)
    })
    .await?;
    println!("\n{HEAD}\n| {count} runs that stream | {figure} |");
    faults.extend(figure.faults());
    faults.extend(server.stop().await?);
    Ok(faults)
}

async fn streamed(mut client: Client, body: Bytes) -> Outcome {
    let start = Instant::now();
    let last = match client.open("POST", "/hugginggpt/stream", body).await {
        Ok(response) if response.status() == 200 => Events::new(response).last().await,
        Ok(response) if matches!(response.status().as_u16(), 429 | 503) => return Outcome::Refused,
        Ok(response) => Ok(response.status().to_string()),
        Err(error) => Err(error),
    };
    match last {
        Ok(last) if last == "done" => Outcome::Answered(start.elapsed()),
        Ok(last) => Outcome::Failed(format!("the stream ended with `{last}`")),
        Err(error) => Outcome::Failed(format!("{error:#}")),
    }
}

/// Leaves many streams of long answers unread, and shows what the server keeps for them.
pub(crate) async fn unread(args: &Args) -> Result<Vec<String>> {
    println!("\n## {UNREAD} streams that nobody reads, an answer of {LONG} words\n");
    let model = Model::start(Kind::Long).await?;
    let server = Server::start(&args.binary, &model.flags, &args.serve).await?;
    println!("idle: {}", server.memory()?);
    let mut faults = Vec::new();
    let mut unread = Vec::new();
    for followers in [0, UNREAD] {
        model.hold();
        let (mut run, id, _client) = started(&server, &model).await?;
        unread = follow(&server, &format!("/runs/{id}/events"), followers, Some(SMALL_BUFFER)).await?;
        let start = Instant::now();
        model.release();
        let last = run.last().await?;
        let (took, memory) = (start.elapsed(), server.memory()?);
        println!("a reader beside {followers} unread streams had `{last}` after {took:.2?}: {memory}");
        if last != "done" {
            faults.push(format!("the run beside {followers} unread streams ended with `{last}`"));
        }
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    println!("two seconds later: {}", server.memory()?);
    Client::connect(server.address, None).await?.health().await?;
    drop(unread);
    tokio::time::sleep(Duration::from_secs(1)).await;
    println!("after they were closed: {}", server.memory()?);

    let mut client = Client::connect(server.address, Some(SMALL_BUFFER)).await?;
    let response = client.open("POST", "/hugginggpt/stream", model.request()).await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    println!("a run whose own stream is not read: {}", server.memory()?);
    drop((response, client));
    faults.extend(server.stop().await?);
    Ok(faults)
}

/// Starts a run and reads its stream until its task is done: the rest of the stream, the run's id, its connection.
async fn started(server: &Server, model: &Model) -> Result<(Events, String, Client)> {
    let mut client = Client::connect(server.address, None).await?;
    let response = client.open("POST", "/hugginggpt/stream", model.request()).await?;
    ensure!(response.status() == 200, "POST /hugginggpt/stream: {}", response.status());
    let mut events = Events::new(response);
    while let Some((kind, data)) = events.next().await? {
        if kind == "task_finished" {
            let data: serde_json::Value = serde_json::from_str(&data).context("an event is not JSON")?;
            let id = data.get("run_id").and_then(serde_json::Value::as_str).context("an event without run_id")?;
            return Ok((events, id.to_owned(), client));
        }
        ensure!(kind != "error", "the run failed: {data}");
    }
    bail!("the stream ended before a task did")
}

async fn follow(
    server: &Server,
    path: &str,
    count: usize,
    buffer: Option<u32>,
) -> Result<Vec<(Client, Response<Incoming>)>> {
    let mut opened = Vec::with_capacity(count);
    for _ in 0..count {
        let mut client = Client::connect(server.address, buffer).await?;
        let response = client.open("GET", path, Bytes::new()).await?;
        ensure!(response.status() == 200, "GET {path}: {}", response.status());
        opened.push((client, response));
    }
    Ok(opened)
}
