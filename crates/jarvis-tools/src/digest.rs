//! Long results of tools, made short enough for a prompt by rule, and the parts of the whole that are read later.
//!
//! Pure: a text or a value goes in; a shorter one, or some lines of it, come out. Whoever shows a result to a model shortens it
//! here: the registry, the agent loop, the stages of plans.

use std::borrow::Cow;

use serde_json::Value;

/// The longest line of a [`readable`] text, in characters, so that any line fits where a part of the text does.
const MAX_LINE: usize = 500;

/// Characters that a text inside a value keeps at least, its mark aside.
const MIN_TEXT: usize = 40;

/// Elements that a list keeps at least.
const MIN_ELEMENTS: usize = 2;

/// A list keeps one element for so many characters that a text may keep.
const CHARS_PER_ELEMENT: usize = 20;

/// Characters for the mark that says what was left out.
const MARK: usize = 60;

/// A result as a prompt shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest<'t> {
    /// The result, or what stands for it.
    pub text: Cow<'t, str>,
    /// The first line of the [`readable`] text that is left out; 1 where it is not whole lines.
    pub next_line: usize,
}

/// Shortens a result to `most` characters, which should be 100 or more. JSON keeps its shape: of long lists the first elements
/// stay, of long texts in it what would stay of them alone. Other text keeps its first lines, where tables have their head row,
/// and its last ones. Each cut says how much it left out.
pub fn digest(text: &str, most: usize) -> Digest<'_> {
    shortened(text, most, true)
}

/// As [`digest`]; texts in JSON are read as JSON themselves only where it `unpacks`: each level of it is read as often as there are
/// shapes.
fn shortened(text: &str, most: usize, unpacks: bool) -> Digest<'_> {
    if is_within(text, most) {
        return Digest { text: Cow::Borrowed(text), next_line: 1 };
    }
    let data = data(text);
    if let Some(data) = &data {
        // Lists that could not fit whatever their elements are need not be tried.
        let longest = longest(data).min(most.saturating_mul(CHARS_PER_ELEMENT)).max(MIN_TEXT);
        let compact = data.to_string();
        let shaped = match is_within(&compact, most) {
            true => compact,
            false => {
                let size = |value: &Value| value.to_string().chars().count();
                shape_from(data, longest, most, unpacks, size).0.to_string()
            }
        };
        if is_within(&shaped, most) {
            return Digest { text: Cow::Owned(shaped), next_line: 1 };
        }
    }
    let (text, next_line) = ends(text, &in_lines(text, data.as_ref()), most);
    Digest { text: Cow::Owned(text), next_line }
}

/// A value shortened until its `size` is at most `most`, and how many texts and lists of it were cut. The longest are cut first;
/// objects keep all fields, so that a value of very many may stay too large.
pub fn shape(value: &Value, most: usize, size: impl Fn(&Value) -> usize) -> (Value, usize) {
    let longest = longest(value);
    if longest <= MIN_TEXT || size(value) <= most {
        return (value.clone(), 0);
    }
    shape_from(value, longest, most, true, size)
}

/// As [`shape`], for a value that is too large where texts keep `longest` characters.
fn shape_from(
    value: &Value,
    longest: usize,
    most: usize,
    unpacks: bool,
    size: impl Fn(&Value) -> usize,
) -> (Value, usize) {
    let mut longest = longest;
    loop {
        longest = longest.div_ceil(2).max(MIN_TEXT);
        let mut cuts = 0;
        // From the whole each time: the cuts then count what is left out of it.
        let shaped = cut(value, longest, unpacks, &mut cuts);
        if longest == MIN_TEXT || size(&shaped) <= most {
            return (shaped, cuts);
        }
    }
}

/// A result in lines that can be counted, each of a length that fits into a prompt: JSON is set out, and long lines go on in the
/// next. The lines that [`digest`] says it left out are counted in this text.
pub fn readable(text: &str) -> String {
    in_lines(text, data(text).as_ref())
}

/// Lines of a [`readable`] text from `first` on, counted from 1: at most `count`, and as many as `most` characters hold. `None`
/// when there are not so many.
pub fn part(readable: &str, first: usize, count: usize, most: usize) -> Option<String> {
    let first = first.max(1);
    let all = readable.lines().count();
    if first > all {
        return None;
    }
    let lines: Vec<&str> = readable.lines().skip(first - 1).take(count.max(1)).collect();
    let kept = fitting(lines.iter().copied(), most.saturating_sub(MARK)).max(1);
    let last = first - 1 + kept;
    let more = if last < all { format!("; go on from line {}", last + 1) } else { String::new() };
    let shown: Vec<&str> = lines.into_iter().take(kept).collect();
    Some(format!("[lines {first} to {last} of {all}{more}]\n{}", shown.join("\n")))
}

fn is_within(text: &str, most: usize) -> bool {
    text.len() <= most || text.chars().nth(most).is_none()
}

/// A text as data, where it is a list or an object of JSON whose numbers survive being read.
fn data(text: &str) -> Option<Value> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    is_exact(&value).then_some(value)
}

/// Whether no whole number was so large that it was rounded.
fn is_exact(value: &Value) -> bool {
    const EXACT: f64 = (1_u64 << 53) as f64;
    match value {
        Value::Number(number) => !number.is_f64() || number.as_f64().is_some_and(|number| number.abs() < EXACT),
        Value::Array(items) => items.iter().all(is_exact),
        Value::Object(fields) => fields.values().all(is_exact),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}

/// The length from which [`cut`] would cut nothing, or more.
fn longest(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(longest).max().unwrap_or(0).max(items.len() * CHARS_PER_ELEMENT),
        Value::Object(fields) => fields.values().map(longest).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn cut(value: &Value, longest: usize, unpacks: bool, cuts: &mut usize) -> Value {
    match value {
        Value::Array(items) => {
            let keep = (longest / CHARS_PER_ELEMENT).max(MIN_ELEMENTS);
            // A mark in the place of one element saves nothing.
            if items.len() <= keep + 1 {
                return items.iter().map(|item| cut(item, longest, unpacks, cuts)).collect();
            }
            *cuts += 1;
            let mark = format!("… [{} of {} elements left out]", items.len() - keep, items.len());
            items.iter().take(keep).map(|item| cut(item, longest, unpacks, cuts)).chain([mark.into()]).collect()
        }
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), cut(value, longest, unpacks, cuts))).collect()
        }
        Value::String(text) if is_within(text, longest + MARK) => text.clone().into(),
        Value::String(text) => {
            *cuts += 1;
            match unpacks {
                true => shortened(text, longest + MARK, false).text.into_owned().into(),
                false => ends(text, &in_lines(text, None), longest + MARK).0.into(),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn in_lines(text: &str, data: Option<&Value>) -> String {
    let set_out = data.and_then(|data| serde_json::to_string_pretty(data).ok());
    let mut lines = String::new();
    for line in set_out.as_deref().unwrap_or(text).lines() {
        let mut rest = line;
        while let Some((end, _)) = rest.char_indices().nth(MAX_LINE) {
            let (window, _) = rest.split_at(end);
            let blank = window.char_indices().rev().find(|(_, c)| c.is_whitespace());
            let at = blank.map(|(at, c)| at + c.len_utf8()).filter(|at| *at > end / 2).unwrap_or(end);
            let (piece, more) = rest.split_at(at);
            lines.push_str(piece);
            lines.push('\n');
            rest = more;
        }
        lines.push_str(rest);
        lines.push('\n');
    }
    lines
}

/// How many of these lines fit into `room` characters.
fn fitting<'l>(lines: impl Iterator<Item = &'l str>, room: usize) -> usize {
    let mut spent = 0;
    lines
        .take_while(|line| {
            spent += line.chars().count() + 1;
            spent <= room + 1
        })
        .count()
}

/// The first and the last lines of a text that is longer than `most` characters, and the first line that is left out; where not even
/// the first line fits, the first and the last characters.
fn ends(text: &str, readable: &str, most: usize) -> (String, usize) {
    let lines: Vec<&str> = readable.lines().collect();
    let room = most.saturating_sub(MARK);
    let head = fitting(lines.iter().copied(), room / 3 * 2);
    if head == 0 {
        let all = text.chars().count();
        let (first, last) = (room / 3 * 2, room / 3);
        let start: String = text.chars().take(first).collect();
        let end: String = text.chars().skip(all.saturating_sub(last)).collect();
        let left_out = all.saturating_sub(first + last);
        return (format!("{start} [… {left_out} of {all} characters left out …] {}", end.trim_end()), 1);
    }
    let tail = fitting(lines.iter().skip(head).rev().copied(), room / 3);
    let from = lines.len() - tail;
    if from == head {
        // Only its line ends made it long.
        return (lines.join("\n"), 1);
    }
    let mark = format!("[… lines {} to {from} of {} left out …]", head + 1, lines.len());
    let start = lines.iter().take(head).copied();
    let kept: Vec<&str> = start.chain([mark.as_str()]).chain(lines.iter().skip(from).copied()).collect();
    (kept.join("\n"), head + 1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn table(rows: usize) -> String {
        let rows = (1..=rows).map(|row| format!("{row},item{row}\n"));
        std::iter::once("id,name\n".to_owned()).chain(rows).collect()
    }

    fn list(items: usize) -> Value {
        json!({"total": items, "results": (0..items).map(|id| json!({"id": id})).collect::<Vec<_>>()})
    }

    #[test]
    fn results_are_shortened_by_what_they_are() {
        let prose = "The quick brown fox jumps over the lazy dog.\n".repeat(100) + "The end.";
        let nested = json!({"content": list(300).to_string(), "csv": table(400)}).to_string();
        let wide: Value =
            (0..200).map(|nth| (format!("field{nth}"), json!(nth))).collect::<serde_json::Map<_, _>>().into();
        let rounded = format!("[{}]", vec!["123456789012345678901"; 90].join(","));
        let check = |text: &str, most: usize, begins: &str, holds: &str, ends: &str| {
            let shown = digest(text, most).text;
            let told = format!("{most}: {shown}");
            assert!(shown.starts_with(begins) && shown.contains(holds) && shown.ends_with(ends), "{told}");
            assert!(shown.chars().count() <= most, "{told}");
            assert_eq!(matches!(shown, Cow::Borrowed(_)), shown == text, "{told}");
        };
        for (text, most, begins, holds, ends) in [
            ("short", 5, "short", "", "short"),
            ("привет", 6, "привет", "", "привет"),
            ("", 0, "", "", ""),
            // Tables keep their head row, prose its ends.
            (
                &table(100),
                200,
                "id,name\n1,item1\n2,item2\n",
                "\n[… lines 12 to 97 of 101 left out …]\n",
                "\n99,item99\n100,item100",
            ),
            (&prose, 400, "The quick", "[… lines 6 to 98 of 101 left out …]", "dog.\nThe end."),
            (&prose.replace('\n', "\r\n"), 400, "The quick", "left out …]", "dog.\nThe end."),
            (&"x".repeat(1_000), 200, "xxx", "x [… 862 of 1000 characters left out …] x", "xxx"),
            (&"слово ".repeat(2_000), 1_000, "слово ", "[… lines 2 to 24 of 25 left out …]", "слово "),
            (&"\r\n".repeat(1_000), 1_500, "\n\n", "", "\n\n"),
            // Data stays data, with its lists cut.
            (
                &list(300).to_string(),
                200,
                "{\"total\":300,\"results\":[{\"id\":0},",
                "\"… [288 of 300 elements left out]\"",
                "]}",
            ),
            (&list(300).to_string(), 1_000, "{\"total\":300,", "[225 of 300 elements left out]", "]}"),
            (&nested, 700, "{\"content\":\"{\\\"total\\\":300,", "elements left out", "400,item400\"}"),
            (&nested, 700, "{\"content\"", ",\"csv\":\"id,name\\n1,item1\\n", "\"}"),
            (&"[1, ".repeat(100), 200, "[1, [1, ", "characters left out", "[1,"),
            // Too many fields for any cut of lists and texts: lines of it.
            (&wide.to_string(), 400, "{\n  \"field0\": 0,\n", "of 202 left out …]", "\"field199\": 199\n}"),
            // Numbers that reading would round are shown as they are written.
            (&rounded, 400, "[123456789012345678901,", "left out", "123456789012345678901]"),
        ] {
            check(text, most, begins, holds, ends);
        }
        let shown = digest(&list(300).to_string(), 400).text.into_owned();
        assert!(serde_json::from_str::<Value>(&shown).is_ok(), "{shown}");
    }

    #[test]
    fn values_are_shortened_from_the_longest_on() {
        let size = |value: &Value| value.to_string().len();
        let value = json!({"0": {"short": "stays", "long": "x".repeat(5_000), "list": vec![1; 900]}});
        let (shaped, cuts) = shape(&value, 600, size);
        assert!(cuts == 2 && size(&shaped) <= 600, "{cuts}: {shaped}");
        assert_eq!(shaped["0"]["short"], "stays");
        assert!(shaped["0"]["long"].as_str().unwrap().contains("characters left out"), "{shaped}");
        let mark = shaped["0"]["list"].as_array().unwrap().last().unwrap();
        assert!(mark.as_str().unwrap().ends_with("of 900 elements left out]"), "{mark}");
        assert_eq!(shape(&value, 10_000, size), (value, 0));
    }

    #[test]
    fn parts_are_read_by_their_lines() {
        let whole = readable(&table(100));
        for (first, count, most, expected) in [
            (1, 2, 500, Some("[lines 1 to 2 of 101; go on from line 3]\nid,name\n1,item1")),
            (0, 1, 500, Some("[lines 1 to 1 of 101; go on from line 2]\nid,name")),
            (101, 9, 500, Some("[lines 101 to 101 of 101]\n100,item100")),
            (2, 9, MARK + 15, Some("[lines 2 to 3 of 101; go on from line 4]\n1,item1\n2,item2")),
            // One line at least.
            (2, 0, 0, Some("[lines 2 to 2 of 101; go on from line 3]\n1,item1")),
            (102, 1, 500, None),
        ] {
            assert_eq!(part(&whole, first, count, most).as_deref(), expected);
        }
        for (text, lines) in [
            ("", 0),
            (r#"{"a": [1, 2]}"#, 6),
            (&"я".repeat(MAX_LINE), 1),
            (&"я".repeat(MAX_LINE + 1), 2),
            // Lines are broken between words.
            (&"word ".repeat(200), 2),
            (&"words ".repeat(200), 3),
        ] {
            let read = readable(text);
            assert_eq!(read.lines().count(), lines, "{read}");
            assert!(read.lines().all(|line| line.chars().count() <= MAX_LINE && !line.starts_with("ord")), "{read}");
        }
    }
}
