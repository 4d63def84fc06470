//! Pictures read by a hand-made detector and recogniser of colours (`tests/models/make_ocr.py`), and by PaddleOCR's where its
//! weights are installed.

use jarvis_experts::{Call, Detection, ExpertError, Input, LocalModel, Output, Picture};
use serde::Deserialize;

use super::audio::{expected, load, models};

const RED: [u8; 3] = [255, 0, 0];
const BLUE: [u8; 3] = [0, 0, 255];
const BLACK: [u8; 3] = [0, 0, 0];

fn read(model: &dyn LocalModel, picture: Picture) -> Vec<Detection> {
    match model.run(&Input::Picture(picture), &Call::default()).unwrap() {
        Output::Lines(lines) => lines,
        other => panic!("{other:?}"),
    }
}

/// A white page with bars of blocks, each 20 pixels high and 24 wide, turned down by so many pixels a block.
fn page(bars: &[(u32, u32, u32, &[[u8; 3]])]) -> Picture {
    let (width, height) = (800, 400);
    let mut pixels = vec![255; width as usize * height as usize * 3];
    for (left, top, slope, blocks) in bars {
        for x in 0..blocks.len() as u32 * 24 {
            for y in 0..20 {
                let at = ((top + y + x * slope / 24) * width + left + x) as usize * 3;
                pixels[at..at + 3].copy_from_slice(&blocks[x as usize / 24]);
            }
        }
    }
    Picture { width, height, pixels }
}

#[test]
fn colours_are_read() {
    let model = load(&models().join("ocr-colours"), "image-ocr");
    let check = |bars: &[(u32, u32, u32, &[[u8; 3]])], expected: &[(&str, [f32; 4])]| {
        let lines = read(&*model, page(bars));
        let texts: Vec<&str> = lines.iter().map(|line| line.label.as_str()).collect();
        assert_eq!(texts, expected.iter().map(|(text, _)| *text).collect::<Vec<_>>());
        for (line, (_, bounds)) in lines.iter().zip(expected) {
            let found = [line.xmin, line.ymin, line.xmax, line.ymax];
            let worst = found.iter().zip(bounds).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(worst <= 2.0, "{line:?}, {bounds:?}");
        }
    };
    check(&[], &[]);
    // A bar of 8 blocks is 192 × 20 pixels, widened by 192 × 20 × 1.6 / 424 = 14 at each side.
    check(
        &[
            (400, 105, 0, &[BLUE, BLACK, BLUE, BLACK, BLACK, RED, BLACK, BLACK]),
            (100, 100, 0, &[RED, BLACK, RED, BLACK, BLACK, BLUE, BLACK, BLACK]),
            (100, 300, 0, &[BLUE, RED, BLUE, BLACK, BLACK, BLACK, BLACK, BLUE]),
        ],
        &[
            ("rrb", [86.0, 86.0, 306.0, 134.0]),
            ("bbr", [386.0, 91.0, 606.0, 139.0]),
            ("brbb", [86.0, 286.0, 306.0, 334.0]),
        ],
    );
    // Four pixels down a block: about nine degrees.
    check(&[(100, 100, 4, &[RED, BLACK, BLUE, BLACK, RED, BLACK])], &[("rbr", [80.0, 83.0, 263.0, 160.0])]);
}

#[test]
fn keys_come_from_a_file_too() {
    // With and without the blank and the space; a list of another length is not the model's.
    for (keys, expected) in [
        ("r\nb", Some("rb")),
        ("r\nb\n ", Some("rb")),
        ("x\nr\nb\n ", Some("rb")),
        ("r", None),
        ("a\nb\nc\nd\ne", None),
    ] {
        let folder = tempfile::tempdir().unwrap();
        for name in ["colours_det", "colours_rec"] {
            let mut graph = std::fs::read(models().join(format!("ocr-colours/onnx/{name}.onnx"))).unwrap();
            // The metadata is renamed, so that the file counts.
            if let Some(at) = graph.windows(9).position(|bytes| bytes == b"character") {
                graph[at..at + 9].copy_from_slice(b"elsewhere");
            }
            std::fs::write(folder.path().join(format!("{name}.onnx")), graph).unwrap();
        }
        std::fs::write(folder.path().join("colour_keys.txt"), keys).unwrap();
        let model = load(folder.path(), "image-ocr");
        let input = Input::Picture(page(&[(100, 100, 0, &[RED, BLACK, BLACK, BLUE, BLACK])]));
        match (model.run(&input, &Call::default()), expected) {
            (Ok(Output::Lines(lines)), Some(expected)) => assert_eq!(lines[0].label, expected, "{keys:?}"),
            (Err(ExpertError::Unsupported { .. }), None) => {}
            (found, _) => panic!("{keys:?}: {found:?}"),
        }
    }
}

#[test]
fn unusable_input_is_refused() {
    let model = load(&models().join("ocr-colours"), "image-ocr");
    for input in [
        Input::Text("a text".to_owned()),
        Input::Picture(Picture { width: 10, height: 10, pixels: vec![0; 5] }),
        Input::Picture(Picture { width: 0, height: 0, pixels: Vec::new() }),
    ] {
        let found = model.run(&input, &Call::default());
        assert!(matches!(found, Err(ExpertError::BadInput(_))), "{found:?}");
    }
    let call = Call::default();
    call.cancel.cancel();
    assert_eq!(model.run(&Input::Picture(page(&[])), &call), Err(ExpertError::Cancelled));
}

#[derive(Deserialize)]
struct Real {
    lines: Vec<RealLine>,
}

#[derive(Deserialize)]
struct RealLine {
    text: String,
    score: f32,
    corners: Vec<[f32; 2]>,
}

#[test]
fn pages_are_read_with_installed_weights() {
    let Some(folder) = crate::installed("pp-ocr") else { return };
    let model = load(&folder, "image-ocr");
    let image = image::open(models().join("real/page.png")).unwrap().to_rgb8();
    let picture = Picture { width: image.width(), height: image.height(), pixels: image.into_raw() };
    let lines = read(&*model, picture);
    let expected: Real = expected("real");
    for (found, wanted) in lines.iter().zip(&expected.lines) {
        println!("{found:?}, expected {:?} {:.3} {:?}", wanted.text, wanted.score, wanted.corners);
    }
    assert_eq!(lines.len(), expected.lines.len());
    for (found, wanted) in lines.iter().zip(&expected.lines) {
        // Spaces are a matter of a pixel: the reference loses one here that is read.
        let letters = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(letters(&found.label), letters(&wanted.text));
        assert!((found.score - wanted.score).abs() < 0.05, "{found:?}");
        let xs = wanted.corners.iter().map(|corner| corner[0]);
        let ys = wanted.corners.iter().map(|corner| corner[1]);
        let bounds = [
            xs.clone().fold(f32::INFINITY, f32::min),
            ys.clone().fold(f32::INFINITY, f32::min),
            xs.fold(0.0, f32::max),
            ys.fold(0.0, f32::max),
        ];
        let found = [found.xmin, found.ymin, found.xmax, found.ymax];
        let worst = found.iter().zip(bounds).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst <= 3.0, "{found:?}, {bounds:?}");
    }
}
