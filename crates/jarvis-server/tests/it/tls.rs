//! HTTPS on real sockets, by HTTP/1 and HTTP/2.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use jarvis_net::Secret;
use jarvis_server::{Options, Tls};
use reqwest::Certificate;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::harness::{self, Harness, PATIENCE};

type Own = rcgen::CertifiedKey<rcgen::KeyPair>;

fn certificate() -> (Own, Tls) {
    let own = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned(), "localhost".to_owned()]).expect("a key");
    let tls =
        Tls::of_pem(own.cert.pem().as_bytes(), own.signing_key.serialize_pem().as_bytes()).expect("a certificate");
    (own, tls)
}

/// A server with a certificate of its own, and the certificate.
async fn secured() -> (Harness, Own) {
    let (own, tls) = certificate();
    let harness = harness::offline().options(|options| options.tls = Some(tls)).start().await;
    (harness, own)
}

/// A client that trusts this certificate alone.
fn trusting(own: &Own) -> reqwest::Client {
    let client = jarvis_net::http::builder()
        .tls_certs_only([Certificate::from_pem(own.cert.pem().as_bytes()).expect("a certificate")])
        .timeout(PATIENCE)
        .build();
    client.expect("a client")
}

#[tokio::test]
async fn a_certificate_is_renewed_while_it_serves() {
    const ROOT: &str = "the-token-of-root-QX-91";
    let ((first, tls), (second, renewed)) = (certificate(), certificate());
    let options = move |tls: Tls| Options { tls: Some(tls), admin_token: Secret::new(ROOT), ..Options::default() };
    let harness = harness::offline()
        .options(|given| *given = options(tls))
        .reloads(move || Ok(options(renewed.clone())))
        .start()
        .await;
    let url = harness.url.replace("http://", "https://");
    let (client, next) = (trusting(&first), trusting(&second));
    assert!(next.get(format!("{url}/health")).send().await.is_err(), "the second certificate is not spoken by yet");
    let reloaded = client.post(format!("{url}/admin/reload")).bearer_auth(ROOT).send().await.expect("a reply");
    assert_eq!(reloaded.status(), 200);
    assert_eq!(next.get(format!("{url}/health")).send().await.expect("a reply").status(), 200);
    assert!(trusting(&first).get(format!("{url}/health")).send().await.is_err(), "and the first is not any more");
}

#[tokio::test]
async fn clients_speak_http_1_over_tls() {
    let (harness, own) = secured().await;
    let client = trusting(&own);
    let url = harness.url.replace("http://", "https://");
    let reply = client.get(format!("{url}/health")).send().await.expect("a reply");
    assert_eq!(reply.status(), 200);
    let card = client.get(format!("{url}/.well-known/agent-card.json")).send().await.expect("a reply");
    assert!(card.text().await.expect("a text").contains(&format!("\"{url}")), "addresses are those of HTTPS");
    // In the clear nobody is answered.
    assert!(client.get(format!("{}/health", harness.url)).send().await.is_err());
}

#[tokio::test]
async fn clients_that_can_speak_http_2() {
    let (harness, own) = secured().await;
    let mut roots = RootCertStore::empty();
    roots.add(own.cert.der().clone()).expect("a certificate");
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut config = config;
    config.alpn_protocols = vec![b"h2".to_vec()];
    let address = harness.url.trim_start_matches("http://").to_owned();
    let stream = TcpStream::connect(&address).await.expect("a connection");
    let name = ServerName::try_from("localhost").expect("a name");
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.expect("a handshake");
    let (sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.expect("HTTP/2");
    tokio::spawn(connection);
    // Two at once on one connection, from a page of the same origin.
    let asked = (0..2).map(|_| {
        let mut sender = sender.clone();
        let url = format!("https://{address}/health");
        let request =
            hyper::Request::get(url).header("origin", format!("https://{address}")).body(Empty::<Bytes>::new());
        async move {
            let reply = sender.send_request(request.expect("a request")).await.expect("a reply");
            let status = reply.status();
            (status, reply.into_body().collect().await.expect("a body").to_bytes())
        }
    });
    for (status, body) in futures::future::join_all(asked).await {
        assert_eq!(status, 200, "{body:?}");
    }
}
