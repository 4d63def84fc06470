//! Which of several recordings is longer or louder: measured.

use jarvis_catalogue::TaskOutput;
use jarvis_engine::Job;
use jarvis_plan::{ErrorCode, Kind, Language, TaskError};

use super::super::Native;
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
    let mut measured: Vec<(String, f64, String)> = Vec::new();
    for sound in job.request.attachments.iter().filter(|file| file.kind == Kind::Audio).take(MOST) {
        let (bytes, _) = readable(native, sound.as_arg(), Kind::Audio).await?;
        let work = move |_: &super::Cancel| {
            let sound = wav::read(&bytes)?;
            let fact = if by_length { Fact::Length } else { Fact::Loudness };
            let value = if by_length { sound.seconds() } else { edit::loudness(&sound) };
            Ok((value, edit::tell(&sound, &[fact], language)))
        };
        let (value, told) = native.inputs.heavy().run(&job.cancel, work).await?;
        measured.push((sound.name.clone().unwrap_or_else(|| sound.as_arg().to_owned()), value, told));
    }
    if measured.len() < 2 {
        return Err(TaskError::new(ErrorCode::MissingArgument, "there are no two recordings to compare")
            .hint("name the files in the request, or attach them"));
    }
    Ok(TaskOutput::text(tell(&measured, most, language)))
}

fn tell(measured: &[(String, f64, String)], most: bool, language: Language) -> String {
    let sign = if most { 1.0 } else { -1.0 };
    let best = measured.iter().map(|(_, value, _)| value * sign).fold(f64::NEG_INFINITY, f64::max);
    // Two that differ by less than is shown are alike.
    let winners = measured.iter().filter(|(_, value, _)| (value * sign - best).abs() < 0.05);
    let names: Vec<&str> = winners.map(|(name, ..)| name.as_str()).collect();
    let all = measured.iter().map(|(name, _, told)| format!("{name}: {told}")).collect::<Vec<_>>().join("; ");
    match names.as_slice() {
        [one] => format!("{one} ({all})"),
        _ => format!("{} ({all})", language.pick("they are equal", "одинаково", "一样")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_that_is_most_so_is_named() {
        let row = |name: &str, value| (name.to_owned(), value, format!("{value} s"));
        let two = [row("a.wav", 2.5), row("b.wav", 8.0)];
        assert_eq!(tell(&two, true, Language::English), "b.wav (a.wav: 2.5 s; b.wav: 8 s)");
        assert!(tell(&two, false, Language::English).starts_with("a.wav"));
        assert!(tell(&[row("a.wav", 2.5), row("b.wav", 2.51)], true, Language::English).starts_with("they are equal"));
    }
}
