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
        assert!(error.hint.is_some_and(|hint| hint.contains("--file")), "{id}");
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
    for (id, program) in
        [("native/espeak-ng", "espeak-ng"), ("native/ocr", "tesseract"), ("native/ocr-qa", "tesseract")]
    {
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
        let result = native.output(&job("native/title-card", text, &[("text", text)])).await.unwrap();
        assert!(result.media(jarvis_plan::Kind::Image).is_some());
        assert!(result.0["note"].as_str().unwrap().contains(note), "{result:?}");
    }
}

#[tokio::test]
async fn cancelled_work_and_broken_work_end_well() {
    let (_root, native) = native(Programs::none());
    let cancelled = job("native/title-card", "x", &[("text", "hello")]);
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
        ("native/title-card", "title"),
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
