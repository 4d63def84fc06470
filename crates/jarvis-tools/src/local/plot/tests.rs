//! Charts measured by their pixels.

use image::RgbImage;
use jarvis_testing::rows;
use serde_json::json;

use super::*;

const CASES: &str = include_str!("tests.json");

fn picture(bytes: &[u8]) -> RgbImage {
    image::load_from_memory_with_format(bytes, image::ImageFormat::Png).unwrap().to_rgb8()
}

fn drawn(input: Value) -> RgbImage {
    let picture = picture(&render(&Chart::from_input(&input).unwrap()).unwrap());
    assert_eq!(picture.dimensions(), (WIDTH, HEIGHT));
    picture
}

/// Bars from left to right: how wide, and their top and bottom rows.
fn bars(picture: &RgbImage) -> Vec<(u32, u32, u32)> {
    let mut bars: Vec<(u32, u32, u32)> = Vec::new();
    let mut open = false;
    for x in 0..WIDTH {
        let rows: Vec<u32> = (0..HEIGHT).filter(|y| picture.get_pixel(x, *y).0 == BAR_COLOUR).collect();
        match (rows.first(), rows.last()) {
            (Some(top), Some(bottom)) if open => {
                let last = bars.last_mut().unwrap();
                assert_eq!((last.1, last.2), (*top, *bottom), "bars touch at column {x}");
                last.0 += 1;
            }
            (Some(top), Some(bottom)) => bars.push((1, *top, *bottom)),
            _ => {}
        }
        open = !rows.is_empty();
    }
    bars
}

/// How many pixels of a rectangle are not white.
fn ink(picture: &RgbImage, xs: std::ops::Range<u32>, ys: std::ops::Range<u32>) -> usize {
    xs.flat_map(|x| ys.clone().map(move |y| (x, y))).filter(|(x, y)| picture.get_pixel(*x, *y).0 != [255; 3]).count()
}

#[test]
fn bars_are_as_high_as_their_values() {
    let check = |values: &[f64], step: usize| {
        let labels: Vec<usize> = (0..values.len()).collect();
        let found = bars(&drawn(json!({"x": labels, "y": values})));
        assert_eq!(found.len(), values.iter().filter(|value| **value != 0.0).count());
        let most = values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        let highest = found.iter().map(|bar| bar.2 - bar.1 + 1).max().unwrap();
        for (bar, value) in found.iter().zip(values.iter().filter(|value| **value != 0.0)) {
            let expected = value.abs() / most * f64::from(highest);
            assert!((f64::from(bar.2 - bar.1 + 1) - expected).abs() <= 2.0, "{value}: {bar:?}, not {expected}");
            assert!(bar.0 >= 1 && bar.0 as usize <= step, "{bar:?}");
        }
        // Positive bars end where negative ones begin.
        let up = found.iter().zip(values).filter(|(_, value)| **value > 0.0).map(|(bar, _)| bar.2).max();
        let down = found.iter().zip(values).filter(|(_, value)| **value < 0.0).map(|(bar, _)| bar.1).min();
        assert!(up.zip(down).is_none_or(|(up, down)| down == up + 2), "{up:?} {down:?}");
    };
    check(&[6.0, 3.0, 1.0], 200);
    check(&[5.0], 120);
    check(&[4.0, -2.0, 3.0, -4.0], 200);
    check(&[-1.0, -2.0], 200);
    check(&[1e300, 5e299], 200);
    check(&[1e-9, 3e-9], 200);
    let many: Vec<f64> = (1..=200).map(|at| f64::from(at % 20 + 1)).collect();
    check(&many, 4);
}

#[test]
fn equal_labels_stay_apart_and_zero_has_no_height() {
    assert_eq!(bars(&drawn(json!({"x": ["a", "a", "a"], "y": [1, 2, 3]}))).len(), 3);
    assert_eq!(bars(&drawn(json!({"x": ["a", "b"], "y": [0, 0]}))).len(), 0);
}

#[test]
fn texts_are_written_in_every_script() {
    // Labels stand below the axis, in the lower part of the picture; the axis itself is above.
    let below = |label: &str| {
        let picture = drawn(json!({"x": [label], "y": [1], "title": ""}));
        let rows = 448..HEIGHT;
        let lower: Vec<u8> =
            rows.flat_map(|y| (0..WIDTH).map(move |x| (x, y))).map(|(x, y)| picture.get_pixel(x, y).0[0]).collect();
        lower
    };
    // A private character has no glyph; the font's box stands for it.
    let missing = below("\u{f8ff}\u{f8ff}");
    for label in ["苹果", "яблоко", "apple", "東京", "Ärger"] {
        let picture = below(label);
        assert!(picture.iter().filter(|grey| **grey < 200).count() > 40, "{label}");
        assert_ne!(picture, missing, "{label}");
    }
    assert_ne!(below("苹果"), below("香蕉"));
    assert_eq!(below("a\u{0}p\u{200b}\u{202e}ple\n"), below("apple"));
    let titled = |title: Value| ink(&drawn(json!({"x": ["a"], "y": [1], "title": title})), 0..WIDTH, 10..40);
    assert!(titled(json!("水果")) > 50 && titled(Value::Null) > titled(json!("水果")));
    let named = drawn(json!({"x": ["a"], "y": [1], "x_label": "месяц", "y_label": "销量"}));
    let bare = drawn(json!({"x": ["a"], "y": [1]}));
    assert!(ink(&named, 0..26, 100..400) > 40 && ink(&bare, 0..12, 100..400) == 0);
}

#[test]
fn nothing_is_written_beyond_the_edges() {
    for (label, count) in
        [("a very long label that goes on and on and on", 40), ("很长的标签很长的标签很长的标签", 12), ("w", 200)]
    {
        let labels: Vec<String> = (0..count).map(|at| format!("{label} {at}")).collect();
        let values: Vec<usize> = (0..count).collect();
        let picture = drawn(json!({"x": labels, "y": values, "title": label.repeat(20), "x_label": label.repeat(9)}));
        assert_eq!(
            ink(&picture, 0..WIDTH, 0..1) + ink(&picture, 0..1, 0..HEIGHT) + ink(&picture, WIDTH - 1..WIDTH, 0..HEIGHT),
            0
        );
        // Labels are there, and bars keep most of the height.
        assert!(ink(&picture, 60..WIDTH, 440..HEIGHT) > 100, "{label}");
        assert!(bars(&picture).iter().any(|bar| bar.2 - bar.1 > 180), "{label}");
    }
}

#[test]
fn lines_and_points_are_drawn() {
    let coloured = |kind: &str| {
        let picture = drawn(json!({"x": [1, 2, 4], "y": [10, "30", 20], "kind": kind}));
        picture.pixels().filter(|pixel| pixel.0 == BAR_COLOUR).count()
    };
    let (line, scatter, bar) = (coloured("line"), coloured(" SCATTER "), coloured("bar"));
    assert!(scatter > 90 && line > 2 * scatter && bar > 10 * line, "{scatter} {line} {bar}");
    let many: Vec<usize> = (0..MAX_POINTS).collect();
    drawn(json!({"x": many, "y": many, "kind": "line"}));
    drawn(json!({"x": ["a", "b"], "y": [f64::MAX, f64::MIN], "kind": "scatter"}));
}

#[test]
fn the_same_chart_gives_the_same_bytes() {
    let input = json!({"x": ["苹果", "груша", "fig"], "y": [3, -1, 2.5], "kind": "bar"});
    let chart = Chart::from_input(&input).unwrap();
    let first = render(&chart).unwrap();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn({
                let chart = chart.clone();
                move || render(&chart).unwrap()
            })
        })
        .collect();
    assert!(threads.into_iter().all(|thread| thread.join().unwrap() == first));
}

#[test]
fn numbers_are_taken_as_they_are_written() {
    let input = json!({"x": [2024, 1.5, "c", true], "y": ["1,200", "45%", "−3", 2]});
    let expected = [("2024", 1200.0), ("1.5", 45.0), ("c", -3.0), ("true", 2.0)];
    let expected: Vec<(String, f64)> = expected.iter().map(|(label, value)| ((*label).to_owned(), *value)).collect();
    let chart = Chart::from_input(&input).unwrap();
    assert_eq!((chart.points, chart.title.as_str()), (expected, DEFAULT_TITLE));
}

#[test]
fn what_cannot_be_drawn_is_told() {
    for (input, expected) in rows::<(Value, String)>(CASES, "refused") {
        assert_eq!(Chart::from_input(&input).unwrap_err().to_string(), expected, "{input}");
    }
    let many: Vec<usize> = (0..201).collect();
    let told = "there are 201 values, and at most 200 can be drawn; draw the most important ones or sum some up";
    assert_eq!(Chart::from_input(&json!({"x": many, "y": many})).unwrap_err().to_string(), told);
    for value in [f64::NAN, f64::INFINITY] {
        let chart = Chart { points: vec![("a".into(), value)], ..Chart::default() };
        assert!(matches!(render(&chart), Err(PlotError::NotFinite { at: 1, .. })));
    }
    assert_eq!(render(&Chart::default()), Err(PlotError::Empty));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(60))]

    /// Whatever is drawn, it is a picture of the right size.
    #[test]
    fn every_chart_is_a_picture(
        points in proptest::collection::vec((".{0,30}", proptest::num::f64::NORMAL | proptest::num::f64::ZERO | proptest::num::f64::SUBNORMAL), 1..40),
        title in ".{0,80}",
        kind in 0..3_usize,
    ) {
        let kind = [Kind::Bar, Kind::Line, Kind::Scatter][kind];
        let chart = Chart { kind, title: title.clone(), x_label: title.clone(), y_label: title, points };
        proptest::prop_assert_eq!(picture(&render(&chart).unwrap()).dimensions(), (WIDTH, HEIGHT));
    }
}

/// Charts of every kind. `JARVIS_CHARTS=folder cargo test -p jarvis-tools charts_of_every_kind` keeps them for people
/// to look at.
#[test]
fn charts_of_every_kind_are_drawn() {
    let folder = std::env::var_os("JARVIS_CHARTS");
    for (name, input) in rows::<(String, Value)>(CASES, "charts") {
        let bytes = render(&Chart::from_input(&input).unwrap()).unwrap();
        assert!(ink(&picture(&bytes), 0..WIDTH, 0..HEIGHT) > 1_000, "{name}");
        if let Some(folder) = &folder {
            std::fs::write(std::path::Path::new(folder).join(format!("{name}.png")), bytes).unwrap();
        }
    }
}
