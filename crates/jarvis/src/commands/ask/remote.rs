//! Asking a server over gRPC: step by step where it can, else at once.

use std::time::Duration;

use bytes::Bytes;
use jarvis_net::causes::chain;
use jarvis_proto::file_based_qa::file_based_qa_client::FileBasedQaClient;
use jarvis_proto::file_based_qa::query_event::Event;
use jarvis_proto::file_based_qa::{QueryRequest, QueryResponse, Step};
use jarvis_react::Round;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Request, Status, TimeoutExpired};

use super::{Answered, AskArgs, MAX_DOCUMENT};
use crate::config::env_vars;
use crate::failure::Failure;
use crate::printer::{Printer, one_line};
use crate::wiring::secret;

const CONNECT: Duration = Duration::from_secs(10);

/// How much longer than asked for a server is waited for.
const GRACE: Duration = Duration::from_secs(5);

/// How often a silent connection is asked whether the server is there.
const KEEPALIVE: Duration = Duration::from_secs(20);

const CERTIFICATE: &[u8] = b"-----BEGIN CERTIFICATE-----";

type Client = FileBasedQaClient<Channel>;

pub(super) async fn ask(
    addr: &str,
    args: &AskArgs,
    question: &str,
    document: Bytes,
    printer: Printer,
) -> Result<Answered, Failure> {
    let Some(seconds) = args.timeout else { return answer(addr, args, question, document, printer).await };
    // The server ends it at that time too, and says why; one that does not is not waited for.
    let patience = Duration::from_secs(seconds) + GRACE;
    match tokio::time::timeout(patience, answer(addr, args, question, document, printer)).await {
        Ok(answered) => answered,
        Err(_) => Err(late(addr, seconds)),
    }
}

fn late(addr: &str, seconds: u64) -> Failure {
    Failure::work(format!("the server at {addr} gave no answer within {seconds} s"))
        .hint("give it more time with --timeout")
}

async fn answer(
    addr: &str,
    args: &AskArgs,
    question: &str,
    document: Bytes,
    printer: Printer,
) -> Result<Answered, Failure> {
    let mut client = connect(addr, args).await?;
    let token = token()?;
    let request = || {
        let query = QueryRequest {
            question: question.to_owned(),
            file_data: document.clone(),
            language: String::new(),
            max_steps: args.max_steps.unwrap_or_default(),
        };
        let mut request = Request::new(query);
        if let Some(seconds) = args.timeout {
            request.set_timeout(Duration::from_secs(seconds));
        }
        if let Some(token) = &token {
            request.metadata_mut().insert("authorization", token.clone());
        }
        request
    };
    match followed(&mut client, request(), printer).await {
        // Servers of the first version answer at once only.
        Err(Followed::Status(status)) if status.code() == Code::Unimplemented => {
            let response = client.query_file(request()).await;
            let response = response.map_err(|status| refused(&status, addr, args.timeout))?.into_inner();
            Ok(answered(response, Vec::new()))
        }
        Err(Followed::Status(status)) => Err(refused(&status, addr, args.timeout)),
        Err(Followed::Lost) => {
            Err(Failure::work(format!("the connection to the server at {addr} was lost before its answer"))
                .hint("see whether it still runs, and ask again"))
        }
        Err(Followed::Problem(failure)) => Err(failure),
        Ok(answered) => Ok(answered),
    }
}

enum Followed {
    Status(Box<Status>),
    /// The connection ended in the middle of an answer.
    Lost,
    Problem(Failure),
}

async fn followed(client: &mut Client, request: Request<QueryRequest>, printer: Printer) -> Result<Answered, Followed> {
    let broken = |status: Status| Followed::Status(Box::new(status));
    let mut events = client.query_file_stream(request).await.map_err(broken)?.into_inner();
    let mut images = Vec::new();
    let ended = |status: Status| if of_connection(&status) { Followed::Lost } else { broken(status) };
    while let Some(event) = events.message().await.map_err(ended)? {
        let step = event.step;
        match event.event {
            Some(Event::Thought(text)) => printer.progress(&format!("{step}. thought: {}", one_line(&text, 400))),
            Some(Event::Action(action)) => {
                printer.progress(&format!("{step}. action: {} {}", action.tool, one_line(&action.input, 400)));
            }
            Some(Event::Observation(text)) => {
                printer.progress(&format!("{step}. observation: {}", one_line(&text, 400)));
            }
            Some(Event::Image(png)) => images.push(png),
            Some(Event::Final(response)) => return Ok(answered(response, images)),
            Some(Event::Error(problem)) => {
                return Err(Followed::Problem(Failure::work(format!("{} ({})", problem.message, problem.code))));
            }
            None => {}
        }
    }
    Err(Followed::Lost)
}

/// What a server answered; the pictures may have come before.
fn answered(response: QueryResponse, mut images: Vec<Vec<u8>>) -> Answered {
    if images.is_empty() {
        images = response.images;
    }
    if images.is_empty() && response.has_image {
        images.push(response.image_data);
    }
    let round = |step: Step| Round {
        thought: step.thought,
        action: step.action,
        input: step.action_input,
        observation: step.observation,
        ..Round::default()
    };
    Answered {
        text: if response.has_text { response.text_answer } else { String::new() },
        images,
        steps: response.steps.into_iter().map(round).collect(),
        finish_reason: response.finish_reason,
        warnings: response.warnings,
        more: Vec::new(),
    }
}

async fn connect(addr: &str, args: &AskArgs) -> Result<Client, Failure> {
    let addr = addr.trim();
    let url = if addr.contains("://") { addr.to_owned() } else { format!("http://{addr}") };
    let secure = url.starts_with("https://");
    if args.tls_ca.is_some() && !secure {
        return Err(Failure::usage("--tls-ca needs an address with TLS").hint("write it as https://HOST:PORT"));
    }
    if !secure && !url.starts_with("http://") {
        return Err(Failure::usage(format!("`{addr}` is not an address of a gRPC server"))
            .hint("write HOST:PORT such as 127.0.0.1:50051, or https://HOST:PORT for TLS"));
    }
    let rest = url.split_once("://").map_or("", |(_, rest)| rest).trim_end_matches('/');
    if rest.rsplit_once(':').is_none_or(|(_, port)| port.parse::<u16>().is_err()) {
        return Err(Failure::usage(format!("`{addr}` names no port")).hint("write HOST:PORT, such as 127.0.0.1:50051"));
    }
    let wrong = |error: tonic::transport::Error| {
        Failure::usage(format!("`{addr}` is not an address of a server: {error}"))
            .hint("write HOST:PORT such as 127.0.0.1:50051, or https://HOST:PORT for TLS")
    };
    let mut endpoint = Endpoint::from_shared(url.clone())
        .map_err(wrong)?
        .connect_timeout(CONNECT)
        .http2_keep_alive_interval(KEEPALIVE)
        .keep_alive_timeout(KEEPALIVE);
    if secure {
        let mut tls = ClientTlsConfig::new().with_enabled_roots();
        if let Some(path) = &args.tls_ca {
            let pem = std::fs::read(path).map_err(|error| {
                Failure::usage(format!("cannot read the certificates in {}: {error}", path.display()))
            })?;
            if !pem.windows(CERTIFICATE.len()).any(|part| part == CERTIFICATE) {
                return Err(Failure::usage(format!("there is no certificate in {}", path.display()))
                    .hint("give the file (PEM) with the certificates that sign the server's"));
            }
            tls = tls.ca_certificate(Certificate::from_pem(pem));
        }
        endpoint = endpoint.tls_config(tls).map_err(wrong)?;
    }
    let channel = endpoint.connect().await.map_err(|error| {
        let reason = format!("the server at {addr} cannot be reached: {}", jarvis_net::http::cause(&error));
        let hint = if reason.contains("UnknownIssuer") {
            match args.tls_ca {
                Some(_) => "the certificates of --tls-ca did not sign the server's: give those that did",
                None => "name the certificates that sign the server's with --tls-ca FILE",
            }
        } else if secure {
            "check the address, and that the server there has TLS; without it write HOST:PORT alone"
        } else {
            "check the address and that `jarvis serve --grpc ADDR` runs there; a server with TLS is https://HOST:PORT"
        };
        Failure::work(reason).hint(hint)
    })?;
    let most = usize::try_from(MAX_DOCUMENT).unwrap_or(usize::MAX);
    Ok(Client::new(channel).max_decoding_message_size(most).max_encoding_message_size(most))
}

fn token() -> Result<Option<MetadataValue<Ascii>>, Failure> {
    let Some(token) = secret(&[env_vars::TOKEN]) else { return Ok(None) };
    let mut value: MetadataValue<Ascii> = format!("Bearer {}", token.expose())
        .parse()
        .map_err(|_| Failure::usage("the token in JARVIS_TOKEN cannot be sent: it holds odd characters"))?;
    value.set_sensitive(true);
    Ok(Some(value))
}

/// Whether a status was made here, because the connection failed: it was not the server's word.
fn of_connection(status: &Status) -> bool {
    std::error::Error::source(status).is_some()
}

/// Whether a status was made here, because the caller's time was over.
fn is_late(status: &Status) -> bool {
    chain(status).any(|cause| cause.is::<TimeoutExpired>())
}

fn refused(status: &Status, addr: &str, timeout: Option<u64>) -> Failure {
    if let Some(seconds) = timeout.filter(|_| is_late(status)) {
        return late(addr, seconds);
    }
    if of_connection(status) && status.code() != Code::DeadlineExceeded {
        return Failure::work(format!("the server at {addr} closed the connection without an answer")).hint(
            "see that `jarvis serve --grpc` is what listens there, and runs; with TLS it is asked as https://HOST:PORT",
        );
    }
    let failure = Failure::work(format!("the server answered {:?}: {}", status.code(), status.message()));
    match status.code() {
        Code::Unauthenticated => failure.hint("put the server's token into the environment variable JARVIS_TOKEN"),
        Code::Unimplemented => failure.hint("is it a server of `FileBasedQA`, such as `jarvis serve --grpc ADDR`?"),
        Code::OutOfRange => failure.hint("raise `grpc.max_file_bytes` on the server"),
        Code::ResourceExhausted => failure.hint("the server is busy: try again a little later"),
        Code::DeadlineExceeded => failure.hint("give it more time with --timeout, or raise `react.deadline_s` there"),
        _ => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_is_over_is_told_as_such() {
        let status = Status::from_error(Box::new(TimeoutExpired(())));
        let failure = refused(&status, "here:1", Some(3));
        assert_eq!(failure.error().to_string(), "the server at here:1 gave no answer within 3 s");
        let broken = Status::from_error(Box::new(std::io::Error::from(std::io::ErrorKind::BrokenPipe)));
        let failure = refused(&broken, "here:1", Some(3));
        assert!(failure.error().to_string().contains("closed the connection"), "{failure:?}");
        let own = refused(&Status::new(Code::Unauthenticated, "no token"), "here:1", None);
        assert!(
            own.error().to_string().contains("no token")
                && own.advice().is_some_and(|hint| hint.contains("JARVIS_TOKEN"))
        );
    }
}
