//! Why tools cannot be found.

use jarvis_catalogue::VectorError;
use jarvis_chat::EmbedError;
use jarvis_store::files::FileError;

use super::CacheError;

#[derive(Debug, thiserror::Error)]
pub enum RetrievalError {
    #[error(transparent)]
    Embed(#[from] EmbedError),
    #[error(transparent)]
    Vectors(#[from] VectorError),
    #[error(transparent)]
    Cache(#[from] CacheError),
    #[error(transparent)]
    Write(#[from] FileError),
    #[error("the tools' vectors have {found} components, and those of `{embedder}` have {expected}")]
    Dimension { found: usize, expected: usize, embedder: String },
    #[error("the search was interrupted")]
    Interrupted,
}

impl RetrievalError {
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            RetrievalError::Embed(error) => error.hint(),
            RetrievalError::Cache(CacheError::Other { .. } | CacheError::Lengths { .. }) => {
                Some("use another folder, or remove the file; its vectors can be made again")
            }
            RetrievalError::Dimension { .. } | RetrievalError::Vectors(VectorError::QueryDimension { .. }) => {
                Some("use the embedder that made the tools' vectors")
            }
            _ => None,
        }
    }
}
