//! Flags of the commands that retrieve tools, and the retrieval they select.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use jarvis_chat::EmbedError;
use jarvis_easytool::retrieval::{RetrievalError, Retriever, read_stored};

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::wiring::{Folders, encoders, load_config};

const BM25: &str = "bm25";

#[derive(Debug, Clone, Args)]
pub(crate) struct EmbedderArgs {
    /// How texts are compared: `bm25` (by words; no model, no network), the name of an embeddings model at an
    /// OpenAI-compatible endpoint, `local:DIR`, a sentence model in a directory of Hugging Face's layout (safetensors or
    /// ONNX), or `local/NAME`, one that `jarvis models` knows
    #[arg(long, value_name = "MODEL", default_value = BM25)]
    embedder: String,
    /// Base URL of the embeddings endpoint [default: that of the chat model, --base-url, or OpenAI's]
    #[arg(long, value_name = "URL")]
    embeddings_url: Option<String>,
    /// Where vectors are kept, by text and model [default: `vectors` in the data folder]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Vectors of the tools that --embedder's model made before: JSON, `[[ids], [[numbers], …]]`
    #[arg(long, value_name = "FILE")]
    vectors: Option<PathBuf>,
}

impl EmbedderArgs {
    pub(crate) fn name(&self) -> &str {
        self.embedder.trim()
    }

    /// Makes ready to find the tools, given by number and text. Notes are warned of.
    pub(crate) async fn retriever(
        &self,
        tools: Vec<(i64, String)>,
        global: &Global,
        printer: Printer,
    ) -> Result<Arc<Retriever>, Failure> {
        let name = self.embedder.trim();
        if name.eq_ignore_ascii_case(BM25) {
            for (flag, given) in
                [("--vectors", self.vectors.is_some()), ("--embeddings-url", self.embeddings_url.is_some())]
            {
                if given {
                    return Err(Failure::usage(format!("{flag} does not apply to `bm25`, which compares words"))
                        .hint("name the model with --embedder"));
                }
            }
            return Ok(Arc::new(Retriever::by_words(tools).await.map_err(failed)?));
        }
        let config = load_config(global, printer)?.config;
        let cache = match &self.cache {
            Some(folder) => folder.clone(),
            None => Folders::of(&config)?.vectors,
        };
        let instead = "name a local server with --embeddings-url URL, or use --embedder bm25, which needs no model";
        let embedder = encoders::by_name(name, self.embeddings_url.as_deref(), &config, instead).await?;
        let retriever = match &self.vectors {
            Some(path) => {
                let path = path.clone();
                let stored = tokio::task::spawn_blocking(move || read_stored(&path)).await.map_err(Failure::work)?;
                let form = "give JSON, `[[ids], [[numbers], …]]`, with a vector for each id";
                let stored = stored.map_err(|error| super::unusable(error, form))?;
                Retriever::by_stored(&tools, stored, embedder, Some(cache)).await
            }
            None => Retriever::by_vectors(tools, embedder, Some(cache)).await,
        };
        let retriever = retriever.map_err(failed)?;
        for note in retriever.notes() {
            printer.warning(note);
        }
        Ok(Arc::new(retriever))
    }
}

pub(crate) fn failed(error: RetrievalError) -> Failure {
    let hint = error.hint();
    let is_misuse = matches!(error, RetrievalError::Embed(EmbedError::Config(_)));
    let failure = if is_misuse { Failure::usage(error) } else { Failure::work(error) };
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
