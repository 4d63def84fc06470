//! `user_requests.json`: what people asked.

use std::path::Path;

use super::{BadLine, Lines, SampleId};
use crate::DataError;
use crate::json::{Look, parse};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserRequest {
    /// Its id; not unique in the published files.
    pub id: SampleId,
    pub text: String,
}

#[derive(Debug, Clone, Default)]
pub struct Requests {
    pub requests: Vec<UserRequest>,
    pub bad: Vec<BadLine>,
}

impl Requests {
    /// Reads the file. The text is `user_request`, or `instruction` where that is missing.
    pub fn read(path: &Path) -> Result<Requests, DataError> {
        let lines = Lines::read(path)?;
        let mut read = Requests::default();
        for (line, text) in lines.iter() {
            match request(text) {
                Ok(request) => read.requests.push(request),
                Err(reason) => read.bad.push(BadLine { line, reason }),
            }
        }
        Ok(read)
    }
}

fn request(line: &[u8]) -> Result<UserRequest, String> {
    let value = parse(line).map_err(|error| format!("not JSON: {error}"))?;
    let id = value.look("id").and_then(SampleId::of).ok_or("it has no `id`")?;
    let text = value
        .look("user_request")
        .or_else(|| value.look("instruction"))
        .and_then(Look::text)
        .ok_or("it has no text under `user_request`")?;
    Ok(UserRequest { id, text: text.to_owned() })
}
