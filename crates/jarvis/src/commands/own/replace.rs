//! Unpacks the new program, runs it once, and renames it over the old one.

use std::fs;
use std::io::{Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::read::GzDecoder;
use semver::Version;
use tempfile::{NamedTempFile, TempPath};

use super::receipt::Receipt;
use super::release::{not_written, temporary};
use crate::failure::Failure;

/// The most that is read of an unpacked archive, in bytes.
const MAX_UNPACKED: u64 = 1 << 30;
/// Timeout of `NEW --version`.
const TRIAL: Duration = Duration::from_secs(30);

/// Replaces the running program by the one in the archive. Nothing changes before the final rename.
pub(super) async fn replace(archive: NamedTempFile, receipt: &Receipt, version: &Version) -> Result<(), Failure> {
    let (target, bin) = (receipt.target.clone(), receipt.bin.clone());
    let unpacked = tokio::task::spawn_blocking(move || unpack(archive, &target, &bin));
    let new = unpacked.await.map_err(Failure::work)??;
    try_out(&new, version).await?;
    let folder = receipt.bin.parent().unwrap_or(Path::new("."));
    new.persist(&receipt.bin).map_err(|error| not_written(folder, &error.error))
}

/// Writes the program beside the old one with the same permissions. Only this entry is unpacked, and no path from the archive is used
/// for writing.
fn unpack(archive: NamedTempFile, target: &str, bin: &Path) -> Result<TempPath, Failure> {
    let folder = bin.parent().unwrap_or(Path::new("."));
    let broken = |reason: String| {
        let error = format!("the archive for {target} cannot be unpacked: {reason}; nothing was changed");
        Failure::work(error).hint("try again later")
    };
    let mut packed = archive.reopen().map_err(|error| broken(error.to_string()))?;
    packed.seek(SeekFrom::Start(0)).map_err(|error| broken(error.to_string()))?;
    let mut entries = tar::Archive::new(GzDecoder::new(packed).take(MAX_UNPACKED));
    let wanted = Path::new(&format!("jarvis-{target}")).join("jarvis");
    for entry in entries.entries().map_err(|error| broken(error.to_string()))? {
        let mut entry = entry.map_err(|error| broken(error.to_string()))?;
        let is_program = entry.header().entry_type().is_file() && entry.path().is_ok_and(|path| path == wanted);
        if !is_program {
            continue;
        }
        let mut file = temporary(folder)?;
        let mut piece = vec![0; 1 << 16];
        let mut left = entry.size();
        loop {
            let read = entry.read(&mut piece).map_err(|error| broken(error.to_string()))?;
            let Some(piece) = piece.get(..read).filter(|piece| !piece.is_empty()) else { break };
            left = left.saturating_sub(read as u64);
            file.write_all(piece).map_err(|error| not_written(folder, &error))?;
        }
        if left > 0 {
            return Err(broken(format!("{left} bytes of the program are missing")));
        }
        let permissions = fs::metadata(bin).map_err(|error| not_written(folder, &error))?.permissions();
        let close = || {
            file.as_file().set_permissions(permissions)?;
            file.as_file().sync_all()
        };
        close().map_err(|error| not_written(folder, &error))?;
        return Ok(file.into_temp_path());
    }
    Err(broken(format!("it holds no {}", wanted.display())))
}

/// Checks that the new program runs here and reports the announced version.
async fn try_out(program: &Path, version: &Version) -> Result<(), Failure> {
    let refused = |reason: String| {
        Failure::work(format!("the new program was not installed: {reason}"))
            .hint("try again later; the installed program was not changed")
    };
    let program: PathBuf = program.to_owned();
    let mut command = tokio::process::Command::new(&program);
    command.arg("--version").stdin(std::process::Stdio::null()).kill_on_drop(true);
    let ran = tokio::time::timeout(TRIAL, command.output()).await;
    let output = ran.map_err(|_| refused(format!("it said no version within {} s", TRIAL.as_secs())))?;
    let output = output.map_err(|error| refused(format!("it does not run here: {error}")))?;
    let said = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || said.trim() != format!("jarvis {version}") {
        let said = jarvis_net::text::shorten(&said, 60);
        return Err(refused(format!("it should be jarvis {version}, and says `{said}` ({})", output.status)));
    }
    Ok(())
}
