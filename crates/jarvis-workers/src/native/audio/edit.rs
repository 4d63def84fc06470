//! Edits of a sound: cut, joined, louder or quieter; and what can be said of it without hearing words.

use jarvis_plan::{ErrorCode, Language, TaskError};

use super::super::Cancel;
use super::instruction::{Fact, Moment, Op};
use super::resample;
use super::stretch;
use super::wav::{MOST_SAMPLES, Sound};

/// The loudest sample of a normalised sound: one decibel below full scale.
const PEAK: f32 = 0.89;

/// What is said where a sound could not be made as loud as was asked.
const CAPPED: &str = ", the most without distortion";

/// What of a change of volume was not done: less than was asked for in numbers, or nothing that can be heard.
pub(super) fn less_loud(done: &[String], measured: bool) -> Option<String> {
    let capped = done.iter().find_map(|words| words.strip_suffix(CAPPED))?;
    let decibels: f32 = capped.split_whitespace().rev().nth(1)?.parse().ok()?;
    (measured || decibels < 1.0).then(|| format!("as loud as asked: beyond {decibels:+.1} dB it would be distorted"))
}

/// Does the operations in order; returns the sound and what was done.
pub(super) fn apply(mut sound: Sound, ops: &[Op], cancel: &Cancel) -> Result<(Sound, Vec<String>), TaskError> {
    let mut done = Vec::new();
    for op in ops {
        cancel.check()?;
        done.push(match *op {
            Op::Keep(from, to) => {
                let (from, to) = places(&sound, from, to)?;
                sound
                    .channels
                    .iter_mut()
                    .for_each(|samples| *samples = samples.get(from..to).unwrap_or_default().to_vec());
                format!("{} kept", span(&sound, from, to))
            }
            Op::Drop(from, to) => {
                let (from, to) = places(&sound, from, to)?;
                let length = sound.channels.first().map_or(0, Vec::len);
                if to - from == length {
                    let message = format!("nothing would be left of a sound of {}", clock(sound.seconds()));
                    return Err(TaskError::new(ErrorCode::InvalidInput, message).hint("take away less"));
                }
                sound.channels.iter_mut().for_each(|samples| drop(samples.drain(from..to.min(samples.len()))));
                format!("{} taken away", span(&sound, from, to))
            }
            Op::Volume(factor) => {
                let peak = peak(&sound);
                // Beyond full scale it would only crackle.
                let allowed = if peak > 0.0 && factor > 1.0 { factor.min((1.0 / peak).max(1.0)) } else { factor };
                scale(&mut sound, allowed);
                let decibels = 20.0 * allowed.max(1e-4).log10();
                match allowed < factor {
                    true => format!("volume {decibels:+.1} dB{CAPPED}"),
                    false => format!("volume {decibels:+.1} dB"),
                }
            }
            Op::Normalise => {
                let peak = peak(&sound);
                if peak > 0.0 {
                    scale(&mut sound, PEAK / peak);
                }
                "normalised".to_owned()
            }
            Op::Speed(factor) => {
                let factor = factor.clamp(SPEEDS.0, SPEEDS.1);
                for samples in &mut sound.channels {
                    *samples = stretch::stretch(samples, sound.rate, factor, cancel)?;
                }
                format!("speed {factor:.2}")
            }
            Op::TrimSilence { start, end } => trim_silence(&mut sound, start, end)?,
            Op::FadeIn(seconds) => {
                let length = (seconds * f64::from(sound.rate)).round().max(1.0);
                for samples in &mut sound.channels {
                    fade(samples.iter_mut(), length);
                }
                format!("fade in over {seconds} s")
            }
            Op::FadeOut(seconds) => {
                let length = (seconds * f64::from(sound.rate)).round().max(1.0);
                for samples in &mut sound.channels {
                    fade(samples.iter_mut().rev(), length);
                }
                format!("fade out over {seconds} s")
            }
            Op::Mono => {
                sound.channels = vec![sound.mono()];
                "mono".to_owned()
            }
        });
    }
    Ok((sound, done))
}

/// Silence is so much below the loudest moment, 40 dB, and so much of it stays beside a sound, in seconds.
const SILENT: f32 = 0.01;
const BREATH: f64 = 0.05;
/// Shorter silence at an end is none.
const LEAST_SILENCE: f64 = 0.15;

/// Takes the silence at the ends away, and says how much.
fn trim_silence(sound: &mut Sound, start: bool, end: bool) -> Result<String, TaskError> {
    let length = sound.channels.first().map_or(0, Vec::len);
    let window = (sound.rate as usize / 100).max(1);
    let level = |from: usize| {
        let loudest = |samples: &Vec<f32>| {
            let part = samples.get(from..(from + window).min(samples.len())).unwrap_or_default();
            (part.iter().map(|sample| sample * sample).sum::<f32>() / part.len().max(1) as f32).sqrt()
        };
        sound.channels.iter().map(loudest).fold(0.0, f32::max)
    };
    let levels: Vec<f32> = (0..length).step_by(window).map(level).collect();
    let least = levels.iter().copied().fold(0.0, f32::max) * SILENT;
    let is_loud = |level: &f32| *level > least;
    let (Some(first), Some(last)) = (levels.iter().position(is_loud), levels.iter().rposition(is_loud)) else {
        return Err(TaskError::new(ErrorCode::CannotDo, "the sound is nothing but silence"));
    };
    let breath = (BREATH * f64::from(sound.rate)) as usize;
    let from = if start { (first * window).saturating_sub(breath) } else { 0 };
    let to = if end { ((last + 1) * window + breath).min(length) } else { length };
    let seconds = |samples: usize| samples as f64 / f64::from(sound.rate);
    let (at_start, at_end) = (seconds(from), seconds(length - to));
    if at_start < LEAST_SILENCE && at_end < LEAST_SILENCE {
        return Err(TaskError::new(ErrorCode::CannotDo, "there is no silence at the ends that are to be trimmed"));
    }
    for samples in &mut sound.channels {
        *samples = samples.get(from..to.min(samples.len())).unwrap_or_default().to_vec();
    }
    let told = [(start, at_start, "beginning"), (end, at_end, "end")];
    let told = told.into_iter().filter(|(asked, ..)| *asked);
    let told: Vec<String> = told.map(|(_, seconds, place)| format!("{seconds:.1} s at the {place}")).collect();
    Ok(format!("silence taken away: {}", told.join(", ")))
}

/// The slowest and the fastest that a sound is made.
const SPEEDS: (f32, f32) = (0.25, 4.0);

/// From nothing to full level over so many samples.
fn fade<'a>(samples: impl Iterator<Item = &'a mut f32>, length: f64) {
    for (nth, sample) in samples.take(length as usize).enumerate() {
        *sample *= (nth as f64 / length) as f32;
    }
}

/// The samples of a sound at the rate and with the channels of another. A mono sound is heard on every channel.
fn fitted(sound: &Sound, like: &Sound) -> Vec<Vec<f32>> {
    let last = sound.channels.len().saturating_sub(1);
    let mono = (like.channels.len() == 1).then(|| sound.mono());
    let channel = |nth: usize| mono.as_ref().or_else(|| sound.channels.get(nth.min(last)));
    let fit = |channel: &Vec<f32>| resample::resample(channel, sound.rate, like.rate);
    (0..like.channels.len()).map(|nth| channel(nth).map(fit).unwrap_or_default()).collect()
}

/// The sounds at once, at the rate and with the channels of the first, as long as the longest.
pub(super) fn mix(sounds: Vec<Sound>, cancel: &Cancel) -> Result<Sound, TaskError> {
    let mut sounds = sounds.into_iter();
    let Some(mut mixed) = sounds.next() else {
        return Err(TaskError::new(ErrorCode::MissingArgument, "no sound was given to work on"));
    };
    for sound in sounds {
        cancel.check()?;
        let added = fitted(&sound, &mixed);
        for (samples, added) in mixed.channels.iter_mut().zip(added) {
            if samples.len() < added.len() {
                samples.resize(added.len(), 0.0);
            }
            samples.iter_mut().zip(added).for_each(|(sample, added)| *sample += added);
        }
    }
    // Beyond full scale it would only crackle.
    let peak = peak(&mixed);
    if peak > 1.0 {
        scale(&mut mixed, 1.0 / peak);
    }
    Ok(mixed)
}

/// Two moments as sample numbers, the first before the second.
fn places(sound: &Sound, from: Moment, to: Moment) -> Result<(usize, usize), TaskError> {
    let length = sound.channels.first().map_or(0, Vec::len);
    let place = |moment: Moment| {
        let samples = |seconds: f64| (seconds * f64::from(sound.rate)).round() as usize;
        match moment {
            Moment::At(seconds) => samples(seconds).min(length),
            Moment::BeforeEnd(seconds) => length.saturating_sub(samples(seconds)),
        }
    };
    let (from, to) = (place(from), place(to));
    if from >= to {
        let message = format!("that part lies outside the sound, which is {} long", clock(sound.seconds()));
        return Err(
            TaskError::new(ErrorCode::InvalidInput, message).hint("name a part inside it, such as `from 0:05 to 0:12`")
        );
    }
    Ok((from, to))
}

fn span(sound: &Sound, from: usize, to: usize) -> String {
    let at = |sample: usize| clock(sample as f64 / f64::from(sound.rate));
    format!("{} to {}", at(from), at(to))
}

fn peak(sound: &Sound) -> f32 {
    sound.channels.iter().flatten().fold(0.0, |peak: f32, sample| peak.max(sample.abs()))
}

fn scale(sound: &mut Sound, factor: f32) {
    sound.channels.iter_mut().flatten().for_each(|sample| *sample *= factor);
}

/// The sounds one after the other, at the rate and with the channels of the first, with so many seconds of silence between.
pub(super) fn join(sounds: Vec<Sound>, pause: f64, cancel: &Cancel) -> Result<Sound, TaskError> {
    let mut sounds = sounds.into_iter();
    let Some(mut joined) = sounds.next() else {
        return Err(TaskError::new(ErrorCode::MissingArgument, "no sound was given to work on"));
    };
    let silence = (pause * f64::from(joined.rate)).round() as usize;
    for sound in sounds {
        cancel.check()?;
        let added = fitted(&sound, &joined);
        joined.channels.iter_mut().zip(added).for_each(|(samples, added)| {
            samples.resize(samples.len() + silence, 0.0);
            samples.extend(added);
        });
        let samples: usize = joined.channels.iter().map(Vec::len).sum();
        if samples > MOST_SAMPLES {
            let message = format!("joined, the sounds have {samples} samples; the limit is {MOST_SAMPLES}");
            return Err(TaskError::new(ErrorCode::TooLarge, message).hint("join fewer or shorter ones"));
        }
    }
    Ok(joined)
}

/// A time for people: `0:07.5`, `1:02:03`.
pub(super) fn clock(seconds: f64) -> String {
    let tenths = (seconds * 10.0).round() as u64;
    let (whole, tenth) = (tenths / 10, tenths % 10);
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    let fraction = if tenth > 0 { format!(".{tenth}") } else { String::new() };
    match hours {
        0 => format!("{minutes}:{seconds:02}{fraction}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}{fraction}"),
    }
}

/// The mean level, in decibels below full scale.
pub(super) fn loudness(sound: &Sound) -> f64 {
    let samples = sound.channels.iter().flatten();
    let count = samples.clone().count().max(1) as f64;
    let power = samples.map(|sample| f64::from(*sample).powi(2)).sum::<f64>() / count;
    10.0 * power.max(1e-10).log10()
}

/// What is asked about a sound, in words.
pub(super) fn tell(sound: &Sound, facts: &[Fact], language: Language) -> String {
    let say = |fact: &Fact| match fact {
        Fact::Length => {
            let seconds = (sound.seconds() * 10.0).round() / 10.0;
            let clock = clock(sound.seconds());
            language.pick(
                format!("{seconds} seconds ({clock})"),
                format!("{seconds} с ({clock})"),
                format!("{seconds} 秒（{clock}）"),
            )
        }
        Fact::Rate => format!("{} Hz", sound.rate),
        Fact::Channels => match sound.channels.len() {
            1 => language.pick("mono", "моно", "单声道").to_owned(),
            2 => language.pick("stereo", "стерео", "立体声").to_owned(),
            count => {
                let word = language.pick("channels", "каналов", "个声道");
                format!("{count} {word}")
            }
        },
        Fact::Peak => {
            let peak = peak(sound);
            let decibels = 20.0 * f64::from(peak).max(1e-5).log10();
            let place =
                sound.channels.iter().filter_map(|samples| samples.iter().position(|one| one.abs() >= peak)).min();
            let at = clock(place.unwrap_or(0) as f64 / f64::from(sound.rate));
            language.pick(
                format!("{decibels:.1} dBFS at the loudest point, at {at}"),
                format!("{decibels:.1} dBFS в самом громком месте, на {at}"),
                format!("最响处 {decibels:.1} dBFS，位于 {at}"),
            )
        }
        Fact::Loudness => {
            let mean = loudness(sound);
            let peak = 20.0 * f64::from(peak(sound)).max(1e-5).log10();
            language.pick(
                format!("{mean:.1} dBFS on average, {peak:.1} at the peak"),
                format!("{mean:.1} dBFS в среднем, {peak:.1} в пике"),
                format!("平均 {mean:.1} dBFS，峰值 {peak:.1}"),
            )
        }
    };
    facts.iter().map(say).collect::<Vec<_>>().join(", ")
}
