//! Vision models from a picture to the answer, against the pipelines of transformers (`tests/models/make_vision.py`).

use std::fs;
use std::path::{Path, PathBuf};

use jarvis_experts::{
    Call, Detection, ExpertError, Input, LocalModel, ModelFiles, Output, Picture, Resources, Scored, Segment, open,
};
use serde_json::Value;

/// How far a score may be from the reference's.
const CLOSE: f32 = 1e-4;

/// How far a corner of a box may be, in pixels.
const CLOSE_PIXELS: f32 = 1e-3;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models").join(format!("vision-{name}"))
}

fn resources() -> Resources {
    Resources::new(1, 1 << 30).unwrap()
}

fn load(name: &str, task: &str) -> Box<dyn LocalModel> {
    open(&ModelFiles::new(name, folder(name)), task, &resources()).unwrap()
}

fn picture(path: PathBuf) -> Picture {
    let picture = image::open(path).unwrap().into_rgb8();
    Picture { width: picture.width(), height: picture.height(), pixels: picture.into_raw() }
}

fn drawn(name: &str) -> Picture {
    picture(folder("pictures").join(format!("{name}.png")))
}

fn number(value: &Value) -> f32 {
    value.as_f64().unwrap() as f32
}

/// What the reference answered for each picture.
fn expected(model: &str) -> Vec<(String, Value)> {
    let text = fs::read_to_string(folder(model).join("expected.json")).unwrap();
    let all: serde_json::Map<String, Value> = serde_json::from_str(&text).unwrap();
    all.into_iter().collect()
}

/// Runs a model on each of its pictures and tells the largest difference that `compare` found.
fn check(
    model: &str,
    task: &str,
    input: impl Fn(Picture, &Value) -> Input,
    compare: impl Fn(&str, Output, &Value) -> f32,
) {
    let loaded = load(model, task);
    assert!(loaded.memory() > 0);
    let mut largest: f32 = 0.0;
    for (name, expected) in expected(model) {
        let output = loaded.run(&input(drawn(&name), &expected), &Call::default()).unwrap();
        largest = largest.max(compare(&format!("{model} {name}"), output, &expected));
    }
    println!("{model}: largest difference {largest:e}");
}

fn picture_only(picture: Picture, _: &Value) -> Input {
    Input::Picture(picture)
}

fn with_labels(picture: Picture, expected: &Value) -> Input {
    let labels =
        expected["labels"].as_array().unwrap().iter().map(|label| label.as_str().unwrap().to_owned()).collect();
    Input::PictureChoices { picture, labels }
}

fn compare_labels(name: &str, output: Output, expected: &Value) -> f32 {
    let Output::Labels(found) = output else { panic!("{name}: {output:?}") };
    let answer = expected["answer"].as_array().unwrap();
    assert_eq!(found.len(), answer.len().min(5), "{name}");
    let mut largest: f32 = 0.0;
    for (Scored { label, score }, expected) in found.iter().zip(answer) {
        assert_eq!(label, expected["label"].as_str().unwrap(), "{name}");
        largest = largest.max((score - number(&expected["score"])).abs());
    }
    assert!(largest < CLOSE, "{name}: {largest}");
    largest
}

/// Boxes as the pipeline gives them, best first, with exact corners beside them.
fn compare_boxes(name: &str, output: Output, expected: &Value) -> f32 {
    let Output::Boxes(found) = output else { panic!("{name}: {output:?}") };
    let mut answer: Vec<(String, f32, Vec<f32>)> = expected["answer"]
        .as_array()
        .unwrap()
        .iter()
        .zip(expected["boxes"].as_array().unwrap())
        .map(|(found, corners)| {
            let corners = corners.as_array().or_else(|| corners["box"].as_array()).unwrap();
            let corners: Vec<f32> = corners.iter().map(number).collect();
            for (corner, side) in corners.iter().zip(["xmin", "ymin", "xmax", "ymax"]) {
                assert!(
                    (corner - number(&found["box"][side])).abs() <= 1.0,
                    "the fixture of {name} contradicts itself"
                );
            }
            (found["label"].as_str().unwrap().to_owned(), number(&found["score"]), corners)
        })
        .collect();
    answer.sort_by(|one, other| other.1.total_cmp(&one.1));
    assert!(found.windows(2).all(|pair| pair[0].score >= pair[1].score), "{name}: not best first");
    assert_eq!(found.len(), answer.len(), "{name}");
    let mut largest: f32 = 0.0;
    for (Detection { label, score, xmin, ymin, xmax, ymax }, expected) in found.iter().zip(&answer) {
        assert_eq!(*label, expected.0, "{name}");
        assert!((score - expected.1).abs() < CLOSE, "{name}: {score} for {}", expected.1);
        largest = largest.max((score - expected.1).abs());
        for (corner, expected) in [xmin, ymin, xmax, ymax].into_iter().zip(&expected.2) {
            assert!((corner - expected).abs() < CLOSE_PIXELS, "{name}: {corner} for {expected}");
            largest = largest.max((corner - expected).abs());
        }
    }
    largest
}

/// Segments in any order: label, score and mask. Pixels on a tie of two masks may go either way.
fn compare_segments(name: &str, output: Output, expected: &Value) -> f32 {
    let Output::Segments(found) = output else { panic!("{name}: {output:?}") };
    let (model, picture) = name.split_once(' ').unwrap();
    let packed = fs::read(folder(model).join(format!("{picture}.masks"))).unwrap();
    let bits: Vec<bool> = packed.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1)).collect();
    let answer = expected["answer"].as_array().unwrap();
    assert_eq!(found.len(), answer.len(), "{name}");
    let area = found.first().map_or(0, |segment| segment.mask.len());
    let pixels = |segment: &Segment| segment.mask.iter().filter(|pixel| **pixel == 255).count();
    assert!(found.windows(2).all(|pair| pixels(&pair[0]) >= pixels(&pair[1])), "{name}: not largest first");
    let mut largest: f32 = 0.0;
    let mut strayed = 0;
    for (expected, mask) in answer.iter().zip(bits.chunks(area.max(1))) {
        let differing = |segment: &Segment| {
            segment.mask.iter().zip(mask).filter(|(pixel, expected)| (**pixel == 255) != **expected).count()
        };
        let segment = found.iter().min_by_key(|segment| differing(segment)).unwrap();
        assert_eq!(segment.label, expected["label"].as_str().unwrap(), "{name}");
        strayed += differing(segment);
        match (segment.score, expected["score"].as_f64()) {
            (Some(score), Some(expected)) => largest = largest.max((score - expected as f32).abs()),
            (None, None) => {}
            (score, expected) => panic!("{name}: {score:?} for {expected:?}"),
        }
    }
    assert!(largest < CLOSE, "{name}: {largest}");
    assert!(strayed * 5000 <= area, "{name}: {strayed} of {area} pixels differ");
    largest
}

fn compare_depth(name: &str, output: Output, expected: &Value) -> f32 {
    let Output::Depth { width, height, values } = output else { panic!("{name}: {output:?}") };
    assert_eq!(values.len(), (width * height) as usize);
    let (model, picture) = name.split_once(' ').unwrap();
    let bytes = fs::read(folder(model).join(format!("{picture}.depth"))).unwrap();
    let answer = bytes.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()));
    let rows = values.chunks_exact(width as usize).step_by(expected["every"].as_u64().unwrap() as usize);
    let sampled: Vec<f32> = rows.flatten().copied().collect();
    assert_eq!(sampled.len(), answer.len(), "{name}");
    let largest = sampled.iter().zip(answer).map(|(value, expected)| (value - expected).abs()).fold(0.0, f32::max);
    assert!(largest < CLOSE, "{name}: {largest}");
    largest
}

#[test]
fn classification_answers_as_the_reference() {
    check("vit", "image-classification", picture_only, compare_labels);
}

#[test]
fn detection_answers_as_the_reference() {
    for model in ["detr", "yolos", "rt-detr"] {
        check(model, "object-detection", picture_only, compare_boxes);
    }
}

#[test]
fn zero_shot_classification_answers_as_the_reference() {
    for model in ["clip", "siglip"] {
        check(model, "zero-shot-image-classification", with_labels, compare_labels);
    }
}

#[test]
fn segmentation_answers_as_the_reference() {
    for model in ["detr-panoptic", "segformer"] {
        check(model, "image-segmentation", picture_only, compare_segments);
    }
}

#[test]
fn depth_is_as_the_reference_finds_it() {
    for model in ["dpt", "depth-anything"] {
        check(model, "depth-estimation", picture_only, compare_depth);
    }
}

#[test]
fn captions_read_as_the_reference_writes_them() {
    check("caption", "image-to-text", picture_only, |name, output, expected| {
        assert_eq!(output, Output::Text(expected["text"].as_str().unwrap().to_owned()), "{name}");
        0.0
    });
}

#[test]
fn written_lines_read_as_the_reference_reads_them() {
    for model in ["trocr", "trocr-beams"] {
        check(model, "image-to-text", picture_only, |name, output, expected| {
            assert_eq!(output, Output::Text(expected["text"].as_str().unwrap().to_owned()), "{name}");
            0.0
        });
    }
}

/// Where the reference has no answer, nor has the model here: it fails.
#[test]
fn answers_about_pages_are_those_of_the_reference() {
    let model = load("donut", "document-question-answering");
    let (mut answered, mut unanswered) = (0, 0);
    for (name, expected) in expected("donut") {
        for case in expected["answers"].as_array().unwrap() {
            let question = case["question"].as_str().unwrap().to_owned();
            let input = Input::PictureQuestion { picture: drawn(&name), question };
            match (model.run(&input, &Call::default()), case["answer"].as_str()) {
                (Ok(output), Some(answer)) => {
                    assert_eq!(output, Output::Text(answer.to_owned()), "{name}: {case}");
                    answered += 1;
                }
                (Err(error), None) => {
                    assert!(error.to_string().contains("found no answer"), "{name}: {error}");
                    unanswered += 1;
                }
                (output, _) => panic!("{name}: {output:?} for {case}"),
            }
        }
    }
    assert!(answered > 5 && unanswered > 0, "{answered} and {unanswered}");
}

#[test]
fn questions_that_cannot_be_asked_are_refused() {
    let model = load("donut", "document-question-answering");
    let page = || drawn("small");
    let check = |input: Input, part: &str| {
        let error = model.run(&input, &Call::default()).unwrap_err();
        assert!(matches!(error, ExpertError::BadInput(_)), "{error}");
        assert!(error.to_string().contains(part), "{error}");
    };
    let question = |question: &str| Input::PictureQuestion { picture: page(), question: question.to_owned() };
    check(Input::Picture(page()), "a picture and a question");
    check(question(" \n"), "needs a question");
    check(question(&"Where is the harbour? ".repeat(200)), "leaves no room");
    let nothing = Picture { width: 0, height: 3, pixels: Vec::new() };
    check(Input::PictureQuestion { picture: nothing, question: "Why?".to_owned() }, "no pixels");
}

/// One level of 255 is lost where an opacity is cut to 8 bits on the other side of a step.
#[test]
fn cut_outs_are_those_of_the_reference() {
    check("background", "background-removal", picture_only, |name, output, _| {
        let Output::Matte { width, height, alpha } = output else { panic!("{name}: {output:?}") };
        let drawing = name.split_once(' ').unwrap().1;
        let expected = image::open(folder("background").join(format!("{drawing}-expected.png"))).unwrap().into_luma8();
        assert_eq!((width, height), expected.dimensions(), "{name}");
        let differences = alpha.iter().zip(expected.as_raw()).map(|(level, expected)| level.abs_diff(*expected));
        let largest = differences.max().unwrap();
        assert!(largest <= 1, "{name}: {largest}");
        f32::from(largest)
    });
}

#[test]
fn zero_shot_detection_answers_as_the_reference() {
    check("owlvit", "zero-shot-object-detection", with_labels, compare_boxes);
}

/// The reference's picture is larger by the padding; of the rest, at most one level in a channel differs by rounding.
#[test]
fn upscaled_pictures_are_those_of_the_reference() {
    check("swin2sr", "image-to-image", picture_only, |name, output, _| {
        let Output::Picture(made) = output else { panic!("{name}: {output:?}") };
        let drawing = name.split_once(' ').unwrap().1;
        let original = drawn(drawing);
        assert_eq!((made.width, made.height), (2 * original.width, 2 * original.height), "{name}");
        let expected = picture(folder("swin2sr").join(format!("{drawing}-expected.png")));
        let rows = expected.pixels.chunks_exact(expected.width as usize * 3);
        let differences =
            made.pixels.chunks_exact(made.width as usize * 3).zip(rows).flat_map(|(row, expected)| {
                row.iter().zip(expected).map(|(value, expected)| value.abs_diff(*expected))
            });
        let largest = differences.max().unwrap();
        assert!(largest <= 1, "{name}: {largest}");
        f32::from(largest)
    });
}

/// The parts of a model's folder that a test wants, in a folder of its own.
fn copy(model: &str, files: &[(&str, &str)]) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for (from, to) in files {
        let to = copy.path().join(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(folder(model).join(from), to).unwrap();
    }
    copy
}

#[test]
fn clip_in_two_graphs_answers_as_in_one() {
    let files = [
        ("config.json", "config.json"),
        ("preprocessor_config.json", "preprocessor_config.json"),
        ("tokenizer.json", "tokenizer.json"),
        ("tokenizer_config.json", "tokenizer_config.json"),
        ("split/text_model.onnx", "onnx/text_model.onnx"),
        ("split/vision_model.onnx", "onnx/vision_model.onnx"),
    ];
    let folder = copy("clip", &files);
    let model = open(&ModelFiles::new("clip", folder.path()), "zero-shot-image-classification", &resources()).unwrap();
    for (name, expected) in expected("clip") {
        let output = model.run(&with_labels(drawn(&name), &expected), &Call::default()).unwrap();
        compare_labels(&format!("clip {name}"), output, &expected);
    }
}

/// Both round activations to 8 bits, but a value between two steps may go either way, and a step is about 1 % of the range: scores
/// to 0.05 are what can be asked.
#[test]
fn quantised_weights_answer_as_onnxruntime() {
    if !crate::sums_8_bit_products() {
        return;
    }
    let mut files = ModelFiles::new("vit", folder("vit"));
    files.weights = vec!["onnx/model_quantized.onnx".to_owned()];
    let model = open(&files, "image-classification", &resources()).unwrap();
    for (name, expected) in expected("vit") {
        let logits: Vec<f32> = expected["quantised"].as_array().unwrap().iter().map(number).collect();
        let sum: f32 = logits.iter().map(|logit| logit.exp()).sum();
        let Output::Labels(found) = model.run(&Input::Picture(drawn(&name)), &Call::default()).unwrap() else {
            panic!()
        };
        for Scored { label, score } in found {
            let class: usize = label.trim_start_matches("thing ").parse().unwrap();
            let expected = logits[class].exp() / sum;
            assert!((score - expected).abs() < 0.05, "{name} {label}: {score} for {expected}");
        }
    }
}

#[test]
fn what_is_not_there_or_cannot_be_is_refused() {
    let check = |folder: &Path, task: &str, part: &str| {
        let error = open(&ModelFiles::new("model", folder), task, &resources()).unwrap_err();
        assert!(error.to_string().contains(part), "{task}: {error}");
        error
    };
    let vit = [("onnx/model.onnx", "onnx/model.onnx"), ("preprocessor_config.json", "preprocessor_config.json")];
    // A graph without the outputs that its architecture has.
    let other = copy("vit", &vit);
    fs::write(other.path().join("config.json"), r#"{"model_type": "detr"}"#).unwrap();
    let error = check(other.path(), "object-detection", "no output `pred_boxes`");
    assert!(matches!(error, ExpertError::Unsupported { .. }));
    // Architectures and tasks of nobody.
    fs::write(other.path().join("config.json"), r#"{"model_type": "flan"}"#).unwrap();
    check(other.path(), "object-detection", "no processing");
    check(&folder("vit"), "object-detection", "no processing");
    check(&folder("vit"), "text-to-video", "no processing");
    // Hostile and broken settings.
    fs::write(other.path().join("config.json"), r#"{"model_type": "vit"}"#).unwrap();
    for (settings, part) in [
        (r#"{"size": 1000000000}"#, "`size` is 1000000000"),
        (r#"{"size": {"height": 0, "width": 8}}"#, "`size.height` is 0"),
        ("[]", "not an object"),
        ("{", "preprocessor_config.json"),
    ] {
        fs::write(other.path().join("preprocessor_config.json"), settings).unwrap();
        let error = check(other.path(), "image-classification", part);
        assert!(matches!(error, ExpertError::BadFile { .. }), "{error}");
    }
    fs::remove_file(other.path().join("preprocessor_config.json")).unwrap();
    let error = check(other.path(), "image-classification", "preprocessor_config.json");
    assert!(matches!(error, ExpertError::MissingFile { .. }));
    // A model larger than it may be.
    let small = Resources::new(1, 10_000).unwrap();
    let error = open(&ModelFiles::new("vit", folder("vit")), "image-classification", &small).unwrap_err();
    assert!(matches!(error, ExpertError::TooLarge { .. }), "{error}");
}

#[test]
fn bad_pictures_and_other_inputs_are_refused() {
    let vit = load("vit", "image-classification");
    let clip = load("clip", "zero-shot-image-classification");
    let check = |model: &dyn LocalModel, input: Input, part: &str| {
        let error = model.run(&input, &Call::default()).unwrap_err();
        assert!(matches!(error, ExpertError::BadInput(_)), "{error}");
        assert!(error.to_string().contains(part), "{error}");
    };
    let picture = |width, height, bytes| Picture { width, height, pixels: vec![0; bytes] };
    check(&*vit, Input::Text("a cat".to_owned()), "takes a picture");
    check(&*vit, Input::Picture(picture(0, 4, 0)), "no pixels");
    check(&*vit, Input::Picture(picture(4, 4, 47)), "47 bytes");
    check(&*vit, Input::Picture(picture(u32::MAX, u32::MAX, 12)), "12 bytes");
    check(&*clip, Input::Picture(picture(4, 4, 48)), "and labels");
    check(&*clip, Input::PictureChoices { picture: picture(4, 4, 48), labels: Vec::new() }, "at least one label");
    check(&*clip, Input::PictureChoices { picture: picture(4, 4, 48), labels: vec![" ".to_owned()] }, "no empty ones");
    // The smallest picture is one, and long labels are cut to what the model reads.
    let one = Input::PictureChoices { picture: picture(1, 1, 3), labels: vec!["grass ".repeat(500)] };
    assert!(matches!(clip.run(&one, &Call::default()), Ok(Output::Labels(labels)) if labels.len() == 1));
    let vit = vit.run(&Input::Picture(picture(1, 1, 3)), &Call::default());
    assert!(matches!(vit, Ok(Output::Labels(labels)) if labels.len() == 5));
}

#[test]
fn cancelled_calls_stop() {
    let question = || Input::PictureQuestion { picture: drawn("small"), question: "Who?".to_owned() };
    let picture = || Input::Picture(drawn("small"));
    for (model, task, input) in [
        ("vit", "image-classification", picture()),
        ("detr", "object-detection", picture()),
        ("caption", "image-to-text", picture()),
        ("background", "background-removal", picture()),
        ("donut", "document-question-answering", question()),
    ] {
        let call = Call::default();
        call.cancel.cancel();
        let output = load(model, task).run(&input, &call);
        assert_eq!(output, Err(ExpertError::Cancelled), "{model}");
    }
}
