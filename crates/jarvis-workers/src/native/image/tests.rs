//! Pictures made here, and what must be found in them.

use std::io::Cursor;

use image::{DynamicImage, GenericImageView, GrayImage, ImageFormat, Luma, Rgb, RgbImage, Rgba, RgbaImage};
use imageproc::drawing::draw_line_segment_mut;
use jarvis_plan::ErrorCode;
use jarvis_testing::rows;
use tokio_util::sync::CancellationToken;

use super::super::Cancel;
use super::super::programs::{Program, Programs};
use super::edit::apply;
use super::instruction::{Op, read};
use super::*;
use jarvis_plan::Language;

const CASES: &str = include_str!("tests/tests.json");
const RED: Rgb<u8> = Rgb([222, 24, 28]);
const WHITE: Rgb<u8> = Rgb([255, 255, 255]);

fn go_on() -> Cancel {
    Cancel(CancellationToken::new())
}

fn png(picture: &DynamicImage) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, ImageFormat::Png).unwrap();
    bytes.into_inner()
}

/// A red square from 40 to 119 both ways on white, 160 x 160.
fn square() -> RgbImage {
    RgbImage::from_fn(160, 160, |x, y| if (40..120).contains(&x) && (40..120).contains(&y) { RED } else { WHITE })
}

mod opening {
    use super::*;

    const LIMIT: u64 = 120_000_000;

    fn failure(bytes: &[u8]) -> (ErrorCode, String) {
        let error = open::open(bytes, LIMIT).unwrap_err();
        (error.code, error.message)
    }

    /// A PNG that says it is this large, with a right checksum and next to nothing in it.
    fn boast(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = png(&square().into());
        bytes[16..20].copy_from_slice(&width.to_be_bytes());
        bytes[20..24].copy_from_slice(&height.to_be_bytes());
        let crc = bytes[12..29].iter().fold(u32::MAX, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & 0_u32.wrapping_sub(crc & 1)))
        });
        bytes[29..33].copy_from_slice(&(!crc).to_be_bytes());
        bytes
    }

    #[test]
    fn what_is_no_picture_is_named() {
        let cases: [(&[u8], &str); 6] = [
            (b"", "it is empty"),
            (b"hello, this is text", "it is a text file"),
            (b"%PDF-1.7 ....", "it looks like application/pdf"),
            (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "it is an SVG drawing"),
            (b"<!doctype html><p>404", "it looks like text/html"),
            (&[0, 1, 2, 3, 254, 255, 0, 0], "it is of an unknown format"),
        ];
        for (bytes, what) in cases {
            let (code, message) = failure(bytes);
            assert_eq!(code, ErrorCode::InvalidInput);
            assert!(message.contains(what), "{message}");
        }
    }

    #[test]
    fn damage_is_an_error_and_no_panic() {
        let whole = png(&square().into());
        for end in [8, 20, 33, 60, whole.len() / 2, whole.len() - 20] {
            let (code, message) = failure(&whole[..end]);
            assert_eq!(code, ErrorCode::InvalidInput, "{end}: {message}");
        }
        let mut jpeg = Cursor::new(Vec::new());
        DynamicImage::from(square()).write_to(&mut jpeg, ImageFormat::Jpeg).unwrap();
        let jpeg = jpeg.into_inner();
        // A JPEG that is cut short may be shown as far as it goes, or refused; both are well.
        for end in 4..jpeg.len() {
            let _ = open::open(&jpeg[..end], LIMIT);
        }
    }

    #[test]
    fn size_is_refused_before_decoding() {
        let (code, message) = failure(&boast(60_000, 60_000));
        assert_eq!(code, ErrorCode::TooLarge);
        assert!(message.contains("60000 x 60000") && message.contains("120000000"), "{message}");
        // Small enough by its header, but there is nothing behind it.
        assert_eq!(failure(&boast(9_000, 9_000)).0, ErrorCode::InvalidInput);
    }

    #[test]
    fn exif_orientation_turns_the_picture_upright() {
        let mut jpeg = Cursor::new(Vec::new());
        DynamicImage::from(RgbImage::new(40, 20)).write_to(&mut jpeg, ImageFormat::Jpeg).unwrap();
        let mut bytes = jpeg.into_inner();
        // Orientation 6: the camera was held upright, turn clockwise.
        let mut exif = b"\xff\xe1\x00\x22Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\x00\x01".to_vec();
        exif.extend(b"\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00");
        bytes.splice(2..2, exif);
        assert_eq!(open::open(&bytes, LIMIT).unwrap().picture.dimensions(), (20, 40));
    }

    #[test]
    fn alpha_is_laid_on_white_and_deep_pictures_become_plain() {
        let clear = DynamicImage::from(RgbaImage::from_pixel(2, 2, Rgba([200, 0, 0, 0])));
        assert_eq!(*open::flatten(clear).get_pixel(0, 0), WHITE);
        let deep = DynamicImage::new_rgb16(3, 3);
        assert!(matches!(open::open(&png(&deep), LIMIT).unwrap().picture, DynamicImage::ImageRgb8(_)));
    }
}

mod lines {
    use super::*;

    #[test]
    fn canny_finds_the_border_and_nothing_else() {
        let found = edges::canny(&square().into());
        let on: Vec<(u32, u32)> =
            found.enumerate_pixels().filter(|(_, _, pixel)| pixel.0[0] > 0).map(|(x, y, _)| (x, y)).collect();
        assert!((300..=640).contains(&on.len()), "{}", on.len());
        let near = |at: u32| at.abs_diff(40) <= 2 || at.abs_diff(119) <= 2;
        let inside = |at: u32| (38..=121).contains(&at);
        assert!(on.iter().all(|(x, y)| (near(*x) && inside(*y)) || (near(*y) && inside(*x))));
    }

    fn lit(picture: RgbImage) -> f64 {
        let found = edges::canny(&picture.into());
        let lit = found.pixels().filter(|pixel| pixel.0[0] > 0).count();
        lit as f64 / f64::from(found.width() * found.height())
    }

    /// A box of one colour on another, 120 x 120, whose border is 240 pixels long: 1.7% of the picture.
    fn boxed(inside: [u8; 3], outside: [u8; 3]) -> RgbImage {
        let within = 30..90;
        RgbImage::from_fn(120, 120, |x, y| {
            Rgb(if within.contains(&x) && within.contains(&y) { inside } else { outside })
        })
    }

    /// Levels around the middle, each channel by itself.
    fn noise(wide: u32) -> RgbImage {
        let mut seed = 7_u32;
        let mut level = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (128 - wide / 2 + (seed >> 16) % wide) as u8
        };
        RgbImage::from_fn(200, 200, |_, _| Rgb([level(), level(), level()]))
    }

    #[test]
    fn weak_borders_are_found_and_noise_is_not() {
        let cases = [
            ("a box a little lighter", boxed([175; 3], [150; 3]), 0.012, 0.025),
            // Both have a luminance of 110.
            ("colours of equal lightness", boxed([200, 94, 3], [40, 119, 188]), 0.012, 0.025),
            ("black on white", boxed([0; 3], [255; 3]), 0.012, 0.025),
            ("one colour", RgbImage::from_pixel(90, 90, RED), 0.0, 0.0),
            ("a smooth passage", RgbImage::from_fn(250, 60, |x, _| Rgb([x as u8; 3])), 0.0, 0.0),
            ("stripes", RgbImage::from_fn(120, 120, |x, _| Rgb([if x / 6 % 2 == 0 { 0 } else { 255 }; 3])), 0.1, 0.25),
            ("weak noise", noise(20), 0.0, 0.01),
            ("strong noise", noise(120), 0.0, 0.05),
            ("nothing but noise", noise(256), 0.0, 0.25),
        ];
        for (name, picture, least, most) in cases {
            let share = lit(picture);
            assert!((least..=most).contains(&share), "{name}: {share}");
        }
    }

    #[test]
    fn clear_parts_count_as_white() {
        let clear = RgbaImage::from_fn(120, 120, |x, _| Rgba([0, 0, 0, if x < 60 { 0 } else { 255 }]));
        assert!(edges::canny(&clear.into()).pixels().any(|pixel| pixel.0[0] > 0));
        // Colours that nobody sees make no edges.
        let unseen = RgbaImage::from_fn(120, 120, |x, _| Rgba([if x < 60 { 0 } else { 255 }, 0, 0, 0]));
        assert!(edges::canny(&unseen.into()).pixels().all(|pixel| pixel.0[0] == 0));
    }

    #[test]
    fn an_overlay_of_regions_has_edges() {
        let picture = RgbImage::from_fn(300, 200, |x, y| match (x < 150, y < 100) {
            (true, true) => RED,
            (true, false) => WHITE,
            (false, true) => Rgb([130, 200, 240]),
            (false, false) => Rgb([36, 160, 44]),
        });
        let (overlaid, _) = segment::segment(picture.into(), Language::English, &go_on()).unwrap();
        let share = lit(overlaid);
        assert!((0.006..0.02).contains(&share), "{share}");
    }

    #[test]
    fn tiny_pictures_have_no_edges_and_no_lines() {
        for (width, height) in [(1, 1), (2, 5), (1, 500), (7, 7)] {
            let picture = DynamicImage::from(RgbImage::new(width, height));
            assert_eq!(edges::canny(&picture).dimensions(), (width, height));
            assert!(edges::segments(&picture).is_empty());
        }
    }

    #[test]
    fn a_square_has_four_sides() {
        let found = edges::segments(&square().into());
        assert_eq!(found.len(), 4, "{found:?}");
        for segment in &found {
            assert!((segment.length() - 80.0).abs() < 8.0, "{segment:?}");
            let (dx, dy) = (segment.to.0 - segment.from.0, segment.to.1 - segment.from.1);
            assert!(dx.abs().min(dy.abs()) < 2.0, "{segment:?}");
        }
        let drawn = edges::draw(&found, (160, 160));
        assert_eq!(drawn.dimensions(), (160, 160));
        let lit = drawn.pixels().filter(|pixel| pixel.0[0] > 128).count();
        assert!((250..=400).contains(&lit), "{lit}");
    }

    #[test]
    fn slanted_lines_are_found_where_they_are() {
        let mut picture = GrayImage::from_pixel(300, 200, Luma([255]));
        for offset in 0..6 {
            draw_line_segment_mut(
                &mut picture,
                (20.0, 30.0 + offset as f32),
                (280.0, 150.0 + offset as f32),
                Luma([0]),
            );
        }
        let found = edges::segments(&picture.into());
        // The band has two long sides.
        let long: Vec<_> = found.iter().filter(|segment| segment.length() > 240.0).collect();
        assert_eq!(long.len(), 2, "{found:?}");
        for segment in long {
            let slope = (segment.to.1 - segment.from.1) / (segment.to.0 - segment.from.0);
            assert!((slope - 120.0 / 260.0).abs() < 0.03, "{slope}");
        }
    }
}

mod editing;

mod segmenting {
    use super::*;

    #[test]
    fn two_colours_are_two_regions() {
        let sky = Rgb([130, 200, 240]);
        let picture = RgbImage::from_fn(900, 600, |_, y| if y < 400 { sky } else { Rgb([36, 160, 44]) });
        let (overlaid, list) = segment::segment(picture.clone().into(), Language::English, &go_on()).unwrap();
        let rows = list.as_array().unwrap();
        assert_eq!(rows.len(), 2, "{list}");
        assert_eq!(rows[0]["label"], "region 1 (sky blue)");
        assert_eq!(rows[1]["label"], "region 2 (green)");
        assert!((rows[0]["score"].as_f64().unwrap() - 2.0 / 3.0).abs() < 0.01);
        assert_eq!(rows[0]["box"]["xmax"], 900);
        assert!(rows[0]["box"]["ymax"].as_i64().unwrap().abs_diff(400) <= 4);
        assert!(rows[1]["box"]["ymin"].as_i64().unwrap().abs_diff(400) <= 4);
        assert_eq!(overlaid.dimensions(), (900, 600));
        // 155 parts of 255 are the region's colour.
        let tint = f64::from(crate::draw::colour("region 1").0[0]);
        let mixed = (130.0 * 100.0 + tint * 155.0) / 255.0;
        assert!((f64::from(overlaid.get_pixel(450, 100).0[0]) - mixed).abs() < 1.0);
        assert_ne!(overlaid.get_pixel(10, 10), overlaid.get_pixel(10, 590));
    }

    #[test]
    fn large_overlays_are_reduced_and_boxes_are_not() {
        let picture = RgbImage::from_fn(5000, 100, |x, _| if x < 2500 { RED } else { WHITE });
        let (overlaid, list) = segment::segment(picture.into(), Language::English, &go_on()).unwrap();
        assert_eq!(overlaid.dimensions(), (4096, 81));
        let most = list.as_array().unwrap().iter().filter_map(|row| row["box"]["xmax"].as_u64()).max();
        assert_eq!(most, Some(5000));
    }

    #[test]
    fn noise_does_not_make_many_regions_and_tiny_pictures_work() {
        let mut seed = 7_u32;
        let noisy = RgbImage::from_fn(300, 300, |x, y| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let jitter = (seed >> 28) as u8;
            let base = if (x.abs_diff(150)).pow(2) + (y.abs_diff(150)).pow(2) < 80 * 80 { 200 } else { 60 };
            Rgb([base + jitter, base, base])
        });
        let found = segment::regions(&noisy, &go_on()).unwrap();
        assert_eq!(found.regions.len(), 2);
        let disc = std::f64::consts::PI * 80.0 * 80.0 / 90_000.0;
        assert!((found.regions[1].share - disc).abs() < 0.02);
        for (width, height) in [(1, 1), (1, 9), (3, 2)] {
            let picture = DynamicImage::from(RgbImage::new(width, height));
            let (_, list) = segment::segment(picture, Language::Chinese, &go_on()).unwrap();
            assert_eq!(list.as_array().unwrap().len(), 1);
        }
    }
}

mod measuring {
    use super::*;

    #[test]
    fn a_known_picture_is_described_in_three_languages() {
        let measures = measure::measure(&square().into());
        assert!((measures.colours[0].1 - 0.75).abs() < 0.01);
        assert!((measures.colours[1].1 - 0.25).abs() < 0.01);
        let expected = [
            (
                Language::English,
                "A square picture of 160 x 160 pixels (1:1), colour. Main colours: white (75%), red (25%).",
            ),
            (
                Language::Russian,
                "Картинка квадратная, 160 x 160 пикселей (1:1), цветная. Основные цвета: белый (75%), красный (25%).",
            ),
            (Language::Chinese, "一张正方形图片,160 x 160 像素(1:1),彩色。主要颜色:白色(75%)、红色(25%)。"),
        ];
        for (lang, start) in expected {
            let text = measures.describe(lang);
            assert!(text.contains(start), "{text}");
        }
        assert!(measures.describe(Language::English).starts_with("What the picture shows is not recognised here;"));
    }

    #[test]
    fn light_grey_and_clear_pictures() {
        let of = |level: u8| measure::measure(&RgbImage::from_pixel(50, 20, Rgb([level; 3])).into());
        assert_eq!((of(5).light(Language::English), of(250).light(Language::English)), ("dark", "very bright"));
        assert_eq!((of(128).is_grey(), of(128).ratio().as_str()), (true, "2.50:1"));
        assert_eq!(of(128).focus(Language::English), "without detail");
        let clear = RgbaImage::from_fn(100, 100, |x, _| Rgba([9, 9, 200, if x < 30 { 0 } else { 255 }]));
        let measures = measure::measure(&clear.into());
        assert!((measures.transparent - 0.3).abs() < 0.01);
        assert!(measures.describe(Language::English).contains("30% of it is transparent"));
        let tiny = measure::measure(&RgbImage::new(1, 1).into());
        assert!(tiny.describe(Language::Russian).contains("1 x 1"));
    }
}

mod cards {
    use super::*;

    #[test]
    fn lines_break_where_they_may() {
        let count = |line: &str| line.chars().count() as f32;
        for (text, wide, lines) in rows::<(String, f32, Vec<String>)>(CASES, "wrapped") {
            assert_eq!(card::wrap(&text, wide, count), lines, "{text}");
        }
    }

    #[test]
    fn a_card_depends_on_its_text_and_stays_inside_its_margins() {
        let drawn = card::draw("Hello, world", card::Look::default()).unwrap();
        assert!(!drawn.cut);
        assert_eq!(drawn.picture.dimensions(), card::SIZE);
        assert_eq!(drawn.picture, card::draw("Hello, world", card::Look::default()).unwrap().picture);
        assert_ne!(drawn.picture, card::draw("Hello, moon", card::Look::default()).unwrap().picture);
        let long = "очень длинный текст на карточке ".repeat(60);
        for text in ["Hi", "深度学习与自然语言处理", "Съешь ещё этих мягких французских булок", &long]
        {
            let drawn = card::draw(text, card::Look::default()).unwrap();
            let white: Vec<(u32, u32)> = drawn
                .picture
                .enumerate_pixels()
                .filter(|(_, _, pixel)| pixel.0 == [255; 3])
                .map(|(x, y, _)| (x, y))
                .collect();
            assert!(white.len() > 200, "{text}");
            assert!(white.iter().all(|(x, y)| (80..944).contains(x) && (60..708).contains(y)), "{text}");
        }
        assert!(card::draw(&long, card::Look::default()).unwrap().cut);
        assert!(card::draw("sun 🌞 shine", card::Look::default()).unwrap().cut);
        assert_eq!(card::draw("नमस्ते दुनिया", card::Look::default()).unwrap_err().code, ErrorCode::CannotDo);
        assert_eq!(card::draw("\u{200b}\n", card::Look::default()).unwrap_err().code, ErrorCode::CannotDo);
    }
}

mod reading;
