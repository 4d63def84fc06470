//! Pictures and planes against Pillow, PyTorch and the image processors of transformers; what hostile settings give. Whole models are
//! tested in `tests/it/vision.rs`.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::interpolate::{Interpolation, Mode};
use super::preprocess::Pixels;
use super::resample::{Filter, resize};
use super::{settings, sizes::Sizing};
use crate::{ExpertError, Picture};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/vision-pictures")
}

fn picture(name: &str) -> Picture {
    let picture = image::open(folder().join(format!("{name}.png"))).unwrap().into_rgb8();
    Picture { width: picture.width(), height: picture.height(), pixels: picture.into_raw() }
}

fn fixture(name: &str) -> Vec<Value> {
    serde_json::from_str(&std::fs::read_to_string(folder().join(name)).unwrap()).unwrap()
}

fn floats(value: &Value) -> Vec<f32> {
    value.as_array().unwrap().iter().map(|value| value.as_f64().unwrap() as f32).collect()
}

fn pair(value: &Value) -> (usize, usize) {
    (value[0].as_u64().unwrap() as usize, value[1].as_u64().unwrap() as usize)
}

fn largest_difference(one: &[f32], other: &[f32]) -> f32 {
    assert_eq!(one.len(), other.len());
    one.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn resizing_gives_pillows_bytes() {
    for code in 0..6 {
        let filter = Filter::from_code(code).unwrap();
        for (name, to) in
            [("large", (41, 27)), ("small", (70, 50)), ("tall", (37, 20)), ("small", (30, 48)), ("tall", (33, 20))]
        {
            let source = picture(name);
            let from = (source.width as usize, source.height as usize);
            let expected = picture(&format!("{name}-{code}-{}x{}", to.0, to.1));
            assert_eq!(resize(&source.pixels, from, to, filter), expected.pixels, "{name} by {filter:?} to {to:?}");
        }
    }
    assert_eq!(Filter::from_code(6), None);
}

#[test]
fn interpolation_gives_pytorchs_values() {
    for case in fixture("interpolated.json") {
        let mode = if case["mode"] == "bicubic" { Mode::Bicubic } else { Mode::Bilinear };
        let resized = Interpolation::new(pair(&case["from"]), pair(&case["to"]), mode).plane(&floats(&case["plane"]));
        let difference = largest_difference(&resized, &floats(&case["resized"]));
        assert!(difference < 5e-6, "{mode:?} {} to {}: {difference}", case["from"], case["to"]);
    }
}

/// What the steps that settings describe make of a picture, against the reference.
fn check(case: &Value, settings: &Value) {
    let name = format!("{} {} {settings}", case["model_type"], case["picture"]);
    let steps = settings::read(settings, case["model_type"].as_str().unwrap()).expect(&name);
    let pixels = steps.apply(&picture(case["picture"].as_str().unwrap())).expect(&name);
    assert_eq!((pixels.width, pixels.height), pair(&case["size"]), "{name}");
    let step = case["step"].as_u64().unwrap() as usize;
    let sampled: Vec<f32> = pixels.values.iter().copied().step_by(step).collect();
    let difference = largest_difference(&sampled, &floats(&case["values"]));
    assert!(difference < 1e-6, "{name}: {difference}");
    let sum: f64 = pixels.values.iter().map(|value| f64::from(*value)).sum();
    assert!((sum - case["sum"].as_f64().unwrap()).abs() < 1e-3, "{name}: {sum} for {}", case["sum"]);
    if let Some(filled) = case["mask"].as_u64() {
        assert_eq!((pixels.filled.0 * pixels.filled.1) as u64, filled, "{name}");
    }
}

#[test]
fn pictures_are_prepared_as_by_the_image_processors() {
    let cases = fixture("preprocessed.json");
    assert!(cases.len() > 70);
    for case in cases {
        check(&case, &case["settings"]);
        // Files of older releases hold less: what the class supplied is known by the type of the model.
        if case["brief"].get("size").is_some() {
            let mut brief = case["brief"].clone();
            brief["image_processor_type"] = case["settings"]["image_processor_type"].clone();
            check(&case, &brief);
            brief.as_object_mut().unwrap().remove("image_processor_type");
            check(&case, &brief);
        }
    }
}

#[test]
fn settings_that_cannot_be_are_refused_by_name() {
    let check = |settings: Value, part: &str| {
        let reason = settings::read(&settings, "vit").expect_err(&settings.to_string());
        assert!(reason.contains(part), "{settings}: {reason}");
    };
    check(json!({}), "`size`");
    check(json!({"size": 1_000_000_000_u64}), "1000000000");
    check(json!({"size": 0}), "`size` is 0");
    check(json!({"size": -3}), "`size` is -3");
    check(json!({"size": 1e300}), "`size`");
    check(json!({"size": "large"}), "`size`");
    check(json!({"size": {"height": 224}}), "`size`");
    check(json!({"size": {"height": 224, "width": 4097}}), "`size.width`");
    check(json!({"size": {"shortest_edge": 10_000}}), "`size.shortest_edge`");
    check(json!({"size": [1, 2, 3]}), "3 numbers");
    check(json!({"size": 32, "do_center_crop": true, "crop_size": 5000}), "`crop_size`");
    check(json!({"size": 32, "resample": 17}), "`resample`");
    check(json!({"size": 32, "image_mean": [0.5, 0.5]}), "`image_mean`");
    check(json!({"size": 32, "image_std": [0, 0, 0]}), "`image_std`");
    check(json!({"size": 32, "rescale_factor": "much"}), "`rescale_factor`");
    let check_class = |class: &str, mut settings: Value, part: &str| {
        settings["image_processor_type"] = format!("{class}ImageProcessor").into();
        check(settings, part);
    };
    check_class("DPT", json!({"size": 32, "ensure_multiple_of": 0}), "`ensure_multiple_of`");
    check_class("DPT", json!({"size": 32, "do_pad": true, "size_divisor": 0}), "`size_divisor`");
    check_class("GLPN", json!({"size_divisor": 0}), "`size_divisor`");
    check_class("Swin2SR", json!({"size_divisor": 1u64 << 60}), "`size_divisor`");
    check_class("ConvNext", json!({"size": {"shortest_edge": 224}, "crop_pct": 0}), "`crop_pct`");
    check_class(
        "Detr",
        json!({"size": {"shortest_edge": 8}, "pad_size": {"height": 1, "width": 1u64 << 40}, "do_pad": true}),
        "`pad_size.width`",
    );
}

#[test]
fn pictures_that_would_become_empty_or_huge_are_refused() {
    let check = |width: u32, height: u32, settings: Value, model_type: &str| {
        let picture = Picture { width, height, pixels: vec![0; width as usize * height as usize * 3] };
        let prepared: Result<Pixels, ExpertError> = settings::read(&settings, model_type).unwrap().apply(&picture);
        assert!(matches!(prepared, Err(ExpertError::BadInput(_))), "{width}x{height} {settings}");
    };
    check(1, 20_000, json!({"size": {"shortest_edge": 1024}}), "clip");
    check(20_000, 1, json!({"size": {"shortest_edge": 8, "longest_edge": 8}}), "detr");
    check(5, 5, json!({"size_divisor": 32}), "glpn");
    check(15, 40, json!({"size": {"shortest_edge": 15, "longest_edge": 40}}), "yolos");
    check(4097, 4097, json!({"size_divisor": 8}), "swin2sr");
}

#[test]
fn sizes_of_detr_are_rounded_as_in_the_reference() {
    let detr = Sizing::Between { shortest: 800, longest: Some(1333), multiple: 1 };
    for (from, to) in
        [((640, 480), (1066, 800)), ((480, 640), (800, 1066)), ((1920, 500), (1333, 347)), ((800, 800), (800, 800))]
    {
        assert_eq!(detr.apply(from), to, "{from:?}");
    }
}
