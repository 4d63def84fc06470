//! All that is kept of a caller in one archive. It is written to a file without a name, so that neither memory nor the folder holds it.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};

use jarvis_hugginggpt::Remembered;
use jarvis_store::{ChatFilter, Journal, JournalError, MediaError, RunFilter};
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::{AT_ONCE, Mine};
use crate::error::ApiError;

type Archive = ZipWriter<BufWriter<File>>;

/// Writes the archive; returns it, to be read from its beginning, and its bytes. Blocks.
pub(super) fn archive(mine: &Mine) -> Result<(File, u64), ApiError> {
    let file = tempfile::tempfile().map_err(failed)?;
    let mut zip = ZipWriter::new(BufWriter::new(file));
    if let Some(journal) = &mine.journal {
        begin(&mut zip, "runs.jsonl", true)?;
        runs(&mut zip, mine, journal)?;
        begin(&mut zip, "chats.jsonl", true)?;
        chats(&mut zip, mine, journal)?;
        begin(&mut zip, "experience.jsonl", true)?;
        for row in journal.experience(&mine.user.clone().unwrap_or_default())? {
            // One that a later version wrote is handed out as it is.
            let (body, line_of) = (row.body.clone(), Remembered::of(row).map(|one| one.line()));
            writeln!(zip, "{}", line_of.unwrap_or(body)).map_err(failed)?;
        }
        begin(&mut zip, "files.jsonl", true)?;
        for file in journal.files_of(&mine.user.clone().unwrap_or_default(), u32::MAX)? {
            writeln!(zip, "{file}").map_err(failed)?;
        }
    }
    for (id, path) in mine.plans.iter().flat_map(|plans| plans.files()) {
        // One that is gone by now is no trouble.
        if let Ok(mut plan) = File::open(path) {
            begin(&mut zip, &format!("plans/{id}.json"), true)?;
            io::copy(&mut plan, &mut zip).map_err(failed)?;
        }
    }
    let named = mine.journal.as_ref().map(|journal| journal.stored(mine.user.as_deref())).transpose()?;
    for (path, _) in mine.files(&named.unwrap_or_default().files)? {
        let (mut medium, _) = match mine.media.open_file(&path) {
            Err(MediaError::NotFound { .. }) => continue,
            opened => opened?,
        };
        // Pictures and sounds are compressed as they are.
        begin(&mut zip, &format!("files{path}"), false)?;
        io::copy(&mut medium, &mut zip).map_err(failed)?;
    }
    let file = zip.finish().map_err(failed)?.into_inner().map_err(|error| failed(error.into_error()))?;
    let bytes = file.metadata().map_err(failed)?.len();
    (&file).rewind().map_err(failed)?;
    Ok((file, bytes))
}

fn begin(zip: &mut Archive, name: &str, deflated: bool) -> Result<(), ApiError> {
    let method = if deflated { CompressionMethod::Deflated } else { CompressionMethod::Stored };
    zip.start_file(name, SimpleFileOptions::default().compression_method(method).large_file(true)).map_err(failed)
}

fn line(zip: &mut Archive, line: &Value) -> Result<(), ApiError> {
    writeln!(zip, "{line}").map_err(failed)
}

fn runs(zip: &mut Archive, mine: &Mine, journal: &Journal) -> Result<(), ApiError> {
    let mut filter = RunFilter { user: mine.user.clone(), ..RunFilter::default() };
    loop {
        let page = journal.select(&filter, AT_ONCE)?;
        let Some(last) = page.last() else { return Ok(()) };
        filter.after = Some((last.started_at_ms, last.run_id.clone()));
        for run in page {
            match journal.run(&run.run_id.0) {
                Ok(record) => {
                    line(zip, &json!({"run": record.summary, "request": record.request, "events": record.events}))?;
                }
                Err(JournalError::NotFound { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn chats(zip: &mut Archive, mine: &Mine, journal: &Journal) -> Result<(), ApiError> {
    let user = mine.user.clone().unwrap_or_default();
    let mut filter = ChatFilter { user, ..ChatFilter::default() };
    loop {
        let page = journal.chats(&filter, AT_ONCE as usize)?;
        let Some(last) = page.last() else { return Ok(()) };
        filter.after = Some((last.updated_at_ms, last.id.clone()));
        for summary in page {
            let Some(chat) = journal.chat(&filter.user, &summary.id)? else { continue };
            let body: Value = serde_json::from_str(&chat.body).unwrap_or(Value::String(chat.body));
            let at = chat.summary;
            line(zip, &json!({"id": at.id, "title": at.title, "updated_ms": at.updated_at_ms, "body": body}))?;
        }
    }
}

fn failed(error: impl std::fmt::Display) -> ApiError {
    ApiError::internal("the archive cannot be written", &error)
}
