//! The names of colours in three languages.

use std::sync::LazyLock;

use image::Rgb;
use jarvis_plan::{Language, pattern};
use regex::Regex;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Colour {
    en: &'static str,
    ru: &'static str,
    zh: &'static str,
    rgb: [u8; 3],
}

impl Colour {
    pub(super) fn name(self, lang: Language) -> &'static str {
        lang.pick(self.en, self.ru, self.zh)
    }

    /// The named colour nearest to this one, by distance in CIE Lab with chroma weighing more than lightness.
    pub(super) fn nearest(rgb: Rgb<u8>) -> Colour {
        let [l, a, b] = lab(rgb);
        let distance = |colour: &Colour| {
            let [l2, a2, b2] = lab(Rgb(colour.rgb));
            0.5 * (l - l2).powi(2) + (a - a2).powi(2) + (b - b2).powi(2)
        };
        let nearest = COLOURS.iter().min_by(|x, y| distance(x).total_cmp(&distance(y)));
        *nearest.expect("the table of colours is not empty")
    }

    /// The colour that a text in lower case names, in any of the three languages; the longest name counts.
    pub(super) fn named(text: &str) -> Option<Colour> {
        let text = text.replace("gray", "grey").replace('ё', "е");
        let stem = |name: &str| name.replace('ё', "е").trim_end_matches(['ы', 'и', 'й', 'о']).to_owned();
        let length = |colour: &Colour| {
            let english = text
                .split(|ch: char| !ch.is_alphanumeric() && ch != ' ')
                .any(|part| format!(" {part} ").contains(&format!(" {} ", colour.en)));
            let russian = stem(colour.ru);
            let chinese = colour.zh.trim_end_matches('色');
            [
                (english, colour.en.len()),
                (text.contains(&russian), russian.len()),
                (text.contains(chinese), chinese.len()),
            ]
            .into_iter()
            .filter_map(|(found, length)| found.then_some(length))
            .max()
        };
        COLOURS
            .iter()
            .filter_map(|colour| Some((length(colour)?, *colour)))
            .max_by_key(|(length, _)| *length)
            .map(|(_, colour)| colour)
    }

    pub(super) fn rgb(self) -> [u8; 3] {
        self.rgb
    }

    pub(super) fn is_neutral(self) -> bool {
        let [r, g, b] = self.rgb;
        r == g && g == b
    }
}

const fn colour(en: &'static str, ru: &'static str, zh: &'static str, rgb: [u8; 3]) -> Colour {
    Colour { en, ru, zh, rgb }
}

/// What names a colour, in lower case.
pub(super) static COLOUR_NAMES: LazyLock<Regex> = LazyLock::new(|| {
    let names = COLOURS.iter().flat_map(|colour| {
        let russian = colour.ru.replace('ё', "е");
        [
            format!(r"\b{}", colour.en),
            russian.trim_end_matches(['ы', 'и', 'й', 'о']).to_owned(),
            colour.zh.trim_end_matches('色').to_owned(),
        ]
    });
    pattern(&names.collect::<Vec<_>>().join("|"))
});

#[rustfmt::skip]
const COLOURS: &[Colour] = &[
    colour("black", "чёрный", "黑色", [0, 0, 0]),
    colour("dark grey", "тёмно-серый", "深灰色", [72, 72, 72]),
    colour("grey", "серый", "灰色", [128, 128, 128]),
    colour("light grey", "светло-серый", "浅灰色", [200, 200, 200]),
    colour("white", "белый", "白色", [255, 255, 255]),
    colour("red", "красный", "红色", [222, 24, 28]),
    colour("dark red", "тёмно-красный", "深红色", [128, 8, 16]),
    colour("pink", "розовый", "粉色", [250, 160, 185]),
    colour("magenta", "пурпурный", "品红色", [240, 20, 200]),
    colour("orange", "оранжевый", "橙色", [250, 140, 20]),
    colour("brown", "коричневый", "棕色", [124, 72, 34]),
    colour("beige", "бежевый", "米色", [226, 208, 174]),
    colour("yellow", "жёлтый", "黄色", [250, 230, 20]),
    colour("olive", "оливковый", "橄榄色", [122, 122, 28]),
    colour("green", "зелёный", "绿色", [36, 160, 44]),
    colour("bright green", "ярко-зелёный", "亮绿色", [40, 240, 40]),
    colour("dark green", "тёмно-зелёный", "深绿色", [12, 76, 24]),
    colour("light green", "светло-зелёный", "浅绿色", [150, 225, 145]),
    colour("teal", "сине-зелёный", "蓝绿色", [10, 128, 128]),
    colour("cyan", "бирюзовый", "青色", [30, 230, 230]),
    colour("sky blue", "голубой", "天蓝色", [130, 200, 240]),
    colour("blue", "синий", "蓝色", [30, 70, 225]),
    colour("steel blue", "серо-синий", "钢蓝色", [70, 125, 180]),
    colour("dark blue", "тёмно-синий", "深蓝色", [14, 20, 100]),
    colour("dark blue", "тёмно-синий", "深蓝色", [0, 0, 139]),
    colour("purple", "фиолетовый", "紫色", [125, 40, 165]),
    colour("lilac", "сиреневый", "淡紫色", [195, 165, 225]),
];

/// sRGB to CIE Lab (D65).
pub(super) fn lab(Rgb(rgb): Rgb<u8>) -> [f32; 3] {
    let [r, g, b] = rgb.map(|channel| {
        let value = f32::from(channel) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    });
    let f = |t: f32| if t > 0.008_856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
    let x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.950_47);
    let y = f(0.2126 * r + 0.7152 * g + 0.0722 * b);
    let z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.088_83);
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// The rest of a line of a table of `data/`, which begins with its name and a tab.
pub(super) fn row(table: &'static str, name: &str) -> &'static str {
    let mut rows = table.lines().filter_map(|line| line.split_once('\t'));
    rows.find(|(known, _)| *known == name).map(|(_, rest)| rest).expect("a row named in the code is in its table")
}

#[cfg(test)]
mod tests {
    use jarvis_testing::rows;

    use super::*;

    const CASES: &str = include_str!("words.json");

    #[test]
    fn requests_are_read_by_script() {
        for (text, lang) in rows::<(String, String)>(CASES, "languages") {
            assert_eq!(Language::of(&text).code(), lang, "{text}");
        }
    }

    #[test]
    fn colours_are_found_by_name() {
        for (text, name) in rows::<(String, Option<String>)>(CASES, "named") {
            assert_eq!(Colour::named(&text).map(|colour| colour.en.to_owned()), name, "{text}");
        }
    }

    #[test]
    fn known_colours_get_their_names() {
        for (rgb, name) in rows::<([u8; 3], String)>(CASES, "colours") {
            assert_eq!(Colour::nearest(Rgb(rgb)).name(Language::English), name, "{rgb:?}");
        }
        for colour in COLOURS {
            assert_eq!(Colour::nearest(Rgb(colour.rgb)).en, colour.en);
        }
    }
}
