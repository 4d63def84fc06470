//! What lists that come in pages have in common: how many a page may have, where one ends, and times as the journal keeps them.

use crate::error::ApiError;

/// The most runs or chats of a page.
pub(crate) const MOST: u32 = 1000;

/// How many of them a page has where nothing is said.
pub(crate) fn fifty() -> u32 {
    50
}

/// The number of things that a page may have.
pub(crate) fn checked_limit(limit: u32, most: u32) -> Result<u32, ApiError> {
    match (1..=most).contains(&limit) {
        true => Ok(limit),
        false => Err(ApiError::invalid(format!("`limit` is a number from 1 to {most}")).param("limit")),
    }
}

/// A time in milliseconds since the Unix epoch, as the journal can keep it.
pub(crate) fn checked_time(name: &'static str, ms: u64) -> Result<u64, ApiError> {
    match i64::try_from(ms) {
        Ok(_) => Ok(ms),
        Err(_) => Err(ApiError::invalid(format!("`{name}` is too large for a time in milliseconds")).param(name)),
    }
}

/// Where a page ends, as callers give it back: a time and an id.
pub(crate) fn cursor(at_ms: u64, id: &str) -> String {
    format!("{at_ms}~{id}")
}

/// Reads a [`cursor`].
pub(crate) fn read_cursor(text: &str) -> Result<(u64, String), ApiError> {
    let read = text.split_once('~').and_then(|(at, id)| Some((at.parse().ok()?, id.to_owned())));
    read.ok_or_else(|| ApiError::invalid("`before` is the `next` of another page").param("before"))
}
