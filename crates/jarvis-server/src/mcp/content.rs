//! What was made, as the content of a result: pictures and sounds inside it where they are small, else links to them.

use std::sync::Arc;

use axum::http::header;
use axum::http::request::Parts;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jarvis_plan::TaskError;
use jarvis_store::Media;
use jarvis_store::blocking;
use rmcp::model::{ContentBlock, Resource};
use url::Url;

use super::Client;
use crate::guard;

/// The largest file that goes into a result, in bytes; base64 makes a third more of it.
const MOST: u64 = 4 << 20;

/// The most bytes of all files in a result.
const MOST_TOGETHER: u64 = 8 << 20;

pub(super) struct Naming {
    media: Arc<Media>,
    client: Client,
    /// Where the client reaches us.
    base: Option<Url>,
}

impl Naming {
    pub(super) fn new(media: &Arc<Media>, client: Client, parts: Option<&Parts>) -> Naming {
        let host = parts.and_then(|parts| parts.headers.get(header::HOST)?.to_str().ok());
        let scheme = parts.map_or("http", |parts| if guard::is_over_tls(&parts.headers) { "https" } else { "http" });
        let base = host.and_then(|host| Url::parse(&format!("{scheme}://{host}/")).ok());
        Naming { media: Arc::clone(media), client, base }
    }

    /// Where a file is on the disk, for a client that may know.
    pub(super) fn disk(&self, url: &str) -> Option<std::path::PathBuf> {
        match self.client {
            Client::Here => self.media.disk_path(url).ok(),
            Client::There => None,
        }
    }

    /// The files as content, in the given order. Files that cannot be read are left out, and logged.
    pub(super) async fn blocks(self, urls: Vec<String>) -> Vec<ContentBlock> {
        if urls.is_empty() {
            return Vec::new();
        }
        let read = move || {
            let mut remaining = MOST_TOGETHER;
            Ok::<_, TaskError>(urls.iter().filter_map(|url| self.block(url, &mut remaining)).collect())
        };
        blocking(read).await.unwrap_or_else(|error: TaskError| {
            tracing::error!(code = %error.code.as_str(), "the files of an answer cannot be read");
            Vec::new()
        })
    }

    fn block(&self, url: &str, remaining: &mut u64) -> Option<ContentBlock> {
        let kind = mime_guess::from_path(url).first_or_octet_stream();
        let is_inline = matches!(kind.type_().as_str(), "image" | "audio");
        let size = match self.media.open_file(url) {
            Ok((_, size)) => size,
            Err(error) => {
                tracing::error!(%error, "a file of an answer cannot be read");
                return None;
            }
        };
        if is_inline
            && size <= MOST.min(*remaining)
            && let Ok(bytes) = self.media.read(url, MOST)
        {
            *remaining = remaining.saturating_sub(size);
            let data = STANDARD.encode(bytes);
            return Some(match kind.type_() == mime_guess::mime::AUDIO {
                true => ContentBlock::audio(data, kind.essence_str()),
                false => ContentBlock::image(data, kind.essence_str()),
            });
        }
        let name = url.rsplit('/').next().unwrap_or(url);
        let link = Resource::new(self.address(url)?, name).with_mime_type(kind.essence_str()).with_size(size);
        Some(ContentBlock::resource_link(link))
    }

    fn address(&self, url: &str) -> Option<String> {
        match self.disk(url) {
            Some(path) => Url::from_file_path(path).ok().map(Into::into),
            None => self.base.as_ref()?.join(url).ok().map(Into::into),
        }
    }
}

#[cfg(test)]
mod tests;
