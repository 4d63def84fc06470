//! Reading text in pictures with tesseract, and finding the line that answers a question.

use std::collections::HashSet;
use std::io::Cursor;
use std::time::Duration;

use image::imageops::FilterType;
use image::{DynamicImage, ImageFormat};
use jarvis_plan::{ErrorCode, TaskError};
use unicode_segmentation::UnicodeSegmentation;

use super::super::WrittenLine;
use super::super::programs::{Call, Program, Programs};
use super::open;
use jarvis_plan::{Language, is_han, is_path};

/// Lines whose words tesseract is less sure of than this, of 100, are taken for patterns that are no text.
const SURE: f64 = 55.0;
/// A word that tesseract is surer of than this is read rightly more often than not.
const LEGIBLE: f64 = 70.0;
/// Where most of what was found is not legible, a word counts only when tesseract is as sure of it as of print.
const PRINT: f64 = 88.0;
/// The most that tesseract may write.
const MOST_BYTES: usize = 16 << 20;
const TIMEOUT: Duration = Duration::from_secs(120);

/// A line of text, and how sure its reader is of its words on average, 0 to 100.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) sure: f64,
    /// Whether a new paragraph begins here.
    pub(super) begins: bool,
}

/// The picture as tesseract reads it best: grey, letters neither tiny nor huge.
pub(super) fn prepare(picture: &DynamicImage) -> Result<Vec<u8>, TaskError> {
    let mut grey = DynamicImage::ImageRgb8(open::flatten(open::reduced(picture, 3500))).grayscale();
    if grey.width().max(grey.height()) < 1000 {
        grey = grey.resize_exact(grey.width() * 2, grey.height() * 2, FilterType::CatmullRom);
    }
    let mut bytes = Cursor::new(Vec::new());
    grey.write_to(&mut bytes, ImageFormat::Png)
        .map_err(|cause| TaskError::new(ErrorCode::Internal, format!("cannot encode the picture: {cause}")))?;
    Ok(bytes.into_inner())
}

/// The most readings of one picture.
const READINGS: usize = 3;
/// Surer than this on average, a reading is right, and no other language is tried.
const SETTLED: f64 = 88.0;

/// The installed languages to read with, one reading each, and the one that is missing for a request in this language. The language
/// of a request need not be that of the picture: each script is read for itself, the likeliest first.
pub(super) fn languages(installed: &[String], lang: Language) -> (Vec<String>, Option<&'static str>) {
    let has = |name: &str| installed.iter().any(|language| language == name);
    let (wanted, package) = match lang {
        Language::English => ("eng", "tesseract-ocr-eng"),
        Language::Russian => ("rus", "tesseract-ocr-rus"),
        Language::Chinese => ("chi_sim", "tesseract-ocr-chi-sim"),
    };
    let mut used: Vec<String> = Vec::new();
    for name in ["eng", wanted, "rus", "chi_sim"].into_iter().filter(|name| has(name)) {
        // Latin words stand in texts of every script.
        let name = if name != "eng" && has("eng") { format!("{name}+eng") } else { name.to_owned() };
        if !used.contains(&name) {
            used.push(name);
        }
    }
    if used.is_empty() {
        // Page layout and equations are no languages.
        used.extend(installed.iter().find(|name| !["osd", "equ"].contains(&name.as_str())).cloned());
    }
    used.truncate(READINGS);
    let missing = (!has(wanted)).then_some(package);
    (used, missing)
}

/// The reading of a picture that tesseract is surest of.
pub(super) async fn read(programs: &Programs, png: &[u8], languages: &[String]) -> Result<Vec<Line>, TaskError> {
    let mut best: Option<(f64, Vec<Line>)> = None;
    for language in languages {
        let args = ["stdin", "stdout", "-l", language, "--psm", "3", "tsv"];
        let call = Call { args: &args, stdin: png, limit: MOST_BYTES, timeout: TIMEOUT };
        let tsv = programs.run(Program::Tesseract, call).await?;
        let tsv = String::from_utf8_lossy(&tsv);
        let lines = lines(&tsv);
        let sure = if lines.is_empty() { 0.0 } else { confidence(&tsv) };
        if best.as_ref().is_none_or(|(known, _)| *known < sure) {
            best = Some((sure, lines));
        }
        if sure >= SETTLED {
            break;
        }
    }
    Ok(best.map(|(_, lines)| lines).unwrap_or_default())
}

/// How sure tesseract is of all that it found, by letter, 0 to 100; what was left out as noise counts too.
fn confidence(tsv: &str) -> f64 {
    let (mut weight, mut sum) = (0.0, 0.0);
    for row in tsv.lines() {
        let fields: Vec<&str> = row.split('\t').collect();
        let ["5", .., sure, text] = fields[..] else { continue };
        let count = letters(text) as f64;
        if let Ok(sure) = sure.parse::<f64>() {
            weight += count;
            sum += count * sure;
        }
    }
    sum / f64::max(weight, 1.0)
}

/// A word of tesseract's table, and how sure it is of it, 0 to 100.
type Word = (String, f64);

/// The letters and digits of a word.
fn letters(word: &str) -> usize {
    word.chars().filter(|ch| ch.is_alphanumeric()).count()
}

/// A word that says something: mostly letters or digits, two at least; one will do where each is a word.
fn is_word((word, _): &Word) -> bool {
    let letters = letters(word);
    let enough = letters >= 2 || word.chars().any(is_han);
    enough && letters * 2 >= word.chars().filter(|ch| !ch.is_whitespace()).count()
}

/// Whether a page holds writing: in a photograph tesseract finds letters in leaves and bricks, a few of them with some
/// confidence. Writing is legible for the greater part, or stands out from the noise as print does.
fn is_writing<'a>(words: impl Iterator<Item = &'a Word> + Clone) -> bool {
    let all: usize = words.clone().map(|(word, _)| letters(word)).sum();
    let above = |least: f64| words.clone().filter(move |word| word.1 >= least && is_word(word));
    let legible: usize = above(LEGIBLE).map(|(word, _)| letters(word)).sum();
    let print = above(PRINT).map(|(word, _)| if word.contains(is_han) { 4 } else { letters(word) });
    let (print, longest) = print.fold((0, 0), |(sum, longest), letters| (sum + letters, longest.max(letters)));
    match legible * 2 >= all {
        true => legible > 0,
        false => longest >= 4 || print >= 8,
    }
}

/// The lines of tesseract's table that look like text.
pub(super) fn lines(tsv: &str) -> Vec<Line> {
    struct Words {
        paragraph: (u32, u32),
        line: u32,
        words: Vec<Word>,
    }
    let mut rows: Vec<Words> = Vec::new();
    for row in tsv.lines() {
        let fields: Vec<&str> = row.split('\t').collect();
        let [level, _page, block, paragraph, line, _word, _left, _top, _width, _height, sure, text] = fields[..] else {
            continue;
        };
        let (Ok(5), Ok(block), Ok(paragraph), Ok(line), Ok(sure)) =
            (level.parse::<u32>(), block.parse(), paragraph.parse(), line.parse(), sure.parse::<f64>())
        else {
            continue;
        };
        if text.trim().is_empty() {
            continue;
        }
        let paragraph = (block, paragraph);
        match rows.last_mut() {
            Some(last) if last.paragraph == paragraph && last.line == line => last.words.push((text.to_owned(), sure)),
            _ => rows.push(Words { paragraph, line, words: vec![(text.to_owned(), sure)] }),
        }
    }
    if !is_writing(rows.iter().flat_map(|row| &row.words)) {
        return Vec::new();
    }
    let mut lines = Vec::new();
    let mut last = None;
    for Words { paragraph, words, .. } in rows {
        let weight: f64 = words.iter().map(|(text, _)| letters(text) as f64).sum();
        let sure = words.iter().map(|(text, sure)| letters(text) as f64 * sure).sum::<f64>() / weight.max(1.0);
        let says = words.iter().any(|word| is_word(word) && word.1 >= LEGIBLE);
        if weight < 2.0 || sure < SURE || !says {
            continue;
        }
        let mut text = String::new();
        for (word, _) in &words {
            // Chinese is written without blanks; tesseract puts them between signs.
            let joins =
                |ch: Option<char>| ch.is_some_and(|ch| matches!(ch, '\u{2e80}'..='\u{9fff}' | '\u{ff00}'..='\u{ffef}'));
            let joined = text.is_empty() || (joins(text.chars().last()) && joins(word.chars().next()));
            if !joined {
                text.push(' ');
            }
            text.push_str(word);
        }
        lines.push(Line { text, sure, begins: last.is_some_and(|last| last != paragraph) });
        last = Some(paragraph);
    }
    lines
}

/// What a model read as such lines: what stands side by side is one line, from left to right. A paragraph begins below an empty
/// space as high as the line before.
pub(super) fn of_model(mut read: Vec<WrittenLine>) -> Vec<Line> {
    read.retain(|part| !part.text.trim().is_empty());
    // A lone sign is more often a window or a wheel than writing.
    if read.iter().map(|part| letters(&part.text)).sum::<usize>() < 2
        && !read.iter().any(|part| part.text.contains(is_han))
    {
        return Vec::new();
    }
    let mut rows: Vec<Vec<WrittenLine>> = Vec::new();
    for part in read {
        let is_beside = |row: &Vec<WrittenLine>| {
            row.last().is_some_and(|last| {
                let shared = last.bottom.min(part.bottom) - last.top.max(part.top);
                shared * 2.0 > (last.bottom - last.top).min(part.bottom - part.top)
            })
        };
        match rows.last_mut().filter(|row| is_beside(row)) {
            Some(row) => row.push(part),
            None => rows.push(vec![part]),
        }
    }
    let mut lines = Vec::with_capacity(rows.len());
    let mut last: Option<(f32, f32)> = None;
    for mut row in rows {
        row.sort_by(|one, other| one.left.total_cmp(&other.left));
        let top = row.iter().map(|part| part.top).fold(f32::INFINITY, f32::min);
        let bottom = row.iter().map(|part| part.bottom).fold(f32::NEG_INFINITY, f32::max);
        let begins = last.is_some_and(|(above, below)| top - below > below - above);
        let sure = row.iter().map(|part| f64::from(part.sure)).sum::<f64>() / row.len() as f64 * 100.0;
        let texts: Vec<&str> = row.iter().map(|part| part.text.trim()).collect();
        lines.push(Line { text: texts.join(" "), sure, begins });
        last = Some((top, bottom));
    }
    lines
}

/// The lines as one text, an empty line between paragraphs.
pub(super) fn join(lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines {
        if !text.is_empty() {
            text.push_str(if line.begins { "\n\n" } else { "\n" });
        }
        text.push_str(&line.text);
    }
    text
}

/// Lines that share words with the question, best first: the answer and a score from 0 to 1. Where a line is a label
/// and a value (`Total: 42`), the value is the answer; where it is only a label, the next line is.
pub(super) fn answers(lines: &[Line], question: &str) -> Vec<(String, f64)> {
    let asked = terms(question);
    if asked.is_empty() {
        return Vec::new();
    }
    let lower = question.to_lowercase();
    let number = [
        "how much",
        "how many",
        "number",
        "when",
        "date",
        "total",
        "amount",
        "price",
        "сколько",
        "номер",
        "когда",
        "дата",
        "сумма",
        "多少",
        "几",
        "号码",
        "日期",
        "金额",
        "时间",
    ]
    .iter()
    .any(|word| lower.contains(word));
    let mut found = Vec::new();
    for (nth, line) in lines.iter().enumerate() {
        let present = terms(&line.text);
        let shared = asked.iter().filter(|term| present.iter().any(|word| alike(term, word))).count();
        if shared == 0 {
            continue;
        }
        let label = line.text.split_once([':', '：']).filter(|(label, value)| {
            !value.trim().is_empty() && terms(label).iter().any(|word| asked.iter().any(|term| alike(term, word)))
        });
        let only_label = present.len() == shared || line.text.trim_end().ends_with([':', '：']);
        let next = lines.get(nth + 1).filter(|_| only_label && label.is_none());
        let answer = match (label, next) {
            (Some((_, value)), _) => value.trim(),
            (None, Some(next)) => next.text.as_str(),
            (None, None) => line.text.as_str(),
        };
        let overlap = shared as f64 / asked.len() as f64;
        let digits = answer.chars().any(|ch| ch.is_ascii_digit());
        let fitting = if number && !digits { 0.6 } else { 1.0 };
        // Of lines that share as much, the one that says little else is the better answer.
        let focus = 0.8 + 0.2 * shared as f64 / present.len().max(1) as f64;
        let score = overlap * fitting * focus * (line.sure / 100.0).clamp(0.0, 1.0);
        found.push((answer.to_owned(), (score * 1e3).round() / 1e3));
    }
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    found.truncate(3);
    found
}

/// Words that carry meaning, lower case; Chinese as pairs of signs.
fn terms(text: &str) -> Vec<String> {
    const COMMON: &[&str] = &[
        "a",
        "an",
        "the",
        "is",
        "are",
        "was",
        "were",
        "what",
        "which",
        "who",
        "whom",
        "where",
        "when",
        "why",
        "how",
        "of",
        "in",
        "on",
        "at",
        "to",
        "for",
        "by",
        "and",
        "or",
        "this",
        "that",
        "these",
        "those",
        "does",
        "do",
        "did",
        "it",
        "its",
        "there",
        "please",
        "tell",
        "me",
        "document",
        "picture",
        "image",
        "much",
        "many",
        "be",
        "with",
        "from",
        "as",
        "что",
        "какой",
        "какая",
        "какое",
        "какие",
        "каков",
        "какова",
        "кто",
        "где",
        "когда",
        "сколько",
        "в",
        "на",
        "и",
        "из",
        "по",
        "с",
        "у",
        "это",
        "этот",
        "эта",
        "этом",
        "документе",
        "картинке",
        "указан",
        "указана",
        "указано",
        "написано",
    ];
    let mut terms = Vec::new();
    let mut seen = HashSet::new();
    let mut previous: Option<char> = None;
    for word in text.split_whitespace().filter(|word| !is_path(word)).flat_map(UnicodeSegmentation::unicode_words) {
        let word = word.to_lowercase();
        let mut signs = word.chars();
        let term = match (signs.next(), signs.next()) {
            (Some(sign), None) if matches!(sign, '\u{3400}'..='\u{9fff}') => {
                let pair = previous.map(|before| format!("{before}{sign}"));
                previous = Some(sign);
                pair.filter(|pair| !["什么", "多少", "是什", "哪里", "图中", "的是", "这个"].contains(&pair.as_str()))
            }
            _ => {
                previous = None;
                (!COMMON.contains(&word.as_str())).then_some(word)
            }
        };
        if let Some(term) = term
            && seen.insert(term.clone())
        {
            terms.push(term);
        }
    }
    terms
}

/// Equal, or long words with the same beginning: `invoice` and `invoices`, `сумма` and `сумму`.
fn alike(a: &str, b: &str) -> bool {
    let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let (short, long) = (a.chars().count().min(b.chars().count()), a.chars().count().max(b.chars().count()));
    a == b || (common >= 4 && common + 2 >= short && long - common <= 3)
}
