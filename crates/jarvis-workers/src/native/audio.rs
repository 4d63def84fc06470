//! Native sound models: the thin shells that fetch, compute on a thread of their own, store and report.

mod compare;
#[cfg(feature = "denoise")]
mod denoise;
mod edit;
mod ffmpeg;
mod instruction;
mod measure;
mod resample;
mod speak;
mod stretch;
mod style;
mod tags;
mod voice;
mod wav;

use std::sync::LazyLock;

use jarvis_catalogue::TaskOutput;
use jarvis_engine::Job;
use jarvis_plan::{ErrorCode, Kind, Language, TaskError};

use regex::Regex;

use super::unread::{self, Skill, with_rest};
use super::{Cancel, Native, Programs, required};
use crate::Inputs;
use instruction::Instruction;
pub(super) use voice::LANGUAGES;
pub(crate) use voice::{language_after, language_of_recording};

/// The most recordings that are joined.
const JOINED: usize = 6;

// The words that go with edits of a sound; a test reads them.
static READ: LazyLock<Regex> = LazyLock::new(|| unread::words_of("SOUND_READ"));

/// The longest silence between recordings that are joined, in seconds.
const LONGEST_PAUSE: f64 = 600.0;

/// Does the work on the sound of a job, off the async threads.
async fn with_sound<T: Send + 'static>(
    native: &Native,
    job: &Job,
    work: impl FnOnce(wav::Sound, &Cancel) -> Result<T, TaskError> + Send + 'static,
) -> Result<T, TaskError> {
    native.on_medium(job, ("audio", Kind::Audio), |bytes, _| wav::read(bytes), work).await
}

/// What of a request a voice that speaks as it was trained to cannot mind: how fast, how high, whose voice.
pub(super) fn beyond_plain_speech(job: &Job) -> Option<String> {
    let style = style::Style::read(&job.request.text, job.arg("text").unwrap_or_default());
    if !style.is_plain() {
        return Some("how it is to be spoken".to_owned());
    }
    unread::of(job, Skill::Speech, &style::patterns()).into_iter().next()
}

/// `native/espeak-ng`: text to speech.
pub(super) async fn speak(native: &Native, job: &Job) -> Result<TaskOutput, TaskError> {
    native.available("native/espeak-ng")?;
    let whole = required(job, "text")?;
    if style::is_no_text(whole, &job.request.text) {
        let message =
            format!("`{whole}` says how something is to be spoken, or which; the words themselves are missing");
        return Err(TaskError::new(ErrorCode::MissingArgument, message)
            .hint("put the words in quotation marks, or name or attach a file"));
    }
    let request = match job.task.dep.is_empty() {
        true => job.request.text.clone(),
        false => super::image::without_region(&job.request.text),
    };
    let part = super::text::part::of(whole, &request)?;
    let text = speak::prepare(part.as_ref().map_or(whole, |(_, text)| text))?;
    let mut style = style::Style::read(&job.request.text, &text);
    style.at_speed(speed_of(job)?);
    let language = voice::voice(&text, job.arg("language"), &style)?;
    let work = async {
        let (variant, missing) = match style.variant() {
            None => (None, None),
            Some(variant) if native.programs.has_variant(variant).await? => (Some(variant), None),
            Some(variant) => (None, Some(format!("{} (`espeak-ng` has no voice variant `{variant}`)", style.whose()))),
        };
        let voice = variant.map_or_else(|| language.to_owned(), |variant| format!("{language}+{variant}"));
        Ok::<_, TaskError>((speak::speak(&native.programs, &text, &voice, &style).await?, voice, missing))
    };
    let (spoken, voice, missing) = tokio::select! {
        spoken = work => spoken?,
        () = job.cancel.cancelled() => return Err(super::cancelled()),
    };
    let named = Instruction::read(&job.request.text.replace(whole, " ").replace(&text, " ")).name;
    // A name says the format too.
    let format = named.as_deref().and_then(ending).or_else(|| style.format.clone());
    let mut made = save(native, spoken, format.as_deref()).await?.with("voice", voice);
    let mut met = style.met(missing.is_none());
    met.extend(part.map(|(what, _)| what));
    met.extend(format.as_ref().map(|format| format!("save as {format}")));
    if !met.is_empty() {
        made = made.with("operations", met);
    }
    if let Some(name) = named {
        made = made.with(TaskOutput::CALLED, name);
    }
    // What of a picture was to be read is the business of the task before.
    let of_picture = (!job.task.dep.is_empty()).then(super::image::part_of);
    let mut read = [style::patterns(), super::text::part::patterns()].concat();
    read.extend(of_picture);
    // What is known to be beyond the program is told in its own words.
    let mut unmet = style.unmet.clone();
    unmet.extend(unread::of(job, Skill::Speech, &read));
    unmet.extend(missing);
    Ok(with_rest(made, unmet))
}

/// The format that the end of a file's name says.
fn ending(name: &str) -> Option<String> {
    name.rsplit_once('.').map(|(_, ending)| ending.to_lowercase())
}

/// A sound as WAV or FLAC, by ffmpeg where it is something else; and the extension it came with.
async fn readable(native: &Native, path: &str, kind: Kind) -> Result<(Vec<u8>, &'static str), TaskError> {
    decoded(&native.inputs, &native.programs, path, kind).await
}

async fn decoded(
    inputs: &Inputs,
    programs: &Programs,
    path: &str,
    kind: Kind,
) -> Result<(Vec<u8>, &'static str), TaskError> {
    let bytes = inputs.bytes(path, kind).await?;
    if bytes.starts_with(b"RIFF") || bytes.starts_with(b"fLaC") {
        return Ok((bytes.to_vec(), "wav"));
    }
    let came_as = infer::get(&bytes).filter(|found| found.matcher_type() == infer::MatcherType::Audio);
    let came_as = came_as.map_or("wav", |found| found.extension());
    Ok((ffmpeg::decode(programs, &bytes).await?, came_as))
}

/// Sounds as samples, for workers that are not native.
pub(crate) mod sound {
    use tokio_util::sync::CancellationToken;

    use super::*;

    /// A sound of any format as one channel: samples a second, and samples from −1 to 1.
    pub(crate) async fn mono(
        inputs: &Inputs,
        programs: &Programs,
        path: &str,
        cancel: &CancellationToken,
    ) -> Result<(u32, Vec<f32>), TaskError> {
        let (bytes, _) = decoded(inputs, programs, path, Kind::Audio).await?;
        let read = move |_: &Cancel| wav::read(&bytes).map(|sound| (sound.rate, sound.mono()));
        inputs.heavy().run(cancel, read).await
    }

    /// What of a text can be spoken, as phonemes where a model reads those of a voice of espeak-ng.
    pub(crate) async fn spoken(programs: &Programs, text: &str, voice: Option<&str>) -> Result<String, TaskError> {
        let text = speak::prepare(text)?;
        match voice {
            Some(voice) => speak::phonemes(programs, &text, voice).await,
            None => Ok(text),
        }
    }

    /// One channel as WAV.
    pub(crate) fn encode(rate: u32, samples: Vec<f32>) -> Result<Vec<u8>, TaskError> {
        wav::write(&wav::Sound { rate, channels: vec![samples] })
    }
}

/// Stores a sound in the format asked for.
async fn save(native: &Native, wav: Vec<u8>, format: Option<&str>) -> Result<TaskOutput, TaskError> {
    let url = match format {
        None | Some("wav") => native.inputs.store(Kind::Audio, "wav", wav).await?,
        Some(format) => {
            let encoded = ffmpeg::encode(&native.programs, &wav, format).await?;
            native.inputs.store(Kind::Audio, format, encoded).await?
        }
    };
    Ok(TaskOutput::audio(url))
}

fn finish(made: TaskOutput, mut done: Vec<String>, asked: &Instruction) -> TaskOutput {
    done.extend(asked.format.as_ref().map(|format| format!("save as {format}")));
    let made = if done.is_empty() { made } else { made.with("operations", done) };
    let made = match &asked.name {
        Some(name) => made.with(TaskOutput::CALLED, name.clone()),
        None => made,
    };
    with_rest(made, asked.unmet.clone())
}

/// What else of its own order, or of the clauses with `keys`, an edit leaves undone.
fn left(job: &Job, keys: &[&Regex], asked: &Instruction, done: &[String]) -> Vec<String> {
    let mut left = asked.unmet.clone();
    left.extend(edit::less_loud(done, asked.measured));
    left.extend(unread::of_edit(job, keys, &READ, &asked.read, &[]));
    left
}

/// `native/audio-level`: louder, quieter, normalised.
pub(super) async fn level(native: &Native, job: &Job) -> Result<TaskOutput, TaskError> {
    let mut asked = Instruction::read(job.arg("text").unwrap_or(&job.request.text));
    let louder = asked.changes_volume();
    // The noise comes first; in a second task of the same request it is gone.
    if instruction::wants_less_noise(&job.request.text) && (job.task.dep.is_empty() || !louder) {
        let message = "the request is about noise, and this model changes how loud a sound is";
        return Err(TaskError::new(ErrorCode::CannotDo, message));
    }
    // What else the request says is the business of other tasks.
    asked
        .ops
        .retain(|op| matches!(op, instruction::Op::Volume(_) | instruction::Op::Normalise | instruction::Op::Mono));
    let asked = Instruction { format: None, name: None, unmet: Vec::new(), ..asked };
    perform(native, job, asked).await
}

/// `native/audio-edit`: cut, louder, quieter, another format.
pub(super) async fn edit(native: &Native, job: &Job) -> Result<TaskOutput, TaskError> {
    perform(native, job, Instruction::read(job.arg("text").unwrap_or(&job.request.text))).await
}

async fn perform(native: &Native, job: &Job, asked: Instruction) -> Result<TaskOutput, TaskError> {
    let path = required(job, "audio")?;
    if asked.is_empty() {
        let message = match asked.unmet.first() {
            Some(unmet) => format!("sounds are not edited like this here: {unmet}"),
            None => "the instruction names no edit of a sound that is known here".to_owned(),
        };
        return Err(TaskError::new(ErrorCode::CannotDo, message).hint(
            "known are: `the first 10 seconds`, `from 0:05 to 0:12`, `remove the last 3 seconds`, `louder`, `quieter`, \
             `normalise`, `mono`, `convert to mp3`",
        ));
    }
    if asked.format.as_deref().is_some_and(|format| format != "wav") {
        native.programs.path(super::Program::Ffmpeg)?;
    }
    let (bytes, came_as) = readable(native, path, Kind::Audio).await?;
    let ops = asked.ops.clone();
    let work = move |cancel: &Cancel| {
        let (edited, done) = edit::apply(wav::read(&bytes)?, &ops, cancel)?;
        Ok((wav::write(&edited)?, done))
    };
    let (edited, done) = native.inputs.heavy().run(&job.cancel, work).await?;
    let format = asked.format.as_deref().unwrap_or(came_as);
    let unmet = left(job, &instruction::volume_keys(), &asked, &done);
    Ok(finish(save(native, edited, Some(format)).await?, done, &Instruction { unmet, ..asked.clone() }))
}

/// `native/audio-join`: recordings one after the other.
pub(super) async fn join(native: &Native, job: &Job) -> Result<TaskOutput, TaskError> {
    let names: Vec<String> = (1..=JOINED).map(|nth| format!("audio{nth}")).collect();
    let mut files = Vec::new();
    for path in names.iter().filter_map(|name| job.arg(name)) {
        files.push(readable(native, path, Kind::Audio).await?.0);
    }
    if files.len() < 2 {
        return Err(TaskError::new(ErrorCode::MissingArgument, "joining needs two sounds at least")
            .hint("name the files in the request, or attach them"));
    }
    let mut asked = Instruction { ops: Vec::new(), ..Instruction::read(&job.request.text) };
    let (together, backwards) = instruction::together(&job.request.text);
    if backwards {
        files.reverse();
        // It is their order that is reversed, not their sound.
        asked.unmet.retain(|unmet| !unmet.starts_with("reverse") && !unmet.starts_with("backward"));
    }
    asked.read.extend(instruction::join_keys());
    let pause = instruction::pause(&job.request.text).unwrap_or(0.0);
    if pause > LONGEST_PAUSE {
        let message = format!("a pause between sounds is at most {LONGEST_PAUSE} seconds long here, not {pause}");
        return Err(TaskError::new(ErrorCode::CannotDo, message));
    }
    if pause > 0.0 && together == instruction::Together::AtOnce {
        let message = "sounds that are mixed are heard at once, so there is no place for a pause between them";
        return Err(TaskError::new(ErrorCode::CannotDo, message));
    }
    let unmet = left(job, &instruction::join_keys(), &asked, &[]);
    let asked = Instruction { unmet, ..asked };
    let work = move |cancel: &Cancel| {
        let sounds = files.iter().map(|file| wav::read(file)).collect::<Result<Vec<_>, _>>()?;
        let joined = match together {
            instruction::Together::OneAfterOther => edit::join(sounds, pause, cancel)?,
            instruction::Together::AtOnce => edit::mix(sounds, cancel)?,
        };
        Ok((wav::write(&joined)?, joined.seconds()))
    };
    let (joined, seconds) = native.inputs.heavy().run(&job.cancel, work).await?;
    let made = save(native, joined, asked.format.as_deref()).await?;
    let how = match together {
        instruction::Together::OneAfterOther => "joined",
        instruction::Together::AtOnce => "mixed",
    };
    let paused = if pause > 0.0 { format!(" with {pause} s of silence between") } else { String::new() };
    Ok(finish(made, vec![format!("{how}{paused}, {} long", edit::clock(seconds))], &asked))
}

/// `native/audio-facts`: how long a sound is and the like.
pub(super) async fn tell(native: &Native, job: &Job) -> Result<TaskOutput, TaskError> {
    let question = job.arg("text").unwrap_or(&job.request.text);
    if let Some(word) = instruction::compared(question) {
        return compare::answer(native, job, &word).await;
    }
    let tags = tags::asked(question);
    if !tags.is_empty() {
        return tags::answer(native, job, &tags).await;
    }
    let facts = instruction::facts(question);
    if facts.is_empty() {
        let message = "this question is about what is heard, and only length, sample rate, channels and loudness can be \
                       measured here";
        let ears = instruction::needs_ears(&job.request.text);
        let hint = "transcribe the recording first; that needs a model for automatic-speech-recognition";
        return Err(match ears {
            Some(word) => TaskError::new(ErrorCode::CannotDo, format!("{message}, not `{word}`"))
                .hint("configure Hugging Face or a model server for audio-classification"),
            None => TaskError::new(ErrorCode::CannotDo, message).hint(hint),
        });
    }
    let (bytes, _) = readable(native, required(job, "audio")?, Kind::Audio).await?;
    let language = Language::of(&job.request.text);
    let work = move |_: &Cancel| Ok(edit::tell(&wav::read(&bytes)?, &facts, language));
    Ok(TaskOutput::text(native.inputs.heavy().run(&job.cancel, work).await?))
}

/// `native/video-sound`: the sound of a video.
pub(super) async fn of_video(native: &Native, job: &Job) -> Result<TaskOutput, TaskError> {
    native.available("native/video-sound")?;
    let asked = Instruction::read(job.arg("text").unwrap_or(&job.request.text));
    // Its sound alone is no answer to an edit of the video.
    let edits = !asked.is_empty() || !asked.unmet.is_empty();
    let of_picture = instruction::wants_picture(&job.request.text);
    if of_picture || edits && !instruction::wants_sound(&job.request.text) {
        let message = "nothing here edits videos, takes frames out of them or tells of their picture; only their sound can be taken out";
        return Err(TaskError::new(ErrorCode::CannotDo, message)
            .hint("ask for the sound, for example `the first 2 seconds of the sound as mp3`"));
    }
    let (bytes, _) = readable(native, required(job, "video")?, Kind::Video).await?;
    let ops = asked.ops.clone();
    let work = move |cancel: &Cancel| {
        if ops.is_empty() {
            return Ok((bytes, Vec::new()));
        }
        let (edited, done) = edit::apply(wav::read(&bytes)?, &ops, cancel)?;
        Ok((wav::write(&edited)?, done))
    };
    let (sound, done) = native.inputs.heavy().run(&job.cancel, work).await?;
    let unmet = left(job, &instruction::video_keys(), &asked, &done);
    Ok(finish(save(native, sound, asked.format.as_deref()).await?, done, &Instruction { unmet, ..asked.clone() }))
}

/// `native/denoise`: the same sound with less noise, as WAV.
#[cfg(feature = "denoise")]
pub(super) async fn denoise(native: &Native, job: &Job) -> Result<TaskOutput, TaskError> {
    required(job, "audio")?;
    let asked = Instruction::read(&job.request.text);
    if !instruction::wants_less_noise(&job.request.text) {
        let message = "the request names no noise to remove, and this model does nothing else";
        return Err(TaskError::new(ErrorCode::CannotDo, message).hint("say for example `remove the noise`"));
    }
    // "Remove the noise and make it louder": the second task is for what the first left.
    let both = asked.changes_volume();
    if both && !job.task.dep.is_empty() {
        let message = "the task before this one took the noise away";
        return Err(TaskError::new(ErrorCode::CannotDo, message));
    }
    let cleaned = with_sound(native, job, |sound, cancel| wav::write(&denoise::denoise(sound, cancel)?)).await?;
    let made = TaskOutput::audio(native.inputs.store(Kind::Audio, "wav", cleaned).await?);
    Ok(if both { made.with("note", "only the noise was taken away; the volume is a task of its own") } else { made })
}

/// `native/audio-measure`: speech-like, tone, noise or silence.
pub(super) async fn classify(native: &Native, job: &Job) -> Result<TaskOutput, TaskError> {
    if !instruction::wants_kinds(&job.request.text) {
        let message =
            "only speech, tones, noise and silence are told apart here, and the request is about something else";
        let ears = instruction::needs_ears(&job.request.text).map(|word| format!(": `{word}`")).unwrap_or_default();
        return Err(TaskError::new(ErrorCode::CannotDo, message.to_owned() + &ears).hint(
            "configure Hugging Face or a model server for audio-classification, or ask what kind of sound it is",
        ));
    }
    with_sound(native, job, |sound, cancel| measure::classify(&sound, cancel)).await.map(TaskOutput)
}

/// What of a request a model cannot mind that finds where somebody speaks.
pub(super) fn beyond_times_of_speech(job: &Job) -> Option<String> {
    static WHEN_SPOKEN: LazyLock<Regex> = LazyLock::new(|| unread::words_of("WHEN_SPOKEN"));
    static WHEN_SPOKEN_OF: LazyLock<Regex> = LazyLock::new(|| unread::words_of("WHEN_SPOKEN_OF"));
    let request = job.request.text.to_lowercase();
    let is_asked = WHEN_SPOKEN.is_match(&request) && !WHEN_SPOKEN_OF.is_match(&request);
    (!is_asked).then(|| "something else than where somebody speaks".to_owned())
}

/// The speed that speech is wanted at, 1 being the usual one.
///
/// # Errors
/// When it is no number from 0.25 to 4.
pub(crate) fn speed_of(job: &Job) -> Result<Option<f32>, TaskError> {
    match job.args.get("speed") {
        None | Some(serde_json::Value::Null) => Ok(None),
        Some(given) => match given.as_f64().filter(|speed| (0.25..=4.0).contains(speed)) {
            Some(speed) => Ok(Some(speed as f32)),
            None => Err(TaskError::new(ErrorCode::InvalidInput, "`speed` is no number from 0.25 to 4")),
        },
    }
}

#[cfg(test)]
mod tests;
