//! Questions about pictures that measures can answer, in three languages. All others are declined.

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::words::Colour;
use super::measure::{Measures, hex};
use jarvis_plan::{Language, is_path, pattern};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
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
    /// The exact colour of a corner pixel.
    Corner,
    /// Colours as `#rrggbb`.
    Hex,
    Colours,
    Colour,
}

const DATA: &str = include_str!("../../../data/image_questions.tsv");

macro_rules! pattern {
    ($name:ident, $pattern:expr) => {
        // The pattern is a constant; the tests compile it.
        static $name: LazyLock<Regex> = LazyLock::new(|| pattern($pattern));
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
pattern!(
    BYTES,
    r"\bfile ?size\b|\bsize of the file\b|how many (?:kb|mb|kilobytes|megabytes|bytes)|сколько (?:кб|мб|килобайт|мегабайт|байт|весит)|размер файла|вес файла|文件大小|多少(?:kb|mb|字节)"
);
pattern!(
    FORMAT,
    r"\b(?:what|which)\b.*\b(?:format|file ?type|type of file|kind of file)\b|како\S+ формат|формат файла|什么格式|哪种格式"
);
pattern!(
    ASKS,
    r"\b(?:what|which|who|whom|whose|where|when|why|how)\b|^(?:is|are|does|do|did|has|have|can)\b|\b(?:что|кто|где|куда|когда|почему|зачем|сколько|как|како\w+|чей)\b|什么|谁|哪|为什么|几[个只]|多少"
);
pattern!(RIGHT, r"\bright\b|прав|右");
pattern!(LOW, r"\b(?:bottom|lower)\b|нижн|下");
pattern!(MEAN, r"\b(?:average|mean)\b|средн|平均");
pattern!(TOO, r"\btoo\b|слишком|太");

// The patterns are constants; the tests compile each.
static TOPICS: LazyLock<Vec<(Topic, Regex)>> = LazyLock::new(|| {
    let rows = DATA.lines().filter_map(|line| line.split_once('\t')).filter(|(name, _)| *name != "family");
    let topic = |name: &str| serde_json::from_value(name.into()).expect("a topic");
    rows.map(|(name, asks)| (topic(name), pattern(asks))).collect()
});

/// Whether a question is which format the picture's file has.
pub(super) fn asks_format(question: &str) -> bool {
    FORMAT.is_match(&question.to_lowercase())
}

/// Whether a question is how many bytes the picture's file has.
pub(super) fn asks_bytes(question: &str) -> bool {
    BYTES.is_match(&question.to_lowercase())
}

/// The parts of a question that ask something and that nothing answers, where it has several parts.
pub(super) fn unanswered(question: &str, is_answered: impl Fn(&str) -> bool) -> Vec<String> {
    let plain = plain(question, Language::of(question));
    let parts: Vec<&str> = SPLIT.split(&plain).map(str::trim).filter(|part| !part.is_empty()).collect();
    let asks = |part: &&&str| ASKS.is_match(part) && topic(part).is_none() && !is_answered(part);
    match parts.as_slice() {
        [_, _, ..] => parts.iter().filter(asks).map(|part| (*part).to_owned()).collect(),
        _ => Vec::new(),
    }
}

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
    let text = text.replace("现在", "");
    text.split_whitespace()
        .filter(|word| !matches!(*word, "now" | "now?" | "теперь" | "сейчас"))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Whether a question has parts that measures may answer.
pub(super) fn has_parts(question: &str) -> bool {
    let plain = plain(question, Language::of(question));
    SPLIT.split(&plain).any(|part| topic(part.trim()).is_some())
}

/// Answers the parts of a question that measures can answer, one by one.
pub(super) fn answer_parts(measures: &Measures, question: &str) -> Option<Value> {
    let lang = Language::of(question);
    let plain = plain(question, lang);
    let parts = SPLIT.split(&plain).map(str::trim);
    let rows = parts.filter_map(|part| topic(part).map(|topic| say(topic, part, measures, lang)));
    let answers: Vec<String> =
        rows.filter_map(|rows| rows.get(0).and_then(|row| row.get("answer")?.as_str().map(str::to_owned))).collect();
    (!answers.is_empty()).then(|| json!([{"answer": answers.join(lang.pick("; ", "; ", "；")), "score": 0.9}]))
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
    let families = DATA.lines().filter_map(|line| line.strip_prefix("family\t"));
    let ends = families.map(|row| row.split('\t').collect::<Vec<_>>()).find_map(|row| {
        let [en, ru, zh, ends] = row[..].try_into().expect("a family has four fields");
        let words = || part.split(|c: char| !c.is_alphabetic());
        (words().any(|word| word == en || word.starts_with(ru)) || part.contains(zh)).then_some(ends)
    });
    let ends: Vec<&str> = ends.unwrap_or_default().split_terminator(',').collect();
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
    let mut words = "one один 一|two два 两|three три 三|four четыре 四|five пять 五|six шесть 六".split('|');
    let named = words.position(|names| names.split(' ').any(|name| name == word)).map(|at| at + 1);
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
        Topic::Average => one(format!("{} ({})", Colour::nearest(measures.mean).name(lang), hex(measures.mean)), 0.9),
        Topic::Corner => {
            let nth = usize::from(RIGHT.is_match(part)) + 2 * usize::from(LOW.is_match(part));
            let colour = measures.corners.get(nth).copied().unwrap_or(measures.mean);
            one(format!("{} ({})", hex(colour), Colour::nearest(colour).name(lang)), 1.0)
        }
        Topic::Hex if MEAN.is_match(part) => one(measures.mean_hex(lang), 0.9),
        Topic::Hex => one(measures.hex(lang), 0.9),
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
    use jarvis_testing::rows;

    use super::*;
    use crate::native::image::measure;

    const CASES: &str = include_str!("question/tests.json");

    #[test]
    fn questions_that_measures_answer() {
        let picture =
            image::RgbImage::from_fn(640, 480, |x, _| image::Rgb(if x < 480 { [222, 24, 28] } else { [255; 3] }));
        let measures = measure::measure(&picture.into());
        for (question, expected) in rows::<(String, String)>(CASES, "measures") {
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
        for (question, expected) in rows::<(String, String)>(CASES, "asked") {
            let found = answer(&measures, &question);
            let found = found.as_ref().map_or("declined", |found| found[0]["answer"].as_str().unwrap_or_default());
            if found != expected {
                wrong += &format!("\n{question}: {found}, not {expected}");
            }
        }
        assert!(wrong.is_empty(), "{wrong}");
    }

    #[test]
    fn what_of_a_question_is_not_answered_is_told() {
        let left = |question: &str| unanswered(question, |_| false);
        assert_eq!(left("what is the size and who painted it?"), ["who painted it"]);
        assert_eq!(left("какой размер и кто это рисовал?"), ["кто это рисовал"]);
        assert!(
            left("what is the size, and how bright is it?").is_empty() && left("how wide is it, please?").is_empty()
        );
        let measures = measure::measure(&image::RgbImage::new(8, 6).into());
        let parts = answer_parts(&measures, "and is it dark?").unwrap();
        assert!(parts[0]["answer"].as_str().unwrap().starts_with("yes"), "{parts}");
        assert!(has_parts("is it dark?") && !has_parts("please"));
    }

    #[test]
    fn questions_about_objects_are_declined() {
        let measures = measure::measure(&image::RgbImage::new(8, 8).into());
        for question in rows::<String>(CASES, "declined") {
            assert_eq!(answer(&measures, &question), None, "{question}");
        }
    }
}
