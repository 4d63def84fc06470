//! Questions about pictures that measures can answer, in three languages. All others are declined.

use std::sync::LazyLock;

use image::Rgb;
use regex::Regex;
use serde_json::{Value, json};

use super::super::words::Colour;
use super::measure::Measures;
use jarvis_plan::{Language, is_path};

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
    /// How much there is of one colour that is named.
    Share,
    Average,
    Colours,
    Colour,
}

/// The first pattern that fits decides. A colour question counts only when it is about the whole picture: "what colour
/// is the car" cannot be answered by measuring.
#[rustfmt::skip]
const PATTERNS: &[(Topic, &str)] = &[
    (Topic::Share, r"\b(?:any|much|percent(?:age)? of|share of|(?:lot|bit) of|is there|how much|what part is) (?:of )?(?:the )?(?:colou?r )?(?:red|green|blue|yellow|white|black|gr[ae]y|orange|pink|magenta|purple|violet|brown|beige|olive|teal|cyan|turquoise|lilac)(?: colou?r)?(?: is it)?(?:\s+(?:is|are))?(?:\s+(?:there|here|present))?(?:\s+(?:in|on) (?:it|this|that|(?:the |this |that )?(?:picture|image|photo)))?$|(?:есть ли|много ли|сколько|доля|есть)\s+(?:(?:тут|здесь|там|в ней|на ней|(?:на|в) \S+)\s+)?(?:что-то )?(?:красн|зел[её]н|син|голуб|ж[её]лт|бел|ч[её]рн|сер|оранж|роз|пурпур|фиолет|коричнев|беж|бирюз|сирен)\S*(?:\s+цвет\S*)?(?:\s+(?:тут|здесь|там|на ней|в ней|(?:на|в) (?:эт\S+ )?(?:картин|фото|изображ|рисун)\S*))?$|(?:有没有|有多少|多少|是否有|含有|有)[红绿蓝黄白黑灰橙粉紫棕褐青]色?(?:吗|呢|的)?$|[红绿蓝黄白黑灰橙粉紫棕褐青]色(?:占|有)?(?:了)?(?:多少|比例|百分之几)"),
    (Topic::Average, r"\b(average|mean) colou?r|средн\S* цвет|平均(颜色|色)"),
    (Topic::Ratio, r"\baspect|\bratio\b|соотношени|пропорци|宽高比|长宽比|纵横比|比例"),
    (Topic::Orientation, r"\borientation|\b(portrait|landscape|square)\b.*\b(or|picture|image|photo|format)|\bis (it|this|the (picture|image|photo)) (a )?(portrait|landscape|square)|ориентаци|(горизонтальн|вертикальн|квадратн)\S* (или|ли|формат|картин|изображ|фото)|横向|竖向|纵向|横版|竖版|方向|正方形"),
    (Topic::Pixels, r"how many (mega)?pixels|\bmegapixel|\bresolution\b|сколько (мега)?пикс|разрешени|多少像素|分辨率|像素数"),
    (Topic::Width, r"\bhow wide\b|\bwidth\b|ширин|(多宽|宽度)"),
    (Topic::Height, r"^(the |its )?height$|\bits height\b|^высот\S*$|^高度?$|\bhow (tall|high) is( it)?$|\bhow (tall|high) is (the|this) (picture|image|photo)|\bheight of (the|this) (picture|image|photo)|\b(picture|image|photo)('s)? height|высот\S* (картин|изображ|фото|рисун)|(图片|图像|照片|图)的?(高度|有?多高)"),
    (Topic::Size, r"\bdimensions?\b|\b(size|how (big|large)) (is|of|are)( (the|this|that|it)( (picture|image|photo|file))?)?$|^(the |its |it'?s )?size( is it)?$|\b(picture|image|photo)('s)? size|(какого|какой|каков) размер|размер\S* (картин|изображ|фото|рисун|эт)|尺寸|(图片|图像|照片|图)的?(大小|有?多大)|多大"),
    (Topic::Grey, r"black[ -]and[ -]white|\b(gr[ea]y ?scale|monochrom|in colou?r\b|coloured or|a colou?r (photo|picture|image))|ч[её]рно-? ?бел|монохром|цветн(ая|ое|ой)\b|黑白|灰度|彩色"),
    (Topic::Sharpness, r"\b(sharp|blurr?y|blurred|in focus|out of focus|sharpness)\b|резк|размыт|в фокусе|нечётк|нечетк|чётк|четк|清晰|模糊|对焦"),
    (Topic::Transparent, r"\btransparen|\balpha\b|прозрачн|透明"),
    (Topic::Light, r"\b(how (bright|dark)|(bright|dark)(ness)?( or (bright|dark|light))?\s*\??$|brightness|is (it|this|the (picture|image|photo)) (too |very )?(bright|dark|light))\b|^is (too |very )?(bright|dark|light)$|^(too )?(bright|dark)( or (bright|dark|light))?$|^(слишком )?(ярк|т[её]мн|светл)\S*$|яркост|(насколько|она|оно|это|картин\S*|изображени\S*|фото\S*)( слишком)? ?(ярк|т[её]мн|светл)|(т[её]мн|светл)\S* или|亮度|明亮|亮不亮|暗不暗|偏暗|偏亮|(太|很|有多)(亮|暗)|(亮|暗)(还是|吗)"),
    (Topic::Colours, r"\b(which|what|main|dominant|primary|most common|list)\b.*\bcolou?rs\b|\bcolou?r (scheme|palette)|\bpalette\b|(какие|основные|главные|преобладающие|перечисли)\b.*цвета|палитр|\b(два|три|четыре|пять|\d) (\S+ )?цвет|(哪些|主要的?|哪几种)颜色|(图|有|用了)[^。]{0,4}什么颜色$"),
    (Topic::Colour, r"\b(main|dominant|primary|predominant|prevailing|most common|average|overall) colou?r\b|what('?s| is)? (the )?colou?r( (is|of)( (it|this|this (picture|image|photo)|the (picture|image|photo|whole (picture|image|photo))))?)?$|colou?r of (the|this) (picture|image|photo)\b|(основной|главный|преобладающий|доминирующий|средний)\S* цвет|^какого (она |оно )?цвета$|какого цвета (эта |это |данн\S* )?(картин|изображ|фото|рисун)|цвет (картин|изображ|фото)|преобладает|主色|主色调|主要颜色|主导颜色|(图片|图像|照片|整体)的?(颜色|色调)|(图片|图像|照片|图)是什么颜色"),
];

/// Colours that questions name: in English, the stem in Russian, the sign in Chinese, and the ends of the names (as in
/// `Colour`) that count as it.
#[rustfmt::skip]
const FAMILIES: &[(&str, &str, &str, &[&str])] = &[
    ("red", "красн", "红", &["red"]),
    ("green", "зелен", "绿", &["green"]),
    ("blue", "син", "蓝", &["blue"]),
    ("sky", "голуб", "天蓝", &["sky blue"]),
    ("yellow", "желт", "黄", &["yellow"]),
    ("white", "бел", "白", &["white"]),
    ("black", "черн", "黑", &["black"]),
    ("grey", "сер", "灰", &["grey"]),
    ("orange", "оранж", "橙", &["orange"]),
    ("pink", "роз", "粉", &["pink"]),
    ("magenta", "пурпур", "品红", &["magenta"]),
    ("purple", "фиолет", "紫", &["purple", "lilac"]),
    ("violet", "сирен", "淡紫", &["purple", "lilac"]),
    ("lilac", "сиренев", "淡紫", &["lilac"]),
    ("brown", "коричнев", "棕", &["brown"]),
    ("beige", "беж", "褐", &["beige"]),
    ("olive", "оливк", "橄榄", &["olive"]),
    ("teal", "сине-зелен", "蓝绿", &["teal"]),
    ("cyan", "бирюз", "青", &["cyan", "teal"]),
    ("turquoise", "бирюз", "青", &["cyan", "teal"]),
];

macro_rules! pattern {
    ($name:ident, $pattern:expr) => {
        // The pattern is a constant; the tests compile it.
        static $name: LazyLock<Regex> = LazyLock::new(|| Regex::new($pattern).expect("a valid pattern"));
    };
}

pattern!(SPLIT, r"[,;?!，；？！。、]|\.(?:\s|$)|\b(?:and|also|и|а|также|еще)\b|和|以及|还有|并且");
pattern!(FILE, r"[a-z0-9_./\\:-]+\.(?:png|jpe?g|webp|gif|bmp|tiff?)\b?");
pattern!(QUOTED, r#"["'`«“][^"'`«»“”]*\.(?:png|jpe?g|webp|gif|bmp|tiff?)["'`»”]"#);
pattern!(
    FEW,
    r"\b(one|two|three|four|five|six|один|два|три|четыре|пять|шесть|\d)\b(?: \S+)? (?:colou?rs|цвет)|([一两二三四五六\d])(?:种|个)"
);
pattern!(YES_NO, r"^(?:is|are|isn't)\b|\bли\b|слишком|吗|不亮|不暗|太");
pattern!(DARK, r"\bdark|т[её]мн|暗|\bblurr?|размыт|模糊|нечетк|out of focus");
pattern!(BRIGHT, r"\bbright|\blight\b|ярк|светл|亮|\bsharp|резк|清晰|\bчетк|in focus");
pattern!(TOO, r"\btoo\b|слишком|太");

// The patterns are constants; the tests compile each.
static TOPICS: LazyLock<Vec<(Topic, Regex)>> = LazyLock::new(|| {
    PATTERNS.iter().map(|(topic, pattern)| (*topic, Regex::new(pattern).expect("a valid pattern"))).collect()
});

fn topic(part: &str) -> Option<Topic> {
    TOPICS.iter().find(|(_, pattern)| pattern.is_match(part)).map(|(topic, _)| *topic)
}

/// The question in lower case, with "it" (nothing in Russian and Chinese) for names of files.
fn plain(question: &str, lang: Language) -> String {
    let it = lang.pick(" it ", " ", " ");
    let lower = question.to_lowercase().replace('ё', "е").replace("black and white", "grayscale");
    let lower = QUOTED.replace_all(&lower, it);
    let words: Vec<&str> = lower.split_whitespace().map(|word| if is_path(word) { it.trim() } else { word }).collect();
    let text = FILE.replace_all(&words.join(" "), it).into_owned();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Answers a question from measures, as a list of `{answer, score}`, best first; `None` when measures cannot answer it.
/// Two questions in one are answered in one, parted by a semicolon.
pub(super) fn answer(measures: &Measures, question: &str) -> Option<Value> {
    let lang = Language::of(question);
    let plain = plain(question, lang);
    let mut asked: Vec<(Topic, &str)> = Vec::new();
    for part in SPLIT.split(&plain).map(str::trim) {
        if let Some(topic) = topic(part)
            && asked.iter().all(|(other, _)| *other != topic)
        {
            asked.push((topic, part));
        }
    }
    if let [_, _, ..] = asked.as_slice() {
        let rows = asked.iter().map(|(topic, part)| say(*topic, part, measures, lang));
        let first = rows.map(|rows| rows.get(0).and_then(|row| row.get("answer")?.as_str().map(str::to_owned)));
        let answers: Vec<String> = first.flatten().collect();
        return Some(json!([{"answer": answers.join(lang.pick("; ", "; ", ";")), "score": 0.9}]));
    }
    let whole = plain.trim_end_matches(|end: char| end.is_whitespace() || "?!.。？！".contains(end));
    let (topic, part) = topic(whole).map(|topic| (topic, whole)).or_else(|| asked.first().copied())?;
    Some(say(topic, part, measures, lang))
}

/// "yes" or "no" before an answer, where one of two sides was asked about: `low` is dark or blurred, `high` bright or
/// sharp.
fn yes_or_no(part: &str, lang: Language, low: bool, high: bool, answer: &str) -> String {
    let wanted = match (DARK.is_match(part), BRIGHT.is_match(part)) {
        (true, false) => low,
        (false, true) => high,
        (true, true) | (false, false) => return answer.to_owned(),
    };
    // "亮不亮" asks as "亮吗" does.
    if !YES_NO.is_match(part) {
        return answer.to_owned();
    }
    let word = if wanted { lang.pick("yes", "да", "是") } else { lang.pick("no", "нет", "否") };
    format!("{word}{}{answer}", lang.pick(", ", ", ", ","))
}

/// The share of the colour that is named in a part of a question.
fn share(part: &str, measures: &Measures) -> f64 {
    let part = part.replace("gray", "grey");
    let named = |(en, ru, zh, _): &&(&str, &str, &str, &[&str])| {
        part.split(|c: char| !c.is_alphabetic()).any(|word| word == *en || word.starts_with(ru)) || part.contains(zh)
    };
    let ends = FAMILIES.iter().find(named).map_or(&[][..], |(_, _, _, ends)| *ends);
    let of_it = |name: &str| ends.iter().any(|end| name == *end || name.ends_with(&format!(" {end}")));
    measures
        .all
        .iter()
        .filter(|(colour, _)| of_it(colour.name(Language::English)))
        .fold(0.0, |sum, (_, share)| sum + share)
}

fn few(part: &str) -> Option<usize> {
    let found = FEW.captures(part)?;
    let word = found.get(1).or_else(|| found.get(2))?.as_str();
    let words = [
        ["one", "один", "一"],
        ["two", "два", "两"],
        ["three", "три", "三"],
        ["four", "четыре", "四"],
        ["five", "пять", "五"],
        ["six", "шесть", "六"],
    ];
    let named = words.iter().position(|names| names.contains(&word)).map(|at| at + 1);
    named.or_else(|| word.parse().ok()).filter(|count| *count > 0)
}

fn say(topic: Topic, part: &str, measures: &Measures, lang: Language) -> Value {
    let (width, height) = measures.size;
    let one = |answer: String, score: f64| json!([{"answer": answer, "score": score}]);
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
        Topic::Sharpness => {
            let (soft, focus) = (measures.sharpness < 60.0, measures.focus(lang));
            one(yes_or_no(part, lang, soft, !soft, focus), 0.7)
        }
        Topic::Light => {
            let (dark, bright) = if TOO.is_match(part) { (0.25, 0.85) } else { (0.4, 0.65) };
            let level = measures.brightness;
            one(yes_or_no(part, lang, level < dark, level >= bright, measures.light(lang)), 0.9)
        }
        Topic::Transparent => {
            let percent = (measures.transparent * 100.0).round();
            let some = match lang {
                Language::English => format!("yes, {percent}% of it"),
                Language::Russian => format!("да, {percent}%"),
                Language::Chinese => format!("有,占 {percent}%"),
            };
            one(if percent > 0.0 { some } else { lang.pick("no", "нет", "没有").to_owned() }, 1.0)
        }
        Topic::Share => {
            let percent = share(part, measures) * 100.0;
            let percent = if percent >= 1.0 || percent == 0.0 { format!("{percent:.0}%") } else { "<1%".to_owned() };
            let much = percent != "0%";
            one(if much { percent } else { lang.pick("none", "нет", "没有").to_owned() }, 0.9)
        }
        Topic::Average => {
            let Rgb([r, g, b]) = measures.mean;
            one(format!("{} (#{r:02x}{g:02x}{b:02x})", Colour::nearest(measures.mean).name(lang)), 0.9)
        }
        Topic::Colours => match few(part) {
            Some(count) => one(measures.commonest(count, lang), 0.9),
            None => one(measures.colour_list(lang), 0.9),
        },
        Topic::Colour => {
            let rows = measures
                .colours
                .iter()
                .map(|(colour, share)| json!({"answer": colour.name(lang), "score": (share * 1e4).round() / 1e4}));
            Value::Array(rows.collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use jarvis_testing::cases::table;

    use super::*;
    use crate::native::image::measure;

    const CASES: &str = include_str!("question/tests.json");

    #[test]
    fn questions_that_measures_answer() {
        let picture =
            image::RgbImage::from_fn(640, 480, |x, _| image::Rgb(if x < 480 { [222, 24, 28] } else { [255; 3] }));
        let measures = measure::measure(&picture.into());
        for (question, expected) in table::<(String, String)>(CASES, "measures") {
            let answer = answer(&measures, &question).unwrap_or_else(|| panic!("{question}"));
            assert_eq!(answer[0]["answer"], expected, "{question}");
        }
    }

    #[test]
    fn questions_as_people_ask_them() {
        let colours = [[222, 24, 28], [255, 255, 255], [36, 160, 44], [30, 70, 225]];
        let picture = image::RgbImage::from_fn(640, 480, |x, _| {
            image::Rgb(colours[[320, 480, 576].iter().filter(|edge| x >= **edge).count()])
        });
        let measures = measure::measure(&picture.into());
        let mut wrong = String::new();
        for (question, expected) in table::<(String, String)>(CASES, "asked") {
            let found = answer(&measures, &question);
            let found = found.as_ref().map_or("declined", |found| found[0]["answer"].as_str().unwrap_or_default());
            if found != expected {
                wrong += &format!("\n{question}: {found}, not {expected}");
            }
        }
        assert!(wrong.is_empty(), "{wrong}");
    }

    #[test]
    fn questions_about_objects_are_declined() {
        let measures = measure::measure(&image::RgbImage::new(8, 8).into());
        for question in table::<String>(CASES, "declined") {
            assert_eq!(answer(&measures, &question), None, "{question}");
        }
    }
}
