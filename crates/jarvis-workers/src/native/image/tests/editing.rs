//! Edits: sizes, places, tones and formats.

use jarvis_testing::rows;

use super::*;

const CASES: &str = include_str!("editing.json");

fn edit(picture: &RgbImage, text: &str) -> (DynamicImage, Vec<String>) {
    apply(picture.clone().into(), &read(text).ops, 1_000_000, &go_on()).unwrap()
}

/// 200 x 100: the left half red, the right half white, the top left pixel black.
fn flag() -> RgbImage {
    let mut picture = RgbImage::from_fn(200, 100, |x, _| if x < 100 { RED } else { WHITE });
    picture.put_pixel(0, 0, Rgb([0, 0, 0]));
    picture
}

#[test]
fn sizes_are_what_was_asked() {
    for (text, size, words) in rows::<(String, (u32, u32), String)>(CASES, "sizes") {
        let (edited, done) = edit(&flag(), &text);
        assert_eq!((edited.dimensions(), done.join(", ")), (size, words), "{text}");
    }
}

#[test]
fn parts_outside_the_picture_are_refused() {
    for text in
        ["crop 5000x5000", "crop 300x50", "crop 100 px off the top", "crop from 10,20 to 300,90", "blur 5,5 to 5,9"]
    {
        let error = apply(flag().into(), &read(text).ops, 1_000_000, &go_on()).unwrap_err();
        assert!(error.message.contains("200 x 100 pixels"), "{text}: {}", error.message);
    }
}

#[test]
fn an_area_changes_and_the_rest_stays() {
    let (edited, _) = edit(&flag(), "invert from 50,10 to 60,20");
    let (before, after) = (flag(), edited.to_rgb8());
    let changed = |x: u32, y: u32| before.get_pixel(x, y) != after.get_pixel(x, y);
    let all: Vec<(u32, u32)> =
        (0..200).flat_map(|x| (0..100).map(move |y| (x, y))).filter(|(x, y)| changed(*x, *y)).collect();
    assert_eq!((all.len(), all.first(), all.last()), (100, Some(&(50, 10)), Some(&(59, 19))));
}

#[test]
fn corners_go_where_they_belong() {
    let black = |picture: &DynamicImage| {
        let rgb = picture.to_rgb8();
        rgb.enumerate_pixels().find(|(_, _, pixel)| pixel.0 == [0, 0, 0]).map(|(x, y, _)| (x, y))
    };
    for (text, corner) in rows::<(String, (u32, u32))>(CASES, "corners") {
        assert_eq!(black(&edit(&flag(), &text).0), Some(corner), "{text}");
    }
}

#[test]
fn tones_change_as_asked() {
    let mean = |picture: &DynamicImage| {
        let rgb = picture.to_rgb8();
        let sum = rgb.pixels().fold([0.0; 3], |sum, pixel| [0, 1, 2].map(|at| sum[at] + f64::from(pixel.0[at])));
        sum.map(|sum| sum / f64::from(rgb.width() * rgb.height()))
    };
    let plain = RgbImage::from_pixel(20, 20, Rgb([180, 120, 60]));
    let of = |text: &str| mean(&edit(&plain, text).0);
    let grey = of("grayscale");
    assert!(grey[0] == grey[1] && grey[1] == grey[2] && (grey[0] - 128.4).abs() < 1.0, "{grey:?}");
    assert_eq!(of("invert"), [75.0, 135.0, 195.0]);
    let bright = of("brightness +20%");
    assert!(bright[1] > 135.0 && (bright[1] / bright[2] - 2.0).abs() < 0.05, "{bright:?}");
    assert!((of("darker by 20%")[1] - 96.0).abs() < 1.1);
    let more = of("more contrast");
    assert!(more[0] > 180.0 && more[2] < 60.0, "{more:?}");
    let dull = of("reduce saturation by 100%");
    assert!((dull[0] - dull[2]).abs() < 1.1, "{dull:?}");
    assert!(of("warmer")[0] > 180.0 && of("cooler")[0] < 180.0);
    let sepia = of("sepia");
    assert!(sepia[0] > sepia[1] && sepia[1] > sepia[2]);
}

#[test]
fn a_dark_picture_is_lit_without_fog() {
    let dark = RgbImage::from_fn(60, 20, |x, _| Rgb([[0; 3], [40, 20, 10], [90, 60, 30]][x as usize / 20]));
    let (lit, done) = edit(&dark, "brighter by 50%");
    assert_eq!(done, ["brightness +50%"]);
    let at = |x: u32| lit.to_rgb8().get_pixel(x, 5).0;
    assert_eq!(at(5), [0; 3]);
    assert!(at(25)[0] > 90 && at(25)[2] < 35 && at(45)[0] > at(25)[0] + 30, "{:?} {:?}", at(25), at(45));
    // Contrast parts the levels about their own mean, so a dark picture does not turn black.
    let (parted, _) = edit(&dark, "more contrast by 40%");
    let at = |x: u32| parted.to_rgb8().get_pixel(x, 5).0;
    assert!(at(45)[0] > 105 && at(25)[0] > 30, "{:?} {:?}", at(25), at(45));
}

#[test]
fn formats_are_what_was_asked() {
    let clear = DynamicImage::from(RgbaImage::from_pixel(8, 8, Rgba([9, 9, 9, 0])));
    for (format, extension) in [
        (ImageFormat::Png, "png"),
        (ImageFormat::Jpeg, "jpg"),
        (ImageFormat::WebP, "webp"),
        (ImageFormat::Gif, "gif"),
        (ImageFormat::Bmp, "bmp"),
        (ImageFormat::Tiff, "tiff"),
    ] {
        let (named, bytes) = open::encode_as(clear.clone(), format).unwrap();
        assert_eq!((named, image::guess_format(&bytes).unwrap()), (extension, format));
    }
    let wide = DynamicImage::from(RgbImage::new(16_400, 1));
    assert_eq!(open::encode_as(wide, ImageFormat::WebP).unwrap_err().code, ErrorCode::TooLarge);
}

#[test]
fn lost_percent_signs_are_found_again() {
    for (instruction, request, whole) in rows::<(String, String, String)>(CASES, "percents") {
        assert_eq!(with_percents(&instruction, &request), whole);
    }
}

#[test]
fn blur_softens_and_sharpen_sharpens() {
    let sharpness = |picture: &DynamicImage| measure::measure(picture).sharpness;
    let soft = edit(&square(), "blur slightly").0;
    let before = sharpness(&square().into());
    assert!(sharpness(&soft) < before / 2.0, "{before}");
    assert!(sharpness(&edit(&soft.to_rgb8(), "sharpen").0) > sharpness(&soft) * 1.3);
    assert!(sharpness(&edit(&square(), "pixelate").0) > 0.0);
    let sketch = edit(&square(), "pencil sketch").0.to_rgb8();
    assert!(sketch.get_pixel(5, 5).0[0] > 250 && sketch.get_pixel(41, 80).0[0] < 240);
}

#[test]
fn alpha_survives_and_jpeg_stays_jpeg() {
    let clear = RgbaImage::from_pixel(8, 8, Rgba([9, 9, 9, 77]));
    let ops = read("half size, invert, rotate 90").ops;
    let (edited, _) = apply(clear.into(), &ops, 1000, &go_on()).unwrap();
    assert_eq!(*edited.as_rgba8().unwrap().get_pixel(0, 0), Rgba([246, 246, 246, 77]));
    assert_eq!(open::encode(&edited, ImageFormat::Jpeg).unwrap().0, "png");
    let (extension, bytes) = open::encode(&square().into(), ImageFormat::Jpeg).unwrap();
    assert_eq!((extension, image::guess_format(&bytes).unwrap()), ("jpg", ImageFormat::Jpeg));
}

#[test]
fn results_are_limited_and_cancelling_ends_the_work() {
    for text in ["resize to 100000x100000", "enlarge 999999x", "resize to 400000000 wide"] {
        let ops = read(text).ops;
        assert!(!ops.is_empty(), "{text}");
        let error = apply(flag().into(), &ops, 1_000_000, &go_on()).unwrap_err();
        assert_eq!(error.code, ErrorCode::TooLarge, "{text}");
    }
    let cancel = go_on();
    cancel.0.cancel();
    let error = apply(flag().into(), &[Op::Invert], 1_000_000, &cancel).unwrap_err();
    assert_eq!(error.code, ErrorCode::Cancelled);
}
