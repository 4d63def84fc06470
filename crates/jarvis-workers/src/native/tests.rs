//! The dispatcher: what it takes, what it refuses, and how it stops when its caller has gone.

use jarvis_plan::ErrorCode;
use jarvis_testing::rows;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::testkit::{Args, inputs, native_job as job, strs};

fn native(programs: Programs) -> (tempfile::TempDir, Native) {
    let (root, inputs) = inputs();
    (root, Native::new(inputs, programs))
}

#[tokio::test]
async fn what_cannot_be_done_is_said_with_a_code() {
    let (_root, native) = native(Programs::none());
    type Row = (String, String, Args, String);
    for (id, request, args, code) in rows::<Row>(include_str!("tests.json"), "refused") {
        let error = native.output(&job(&id, &request, &strs(&args))).await.unwrap_err();
        assert_eq!(format!("{:?}", error.code), code, "{id}: {error}");
        assert!(!error.message.ends_with('.'), "{error}");
    }
}

#[tokio::test]
async fn what_is_missing_is_named_in_plain_words() {
    let (_root, native) = native(Programs::none());
    for (id, message) in [
        ("native/canny", "no picture was given to work on"),
        ("native/denoise", "no sound was given to work on"),
        ("native/title-card", "no text was given to work on"),
    ] {
        let error = native.output(&job(id, "x", &[])).await.unwrap_err();
        assert_eq!(error.message, message, "{id}");
        assert!(error.hint.is_some_and(|hint| hint.contains("attach")), "{id}");
    }
}

#[tokio::test]
async fn what_an_edit_lacks_is_said_and_a_format_is_kept() {
    let (_root, native) = native(Programs::none());
    let path = native.inputs.store(jarvis_plan::Kind::Image, "png", image_of_two_halves()).await.unwrap();
    let edit = |text: &str| job("native/image-edit", text, &[("image", &path), ("text", text)]);
    for (text, code, part) in [
        ("crop photo", ErrorCode::CannotDo, "which part of the picture to keep"),
        ("resize to 0x0", ErrorCode::InvalidInput, "0 pixels wide"),
    ] {
        let error = native.output(&edit(text)).await.unwrap_err();
        assert!(error.code == code && error.message.contains(part) && error.hint.is_some(), "{error}");
    }
    let made = native.output(&edit("please make it grey and save as webp, thank you")).await.unwrap();
    assert!(made.media(jarvis_plan::Kind::Image).unwrap().ends_with(".webp"), "{made:?}");
    assert_eq!(made.0["operations"], serde_json::json!(["grayscale", "save as webp"]));
    assert_eq!(made.0.get("not done"), None);
}

#[tokio::test]
async fn a_picture_without_edges_gets_a_note() {
    let (_root, native) = native(Programs::none());
    let mut bytes = std::io::Cursor::new(Vec::new());
    ::image::RgbImage::new(40, 40).write_to(&mut bytes, ::image::ImageFormat::Png).unwrap();
    let path = native.inputs.store(jarvis_plan::Kind::Image, "png", bytes.into_inner()).await.unwrap();
    let made = native.output(&job("native/canny", "edges", &[("image", &path)])).await.unwrap();
    assert_eq!(made.0["note"], "no edges were found");
}

#[tokio::test]
async fn missing_programs_are_named_before_they_are_needed() {
    let (_root, native) = native(Programs::none());
    for (id, program) in [
        ("native/espeak-ng", "espeak-ng"),
        ("native/ocr", "tesseract"),
        ("native/ocr-qa", "tesseract"),
        ("native/video-sound", "ffmpeg"),
    ] {
        let error = native.available(id).unwrap_err();
        assert_eq!(error.code, ErrorCode::NotConfigured);
        assert!(error.message.contains(program) && error.hint.is_some(), "{error}");
    }
    assert_eq!(native.available("native/canny"), Ok(()));
}

#[tokio::test]
async fn a_card_says_what_it_is() {
    let (_root, native) = native(Programs::none());
    for (text, note) in
        [("a cat", "not a generated picture"), ("кот на крыше", "не созданная"), ("屋顶上的猫", "并非根据文字生成")]
    {
        let asked = format!("make a title card: {text}");
        let result = native.output(&job("native/title-card", &asked, &[("text", text)])).await.unwrap();
        assert!(result.media(jarvis_plan::Kind::Image).is_some());
        assert!(result.0["note"].as_str().unwrap().contains(note), "{result:?}");
        let error = native.output(&job("native/title-card", "draw it", &[("text", text)])).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::CannotDo, "the words are no picture of the thing");
    }
}

#[tokio::test]
async fn cancelled_work_and_broken_work_end_well() {
    let (_root, native) = native(Programs::none());
    let cancelled = job("native/title-card", "title card", &[("text", "hello")]);
    cancelled.cancel.cancel();
    assert_eq!(native.output(&cancelled).await.unwrap_err().code, ErrorCode::Cancelled);
    let token = CancellationToken::new();
    let broken = native.inputs.heavy().run(&token, |_| -> Result<(), TaskError> { panic!("broken on purpose") });
    assert_eq!(broken.await.unwrap_err().code, ErrorCode::Panic);
}

#[tokio::test]
async fn a_picture_goes_through_every_model_that_takes_one() {
    let (root, native) = native(Programs::find());
    let picture = image_of_two_halves();
    let path = native.inputs.store(jarvis_plan::Kind::Image, "png", picture).await.unwrap();
    let models: [(&str, &str); 5] = [
        ("native/canny", "edges"),
        ("native/line-segments", "lines"),
        ("native/image-edit", "grey and half size"),
        ("native/graph-segmenter", "segment it"),
        ("native/title-card", "a card saying Hello"),
    ];
    for (id, request) in models {
        let result = native.output(&job(id, request, &[("image", &path), ("text", request)])).await.unwrap();
        let made = result.media(jarvis_plan::Kind::Image).unwrap();
        let size = ::image::image_dimensions(root.path().join(made.trim_start_matches('/'))).unwrap();
        let expected = match id {
            "native/image-edit" => (60, 40),
            "native/title-card" => (1024, 768),
            _ => (120, 80),
        };
        assert_eq!(size, expected, "{id}");
    }
    let edited = native.output(&job("native/image-edit", "grey and half size", &[("image", &path)])).await.unwrap();
    assert_eq!(edited.0["operations"], serde_json::json!(["grayscale", "resize 60x40"]));
    let description = native.output(&job("native/image-measure", "опиши", &[("image", &path)])).await.unwrap();
    assert!(description.as_text().unwrap().contains("120 x 80"), "{description:?}");
    let asked = job("native/image-measure-qa", "?", &[("image", &path), ("text", "what is the aspect ratio?")]);
    assert_eq!(native.output(&asked).await.unwrap().as_text().as_deref(), Some("3:2"));
    let asked = job("native/image-measure-qa", "?", &[("image", &path), ("text", "how many cats are there?")]);
    assert_eq!(native.output(&asked).await.unwrap_err().code, ErrorCode::CannotDo);
}

fn image_of_two_halves() -> Vec<u8> {
    let picture =
        ::image::RgbImage::from_fn(120, 80, |x, _| ::image::Rgb(if x < 60 { [222, 24, 28] } else { [255; 3] }));
    let mut bytes = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut bytes, ::image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

#[tokio::test]
async fn the_installed_espeak_ng_speaks_what_is_cleaned_and_measured_as_speech() {
    let (_root, native) = native(Programs::find());
    if let Err(missing) = native.available("native/espeak-ng") {
        println!("skipped: {missing}");
        return;
    }
    let text = "The quick brown fox jumps over the lazy dog, and then it sleeps for a while.";
    let spoken = native.output(&job("native/espeak-ng", "say it", &[("text", text)])).await.unwrap();
    assert_eq!(spoken.0["voice"], "en");
    let path = spoken.media(jarvis_plan::Kind::Audio).unwrap().to_owned();
    let cleaned = native.output(&job("native/denoise", "clean it", &[("audio", &path)])).await.unwrap();
    let path = cleaned.media(jarvis_plan::Kind::Audio).unwrap().to_owned();
    let sound = native.output(&job("native/audio-measure", "what is it", &[("audio", &path)])).await.unwrap();
    assert_eq!(sound.0[0]["label"], "speech-like", "{sound:?}");
}

#[tokio::test]
async fn sounds_are_edited_joined_and_measured() {
    let (_root, native) = native(Programs::none());
    let mut bytes = std::io::Cursor::new(Vec::new());
    let spec =
        hound::WavSpec { channels: 1, sample_rate: 8000, bits_per_sample: 16, sample_format: hound::SampleFormat::Int };
    let mut writer = hound::WavWriter::new(&mut bytes, spec).unwrap();
    (0..32_000).for_each(|nth| writer.write_sample((nth % 100) as i16 * 100).unwrap());
    writer.finalize().unwrap();
    let path = native.inputs.store(jarvis_plan::Kind::Audio, "wav", bytes.into_inner()).await.unwrap();
    let length = async |path: &str| {
        let asked = job("native/audio-facts", "how long is it?", &[("audio", path)]);
        native.output(&asked).await.unwrap().as_text().unwrap()
    };
    assert_eq!(length(&path).await, "4 seconds (0:04)");
    let cut = native
        .output(&job("native/audio-edit", "x", &[("audio", &path), ("text", "cut the first 3 seconds")]))
        .await
        .unwrap();
    assert_eq!(cut.0["operations"], serde_json::json!(["0:00 to 0:03 kept"]));
    let cut = cut.media(jarvis_plan::Kind::Audio).unwrap().to_owned();
    assert_eq!(length(&cut).await, "3 seconds (0:03)");
    let joined =
        native.output(&job("native/audio-join", "join them", &[("audio1", &path), ("audio2", &cut)])).await.unwrap();
    assert_eq!(length(joined.media(jarvis_plan::Kind::Audio).unwrap()).await, "7 seconds (0:07)");
    for (id, request, code, part) in [
        ("native/audio-edit", "convert it to mp3", ErrorCode::NotConfigured, "`ffmpeg` is not installed"),
        ("native/audio-edit", "reverse it", ErrorCode::CannotDo, "reverse"),
        ("native/audio-facts", "how long is the meeting?", ErrorCode::CannotDo, "about what is heard"),
        ("native/audio-level", "remove the noise", ErrorCode::CannotDo, "about noise"),
        ("native/denoise", "make it louder", ErrorCode::CannotDo, "no noise to remove"),
        ("native/denoise", "remove the noise and make it louder", ErrorCode::CannotDo, "the task before"),
        ("native/audio-join", "join them", ErrorCode::MissingArgument, "two sounds"),
    ] {
        let error = native.output(&job(id, request, &[("audio", &path)])).await.unwrap_err();
        assert!(error.code == code && error.message.contains(part), "{request}: {error:?}");
    }
    let louder = native.output(&job("native/audio-level", "make it louder", &[("audio", &path)])).await.unwrap();
    assert!(louder.0["operations"][0].as_str().unwrap().starts_with("volume +5.1 dB"), "{louder:?}");
}

/// ffmpeg is stood in for by a script: it gives back what it is fed, or a sound for a file.
#[cfg(unix)]
#[tokio::test]
async fn other_formats_go_through_ffmpeg() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let sound = folder.path().join("sound.wav");
    let mut writer = hound::WavWriter::create(
        &sound,
        hound::WavSpec { channels: 1, sample_rate: 8000, bits_per_sample: 16, sample_format: hound::SampleFormat::Int },
    )
    .unwrap();
    (0..16_000).for_each(|nth| writer.write_sample(nth as i16).unwrap());
    writer.finalize().unwrap();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *pipe:0*) printf ID3; printf '%s ' \"$@\"; cat >/dev/null;; *) cat '{}';; esac\n",
        sound.display()
    );
    let program = folder.path().join("ffmpeg");
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (root, native) = native(Programs::find_in(folder.path().as_os_str()));
    let video = native.inputs.store(jarvis_plan::Kind::Video, "mp4", crate::testkit::MP4.to_vec()).await.unwrap();
    let taken = native.output(&job("native/video-sound", "get the sound", &[("video", &video)])).await.unwrap();
    let taken = taken.media(jarvis_plan::Kind::Audio).unwrap().to_owned();
    let facts = native.output(&job("native/audio-facts", "how long is it?", &[("audio", &taken)])).await.unwrap();
    assert_eq!(facts.as_text().unwrap(), "2 seconds (0:02)");
    let made = native.output(&job("native/audio-edit", "convert it to mp3", &[("audio", &taken)])).await.unwrap();
    let path = made.media(jarvis_plan::Kind::Audio).unwrap();
    assert!(path.ends_with(".mp3"), "{path}");
    let written = std::fs::read_to_string(root.path().join(path.trim_start_matches('/'))).unwrap();
    assert!(written.contains("-f wav -i pipe:0 -f mp3 pipe:1"), "{written}");
    let trimmed = native.output(&job("native/video-sound", "trim the video to 1 second", &[("video", &video)])).await;
    assert_eq!(trimmed.unwrap_err().code, ErrorCode::CannotDo);
    let error = native.output(&job("native/video-sound", "x", &[("video", "/videos/none.mp4")])).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::NotFound);
}

/// A film with a tone goes through everything that needs the real program: its sound is taken out, converted and measured.
#[tokio::test]
async fn the_installed_ffmpeg_takes_sounds_out_of_videos_and_changes_their_format() {
    let programs = Programs::find();
    if programs.path(Program::Ffmpeg).is_err() {
        println!("skipped: ffmpeg is not installed");
        return;
    }
    let sources =
        ["-v", "error", "-f", "lavfi", "-i", "testsrc=size=64x48:duration=3", "-f", "lavfi", "-i", "sine=duration=3"];
    let target = ["-shortest", "-movflags", "frag_keyframe+empty_moov", "-f", "mp4", "pipe:1"];
    let args = [&sources[..], &target[..]].concat();
    let call = programs::Call { args: &args, stdin: &[], limit: 1 << 20, timeout: std::time::Duration::from_secs(60) };
    let film = programs.run(Program::Ffmpeg, call).await.unwrap();
    let (root, native) = native(programs);
    let film = native.inputs.store(jarvis_plan::Kind::Video, "mp4", film).await.unwrap();
    let taken = native.output(&job("native/video-sound", "get the sound as mp3", &[("video", &film)])).await.unwrap();
    let taken = taken.media(jarvis_plan::Kind::Audio).unwrap().to_owned();
    for (format, magic) in
        [("ogg", &b"OggS"[..]), ("flac", b"fLaC"), ("m4a", b""), ("opus", b"OggS"), ("aac", b""), ("mp3", b"")]
    {
        let request = format!("convert it to {format}");
        let made = native.output(&job("native/audio-edit", &request, &[("audio", &taken)])).await.unwrap();
        let path = made.media(jarvis_plan::Kind::Audio).unwrap().to_owned();
        assert!(path.ends_with(&format!(".{format}")), "{format}: {path}");
        let bytes = std::fs::read(root.path().join(path.trim_start_matches('/'))).unwrap();
        assert!(bytes.starts_with(magic), "{format}");
        let facts = native.output(&job("native/audio-facts", "how long is it?", &[("audio", &path)])).await.unwrap();
        let facts = facts.as_text().unwrap();
        assert!(facts.contains("(0:03"), "{format}: {facts}");
    }
    let silent = ["-v", "error", "-f", "lavfi", "-i", "testsrc=size=64x48:duration=1"];
    let args = [&silent[..], &target[..]].concat();
    let call = programs::Call { args: &args, stdin: &[], limit: 1 << 20, timeout: std::time::Duration::from_secs(60) };
    let silent = native.programs.run(Program::Ffmpeg, call).await.unwrap();
    let silent = native.inputs.store(jarvis_plan::Kind::Video, "mp4", silent).await.unwrap();
    let error = native.output(&job("native/video-sound", "get the sound", &[("video", &silent)])).await.unwrap_err();
    assert!(error.message.contains("no sound"), "{error:?}");
}

#[tokio::test]
async fn pictures_are_put_together_labelled_and_made_small() {
    let (root, native) = native(Programs::none());
    let path = native.inputs.store(jarvis_plan::Kind::Image, "png", image_of_two_halves()).await.unwrap();
    let size = |made: &TaskOutput| {
        let path = made.media(jarvis_plan::Kind::Image).unwrap();
        ::image::image_dimensions(root.path().join(path.trim_start_matches('/'))).unwrap()
    };
    let collage = |text: &str| job("native/collage", text, &[("image1", &path), ("image2", &path), ("text", text)]);
    for (text, expected) in [("put them side by side", (252, 80)), ("one above the other", (120, 172))] {
        assert_eq!(size(&native.output(&collage(text)).await.unwrap()), expected, "{text}");
    }
    let error = native.output(&job("native/collage", "collage", &[("image1", &path)])).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::MissingArgument);

    let edit = |request: &str, text: &str| job("native/image-edit", request, &[("image", &path), ("text", text)]);
    for (request, text, operations) in [
        ("add the text \"Hi\" to a.png", "add", r#"["text \"Hi\""]"#),
        ("x", "add a 5 pixel red border", r#"["border of 5 pixels"]"#),
        ("x", "remove the EXIF data", r#"["metadata removed"]"#),
        ("x", "convert to webp and keep it under 2 KB", ""),
    ] {
        let made = native.output(&edit(request, text)).await.unwrap();
        let done = made.0["operations"].to_string();
        assert!(operations.is_empty() || done == operations, "{text}: {made:?}");
        assert_eq!(made.0.get("not done"), None, "{text}");
    }
    let named = native.output(&edit("x", "make it grey and save it as cat.png")).await.unwrap();
    assert_eq!((&named.0["called"], named.0.get("not done")), (&serde_json::json!("cat.png"), None));
    // Only the faces were to be changed.
    let refused = native.output(&edit("x", "find the faces and pixelate them")).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::CannotDo);
    for (text, part) in [("add a watermark", "which words"), ("add the text שלום", "font")] {
        let error = native.output(&edit(text, text)).await.unwrap_err();
        assert!(error.code == ErrorCode::CannotDo && error.message.contains(part), "{text}: {error:?}");
    }
    let asked = job("native/image-measure-qa", "?", &[("image", &path), ("text", "when was it taken?")]);
    assert_eq!(native.output(&asked).await.unwrap_err().code, ErrorCode::CannotDo);
    for (id, request) in [("native/image-measure", "read the text in the picture")] {
        let error = native.output(&job(id, request, &[("image", &path)])).await.unwrap_err();
        assert!(error.code == ErrorCode::CannotDo && error.hint.unwrap().contains("tesseract-ocr"));
    }
}
