//! What keeps an edit from being made at all. Edits are made of whole pictures and at once: where only a part is meant, or
//! something depends on what the picture is like, another picture than was asked for would come out.

use super::{
    BEYOND, CONDITION, COURTESY, CROP, EMPTY_SIDES, EXCEPT, FLIP, POINT, REGION, ROTATE, SEPARATOR, TILTED, WATERMARK,
    area, labels, plain_char,
};

/// Why an order, or the request that it is from, is not carried out.
pub(in crate::native::image) fn hindrance(order: &str, request: &str) -> Option<String> {
    let plain = |text: &str| {
        let (text, labels) = labels::extract(text);
        let lower: String = text.to_lowercase().chars().map(plain_char).collect();
        (COURTESY.replace_all(&lower, " ").into_owned(), !labels.is_empty())
    };
    let ((order, writes), (request, _)) = (plain(order), plain(request));
    if let Some(found) = EXCEPT.find(&order) {
        return Some(format!("an edit is made of the whole picture here, with no exception (`{}`)", found.as_str()));
    }
    if let Some(found) = CONDITION.find(&order).or_else(|| CONDITION.find(&request)) {
        let word = found.as_str().trim_matches(|ch: char| !ch.is_alphanumeric());
        return Some(format!("an edit that depends on something is not made here (`{word}`)"));
    }
    if let Some(found) = BEYOND.find(&order) {
        return Some(format!("no edit here does this: `{}`", found.as_str()));
    }
    if writes && let Some(found) = TILTED.find(&order) {
        return Some(format!("words are written level here, not `{}`", found.as_str()));
    }
    let (order, _) = area::extract(&order);
    if let Some(found) = POINT.find(&order) {
        return Some(format!("a point names no part of the picture (`{}`); two corners do", found.as_str()));
    }
    let named = SEPARATOR.split(&order).find_map(|clause| {
        // What is cut out, turned or written lies at a side.
        let at_side = [&CROP, &ROTATE, &FLIP, &WATERMARK, &EMPTY_SIDES].iter().any(|pattern| pattern.is_match(clause));
        REGION.find(clause).filter(|_| !at_side && !clause.contains(['⟦', area::MARK]))
    });
    named.map(|found| format!("an edit is made of the whole picture here, not of a part (`{}`)", found.as_str()))
}
