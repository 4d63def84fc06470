//! Sounds in and out: WAV (and FLAC in), as floating point samples between -1 and 1.

use std::io::Cursor;

use hound::{SampleFormat, WavReader, WavSpec, WavWriter};
use jarvis_plan::{ErrorCode, TaskError};

/// The most samples, of all channels together: an hour of mono at 22 kHz.
pub(super) const MOST_SAMPLES: usize = 80_000_000;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sound {
    pub(super) rate: u32,
    /// The channels, all of one length.
    pub(super) channels: Vec<Vec<f32>>,
}

impl Sound {
    pub(super) fn seconds(&self) -> f64 {
        self.channels.first().map_or(0.0, |samples| samples.len() as f64 / f64::from(self.rate))
    }

    pub(super) fn mono(&self) -> Vec<f32> {
        let Some((first, rest)) = self.channels.split_first() else { return Vec::new() };
        let mut mixed = first.clone();
        for channel in rest {
            mixed.iter_mut().zip(channel).for_each(|(sum, sample)| *sum += sample);
        }
        let share = 1.0 / self.channels.len() as f32;
        mixed.iter_mut().for_each(|sample| *sample *= share);
        mixed
    }
}

/// Reads WAV (8 to 32 bit integers, 32 bit floats) or FLAC.
pub(super) fn read(bytes: &[u8]) -> Result<Sound, TaskError> {
    if bytes.starts_with(b"RIFF") {
        return read_wav(&mend(bytes.to_vec()));
    }
    if bytes.starts_with(b"fLaC") {
        return read_flac(bytes);
    }
    let what = match infer::get(bytes) {
        _ if bytes.is_empty() => "it is empty".to_owned(),
        Some(kind) => format!("it looks like {}", kind.mime_type()),
        None => "its format is unknown".to_owned(),
    };
    Err(TaskError::new(ErrorCode::InvalidInput, format!("the sound is neither WAV nor FLAC: {what}"))
        .hint("convert it to WAV, for example with `ffmpeg -i INPUT OUTPUT.wav`"))
}

fn damaged(format: &str, cause: impl std::fmt::Display) -> TaskError {
    TaskError::new(ErrorCode::InvalidInput, format!("the {format} sound is damaged or of an unusual kind: {cause}"))
        .hint("convert it to 16 bit WAV")
}

fn check(rate: u32, channels: usize, samples: usize) -> Result<(), TaskError> {
    if !(1000..=768_000).contains(&rate) || !(1..=32).contains(&channels) {
        let message = format!("the sound has {channels} channels at {rate} samples a second");
        return Err(TaskError::new(ErrorCode::InvalidInput, message).hint("give 1 to 32 channels at 1 to 768 kHz"));
    }
    if samples > MOST_SAMPLES {
        let message = format!("the sound has {samples} samples; the limit is {MOST_SAMPLES}");
        return Err(TaskError::new(ErrorCode::TooLarge, message).hint("cut it into shorter parts"));
    }
    Ok(())
}

fn split(samples: impl Iterator<Item = Result<f32, TaskError>>, count: usize) -> Result<Vec<Vec<f32>>, TaskError> {
    let mut channels = vec![Vec::new(); count];
    let mut at = 0;
    for sample in samples {
        let sample = sample?;
        if let Some(channel) = channels.get_mut(at) {
            channel.push(if sample.is_finite() { sample.clamp(-8.0, 8.0) } else { 0.0 });
        }
        at = (at + 1) % count;
    }
    let shortest = channels.iter().map(Vec::len).min().unwrap_or(0);
    channels.iter_mut().for_each(|channel| channel.truncate(shortest));
    Ok(channels)
}

fn read_wav(bytes: &[u8]) -> Result<Sound, TaskError> {
    let reader = WavReader::new(Cursor::new(bytes)).map_err(|cause| damaged("WAV", cause))?;
    let WavSpec { channels, sample_rate, bits_per_sample, sample_format } = reader.spec();
    let count = usize::from(channels);
    check(sample_rate, count, reader.len() as usize)?;
    let channels = match sample_format {
        SampleFormat::Float => {
            let samples = reader.into_samples::<f32>().map(|sample| sample.map_err(|cause| damaged("WAV", cause)));
            split(samples, count)?
        }
        SampleFormat::Int => {
            let full = (1_u64 << bits_per_sample.clamp(1, 32).saturating_sub(1)) as f32;
            let samples = reader.into_samples::<i32>();
            split(
                samples.map(|sample| sample.map(|level| level as f32 / full).map_err(|cause| damaged("WAV", cause))),
                count,
            )?
        }
    };
    Ok(Sound { rate: sample_rate, channels })
}

fn read_flac(bytes: &[u8]) -> Result<Sound, TaskError> {
    let mut reader = claxon::FlacReader::new(Cursor::new(bytes)).map_err(|cause| damaged("FLAC", cause))?;
    let info = reader.streaminfo();
    let count = info.channels as usize;
    let announced = info.samples.unwrap_or(0).saturating_mul(count as u64);
    check(info.sample_rate, count, usize::try_from(announced).unwrap_or(usize::MAX))?;
    let full = (1_u64 << info.bits_per_sample.clamp(1, 32).saturating_sub(1)) as f32;
    let samples = reader.samples().take(MOST_SAMPLES);
    let channels = split(
        samples.map(|sample| sample.map(|level| level as f32 / full).map_err(|cause| damaged("FLAC", cause))),
        count,
    )?;
    Ok(Sound { rate: info.sample_rate, channels })
}

pub(super) fn write(sound: &Sound) -> Result<Vec<u8>, TaskError> {
    let failed = |cause: hound::Error| TaskError::new(ErrorCode::Internal, format!("cannot encode the sound: {cause}"));
    let count = sound.channels.len().max(1) as u16;
    let spec =
        WavSpec { channels: count, sample_rate: sound.rate, bits_per_sample: 16, sample_format: SampleFormat::Int };
    let mut bytes = Cursor::new(Vec::new());
    let mut writer = WavWriter::new(&mut bytes, spec).map_err(failed)?;
    let length = sound.channels.first().map_or(0, Vec::len);
    for at in 0..length {
        for channel in &sound.channels {
            let sample = channel.get(at).copied().unwrap_or(0.0);
            writer.write_sample((sample.clamp(-1.0, 1.0) * 32767.0).round() as i16).map_err(failed)?;
        }
    }
    writer.finalize().map_err(failed)?;
    Ok(bytes.into_inner())
}

/// Corrects the sizes in the header of a WAV that was written to a pipe: a program that streams one does not know them yet
/// and leaves something too large, or nought.
pub(super) fn mend(mut bytes: Vec<u8>) -> Vec<u8> {
    let total = bytes.len();
    let size_at = |bytes: &[u8], at: usize| -> Option<usize> {
        let field: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_le_bytes(field) as usize)
    };
    let mut at = 12;
    while let (Some(id), Some(size)) = (bytes.get(at..at + 4), size_at(&bytes, at + 4)) {
        let rest = total - at - 8;
        if id == b"data" {
            if size > rest || size == 0 {
                // A frame that was cut off is dropped; its size stands in the format chunk at a fixed place.
                let frame = bytes
                    .get(32..34)
                    .map_or(1, |field| field.iter().rev().fold(0, |sum, byte| sum * 256 + usize::from(*byte)));
                let whole = rest - rest % frame.max(1);
                set(&mut bytes, at + 4, whole);
                set(&mut bytes, 4, total - 8);
            }
            break;
        }
        at = match at.checked_add(8 + size + size % 2) {
            Some(next) if next <= total => next,
            Some(_) | None => break,
        };
    }
    bytes
}

fn set(bytes: &mut [u8], at: usize, size: usize) {
    if let Some(field) = bytes.get_mut(at..at + 4) {
        field.copy_from_slice(&u32::try_from(size).unwrap_or(u32::MAX).to_le_bytes());
    }
}
