//! Which of several recordings is longer or louder: measured.

use jarvis_catalogue::TaskOutput;
use jarvis_engine::Job;
use jarvis_plan::{ErrorCode, Kind, Language, TaskError};

use super::super::Native;
use super::super::compare::{Measured, most_so};
use super::instruction::Fact;
use super::{edit, readable, wav};

/// The most recordings that are compared.
const MOST: usize = 12;

/// The name of the recording that is most so, and the measures of all. `word` says what is compared.
pub(super) async fn answer(native: &Native, job: &Job, word: &str) -> Result<TaskOutput, TaskError> {
    let (by_length, most) = match word {
        "longer" | "longest" | "длиннее" | "дольше" | "长" => (true, true),
        "shorter" | "shortest" | "короче" | "短" => (true, false),
        "louder" | "loudest" | "громче" | "响" | "大声" => (false, true),
        _ => (false, false),
    };
    let language = Language::of(&job.request.text);
    let mut measured: Vec<Measured> = Vec::new();
    for sound in job.request.attachments.iter().filter(|file| file.kind == Kind::Audio).take(MOST) {
        let (bytes, _) = readable(native, sound.as_arg(), Kind::Audio).await?;
        let work = move |_: &super::Cancel| {
            let sound = wav::read(&bytes)?;
            let fact = if by_length { Fact::Length } else { Fact::Loudness };
            let value = if by_length { sound.seconds() } else { edit::loudness(&sound) };
            Ok((value, edit::tell(&sound, &[fact], language)))
        };
        let (value, told) = native.inputs.heavy().run(&job.cancel, work).await?;
        let name = sound.name.clone().unwrap_or_else(|| sound.as_arg().to_owned());
        measured.push(Measured { name, value, told });
    }
    if measured.len() < 2 {
        return Err(TaskError::new(ErrorCode::MissingArgument, "there are no two recordings to compare")
            .hint("name the files in the request, or attach them"));
    }
    Ok(TaskOutput::text(most_so(&measured, most, language)))
}
