//! Real weights on real speech, against the readings of the packages that they come from (`tests/models/make_real.py`).

use jarvis_experts::{Call, Input, ModelFiles, Output, Sound, Transcript, TranscriptSegment, espeak_voice};
use serde::Deserialize;

use super::audio::{expected, listen, load, models, transcript};

#[derive(Deserialize)]
struct Expected {
    speech: Vec<[f32; 2]>,
    segments: Vec<Part>,
    long_segments: Vec<Part>,
    voice: Voice,
}

#[derive(Deserialize)]
struct Part {
    start: f32,
    end: f32,
    text: String,
}

/// The speech of the fixture, 16 kHz.
fn speech() -> Sound {
    let bytes = std::fs::read(models().join("real/speech.wav")).unwrap();
    let samples = bytes[44..].chunks_exact(2).map(|pair| f32::from(i16::from_le_bytes([pair[0], pair[1]])) / 32_768.0);
    Sound { rate: 16_000, samples: samples.collect() }
}

#[test]
fn speech_is_found() {
    let Some(folder) = crate::installed("silero-vad") else { return };
    let model = load(&folder, "voice-activity-detection");
    let found = transcript(&*model, &listen(speech()));
    let expected = expected::<Expected>("real").speech;
    assert_eq!(found.segments.len(), expected.len(), "{found:?}");
    for (found, [start, end]) in found.segments.iter().zip(expected) {
        println!("{} to {}, expected {start} to {end}", found.start, found.end);
        // One window of 32 ms.
        assert!((found.start - start).abs() < 0.033 && (found.end - end).abs() < 0.033, "{found:?}");
    }
}

#[test]
fn speech_is_written_down() {
    let Some(folder) = crate::installed("whisper-tiny-en") else { return };
    let model = load(&folder, "automatic-speech-recognition");
    let check = |found: Transcript, expected: Vec<Part>| {
        println!("{}", found.text);
        let text: String = expected.iter().map(|part| part.text.as_str()).collect();
        assert_eq!(found.text, text.trim());
        assert_eq!(found.language.as_deref(), Some("en"));
        for (TranscriptSegment { start, end, text }, part) in found.segments.iter().zip(&expected) {
            assert_eq!(text, part.text.trim());
            assert!((start - part.start).abs() < 0.021 && (end - part.end).abs() < 0.021, "{start} to {end}: {text}");
        }
    };
    let expected = expected::<Expected>("real");
    let mut sound = speech();
    check(transcript(&*model, &listen(sound.clone())), expected.segments);
    sound.samples = sound.samples.repeat(5);
    check(transcript(&*model, &listen(sound)), expected.long_segments);
    let silence = Sound { rate: 16_000, samples: vec![0.0; 16_000 * 3] };
    let found = transcript(&*model, &listen(silence));
    assert_eq!((found.text.as_str(), found.segments.len()), ("", 0));
}

#[derive(Deserialize)]
struct Voice {
    phonemes: String,
    count: usize,
    every: usize,
    /// Some of the samples, at full scale.
    samples: Vec<f32>,
}

#[test]
fn phonemes_are_spoken() {
    let Some(folder) = crate::installed("piper-en-joe") else { return };
    // Without noise, a voice says the same each time.
    let still = tempfile::tempdir().unwrap();
    let name = "en_US-joe-medium.onnx";
    std::fs::copy(folder.join(name), still.path().join(name)).unwrap();
    let settings = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
    let mut settings: serde_json::Value = serde_json::from_str(&settings).unwrap();
    settings["inference"] = serde_json::json!({"noise_scale": 0.0, "length_scale": 1.0, "noise_w": 0.0});
    std::fs::write(still.path().join(format!("{name}.json")), settings.to_string()).unwrap();
    let files = ModelFiles::new("piper", still.path());
    assert_eq!(espeak_voice(&files, None).unwrap().as_deref(), Some("en-us"));

    let model = load(still.path(), "text-to-speech");
    let voice = expected::<Expected>("real").voice;
    let speak = |speed| {
        let input = Input::Speak { text: voice.phonemes.clone(), voice: None, language: None, speed };
        let Output::Sound(sound) = model.run(&input, &Call::default()).unwrap() else { panic!("no sound") };
        assert_eq!(sound.rate, 22_050);
        sound.samples
    };
    let found = speak(1.0);
    assert_eq!(found.len(), voice.count);
    let pairs = found.iter().step_by(voice.every).zip(&voice.samples);
    let worst = pairs.map(|(found, wanted)| (found - wanted).abs()).fold(0.0, f32::max);
    println!("{} samples, largest difference {worst:e}", found.len());
    assert!(worst <= 1e-3, "{worst}");
    assert!(speak(2.0).len() < found.len() * 3 / 4);
}
