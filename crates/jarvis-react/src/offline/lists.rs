//! Questions about lists of items, and about how often a word occurs.

use std::collections::HashSet;

use jarvis_tables::question::{Figure, Op};
use jarvis_tools::local::Counts;
use serde_json::{Value, json};

use super::{Move, Step};

/// The marks that part the items of a list, but for line breaks.
const MARKS: [char; 5] = [',', '，', '、', ';', '；'];

impl Step<'_> {
    /// How often the words of the question that ask for nothing occur in the document; quoted ones first.
    pub(super) fn times(&self) -> Result<Option<String>, Move> {
        let raw = self.question.raw.as_str();
        let quoted = raw.split_once(['"', '“', '«', '「', '『', '‘']).and_then(|(_, rest)| {
            let (quoted, _) = rest.split_once(['"', '”', '»', '」', '』', '’'])?;
            Some(quoted.trim()).filter(|quoted| !quoted.is_empty())
        });
        let unknown = || self.question.unknown(&[], &[]).map(|range| self.question.part(range));
        let Some(of) = quoted.or_else(unknown) else { return Ok(None) };
        let counted = self.result("count", || self.text("count_next", &[]), json!({"of": of}))?;
        let count = number(counted, "in_text").max(number(counted, "count")).ok_or_else(|| self.unreadable(counted))?;
        let times = self.messages.counted("time", count, &[]);
        Ok(Some(self.text("occurs", &[of, &times])))
    }

    pub(super) fn list(&self, list: &str) -> Result<Option<String>, Move> {
        let intent = self.intent;
        let is_total = intent.op == Op::Figure(Figure::Sum) || intent.says_sum;
        let is_count = is_total
            || matches!(
                intent.op,
                Op::Count | Op::Kinds | Op::Frequent { .. } | Op::Figure(Figure::Most | Figure::Least)
            );
        if !is_count && intent.chart.is_none() {
            return Ok(None);
        }
        // Of a list only its frequencies are known: nothing in it is the largest or the dearest.
        if matches!(intent.op, Op::Figure(Figure::Most | Figure::Least)) {
            if let Some(degree) = &intent.degree {
                return Err(self.refuse("unknown_word", &[self.question.part(degree.clone())]));
            }
            if intent.top.is_some() || intent.rank.is_some() {
                return Err(self.refuse("too_complex", &[]));
            }
        }
        let counts = Counts::of_text(list, None);
        let kinds = || counts.kinds.iter().map(|(kind, _)| kind.as_str());
        let named = kinds()
            .find(|kind| intent.op == Op::Count && intent.chart.is_none() && self.question.mentions(kind) == 1.0);
        let unknown = self.question.unknown(&intent.used, named.as_slice()).map(|range| self.question.part(range));
        if let Some(word) = unknown.filter(|_| is_total || matches!(intent.op, Op::Figure(_))) {
            return Err(self.refuse("unknown_word", &[word]));
        }
        let is_whole = list.len() == self.document.trim().len();
        let input = if is_whole { json!({}) } else { json!({"text": list}) };
        if let Some(of) = named.filter(|_| !is_total) {
            if let Some(word) = unknown {
                return Err(self.refuse("unknown_word", &[word]));
            }
            let input = if is_whole { json!({"of": of}) } else { json!({"text": list, "of": of}) };
            let counted = self.result("count", || self.text("count_next", &[]), input)?;
            let count = number(counted, "count").ok_or_else(|| self.unreadable(counted))?;
            return Ok(Some(self.text("amount_of", &[of, &count.to_string()])));
        }
        let counted = self.result("count", || self.text("count_next", &[]), input)?;
        let mut text = self.counts(counted)?;
        if let Some(word) = unknown.filter(|_| intent.op == Op::Count) {
            text += &self.text("not_in_list", &[word]);
        }
        if let Some(kind) = intent.chart {
            let (x, y): (Vec<&str>, Vec<usize>) = rows(counted).into_iter().unzip();
            let (title, axis) = (self.text("title_of_counts", &[]), self.text("count_axis", &[]));
            text += &self.chart(json!({"x": x, "y": y, "title": title, "y_label": axis, "kind": kind}))?;
        }
        Ok(Some(text))
    }

    /// The refusal after a result of `count` that has no numbers.
    fn unreadable(&self, counted: &Value) -> Move {
        self.refuse("failed", &[&counted.to_string()])
    }

    /// The counts of all items, or of the most or least frequent ones where those are asked for.
    fn counts(&self, counted: &Value) -> Result<String, Move> {
        let rows = rows(counted);
        let most = match self.intent.op {
            Op::Frequent { most } => Some(most),
            Op::Figure(Figure::Most | Figure::Least) => self.intent.most,
            _ => None,
        };
        let counts = rows.iter().map(|row| row.1);
        let best = most.and_then(|most| if most { counts.max() } else { counts.min() });
        let (Some(most), Some(best)) = (most, best) else {
            let shown: Vec<(&str, String)> = rows.iter().map(|(item, count)| (*item, count.to_string())).collect();
            let pairs = self.pairs(shown.iter().map(|(item, count)| (*item, count.as_str())));
            let total = number(counted, "total").ok_or_else(|| self.unreadable(counted))?;
            return Ok(self.messages.counted("kinds", rows.len(), &[&total.to_string(), &pairs]));
        };
        let names: Vec<&str> = rows.iter().filter(|row| row.1 == best).map(|row| row.0).collect();
        let message = if most { "most_frequent" } else { "least_frequent" };
        Ok(self.text(message, &[&self.names(&names), &self.messages.counted("time", best, &[])]))
    }
}

/// The part of a document that is a list: short items between marks, behind a heading if there is one.
pub(super) fn list_of(document: &str) -> Option<&str> {
    if document.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let text = document.trim();
    let text = match text.split_once(['\n', ':', '：']) {
        Some((head, rest)) if !head.contains(MARKS) && rest.contains(MARKS) => rest.trim(),
        Some(_) | None => text,
    };
    let parts =
        text.split(|c| MARKS.contains(&c) || "\n|\t".contains(c)).map(str::trim).filter(|part| !part.is_empty());
    let (count, chars) = parts.fold((0, 0), |(count, chars), part| (count + 1, chars + part.chars().count()));
    let ends = text.matches(['.', '。', '!', '?', '！', '？']).count();
    if count > 1 {
        return (chars <= 24 * count && ends * 4 <= count).then_some(text);
    }
    // Words between blanks are a list where some repeat.
    let words: Vec<&str> = text.split_whitespace().collect();
    let kinds: HashSet<&&str> = words.iter().collect();
    (words.len() > 2 && ends == 0 && kinds.len() * 4 <= words.len() * 3).then_some(text)
}

/// The items that `count` found, most frequent first.
fn rows(counted: &Value) -> Vec<(&str, usize)> {
    let rows = counted.get("counts").and_then(Value::as_array).into_iter().flatten();
    rows.filter_map(|row| Some((row.get("item")?.as_str()?, number(row, "count")?))).collect()
}

/// A number of a result of `count`; a result of another shape has none.
fn number(counted: &Value, key: &str) -> Option<usize> {
    counted.get(key).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok())
}
