//! Event streams: many at a time, and such as nobody reads.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use hyper::Response;
use hyper::body::Incoming;
use tokio::task::JoinSet;

use crate::client::{Client, Events};
use crate::model::{Kind, Model};
use crate::server::Server;

/// Streams that nobody reads.
const UNREAD: usize = 100;
/// What the system takes in for such a stream before the server feels it, in bytes.
const SMALL_BUFFER: u32 = 4096;

/// Follows one held run with `count` streams, then starts `count` runs that stream.
pub(crate) async fn many(count: usize, binary: &Path, flags: &[String]) -> Result<Vec<String>> {
    println!("\n## {count} event streams\n");
    let mut wrong = Vec::new();

    let model = Model::start(Kind::Held).await?;
    let server = Server::start(binary, &model.flags(), flags).await?;
    println!("idle: {}", server.memory()?);
    let (mut run, id, _keep) = started(&server, &model).await?;
    let start = Instant::now();
    let mut followers = follow(&server, &format!("/runs/{id}/events"), count, None).await?;
    println!(
        "{count} streams of one run opened in {:.0} ms: {}",
        start.elapsed().as_secs_f64() * 1e3,
        server.memory()?
    );
    let start = Instant::now();
    model.release();
    let mut ends = JoinSet::new();
    for (client, response) in followers.drain(..) {
        ends.spawn(async move {
            let last = Events::new(response).last().await;
            drop(client);
            last
        });
    }
    let done = all_done(ends).await?;
    println!(
        "all told to the end {:.0} ms after the answer: {done} of {count} ended with `done`: {}",
        start.elapsed().as_secs_f64() * 1e3,
        server.memory()?
    );
    if done != count {
        wrong.push(format!("{} of {count} followers were not told the end", count - done));
    }
    let last = run.last().await?;
    if last != "done" {
        wrong.push(format!("the run that was followed ended with `{last}`"));
    }
    wrong.extend(server.stop().await?);

    let model = Model::start(Kind::Replay).await?;
    let server = Server::start(binary, &model.flags(), flags).await?;
    let mut runs = JoinSet::new();
    let start = Instant::now();
    let cpu = server.cpu();
    for _ in 0..count {
        let mut client = Client::connect(server.address, None).await?;
        let body = model.request();
        runs.spawn(async move {
            let response = client.open("POST", "/hugginggpt/stream", body).await?;
            let status = response.status().as_u16();
            let last = if status == 200 { Events::new(response).last().await? } else { String::new() };
            Ok::<_, anyhow::Error>((status, last))
        });
    }
    let (mut done, mut refused, mut other) = (0, 0, Vec::new());
    while let Some(run) = runs.join_next().await {
        match run? {
            Ok((200, last)) if last == "done" => done += 1,
            Ok((429 | 503, _)) => refused += 1,
            Ok((status, last)) => other.push(format!("status {status}, last event `{last}`")),
            Err(error) => other.push(format!("{error:#}")),
        }
    }
    println!(
        "{count} runs that stream, all at once: {done} done, {refused} refused, {} broken, in {:.0} ms, {:.2} ms of CPU each: {}",
        other.len(),
        start.elapsed().as_secs_f64() * 1e3,
        server.cpu().saturating_sub(cpu).as_secs_f64() * 1e3 / count.max(1) as f64,
        server.memory()?
    );
    if let Some(first) = other.first() {
        wrong.push(format!("{} of {count} streamed runs broke, such as: {first}", other.len()));
    }
    wrong.extend(server.stop().await?);
    Ok(wrong)
}

/// Lets many streams of long answers stand unread, and sees what the server keeps for them.
pub(crate) async fn unread(binary: &Path, flags: &[String]) -> Result<Vec<String>> {
    println!("\n## {UNREAD} streams that nobody reads, an answer of 100,000 words\n");
    let mut wrong = Vec::new();
    let model = Model::start(Kind::Long).await?;
    let server = Server::start(binary, &model.flags(), flags).await?;
    println!("idle: {}", server.memory()?);
    let (mut run, _, _keep) = started(&server, &model).await?;
    let start = Instant::now();
    model.release();
    run.last().await?;
    let alone = start.elapsed().as_secs_f64() * 1e3;
    println!("a reader alone was told the end after {alone:.0} ms: {}", server.memory()?);
    model.hold();
    let (mut run, id, _keep) = started(&server, &model).await?;
    let unread = follow(&server, &format!("/runs/{id}/events"), UNREAD, Some(SMALL_BUFFER)).await?;
    println!("opened: {}", server.memory()?);
    let start = Instant::now();
    model.release();
    let last = run.last().await?;
    println!(
        "the reader beside them was told the end (`{last}`) after {:.0} ms: {}",
        start.elapsed().as_secs_f64() * 1e3,
        server.memory()?
    );
    if last != "done" {
        wrong.push(format!("the run beside unread streams ended with `{last}`"));
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    println!("two seconds later: {}", server.memory()?);
    let health = Client::connect(server.address, None).await?.ask("GET", "/health", Bytes::new()).await?;
    if health.status != 200 {
        wrong.push(format!("/health answered {} beside unread streams", health.status));
    }
    drop(unread);
    tokio::time::sleep(Duration::from_secs(1)).await;
    println!("after they were closed: {}", server.memory()?);

    // The same with the stream of the run itself: its own reader stands still.
    let mut own = Client::connect(server.address, Some(SMALL_BUFFER)).await?;
    let response = own.open("POST", "/hugginggpt/stream", model.request()).await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    println!("a run whose own stream is not read: {}", server.memory()?);
    drop((response, own));
    wrong.extend(server.stop().await?);
    Ok(wrong)
}

/// Starts a run and reads its stream until its task is done: the rest of the stream, the run's id, its connection.
async fn started(server: &Server, model: &Model) -> Result<(Events, String, Client)> {
    let mut client = Client::connect(server.address, None).await?;
    let response = client.open("POST", "/hugginggpt/stream", model.request()).await?;
    if response.status() != 200 {
        bail!("POST /hugginggpt/stream: {}", response.status());
    }
    let mut events = Events::new(response);
    while let Some((kind, data)) = events.next().await? {
        if kind == "task_finished" {
            let data: serde_json::Value = serde_json::from_str(&data).context("an event is not JSON")?;
            let id = data.get("run_id").and_then(serde_json::Value::as_str).context("an event without run_id")?;
            return Ok((events, id.to_owned(), client));
        }
        if kind == "error" {
            bail!("the run failed: {data}");
        }
    }
    bail!("the stream ended before a task did")
}

/// Opens many streams of one path; each has been accepted, and none is read yet.
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
        if response.status() != 200 {
            bail!("GET {path}: {}", response.status());
        }
        opened.push((client, response));
    }
    Ok(opened)
}

async fn all_done(mut ends: JoinSet<Result<String>>) -> Result<usize> {
    let mut done = 0;
    while let Some(end) = ends.join_next().await {
        done += usize::from(end?.is_ok_and(|last| last == "done"));
    }
    Ok(done)
}
