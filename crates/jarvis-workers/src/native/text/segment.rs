//! Cuts texts into sentences and terms: Unicode rules, abbreviations, wrapped lines; stems, and pairs of characters for
//! Chinese.

use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

use super::language::{is_function_word, is_joint, is_kana};
use jarvis_plan::{is_cyrillic, is_han};

/// Words that end in a full stop without ending a sentence.
const ABBREVIATIONS: &str = "mr mrs ms dr prof st sr jr vs e.g i.e no fig vol gen col lt sgt rev hon approx dept \
    jan feb mar apr jun jul aug sep sept oct nov dec г ул им проф рис стр т.е т.к др пр чел акад доц обл р-н см ср напр";

/// Sentences beyond this many characters are cut where they allow it.
const LONG: usize = 400;

/// The sentences of a text as byte ranges, without the blanks around them. A sentence may hold a line break where the
/// text was wrapped. Text without punctuation is cut into pieces of some forty words.
pub(super) fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for (start, piece) in text.split_sentence_bound_indices() {
        let range = start..start + piece.len();
        match joined.last_mut() {
            Some(last) if goes_on(text.get(last.clone()).expect("joined pieces lie in the text"), piece) => {
                last.end = range.end
            }
            _ => joined.push(range),
        }
    }
    let mut found = Vec::with_capacity(joined.len());
    for range in joined {
        let range = trimmed(text, range);
        if range.is_empty() {
            continue;
        }
        cut(text, range, &mut found);
    }
    found
}

/// Whether `next` belongs to the sentence that `before` began.
fn goes_on(before: &str, next: &str) -> bool {
    let wrapped = before.ends_with(['\n', '\r']);
    let body = before.trim_end();
    let Some(first) = next.trim_start().chars().next() else { return !wrapped };
    if body.is_empty() {
        return false;
    }
    if let Some(body) = body.strip_suffix('.') {
        let mut words = body.rsplit(|letter: char| letter.is_whitespace() || "(«\"".contains(letter));
        let word = words.next().filter(|word| word.len() < 24).unwrap_or_default().to_lowercase();
        let is_initial = word.chars().count() == 1 && body.ends_with(char::is_uppercase);
        // `1990 г.` may end a sentence, `в г. Казань` does not.
        let is_year = word == "г" && words.next().is_some_and(|before| before.ends_with(|c: char| c.is_ascii_digit()));
        return is_initial || (!is_year && ABBREVIATIONS.split_whitespace().any(|known| known == word));
    }
    let open = !body.ends_with(['!', '?', '…', '。', '！', '？', ':', '：', ';', '；', '"', '”', '»', '」']);
    // A wrapped line: no end of a sentence, then a small letter, or a line too long to be a heading.
    let gap = before.get(body.len()..).expect("the body is the start of what stands before");
    wrapped
        && open
        && gap.matches('\n').count() == 1
        && (first.is_lowercase()
            || (first.is_alphanumeric() && body.lines().next_back().is_some_and(|line| line.chars().count() >= 50)))
}

/// A line with more words than this is no heading.
const HEADING: usize = 12;

/// Whether a sentence is a heading: a line of few words without an end, apart from what stands around it, or a word or two
/// behind a number ("1. Budget.").
pub(super) fn is_heading(text: &str, range: &Range<usize>) -> bool {
    let sentence = text.get(range.clone()).unwrap_or_default();
    let before = text.get(..range.start).unwrap_or_default();
    let after = text.get(range.end..).unwrap_or_default();
    let words = sentence.unicode_words().count();
    if words == 0 {
        return true;
    }
    let number = before.trim_end().rsplit(char::is_whitespace).next().unwrap_or_default();
    let is_number = number.strip_suffix(['.', ')']).is_some_and(|number| number.parse::<u16>().is_ok());
    let lead = before.trim_end().strip_suffix(number).unwrap_or_default();
    let opens = lead.ends_with('\n') || lead.trim_end().is_empty() || lead.trim_end().ends_with(['.', '!', '?']);
    if is_number && opens && words <= 3 {
        return true;
    }
    let line_before = before.rsplit('\n').next().unwrap_or_default();
    let is_open =
        !sentence.ends_with(['.', '!', '?', '…', '。', '！', '？', '"', '”', '»', '」', ';', '；', ')', '）']);
    let starts = line_before.trim().is_empty();
    let ends = after.split('\n').next().is_some_and(|line| line.trim().is_empty());
    // The first line of all may stand close to the text; any other stands alone.
    let is_first = before.trim().is_empty();
    let is_alone = before.trim_end_matches([' ', '\t']).ends_with("\n\n") || is_first;
    let gap = after.trim_start_matches([' ', '\t', '\r']);
    let is_apart = gap.starts_with("\n\n") || gap.starts_with("\n\r\n") || (is_first && gap.starts_with('\n'));
    // "Total due 246.00 GBP" tells an amount.
    let is_amount = sentence.split_whitespace().any(|word| {
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        word.rsplit_once(['.', ','])
            .is_some_and(|(whole, cents)| cents.len() == 2 && digits(cents) && whole.split([',', '.', ' ']).all(digits))
    });
    let is_item = sentence.starts_with(['-', '*', '•']) || is_amount;
    let is_marked = sentence.starts_with('#');
    // "Absent: Ann" tells something, and only a title may have a colon.
    let is_line = !sentence.contains('\n') && (is_first || !sentence.contains([':', '：']));
    is_open && is_line && starts && ends && !is_item && words <= HEADING && (is_marked || (is_alone && is_apart))
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let piece = text.get(range.clone()).expect("the range is a piece of the text");
    let start = range.start + (piece.len() - piece.trim_start().len());
    start..start + piece.trim().len()
}

/// Cuts a sentence that is too long at commas, else at blanks, else anywhere.
fn cut(text: &str, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let sentence = text.get(range.clone()).expect("the range is a piece of the text");
    if sentence.chars().nth(LONG).is_none() {
        found.push(range);
        return;
    }
    let mut start = range.start;
    let mut length = 0;
    for (at, letter) in sentence.char_indices() {
        length += 1;
        let soft =
            (length >= LONG / 2 && ",;，；、".contains(letter)) || (length >= LONG * 3 / 5 && letter.is_whitespace());
        if soft || length >= LONG {
            let end = range.start + at + letter.len_utf8();
            push_trimmed(text, start..end, found);
            start = end;
            length = 0;
        }
    }
    push_trimmed(text, start..range.end, found);
}

fn push_trimmed(text: &str, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let range = trimmed(text, range);
    if !range.is_empty() {
        found.push(range);
    }
}

/// A term of a text: a stemmed word, or two neighbouring Chinese characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    pub(super) stem: String,
    pub(super) range: Range<usize>,
    /// True for words that say little by themselves.
    pub(super) is_function: bool,
}

pub(super) fn terms(text: &str, language: &str) -> Vec<Term> {
    let stemmers = Stemmers::new(language);
    let mut found = Vec::new();
    // The character before, while a run of Chinese characters lasts, and whether it is in a pair already.
    let mut previous: Option<(Range<usize>, char, bool)> = None;
    for (at, word) in text.unicode_word_indices() {
        let range = at..at + word.len();
        let mut letters = word.chars();
        let ideograph = match (letters.next(), letters.next()) {
            (Some(letter), None) if is_han(letter) || is_kana(letter) => Some(letter),
            _ => None,
        };
        let neighbour = previous.take();
        if let Some((before, letter, false)) = &neighbour
            && (ideograph.is_none() || before.end != range.start)
        {
            found.push(Term { stem: letter.to_string(), range: before.clone(), is_function: is_joint(*letter) });
        }
        let Some(letter) = ideograph else {
            found.push(stemmers.term(word, range));
            continue;
        };
        let mut paired = false;
        if let Some((before, first, _)) = neighbour
            && before.end == range.start
        {
            paired = true;
            let is_function = is_joint(first) || is_joint(letter);
            found.push(Term { stem: format!("{first}{letter}"), range: before.start..range.end, is_function });
        }
        previous = Some((range, letter, paired));
    }
    if let Some((range, letter, false)) = previous {
        found.push(Term { stem: letter.to_string(), range, is_function: is_joint(letter) });
    }
    found
}

/// Stemmers by script; the language decides among those for Latin letters.
pub(super) struct Stemmers {
    latin: Stemmer,
    russian: Stemmer,
    language: &'static str,
}

impl Stemmers {
    pub(super) fn new(language: &str) -> Stemmers {
        let (algorithm, language) = match language {
            "de" => (Algorithm::German, "de"),
            "fr" => (Algorithm::French, "fr"),
            "es" => (Algorithm::Spanish, "es"),
            "it" => (Algorithm::Italian, "it"),
            "pt" => (Algorithm::Portuguese, "pt"),
            "nl" => (Algorithm::Dutch, "nl"),
            "uk" => (Algorithm::English, "uk"),
            _ => (Algorithm::English, "en"),
        };
        Stemmers { latin: Stemmer::create(algorithm), russian: Stemmer::create(Algorithm::Russian), language }
    }

    fn term(&self, word: &str, range: Range<usize>) -> Term {
        let folded = fold(word);
        let cyrillic = folded.chars().any(is_cyrillic);
        let language = match (cyrillic, self.language) {
            (true, "uk") => "uk",
            (true, _) => "ru",
            (false, "uk") => "en",
            (false, language) => language,
        };
        let is_function = is_function_word(language, &folded);
        Term { stem: self.stem(&folded), range, is_function }
    }

    pub(super) fn stem(&self, folded: &str) -> String {
        // Nobody writes words this long, and stemmers need not be fast on them.
        if folded.len() > 200 || !folded.chars().all(char::is_alphabetic) {
            return folded.to_owned();
        }
        let stemmer = if folded.chars().any(is_cyrillic) { &self.russian } else { &self.latin };
        stemmer.stem(folded).into_owned()
    }
}

/// Small letters, `ё` as `е`, without a possessive ending.
pub(super) fn fold(word: &str) -> String {
    let lower = word.to_lowercase().replace('ё', "е").replace('’', "'");
    lower.strip_suffix("'s").map(str::to_owned).unwrap_or(lower)
}
