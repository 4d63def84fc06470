//! Native sound models: the thin shells that fetch, compute on a thread of their own, store and report.

#[cfg(feature = "denoise")]
mod denoise;
mod measure;
mod resample;
mod speak;
mod style;
mod voice;
mod wav;

use jarvis_catalogue::TaskOutput;
use jarvis_engine::Job;
use jarvis_plan::{Kind, TaskError};

use super::{Cancel, Native, required};

/// Does the work on the sound of a job, off the async threads.
async fn with_sound<T: Send + 'static>(
    native: &Native,
    job: &Job,
    work: impl FnOnce(wav::Sound, &Cancel) -> Result<T, TaskError> + Send + 'static,
) -> Result<T, TaskError> {
    native.on_medium(job, ("audio", Kind::Audio), |bytes, _| wav::read(bytes), work).await
}

/// `native/espeak-ng`: text to speech.
pub(super) async fn speak(native: &Native, job: &Job) -> Result<TaskOutput, TaskError> {
    native.available("native/espeak-ng")?;
    let text = speak::prepare(required(job, "text")?)?;
    let style = style::Style::read(&job.request.text, &text);
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
    let url = native.inputs.store(Kind::Audio, "wav", spoken).await?;
    let mut made = TaskOutput::audio(url).with("voice", voice);
    let met = style.met(missing.is_none());
    if !met.is_empty() {
        made = made.with("operations", met);
    }
    let unmet: Vec<String> = style.unmet.iter().cloned().chain(missing).collect();
    Ok(if unmet.is_empty() { made } else { made.with("not done", unmet) })
}

/// `native/denoise`: the same sound with less noise, as WAV.
#[cfg(feature = "denoise")]
pub(super) async fn denoise(native: &Native, job: &Job) -> Result<TaskOutput, TaskError> {
    let cleaned = with_sound(native, job, |sound, cancel| wav::write(&denoise::denoise(sound, cancel)?)).await?;
    Ok(TaskOutput::audio(native.inputs.store(Kind::Audio, "wav", cleaned).await?))
}

/// `native/audio-measure`: speech-like, tone, noise or silence.
pub(super) async fn classify(native: &Native, job: &Job) -> Result<TaskOutput, TaskError> {
    with_sound(native, job, |sound, cancel| measure::classify(&sound, cancel)).await.map(TaskOutput)
}

#[cfg(test)]
mod tests;
