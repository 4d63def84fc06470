//! The words and phrases that a text comes back to.

use std::collections::HashMap;

use unicode_segmentation::UnicodeSegmentation;

use super::language::{is_joint, language};
use super::segment::{sentences, terms};
use jarvis_plan::is_han;

/// The most text that is looked at, in characters.
const READ: usize = 200_000;

/// At most `n` keywords, best first, as they are written in the text (small letters unless always capitalised). Ranked
/// by how often they occur, longer and earlier ones first among equals.
pub fn keywords(text: &str, n: usize) -> Vec<String> {
    let end = text.char_indices().nth(READ).map_or(text.len(), |(at, _)| at);
    let text = text.get(..end).unwrap_or(text);
    let language = language(text);
    if matches!(language, "zh" | "ja") { chinese(text, n) } else { words(text, language, n) }
}

#[derive(Default)]
struct Candidate {
    count: usize,
    first: usize,
    length: usize,
    forms: HashMap<String, usize>,
}

/// Words, and pairs of words that come twice.
fn words(text: &str, language: &str, n: usize) -> Vec<String> {
    let mut found: HashMap<String, Candidate> = HashMap::new();
    let mut add = |key: String, form: &str, at: usize, length: usize| {
        let next = found.len();
        let entry = found.entry(key).or_insert_with(|| Candidate { first: next, length, ..Candidate::default() });
        entry.count += 1;
        entry.first = entry.first.min(at);
        *entry.forms.entry(form.to_owned()).or_default() += 1;
    };
    for range in sentences(text) {
        let sentence = text.get(range.clone()).expect("sentences lie in the text");
        let mut before: Option<(String, std::ops::Range<usize>)> = None;
        for (order, term) in terms(sentence, language).into_iter().enumerate() {
            let form = sentence.get(term.range.clone()).expect("terms lie in their sentence");
            let says_little = term.is_function || form.chars().count() < 3 || !form.chars().any(char::is_alphabetic);
            if says_little {
                before = None;
                continue;
            }
            let form = if order == 0 { form.to_lowercase() } else { form.to_owned() };
            add(term.stem.clone(), &form, range.start + term.range.start, 1);
            if let Some((stem, place)) = before.take()
                && sentence.get(place.end..term.range.start).is_some_and(|gap| gap == " ")
            {
                let pair = sentence.get(place.start..term.range.end).expect("terms lie in their sentence, in order");
                add(format!("{stem} {}", term.stem), pair, range.start + place.start, 2);
            }
            before = Some((term.stem, term.range));
        }
    }
    let mut ranked: Vec<(String, Candidate)> =
        found.into_iter().filter(|(_, candidate)| candidate.length == 1 || candidate.count > 1).collect();
    ranked.sort_by(|(a_key, a), (b_key, b)| {
        let weight = |candidate: &Candidate| candidate.count * (candidate.length + 1);
        weight(b).cmp(&weight(a)).then(a.first.cmp(&b.first)).then_with(|| a_key.cmp(b_key))
    });
    let mut chosen: Vec<(String, String)> = Vec::new();
    for (key, candidate) in ranked {
        if chosen.len() == n {
            break;
        }
        // A word of a chosen phrase says nothing new.
        if !chosen.iter().any(|(other, _)| other.split(' ').any(|word| key.split(' ').any(|own| own == word))) {
            chosen.push((key, written(candidate.forms)));
        }
    }
    chosen.into_iter().map(|(_, form)| form).collect()
}

/// The most frequent way it is written; small letters when it is ever written so.
fn written(forms: HashMap<String, usize>) -> String {
    let small = forms.keys().any(|form| form.chars().all(|letter| !letter.is_uppercase()));
    let mut counted: HashMap<String, usize> = HashMap::new();
    for (form, count) in forms {
        let form = if small { form.to_lowercase() } else { form };
        *counted.entry(form).or_default() += count;
    }
    let best =
        counted.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.len().cmp(&a.0.len())).then_with(|| b.0.cmp(&a.0)));
    best.map(|(form, _)| form).unwrap_or_default()
}

/// Pieces of two to four characters between those that join words; longer ones win when they are as frequent.
fn chinese(text: &str, n: usize) -> Vec<String> {
    let mut found: HashMap<&str, (usize, usize)> = HashMap::new();
    let mut others: Vec<(String, usize)> = Vec::new();
    let mut run: Vec<(usize, usize)> = Vec::new();
    let mut close = |run: &mut Vec<(usize, usize)>| {
        for length in 2..=4 {
            for window in run.windows(length) {
                if let (Some((start, _)), Some((_, end))) = (window.first(), window.last())
                    && let Some(piece) = text.get(*start..*end)
                {
                    found.entry(piece).or_insert((0, *start)).0 += 1;
                }
            }
        }
        run.clear();
    };
    for (at, letter) in text.char_indices() {
        if is_han(letter) && !is_joint(letter) {
            run.push((at, at + letter.len_utf8()));
        } else {
            close(&mut run);
        }
    }
    close(&mut run);
    for word in text.unicode_words().filter(|word| word.is_ascii() && word.len() > 2) {
        if let Some((_, count)) = others.iter_mut().find(|(known, _)| known == word) {
            *count += 1;
        } else if others.len() < 200 {
            others.push((word.to_owned(), 1));
        }
    }
    let mut ranked: Vec<(&str, usize, usize)> = found
        .into_iter()
        .map(|(piece, (count, first))| (piece, count * count * piece.chars().count(), first))
        .collect();
    ranked.sort_by(|a, b| b.1.cmp(&a.1).then(a.2.cmp(&b.2)).then(b.0.len().cmp(&a.0.len())));
    let mut chosen: Vec<String> = Vec::new();
    let mut names = others.into_iter().filter(|(_, count)| *count > 1).map(|(word, _)| word);
    if n > 1
        && let Some(name) = names.next()
    {
        chosen.push(name);
    }
    for (piece, _, _) in ranked {
        if chosen.len() >= n {
            break;
        }
        let overlaps = |known: &String| {
            let letters: Vec<char> = piece.chars().collect();
            // A piece that runs into a chosen one, as `新图` into `图书馆`.
            let (Some(first), Some(last)) = (letters.first(), letters.last()) else { return true };
            let into = known.strip_prefix(*last).is_some_and(|rest| text.contains(&format!("{piece}{rest}")));
            let from = known.strip_suffix(*first).is_some_and(|rest| text.contains(&format!("{rest}{piece}")));
            into || from || letters.windows(2).any(|pair| known.contains(&pair.iter().collect::<String>()))
        };
        if !chosen.iter().any(overlaps) {
            chosen.push(piece.to_owned());
        }
    }
    chosen
}
