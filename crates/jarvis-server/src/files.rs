//! Files that come inside a request, and files that leave inside a reply, at whatever door.

use std::io::Read as _;
use std::sync::Arc;

use jarvis_plan::Kind;

use crate::error::ApiError;
use crate::state::Server;
use crate::users::Caller;
use crate::wire::ask::Attachment;

/// Takes a file in as an upload is, for a caller; `name` tells what it may be.
///
/// # Errors
/// When it is empty, too large, or of no kind that is taken.
pub(crate) async fn taken_in(
    server: &Server,
    caller: &Caller,
    name: &str,
    bytes: Vec<u8>,
) -> Result<Attachment, ApiError> {
    // Only the name counts; clients may send it with a path.
    let name = name.rsplit(['/', '\\']).next().unwrap_or("file");
    let name: String = name.chars().filter(|c| !c.is_control()).take(200).collect();
    if bytes.is_empty() {
        return Err(ApiError::invalid(format!("`{name}` is empty")));
    }
    if bytes.len() > server.options.max_upload {
        return Err(crate::routes::upload::too_large());
    }
    let size = bytes.len() as u64;
    let (media, agent) = (&server.parts.media, &server.setup().agent);
    let taken = jarvis_workers::attach(&name, bytes, media, agent.reader.as_ref()).await?;
    server.own_resource(caller, &taken.resource).await?;
    server.metrics.uploaded(size);
    Ok(Attachment::of(&taken.resource))
}

/// What a file under the public root holds.
///
/// # Errors
/// When it is not there.
pub(crate) async fn bytes_of(server: &Server, path: String) -> Result<Vec<u8>, ApiError> {
    let media = Arc::clone(&server.parts.media);
    let read = tokio::task::spawn_blocking(move || {
        let (mut file, size) = media.open_file(&path)?;
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        let read = file.read_to_end(&mut bytes).map(|_| bytes);
        read.map_err(|error| ApiError::internal("the file cannot be read", &error))
    });
    read.await.map_err(|error| ApiError::internal("the file cannot be read", &error))?
}

/// The ending of the names of files of a media type, one that tells their kind where there is one.
pub(crate) fn ending(media_type: &str) -> Option<&'static str> {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    let known = mime_guess::get_mime_extensions_str(essence)?;
    known.iter().find(|ending| Kind::of_name(&format!("x.{ending}")).is_some()).or(known.first()).copied()
}

#[cfg(test)]
mod tests {
    use super::ending;

    #[test]
    fn media_types_have_endings() {
        for (media_type, want) in [
            ("image/png", Some("png")),
            ("audio/wav; rate=8000", Some("wav")),
            ("application/pdf", Some("pdf")),
            ("application/x-unheard-of", None),
            ("", None),
        ] {
            assert_eq!(ending(media_type), want, "{media_type}");
        }
    }
}
