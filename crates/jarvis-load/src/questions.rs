//! Questions about documents over gRPC, many at the same time, each answered with a text and a chart.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use jarvis_proto::file_based_qa::QueryRequest;
use jarvis_proto::file_based_qa::file_based_qa_client::FileBasedQaClient;
use tokio::task::JoinSet;
use tonic::Code;
use tonic::transport::{Channel, Endpoint};

use crate::model::{Kind, Model};
use crate::server::Server;

const DOCUMENT: &[u8] = b"apple,apple,apple,banana,apple,banana,orange,apple,apple,banana";

/// Connections that the questions go over.
const CONNECTIONS: usize = 8;

/// Asks `at_once` questions at the same time, several times over, and then more than there are places for.
pub(crate) async fn ask(at_once: usize, binary: &Path, serve: &[String]) -> Result<Vec<String>> {
    let model = Model::start(Kind::Agent).await?;
    let flags = [serve, &["--grpc".to_owned(), "127.0.0.1:0".to_owned()]].concat();
    let server = Server::start(binary, &model.flags(), &flags).await?;
    let address = server.grpc().await.context("the server does not say where gRPC is served")?;
    println!("\n## {at_once} questions at once over gRPC, each with a chart (recorded model)\n");
    println!("idle: {}", server.memory()?);
    let mut wrong = Vec::new();
    println!(
        "\n| questions | answered | refused | p50 ms | p99 ms | max ms | took s | server CPU ms/question | memory |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for count in [at_once, at_once, at_once * 5, 2_000] {
        let cpu = server.cpu();
        let began = Instant::now();
        let (mut times, codes) = all(&address, count).await?;
        let took = began.elapsed();
        times.sort();
        let quantile = |part: f64| {
            let at = ((times.len() as f64 * part) as usize).min(times.len().saturating_sub(1));
            times.get(at).copied().unwrap_or_default().as_secs_f64() * 1e3
        };
        let refused = codes.get(&(Code::ResourceExhausted as i32)).copied().unwrap_or_default();
        let cpu = (server.cpu().saturating_sub(cpu)).as_secs_f64() * 1e3 / times.len().max(1) as f64;
        println!(
            "| {count} | {} | {refused} | {:.0} | {:.0} | {:.0} | {:.2} | {cpu:.1} | {} |",
            times.len(),
            quantile(0.5),
            quantile(0.99),
            quantile(1.0),
            took.as_secs_f64(),
            server.memory()?,
        );
        if times.len() + refused != count || (refused > 0 && count <= 1_000) {
            wrong.push(format!("of {count} questions {} were answered; codes: {codes:?}", times.len()));
        }
    }
    wrong.extend(server.stop().await?);
    Ok(wrong)
}

/// All questions at the same time: how long the answered ones took, and the codes of the others.
async fn all(address: &str, count: usize) -> Result<(Vec<Duration>, BTreeMap<i32, usize>)> {
    let mut clients: Vec<FileBasedQaClient<Channel>> = Vec::new();
    for _ in 0..CONNECTIONS {
        let channel = Endpoint::from_shared(format!("http://{address}"))?.connect().await?;
        clients.push(FileBasedQaClient::new(channel));
    }
    let mut asked = JoinSet::new();
    for (_, client) in (0..count).zip(clients.iter().cycle()) {
        let mut client = client.clone();
        asked.spawn(async move {
            let request = QueryRequest {
                question: "Which fruits are there? Draw them.".to_owned(),
                file_data: DOCUMENT.into(),
                ..QueryRequest::default()
            };
            let began = Instant::now();
            let reply = client.query_file(request).await.map(tonic::Response::into_inner);
            (reply, began.elapsed())
        });
    }
    let (mut times, mut codes) = (Vec::new(), BTreeMap::new());
    while let Some(done) = asked.join_next().await {
        match done? {
            (Ok(reply), took) if reply.has_text && reply.has_image => times.push(took),
            (Ok(_), _) => *codes.entry(Code::DataLoss as i32).or_default() += 1,
            (Err(status), _) => *codes.entry(status.code() as i32).or_default() += 1,
        }
    }
    Ok((times, codes))
}
