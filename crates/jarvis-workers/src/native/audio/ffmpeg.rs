//! Formats that only ffmpeg reads and writes, where it is installed.

use std::time::Duration;

use jarvis_plan::{ErrorCode, TaskError};

use super::super::programs::{Call, Program, Programs};
use super::wav;

/// The most that may come back: an hour of stereo at 44.1 kHz as WAV.
const MOST_BYTES: usize = 640 << 20;
const TIMEOUT: Duration = Duration::from_secs(300);

/// The arguments that make each format, beside WAV. All of them can be written to a pipe.
const FORMATS: [(&str, &[&str]); 6] = [
    ("mp3", &["-f", "mp3"]),
    ("ogg", &["-c:a", "libvorbis", "-f", "ogg"]),
    ("flac", &["-f", "flac"]),
    ("opus", &["-c:a", "libopus", "-f", "ogg"]),
    ("aac", &["-c:a", "aac", "-f", "adts"]),
    ("m4a", &["-c:a", "aac", "-movflags", "frag_keyframe+empty_moov", "-f", "mp4"]),
];

/// A file of its own for ffmpeg, in a folder that goes with it: many formats cannot be read from a pipe, since their index stands
/// at the end.
async fn input(programs: &Programs, bytes: &[u8]) -> Result<(tempfile::TempDir, String), TaskError> {
    programs.path(Program::Ffmpeg)?;
    let known = infer::get(bytes).map(|kind| kind.matcher_type());
    if !matches!(known, Some(infer::MatcherType::Audio | infer::MatcherType::Video)) {
        return Err(TaskError::new(
            ErrorCode::InvalidInput,
            "the file is neither a sound nor a video of a known format",
        ));
    }
    let failed = |cause: std::io::Error| {
        TaskError::new(ErrorCode::Internal, format!("cannot write the file for `ffmpeg`: {cause}"))
    };
    let folder = tempfile::tempdir().map_err(failed)?;
    let path = folder.path().join("input");
    tokio::fs::write(&path, bytes).await.map_err(failed)?;
    let path = path.to_string_lossy().into_owned();
    Ok((folder, path))
}

/// The most that the tags of a file may have, in bytes.
const MOST_TAGS: usize = 1 << 20;

/// The tags of a file, as lines `name=value`.
pub(super) async fn metadata(programs: &Programs, bytes: &[u8]) -> Result<String, TaskError> {
    let (_folder, path) = input(programs, bytes).await?;
    let args =
        ["-nostdin", "-v", "error", "-protocol_whitelist", "file,pipe", "-i", &path, "-f", "ffmetadata", "pipe:1"];
    let call = Call { args: &args, stdin: &[], limit: MOST_TAGS, timeout: TIMEOUT };
    let written = programs.run(Program::Ffmpeg, call).await?;
    Ok(String::from_utf8_lossy(&written).into_owned())
}

/// The sound of a file of any format, as WAV. What is read is a file of its own, and only that: a playlist inside it is not
/// followed.
pub(super) async fn decode(programs: &Programs, bytes: &[u8]) -> Result<Vec<u8>, TaskError> {
    let (_folder, path) = input(programs, bytes).await?;
    let args = ["-nostdin", "-v", "error", "-protocol_whitelist", "file,pipe", "-i", &path, "-vn", "-map", "0:a:0"];
    let args = [&args[..], &["-c:a", "pcm_s16le", "-f", "wav", "pipe:1"]].concat();
    let call = Call { args: &args, stdin: &[], limit: MOST_BYTES, timeout: TIMEOUT };
    let written = programs.run(Program::Ffmpeg, call).await.map_err(|error| {
        match error.message.contains("matches no streams") {
            true => TaskError::new(ErrorCode::InvalidInput, "the file has no sound"),
            false => error,
        }
    })?;
    Ok(wav::mend(written))
}

/// WAV as another format.
pub(super) async fn encode(programs: &Programs, wav: &[u8], format: &str) -> Result<Vec<u8>, TaskError> {
    let Some((_, options)) = FORMATS.iter().find(|(name, _)| *name == format) else {
        let message = format!("sounds cannot be saved as `{format}`");
        return Err(
            TaskError::new(ErrorCode::CannotDo, message).hint("known are wav, mp3, ogg, flac, opus, aac and m4a")
        );
    };
    let args =
        [&["-v", "error", "-protocol_whitelist", "pipe", "-f", "wav", "-i", "pipe:0"], *options, &["pipe:1"]].concat();
    let call = Call { args: &args, stdin: wav, limit: MOST_BYTES, timeout: TIMEOUT };
    programs.run(Program::Ffmpeg, call).await
}
