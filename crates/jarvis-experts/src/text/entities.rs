//! Token classification: names of people, places and organisations, or whatever a model was trained to tag.
//!
//! Tokens are grouped as transformers' aggregation strategy "simple" does. Long texts are read in windows that overlap; where
//! entities of two windows overlap, the longer stays, and of equally long ones the one with the higher score.

use crate::{Call, Entity, ExpertError, Input, LocalModel, ModelFiles, Output, Resources};

use super::config::{Labels, TextConfig};
use super::encoder::{Encoder, Row};
use super::scores::{largest, softmax};
use super::tokens::Window;
use super::{require_text, wrong_input};

/// Tokens that two windows share.
const OVERLAP: usize = 64;

/// A model with one score for each tag and token.
#[derive(Debug)]
pub(super) struct Tagger {
    encoder: Encoder,
    labels: Labels,
}

/// Adjacent tokens of one tag.
struct Group {
    label: String,
    scores: Vec<f32>,
    start: usize,
    end: usize,
}

impl Group {
    fn score(&self) -> f32 {
        self.scores.iter().sum::<f32>() / self.scores.len().max(1) as f32
    }
}

impl Tagger {
    pub(super) fn open(files: &ModelFiles, config: &TextConfig, resources: &Resources) -> Result<Tagger, ExpertError> {
        let labels = config.labels(files)?;
        Ok(Tagger { encoder: Encoder::open(files, config, resources)?, labels })
    }

    fn groups(&self, window: &Window, row: &Row<'_>) -> Result<Vec<Group>, ExpertError> {
        let labels = self.labels.of(&self.encoder.files, row.shape.last().copied().unwrap_or_default())?;
        let mut groups: Vec<Group> = Vec::new();
        for (token, (sequence, (start, end))) in window.sequences.iter().zip(&window.offsets).enumerate() {
            if sequence.is_none() {
                continue;
            }
            let scores = softmax(row.at(token).unwrap_or_default());
            let Some((number, score)) = largest(&scores) else { continue };
            let label = labels.get(number).map_or("O", String::as_str);
            // A tag without B- or I- continues one of the same name.
            let (begins, tag) = match (label.strip_prefix("B-"), label.strip_prefix("I-")) {
                (Some(tag), _) => (true, tag),
                (None, Some(tag)) => (false, tag),
                (None, None) => (false, label),
            };
            match groups.last_mut() {
                Some(last) if !begins && last.label == tag => {
                    last.scores.push(score);
                    last.end = *end;
                }
                Some(_) | None => {
                    groups.push(Group { label: tag.to_owned(), scores: vec![score], start: *start, end: *end });
                }
            }
        }
        groups.retain(|group| group.label != "O");
        for group in &mut groups {
            // What stands before a hyphen is no part of the kind, whatever it is.
            if let Some((_, kind)) = group.label.split_once('-') {
                group.label = kind.to_owned();
            }
        }
        Ok(groups)
    }
}

impl LocalModel for Tagger {
    fn memory(&self) -> u64 {
        self.encoder.memory()
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let Input::Text(text) = input else { return Err(wrong_input("token classification", "a text")) };
        require_text(text, "text")?;
        let encoder = &self.encoder;
        let limit = encoder.tokenizer.window;
        let windows = encoder.tokenizer.windows(&encoder.tokenizer.encode(text)?, 0, limit, OVERLAP.min(limit / 4))?;
        let mut groups = Vec::new();
        let output = encoder.first_output()?;
        encoder.run(&windows, &[output], 3, call, |number, rows| {
            if let (Some(window), Some(row)) = (windows.get(number), rows.first()) {
                groups.extend(self.groups(window, row)?);
            }
            Ok(())
        })?;
        groups.sort_by_key(|group| group.start);
        let groups = if windows.len() > 1 { without_overlaps(groups) } else { groups };
        let characters: Vec<char> = text.chars().collect();
        Ok(Output::Entities(groups.into_iter().filter_map(|group| entity(group, &characters)).collect()))
    }
}

/// The entity as it stands in the text, without spaces that a tokenizer counts to a word.
fn entity(group: Group, characters: &[char]) -> Option<Entity> {
    let (mut start, mut end) = (group.start, group.end.min(characters.len()));
    while start < end && characters.get(start).is_some_and(|character| character.is_whitespace()) {
        start += 1;
    }
    while start < end && characters.get(end - 1).is_some_and(|character| character.is_whitespace()) {
        end -= 1;
    }
    let text: String = characters.get(start..end)?.iter().collect();
    let score = group.score();
    (start < end).then_some(Entity { label: group.label, text, score, start, end })
}

fn without_overlaps(groups: Vec<Group>) -> Vec<Group> {
    let mut kept: Vec<Group> = Vec::new();
    for group in groups {
        match kept.last_mut() {
            Some(last) if group.start < last.end => {
                let (new, old) = (group.end - group.start, last.end - last.start);
                if new > old || new == old && group.score() > last.score() {
                    *last = group;
                }
            }
            Some(_) | None => kept.push(group),
        }
    }
    kept
}
