//! Stands in for entries of gRPC services in a build without them: naming one is an error, not a tool that is missing.

use super::{OpenError, Opening};
use crate::config::{GrpcEntry, ToolEntry};

pub(super) struct Shared;

impl Opening {
    pub(super) async fn add_grpc(&mut self, called: &str, _: &ToolEntry, _: &GrpcEntry) -> Result<(), OpenError> {
        Err(OpenError::NotBuilt { entry: called.to_owned(), feature: "grpc" })
    }
}
