//! Where tools come from: a ToolBench server, or the API of an OpenAPI file, called for real.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use jarvis_catalogue::openapi::ApiDocument;
use jarvis_easytool::instruct::{
    InstructError, InstructOptions, Instructions, Memo, Shape, Writer, read_documents, write,
};
use jarvis_net::Secret;
use jarvis_tools::Registry;
use jarvis_tools::openapi::{OpenApiCaller, OpenApiConfig};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::failure::Failure;
use crate::wiring::secret;

#[derive(Debug, Args)]
pub(super) struct ApiArgs {
    /// The API's OpenAPI document, JSON or YAML: what its endpoints take, and how they are called
    #[arg(long, value_name = "FILE")]
    pub(super) openapi: Option<PathBuf>,
    /// The API's address [default: --base-url, else the document's first server]
    #[arg(long, value_name = "URL")]
    pub(super) api_url: Option<String>,
    /// The environment variable that holds the API's key
    #[arg(long, value_name = "VAR")]
    pub(super) api_key_env: Option<String>,
}

impl ApiArgs {
    /// The API's operations as tools: by the document where there is one, else by the endpoints' lines alone. `apis` are the
    /// names that instructions have for them.
    pub(super) fn registry<'a>(
        &self,
        document: Option<ApiDocument>,
        base_url: Option<&str>,
        apis: impl IntoIterator<Item = &'a str>,
        timeout: Duration,
    ) -> Result<Registry, Failure> {
        let base = match (self.api_url.as_deref().or(base_url), &document) {
            (Some(address), _) => address_of(address, "--base-url")?,
            (None, Some(document)) => OpenApiCaller::address(document).ok_or_else(|| {
                Failure::usage("the document gives no whole address of the API").hint("name it with --base-url URL")
            })?,
            (None, None) => {
                return Err(Failure::usage("the address of the API is not known").hint("name it with --base-url URL"));
            }
        };
        let mut config = OpenApiConfig::new(base);
        if let Some(name) = &self.api_key_env {
            config.key = Some(key_of(name, "the API's key")?);
        }
        let mut registry = Registry::new();
        let caller = Arc::new(OpenApiCaller::new(document.map(Arc::new), config));
        caller.add_to(&mut registry, apis, timeout).map_err(Failure::work)?;
        Ok(registry)
    }
}

pub(super) fn key_of(name: &str, what: &str) -> Result<Secret, Failure> {
    secret(&[name]).ok_or_else(|| {
        Failure::usage(format!("the environment variable {name} is not set")).hint(format!("put {what} into it"))
    })
}

pub(super) fn address_of(address: &str, flag: &str) -> Result<Url, Failure> {
    match Url::parse(address) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(url),
        Ok(_) | Err(_) => Err(Failure::usage(format!("{flag} is not an http or https address"))
            .hint("write it whole, such as http://127.0.0.1:8080")),
    }
}

pub(super) async fn document(path: &Path) -> Result<ApiDocument, Failure> {
    let (file, shown) = (path.to_owned(), path.display().to_string());
    let read = tokio::task::spawn_blocking(move || ApiDocument::read(&file)).await.map_err(Failure::work)?;
    read.map_err(|error| Failure::usage(format!("{shown}: {error}")).hint("name an OpenAPI 3 document, JSON or YAML"))
}

/// The instructions that follow from a document alone.
pub(super) async fn instructions(path: &Path, shape: Shape) -> Result<Instructions, Failure> {
    let file = path.to_owned();
    let documents = tokio::task::spawn_blocking(move || read_documents(&file)).await.map_err(Failure::work)?;
    let unusable = |error: InstructError| Failure::usage(error).hint("name an OpenAPI 3 document, JSON or YAML");
    let documents = documents.map_err(unusable)?;
    let options = InstructOptions { shape, ..InstructOptions::default() };
    let written = write(&documents, &Writer::default(), options, &Memo::none(), &CancellationToken::new()).await;
    Ok(written.map_err(unusable)?.0)
}
