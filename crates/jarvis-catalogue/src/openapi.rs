//! OpenAPI 3.0 and 3.1 documents: what an API offers, read from JSON or YAML.
//!
//! Only what calling, describing and imitating an API needs is read: operations, their parameters and bodies, the
//! success response, where a key goes. Files are taken as they are found: `"true"` for `true`, `"20"` as the default of
//! an integer, a placeholder that no parameter declares. References are followed within the document, never beyond it.
//! Nothing here sends anything.

mod check;
mod error;
mod find;
mod operation;
mod read;
mod refs;
mod response;
mod sample;
mod schema;
mod target;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::Path;

use serde_json::Value;

pub use check::ArgumentFault;
pub use error::ApiError;
pub use find::Found;
pub use operation::{Body, Location, Operation, Parameter};
pub use response::ApiResponse;
pub use schema::{Schema, SchemaKind};
pub use target::{Target, encoded};

/// The largest document, in bytes.
pub const MAX_DOCUMENT: u64 = 64 << 20;

pub const MAX_OPERATIONS: usize = 10_000;

/// An API as its document describes it. `Debug` is short: documents are long.
#[derive(Clone)]
pub struct ApiDocument {
    /// Its name; `API` where the document has none.
    pub title: String,
    /// What it is, in the document's own words; may be Markdown, and long.
    pub description: String,
    /// Its addresses, variables replaced by their defaults. They may be relative.
    pub servers: Vec<String>,
    pub operations: Vec<Operation>,
    pub keys: Vec<KeyPlace>,
    /// The whole document, for what is looked up later.
    root: Value,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyPlace {
    Query(String),
    Header(String),
    /// In the header `Authorization`, after `Bearer`.
    Bearer,
}

impl ApiDocument {
    /// Reads a file. It may take some milliseconds a megabyte: not for the runtime's own threads.
    ///
    /// # Errors
    /// When the file cannot be read, is too large, or is no OpenAPI 3 document.
    pub fn read(path: &Path) -> Result<ApiDocument, ApiError> {
        let failed = |source| ApiError::Read { path: path.to_owned(), source };
        let size = std::fs::metadata(path).map_err(failed)?.len();
        if size > MAX_DOCUMENT {
            return Err(ApiError::TooLarge { bytes: size });
        }
        ApiDocument::parse(&std::fs::read_to_string(path).map_err(failed)?)
    }

    /// Reads the text of a document: JSON when it starts with a brace, else YAML.
    ///
    /// # Errors
    /// When it is no OpenAPI 3 document, or beyond the limits.
    pub fn parse(text: &str) -> Result<ApiDocument, ApiError> {
        if text.len() as u64 > MAX_DOCUMENT {
            return Err(ApiError::TooLarge { bytes: text.len() as u64 });
        }
        ApiDocument::from_value(read::value(text)?)
    }

    /// Takes a document that is already a value.
    ///
    /// # Errors
    /// As [`ApiDocument::parse`].
    pub fn from_value(root: Value) -> Result<ApiDocument, ApiError> {
        read::document(root)
    }

    /// Whether a value claims to be an OpenAPI or Swagger document, of any version.
    pub fn is_one(value: &Value) -> bool {
        value.get("openapi").is_some() || value.get("swagger").is_some()
    }

    /// Parses JSON or YAML, whatever it holds. In YAML only `true` and `false` are truth values.
    ///
    /// # Errors
    /// When it is neither.
    pub fn value(text: &str) -> Result<Value, ApiError> {
        read::value(text)
    }
}

impl fmt::Debug for ApiDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiDocument")
            .field("title", &self.title)
            .field("operations", &self.operations.len())
            .finish_non_exhaustive()
    }
}
