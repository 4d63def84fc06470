//! Questions about documents over gRPC, many at the same time, each answered with a text and a chart.

use std::time::{Duration, Instant};

use anyhow::Result;
use jarvis_proto::file_based_qa::QueryRequest;
use jarvis_proto::file_based_qa::file_based_qa_client::FileBasedQaClient;
use tokio::task::JoinSet;
use tonic::Code;
use tonic::transport::Endpoint;

use crate::Args;
use crate::load::{Figure, HEAD, Outcome};
use crate::model::{Kind, Model};
use crate::server::Server;

const DOCUMENT: &[u8] = b"apple,apple,apple,banana,apple,banana,orange,apple,apple,banana";

const CONNECTIONS: usize = 8;

/// Asks `args.questions` at the same time, then five times as many, then more than there are places for.
pub(crate) async fn measure(args: &Args) -> Result<Vec<String>> {
    println!("\n## Questions at once over gRPC, each with a chart (recorded model)\n");
    let model = Model::start(Kind::Agent).await?;
    let flags = [args.serve.as_slice(), &["--grpc".to_owned(), "127.0.0.1:0".to_owned()]].concat();
    let mut server = Server::start(&args.binary, &model.flags, &flags).await?;
    let address = server.grpc().await?;
    println!("idle: {}\n\n{HEAD}", server.memory()?);
    let mut faults = Vec::new();
    for count in [args.questions, args.questions * 5, 2_000] {
        let figure = Figure::of(&server, ask(&address, count)).await?;
        println!("| {count} at once | {figure} |");
        faults.extend(figure.faults());
        if figure.refused > 0 && count <= 1_000 {
            faults.push(format!("{} of {count} questions were refused", figure.refused));
        }
    }
    faults.extend(server.stop().await?);
    Ok(faults)
}

async fn ask(address: &str, count: usize) -> Result<Vec<Outcome>> {
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        let channel = Endpoint::from_shared(format!("http://{address}"))?.timeout(Duration::from_secs(60));
        clients.push(FileBasedQaClient::new(channel.connect().await?));
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
            let start = Instant::now();
            match client.query_file(request).await.map(tonic::Response::into_inner) {
                Ok(reply) if reply.has_text && reply.has_image => Outcome::Answered(start.elapsed()),
                Ok(_) => Outcome::Failed("an answer without text or chart".to_owned()),
                Err(status) if status.code() == Code::ResourceExhausted => Outcome::Refused,
                Err(status) => Outcome::Failed(status.to_string()),
            }
        });
    }
    Ok(asked.join_all().await)
}
