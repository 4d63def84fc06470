//! Questions about pictures that measures can answer, in three languages. All others are declined.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use super::measure::Measures;
use jarvis_plan::{Language, is_path};

/// What a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Topic {
    Size,
    Width,
    Height,
    Pixels,
    Ratio,
    Orientation,
    Grey,
    Sharpness,
    Light,
    Transparent,
    Colours,
    Colour,
}

/// The first pattern that fits decides. A colour question counts only when it is about the whole picture: "what colour
/// is the car" cannot be answered by measuring.
#[rustfmt::skip]
const PATTERNS: &[(Topic, &str)] = &[
    (Topic::Ratio, r"\baspect|\bratio\b|соотношени|пропорци|宽高比|长宽比|纵横比|比例"),
    (Topic::Orientation, r"\borientation|\b(portrait|landscape|square)\b.*\b(or|picture|image|photo|format)|\bis (it|this|the (picture|image|photo)) (a )?(portrait|landscape|square)|ориентаци|(горизонтальн|вертикальн|квадратн)\S* (или|ли|формат|картин|изображ|фото)|横向|竖向|纵向|横版|竖版|方向|正方形"),
    (Topic::Pixels, r"how many (mega)?pixels|\bmegapixel|\bresolution\b|сколько (мега)?пикс|разрешени|多少像素|分辨率|像素数"),
    (Topic::Width, r"\bhow wide\b|\bwidth\b|ширин|(多宽|宽度)"),
    (Topic::Height, r"\bhow (tall|high) is (the|this) (picture|image|photo)|\bheight of (the|this) (picture|image|photo)|\b(picture|image|photo)('s)? height|высот\S* (картин|изображ|фото|рисун)|(图片|图像|照片|图)的?(高度|有?多高)"),
    (Topic::Size, r"\bdimensions?\b|\b(size|how (big|large)) (is|of|are) (the|this|it)( (picture|image|photo|file))?\s*\??$|\b(picture|image|photo)('s)? size|(какого|какой|каков) размер|размер\S* (картин|изображ|фото|рисун|эт)|尺寸|(图片|图像|照片|图)的?(大小|有?多大)|多大"),
    (Topic::Grey, r"black[ -]and[ -]white|\b(gr[ea]y ?scale|monochrom|in colou?r\b|coloured or|a colou?r (photo|picture|image))|ч[её]рно-? ?бел|монохром|цветн(ая|ое|ой)\b|黑白|灰度|彩色"),
    (Topic::Sharpness, r"\b(sharp|blurr?y|blurred|in focus|out of focus|sharpness)\b|резк|размыт|в фокусе|нечётк|нечетк|чётк|четк|清晰|模糊|对焦"),
    (Topic::Transparent, r"\btransparen|\balpha\b|прозрачн|透明"),
    (Topic::Light, r"\b(how (bright|dark)|(bright|dark)(ness)?( or (bright|dark|light))?\s*\??$|brightness|is (it|this|the (picture|image|photo)) (too )?(bright|dark|light))\b|яркост|(насколько|она|оно|это|картин\S*|изображени\S*|фото\S*)( слишком)? ?(ярк|т[её]мн|светл)|(т[её]мн|светл)\S* или|亮度|明亮|亮不亮|暗不暗|偏暗|偏亮|(太|很|有多)(亮|暗)|(亮|暗)(还是|吗)"),
    (Topic::Colours, r"\b(which|what|main|dominant|primary|most common|list)\b.*\bcolou?rs\b|\bcolou?r (scheme|palette)|\bpalette\b|(какие|основные|главные|преобладающие|перечисли)\b.*цвета|палитр|(哪些|主要的?|哪几种)颜色|(图|有|用了)[^。]{0,4}什么颜色$"),
    (Topic::Colour, r"\b(main|dominant|primary|predominant|prevailing|most common|average|overall) colou?r\b|what colou?r is (it|this|this (picture|image|photo)|the (picture|image|photo|whole (picture|image|photo)))\s*\??$|colou?r of (the|this) (picture|image|photo)\b|(основной|главный|преобладающий|доминирующий|средний)\S* цвет|какого цвета (эта |это |данн\S* )?(картин|изображ|фото|рисун)|цвет (картин|изображ|фото)|преобладает|主色|主色调|主要颜色|主导颜色|(图片|图像|照片|整体)的?(颜色|色调)|(图片|图像|照片|图)是什么颜色"),
];

#[allow(clippy::expect_used)] // The patterns are constants; the tests compile each.
static TOPICS: LazyLock<Vec<(Topic, Regex)>> = LazyLock::new(|| {
    PATTERNS.iter().map(|(topic, pattern)| (*topic, Regex::new(pattern).expect("a valid pattern"))).collect()
});

/// Answers a question from measures, as a list of `{answer, score}`, best first; `None` when measures cannot answer it.
pub(super) fn answer(measures: &Measures, question: &str) -> Option<Value> {
    let lang = Language::of(question);
    let words: Vec<&str> = question.split_whitespace().filter(|word| !is_path(word)).collect();
    let plain = words.join(" ").to_lowercase();
    let topic = TOPICS.iter().find(|(_, pattern)| pattern.is_match(&plain)).map(|(topic, _)| *topic)?;
    let (width, height) = measures.size;
    let one = |answer: String, score: f64| Some(json!([{"answer": answer, "score": score}]));
    match topic {
        Topic::Size | Topic::Pixels => {
            let mega = f64::from(width) * f64::from(height) / 1e6;
            let more = match lang {
                _ if topic == Topic::Size => String::new(),
                Language::English => format!(", {mega:.2} megapixels"),
                Language::Russian => format!(", {mega:.2} мегапикселя"),
                Language::Chinese => format!(",{mega:.2} 百万像素"),
            };
            let unit = lang.pick("pixels", "пикселей", "像素");
            one(format!("{width} x {height} {unit}{more}"), 1.0)
        }
        Topic::Width => one(format!("{width} {}", lang.pick("pixels", "пикселей", "像素")), 1.0),
        Topic::Height => one(format!("{height} {}", lang.pick("pixels", "пикселей", "像素")), 1.0),
        Topic::Ratio => one(measures.ratio(), 1.0),
        Topic::Orientation => one(measures.orientation(lang).to_owned(), 1.0),
        Topic::Grey => {
            let grey = measures.is_grey();
            let grey_word = lang.pick("black and white (shades of grey)", "чёрно-белая (оттенки серого)", "黑白(灰度)");
            one(if grey { grey_word } else { lang.pick("in colour", "цветная", "彩色") }.to_owned(), 0.95)
        }
        Topic::Sharpness => one(measures.focus(lang).to_owned(), 0.7),
        Topic::Light => one(measures.light(lang).to_owned(), 0.9),
        Topic::Transparent => {
            let percent = (measures.transparent * 100.0).round();
            let some = match lang {
                Language::English => format!("yes, {percent}% of it"),
                Language::Russian => format!("да, {percent}%"),
                Language::Chinese => format!("有,占 {percent}%"),
            };
            one(if percent > 0.0 { some } else { lang.pick("no", "нет", "没有").to_owned() }, 1.0)
        }
        Topic::Colours => one(measures.colour_list(lang), 0.9),
        Topic::Colour => {
            let rows = measures
                .colours
                .iter()
                .map(|(colour, share)| json!({"answer": colour.name(lang), "score": (share * 1e4).round() / 1e4}));
            Some(Value::Array(rows.collect()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::image::measure;

    #[test]
    fn questions_that_measures_answer() {
        let picture =
            image::RgbImage::from_fn(640, 480, |x, _| image::Rgb(if x < 480 { [222, 24, 28] } else { [255; 3] }));
        let measures = measure::measure(&picture.into());
        let cases = [
            ("What is the dominant color?", "red"),
            ("what color is the picture", "red"),
            ("какой основной цвет?", "красный"),
            ("图片的主要颜色是什么?", "红色(75%)、白色(25%)"),
            ("What are the main colours in /images/a.png?", "red (75%), white (25%)"),
            ("какие цвета на картинке", "красный (75%), белый (25%)"),
            ("what is the size of the image?", "640 x 480 pixels"),
            ("какого размера картинка", "640 x 480 пикселей"),
            ("图片的尺寸是多少", "640 x 480 像素"),
            ("how wide is it", "640 pixels"),
            ("Is the image landscape or portrait?", "landscape"),
            ("какая ориентация у фото?", "горизонтальная"),
            ("图片是横向还是纵向", "横向"),
            ("what is the aspect ratio?", "4:3"),
            ("is it black and white?", "in colour"),
            ("это чёрно-белая картинка?", "цветная"),
            ("这是黑白照片吗", "彩色"),
            ("Is it dark or bright?", "of medium brightness"),
            ("насколько яркая эта картинка, какая яркость", "средней яркости"),
            ("图片亮度如何", "亮度适中"),
            ("how many megapixels", "640 x 480 pixels, 0.31 megapixels"),
        ];
        for (question, expected) in cases {
            let answer = answer(&measures, question).unwrap_or_else(|| panic!("{question}"));
            assert_eq!(answer[0]["answer"], expected, "{question}");
        }
    }

    #[test]
    fn questions_about_objects_are_declined() {
        let measures = measure::measure(&image::RgbImage::new(8, 8).into());
        let cases = [
            "what color is the car?",
            "how many cats are there?",
            "is there a dog in the picture?",
            "what is the man holding?",
            "how tall is the tower?",
            "сколько людей на картинке?",
            "какого цвета машина?",
            "图中有几只猫?",
            "汽车是什么颜色?",
            "",
        ];
        for question in cases {
            assert_eq!(answer(&measures, question), None, "{question}");
        }
    }
}
