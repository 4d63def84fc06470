//! Sounds made here, and what must be found in them.

use std::f32::consts::TAU;
use std::io::Cursor;

use hound::{SampleFormat, WavSpec, WavWriter};
use jarvis_plan::ErrorCode;
use jarvis_testing::rows;
use tokio_util::sync::CancellationToken;

use super::super::Cancel;
use super::super::programs::{Program, Programs};
use super::style::Style;
use super::wav::Sound;
use super::*;

fn go_on() -> Cancel {
    Cancel(CancellationToken::new())
}

fn sound(rate: u32, seconds: f32, mut at: impl FnMut(f32) -> f32) -> Sound {
    let length = (rate as f32 * seconds) as usize;
    Sound { rate, channels: vec![(0..length).map(|nth| at(nth as f32 / rate as f32)).collect()] }
}

/// White noise, the same each time.
fn noise(level: f32) -> impl FnMut(f32) -> f32 {
    let mut seed = 12_345_u32;
    move |_| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((seed >> 8) as f32 / (1 << 23) as f32 - 1.0) * level
    }
}

fn rms(samples: &[f32]) -> f32 {
    (samples.iter().map(|x| x * x).sum::<f32>() / samples.len().max(1) as f32).sqrt()
}

fn best(sound: &Sound) -> String {
    let list = measure::classify(sound, &go_on()).unwrap();
    let sum: f64 = list.as_array().unwrap().iter().map(|row| row["score"].as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 0.01, "{list}");
    list[0]["label"].as_str().unwrap().to_owned()
}

#[test]
fn every_depth_is_read_alike() {
    let wave: Vec<f32> = (0..480).map(|nth| (nth as f32 * TAU / 48.0).sin() * 0.5).collect();
    for bits in [8, 16, 24, 32] {
        let spec =
            WavSpec { channels: 2, sample_rate: 48_000, bits_per_sample: bits, sample_format: SampleFormat::Int };
        let mut bytes = Cursor::new(Vec::new());
        let mut writer = WavWriter::new(&mut bytes, spec).unwrap();
        let full = ((1_i64 << (bits - 1)) - 1) as f32;
        for sample in &wave {
            writer.write_sample((sample * full) as i32).unwrap();
            writer.write_sample(0_i32).unwrap();
        }
        writer.finalize().unwrap();
        let read = wav::read(&bytes.into_inner()).unwrap();
        assert_eq!((read.rate, read.channels.len(), read.channels[0].len()), (48_000, 2, 480));
        let worst = read.channels[0].iter().zip(&wave).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 2.0 / 128.0, "{bits}: {worst}");
        assert!((rms(&read.mono()) - rms(&wave) / 2.0).abs() < 0.01);
    }
    let spec = WavSpec { channels: 1, sample_rate: 8000, bits_per_sample: 32, sample_format: SampleFormat::Float };
    let mut bytes = Cursor::new(Vec::new());
    let mut writer = WavWriter::new(&mut bytes, spec).unwrap();
    for sample in [0.25_f32, f32::NAN, f32::INFINITY, -0.5] {
        writer.write_sample(sample).unwrap();
    }
    writer.finalize().unwrap();
    assert_eq!(wav::read(&bytes.into_inner()).unwrap().channels, [[0.25, 0.0, 0.0, -0.5]]);
}

#[test]
fn headers_written_to_a_pipe_are_mended() {
    let whole = wav::write(&sound(8000, 0.5, |t| (t * 440.0 * TAU).sin())).unwrap();
    for size in [0_u32, 0x7fff_f000, u32::MAX] {
        let mut piped = whole.clone();
        piped[4..8].copy_from_slice(&size.to_le_bytes());
        piped[40..44].copy_from_slice(&size.to_le_bytes());
        assert_eq!(wav::mend(piped), whole, "{size:#x}");
    }
    assert_eq!(wav::mend(whole.clone()), whole);
}

#[test]
fn bad_sounds_are_refused() {
    let whole = wav::write(&sound(8000, 0.1, |t| t)).unwrap();
    let cases: [(&[u8], ErrorCode, &str); 5] = [
        (b"", ErrorCode::InvalidInput, "it is empty"),
        (b"just text", ErrorCode::InvalidInput, "neither WAV nor FLAC"),
        (b"ID3\x04\x00\x00\x00\x00\x00\x00", ErrorCode::InvalidInput, "audio/mpeg"),
        (b"fLaC\x00\x00", ErrorCode::InvalidInput, "the FLAC sound is damaged"),
        (&whole[..30], ErrorCode::InvalidInput, "the WAV sound is damaged"),
    ];
    for (bytes, code, message) in cases {
        let error = wav::read(bytes).unwrap_err();
        assert_eq!(error.code, code);
        assert!(error.message.contains(message), "{}", error.message);
        assert!(error.hint.is_some());
    }
    // Any cut and any changed byte of the header: an error or a sound, never a panic.
    for end in 0..whole.len().min(80) {
        let _ = wav::read(&whole[..end]);
    }
    for at in 0..44 {
        for value in [0, 1, 127, 255] {
            let mut bytes = whole.clone();
            bytes[at] = value;
            if let Ok(read) = wav::read(&bytes) {
                let _ = measure::measure(&read, &go_on());
            }
        }
    }
}

#[test]
fn resampling_keeps_tones_and_their_place() {
    for (from, to) in
        [(44_100, 48_000), (48_000, 44_100), (8_000, 48_000), (48_000, 16_000), (22_050, 16_000), (11_127, 48_000)]
    {
        let tone = sound(from, 0.5, |t| (t * 1000.0 * TAU).sin());
        let changed = resample::resample(&tone.channels[0], from, to);
        assert_eq!(changed.len(), (f64::from(to) * tone.channels[0].len() as f64 / f64::from(from)).round() as usize);
        let inner = 400..changed.len() - 400;
        let worst =
            inner.map(|nth| (changed[nth] - (nth as f32 / to as f32 * 1000.0 * TAU).sin()).abs()).fold(0.0, f32::max);
        assert!(worst < 0.02, "{from} to {to}: {worst}");
    }
    // What the lower rate cannot hold is gone, not folded down.
    let high = sound(48_000, 0.3, |t| (t * 15_000.0 * TAU).sin());
    let folded = resample::resample(&high.channels[0], 48_000, 16_000);
    assert!(rms(&folded[100..folded.len() - 100]) < 0.01);
    assert!(resample::resample(&[], 8000, 16_000).is_empty());
    assert_eq!(resample::resample(&[1.0], 48_000, 8000).len(), 1);
}

#[test]
fn kinds_of_sound_are_told_apart() {
    assert_eq!(best(&sound(16_000, 2.0, |_| 0.0)), "silence");
    assert_eq!(best(&sound(44_100, 2.0, noise(1e-4))), "silence");
    for frequency in [220.0, 440.0, 3000.0] {
        assert_eq!(best(&sound(22_050, 2.0, |t| (t * frequency * TAU).sin() * 0.3)), "tone", "{frequency}");
    }
    let chord = |t: f32| [262.0, 330.0, 392.0].iter().map(|f| (t * f * TAU).sin()).sum::<f32>() * 0.2;
    assert_eq!(best(&sound(44_100, 2.0, chord)), "tone");
    assert_eq!(best(&sound(44_100, 2.0, noise(0.3))), "noise");
    assert_eq!(best(&sound(8_000, 1.0, noise(0.1))), "noise");
    // A buzz that swells and fades four times a second, its pitch gliding: the shape of speech.
    let mut phase = 0.0_f32;
    let speech = sound(16_000, 4.0, |t| {
        phase += (120.0 + 20.0 * (t * 3.0).sin()) / 16_000.0;
        let buzz: f32 = (1..25).map(|harmonic| (phase * harmonic as f32 * TAU).sin() / (harmonic as f32).sqrt()).sum();
        buzz * 0.1 * (0.5 - 0.5 * (t * 4.0 * TAU).cos()).powi(2)
    });
    assert_eq!(best(&speech), "speech-like");
}

#[test]
fn noise_is_taken_away_and_length_and_rate_stay() {
    for rate in [16_000, 44_100, 48_000] {
        let noisy = sound(rate, 3.0, noise(0.05));
        let cleaned = denoise::denoise(noisy.clone(), &go_on()).unwrap();
        assert_eq!((cleaned.rate, cleaned.channels[0].len()), (rate, noisy.channels[0].len()));
        let samples = &cleaned.channels[0];
        assert!(samples.iter().all(|sample| sample.is_finite() && sample.abs() <= 1.0));
    }
    let noisy = sound(48_000, 3.0, noise(0.05));
    let left = denoise::clean(&noisy.channels[0], &go_on()).unwrap();
    let (before, after) = (rms(&noisy.channels[0]), rms(&left[left.len() / 2..]));
    println!("white noise: {before} before, {after} after");
    assert!(after < before / 2.0, "{before} to {after}");
    let silent = Sound { rate: 48_000, channels: vec![vec![0.0; 5000]; 2] };
    assert_eq!(denoise::denoise(silent.clone(), &go_on()).unwrap(), silent);
    let cancel = go_on();
    cancel.0.cancel();
    assert_eq!(denoise::denoise(silent, &cancel).unwrap_err().code, ErrorCode::Cancelled);
}

#[test]
fn voices_are_those_of_the_text_and_no_text_is_spoken_in_another_language() {
    type Row = (String, Option<String>, String, String);
    for (text, language, request, expected) in rows::<Row>(include_str!("tests.json"), "voices") {
        let found = voice::voice(&text, language.as_deref(), &Style::read(&request, &text));
        let found = found.map_or_else(|error| format!("! {}", error.message), str::to_owned);
        match expected.strip_prefix("! ") {
            Some(part) => assert!(found.starts_with("! ") && found.contains(part), "{text} / {request}: {found}"),
            None => assert_eq!(found, expected, "{text} / {language:?} / {request}"),
        }
    }
}

#[test]
fn wishes_for_the_speech_are_met_or_kept_as_unmet() {
    style::compile_all();
    type Row = (String, String, Option<String>, String, Vec<String>);
    for (request, text, variant, options, unmet) in rows::<Row>(include_str!("tests.json"), "styles") {
        let style = Style::read(&request, &text);
        assert_eq!(style.variant(), variant.as_deref(), "{request}");
        assert_eq!(style.options().join(" "), options, "{request}");
        assert_eq!(style.unmet, unmet, "{request}");
    }
}

#[test]
fn texts_that_cannot_be_spoken() {
    assert_eq!(speak::prepare("Hi\u{0}\u{7} you\n").unwrap(), "Hi you\n");
    assert_eq!(speak::prepare("... !?").unwrap_err().code, ErrorCode::InvalidInput);
    let error = speak::prepare(&"слово ".repeat(3000)).unwrap_err();
    assert_eq!(error.code, ErrorCode::TooLarge);
    assert!(error.message.contains("18000"), "{}", error.message);
}

#[tokio::test]
async fn the_installed_espeak_ng_makes_a_sound_like_speech() {
    let programs = Programs::find();
    if programs.path(Program::EspeakNg).is_err() {
        println!("skipped: espeak-ng is not installed");
        return;
    }
    let cases = [
        ("The quick brown fox jumps over the lazy dog, and then it sleeps for a while in the warm sun.", "en"),
        ("Съешь ещё этих мягких французских булок, да выпей чаю. Потом мы пойдём гулять.", "ru"),
        ("今天天气很好，我们一起去公园散步，然后回家吃晚饭。", "cmn"),
    ];
    for (text, voice) in cases {
        let style = Style::read("", text);
        assert_eq!(voice::voice(text, None, &style).unwrap(), voice);
        let bytes = speak::speak(&programs, text, voice, &style).await.unwrap();
        let announced = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
        assert_eq!(announced, bytes.len() - 8, "the header says how long the file is");
        let spoken = wav::read(&bytes).unwrap();
        assert!((1.0..30.0).contains(&spoken.seconds()), "{voice}: {}", spoken.seconds());
        assert_eq!(best(&spoken), "speech-like", "{voice}: {:?}", measure::measure(&spoken, &go_on()));
        // Noise of a sixth of its loudness is mostly taken away, and the speech is still where it was.
        let mut hiss = noise(rms(&spoken.channels[0]) / 3.0);
        let noisy = Sound {
            channels: vec![spoken.channels[0].iter().map(|sample| sample + hiss(0.0)).collect()],
            ..spoken.clone()
        };
        let cleaned = denoise::denoise(noisy.clone(), &go_on()).unwrap();
        let (before, after) = (alike(&spoken, &noisy), alike(&spoken, &cleaned));
        println!("{voice}: likeness to the clean speech {before:.4} with noise, {after:.4} denoised");
        assert!(after > before, "{voice}: {before} to {after}");
    }
}

/// Correlation of two sounds of one length: 1 when they are the same but for loudness.
fn alike(a: &Sound, b: &Sound) -> f32 {
    let (a, b) = (&a.channels[0], &b.channels[0]);
    let dot: f32 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    dot / (rms(a) * rms(b) * a.len() as f32)
}

#[tokio::test]
async fn the_installed_espeak_ng_speaks_as_asked() {
    let programs = Programs::find();
    if programs.path(Program::EspeakNg).is_err() {
        println!("skipped: espeak-ng is not installed");
        return;
    }
    for variant in ["f3", "f5", "m3", "whisper", "whisperf"] {
        assert!(programs.has_variant(variant).await.unwrap(), "{variant}");
    }
    assert!(!programs.has_variant("nobody").await.unwrap());
    let text = "The quick brown fox jumps over the lazy dog.";
    let spoken = async |voice: &str, request: &str| {
        let bytes = speak::speak(&programs, text, voice, &Style::read(request, text)).await.unwrap();
        wav::read(&bytes).unwrap()
    };
    let plain = spoken("en", "read it").await;
    assert!(spoken("en", "read it slowly").await.seconds() > plain.seconds() * 1.2);
    assert!(spoken("en", "read it twice as fast").await.seconds() < plain.seconds() * 0.7);
    assert!(spoken("en", "read it in a deep voice").await != plain && spoken("en+f3", "read it").await != plain);
}

#[test]
fn instructions_become_operations() {
    instruction::compile_all();
    type Row = (String, String, Option<String>, Vec<String>);
    let mut wrong = String::new();
    for (text, ops, format, unmet) in rows::<Row>(include_str!("tests.json"), "edits") {
        let asked = Instruction::read(&text);
        let found = (format!("{:?}", asked.ops), asked.format, asked.unmet);
        if found != (ops.clone(), format, unmet) {
            wrong += &format!("\n{text}\n  expected {ops}\n  found    {found:?}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    for (text, name) in [
        ("save the first 3 seconds as intro.mp3", Some("intro.mp3")),
        ("join a.wav and b.wav into all.wav", Some("all.wav")),
        ("объедини a.wav и b.wav в один файл всё.wav", Some("всё.wav")),
        ("обрежь до 5 секунд и сохрани с именем начало.mp3", Some("начало.mp3")),
        ("把a.wav和b.wav合并成all.wav", Some("all.wav")),
        ("cut a.wav to 5 seconds", None),
    ] {
        assert_eq!(Instruction::read(text).name.as_deref(), name, "{text}");
    }
    for (text, wants) in [
        ("get the sound of a.mp4", true),
        ("вытащи звук из a.mp4", true),
        ("提取 a.mp4 的声音", true),
        ("trim a.mp4 to 4 seconds", false),
        ("обрежь видео до 4 секунд", false),
        ("把视频剪成前四秒", false),
    ] {
        assert_eq!(instruction::wants_sound(text), wants, "{text}");
    }
    let capped = ["volume +2.5 dB, the most without distortion".to_owned()];
    assert!(edit::less_loud(&capped, true).is_some() && edit::less_loud(&capped, false).is_none());
}

#[test]
fn questions_about_a_sound_are_told_from_those_about_what_is_said() {
    for (text, facts) in rows::<(String, String)>(include_str!("tests.json"), "facts") {
        assert_eq!(format!("{:?}", instruction::facts(&text)), facts, "{text}");
    }
}

#[test]
fn sounds_are_cut_joined_and_made_louder() {
    let ramp = sound(1000, 10.0, |t| t / 20.0);
    let edited = |text: &str| edit::apply(ramp.clone(), &Instruction::read(text).ops, &go_on());
    let check = |text: &str, seconds: f64, first: f32, words: &str| {
        let (made, done) = edited(text).unwrap();
        assert_eq!((made.seconds(), done.join(", ").as_str()), (seconds, words), "{text}");
        assert!((made.channels[0][0] - first).abs() < 1e-3, "{text}: {}", made.channels[0][0]);
    };
    check("the first 3 seconds", 3.0, 0.0, "0:00 to 0:03 kept");
    check("cut from 0:05 to 0:07.5", 2.5, 0.25, "0:05 to 0:07.5 kept");
    check("keep the last 2 seconds", 2.0, 0.4, "0:08 to 0:10 kept");
    check("remove the first 4 seconds", 6.0, 0.2, "0:00 to 0:04 taken away");
    check("cut the first 60 seconds", 10.0, 0.0, "0:00 to 0:10 kept");
    for text in ["cut from 0:20 to 0:30", "remove the first 60 seconds"] {
        assert_eq!(edited(text).unwrap_err().code, ErrorCode::InvalidInput, "{text}");
    }
    let (loud, done) = edited("make it twice as loud, louder").unwrap();
    assert!((rms(&loud.channels[0]) / rms(&ramp.channels[0]) - 2.0).abs() < 0.01, "{done:?}");
    let (normal, _) = edited("normalise it").unwrap();
    assert!(normal.channels[0].iter().fold(0.0_f32, |peak, x| peak.max(x.abs())) > 0.88);
    let (quiet, _) = edited("quieter by 50%").unwrap();
    assert!((rms(&quiet.channels[0]) / rms(&ramp.channels[0]) - 0.5).abs() < 0.01);
    let padded = sound(1000, 5.0, |t| if (1.0..3.0).contains(&t) { (t * 300.0).sin() / 2.0 } else { 0.0 });
    let trimmed = |text: &str| edit::apply(padded.clone(), &Instruction::read(text).ops, &go_on());
    let (made, done) = trimmed("trim the silence at the beginning and the end").unwrap();
    assert!((made.seconds() - 2.1).abs() < 0.03, "{} {done:?}", made.seconds());
    assert!((trimmed("remove trailing silence").unwrap().0.seconds() - 3.05).abs() < 0.03);
    let ends = Instruction::read("trim the silence at both ends").ops;
    assert!(edit::apply(made, &ends, &go_on()).is_err(), "nothing is left to trim");
    for (text, times) in [
        ("half as loud", 0.5),
        ("twice as loud", 2.0),
        ("25% quieter", 0.75),
        ("20% louder", 1.2),
        ("reduce the volume to 30%", 0.3),
        ("reduce the volume by half", 0.5),
        ("make it a quarter as loud", 0.25),
        ("at half the volume", 0.5),
        ("3 times quieter", 1.0 / 3.0),
        ("вдвое тише", 0.5),
        ("音量减半", 0.5),
    ] {
        let tone = sound(1000, 1.0, |t| (t * 300.0).sin() / 10.0);
        let (made, done) = edit::apply(tone.clone(), &Instruction::read(text).ops, &go_on()).unwrap();
        let found = rms(&made.channels[0]) / rms(&tone.channels[0]);
        assert!((found - times).abs() < 0.01, "{text}: {found} {done:?}");
    }
    for text in ["not louder", "don't make it quieter", "as loud as b.wav", "reduce the volume to 150%"] {
        assert_eq!(Instruction::read(text).ops, [], "{text}");
    }
    let other = sound(2000, 1.0, |_| 0.5);
    let joined = edit::join(vec![ramp.clone(), other.clone()], 0.5, &go_on()).unwrap();
    assert!((joined.seconds() - 11.5).abs() < 0.01 && joined.rate == 1000);
    let stereo = Sound { rate: 1000, channels: vec![vec![0.1; 1000]; 2] };
    let joined = edit::join(vec![stereo, other], 0.0, &go_on()).unwrap();
    assert_eq!((joined.channels.len(), joined.channels[0].len(), joined.channels[1].len()), (2, 2000, 2000));
    assert_eq!(edit::tell(&ramp, &[instruction::Fact::Length], jarvis_plan::Language::English), "10 seconds (0:10)");
    let told = edit::tell(&ramp, &[instruction::Fact::Peak], jarvis_plan::Language::English);
    assert!(told.starts_with("-6.0 dBFS at the loudest point, at 0:10"), "{told}");
    assert_eq!(instruction::pause("join a.wav and b.wav with one second of silence between them"), Some(1.0));
    assert_eq!(instruction::pause("join a.wav and b.wav with a 2-second pause"), Some(2.0));
    assert_eq!(instruction::pause("join a.wav and b.wav"), None);
    assert_eq!(edit::clock(3723.4), "1:02:03.4");
}
