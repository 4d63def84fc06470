//! Extractive question answering: the span of a context that answers a question.
//!
//! As transformers' pipeline: windows of at most 384 tokens that overlap by 128, spans of at most 15 tokens, widened to whole
//! words, and equal answers added up. Models trained on SQuAD 2.0 may also say that there is no answer, which is an empty one.

use crate::{Call, ExpertError, Input, LocalModel, ModelFiles, Output, Resources};

use super::config::TextConfig;
use super::encoder::Encoder;
use super::scores::softmax;
use super::tokens::Window;
use super::{require_text, wrong_input};

/// Longest window, in tokens.
const WINDOW: usize = 384;
/// Tokens that two windows share.
const OVERLAP: usize = 128;
/// Longest answer, in tokens.
const LONGEST: usize = 15;
/// Spans of a window that are considered; several of them may be one answer once they are whole words.
const CANDIDATES: usize = 12;
/// Score of a token outside the context.
const OUTSIDE: f32 = -10_000.0;

/// A model with scores for the start and the end of an answer.
#[derive(Debug)]
pub(super) struct Reader {
    encoder: Encoder,
    cls: Option<u32>,
    /// Whether it was trained with questions that the context does not answer.
    may_abstain: bool,
}

struct Candidate {
    start: usize,
    end: usize,
    score: f32,
}

/// What one window offers.
#[derive(Default)]
struct Found {
    candidates: Vec<Candidate>,
    no_answer: f32,
}

impl Reader {
    pub(super) fn open(files: &ModelFiles, config: &TextConfig, resources: &Resources) -> Result<Reader, ExpertError> {
        let encoder = Encoder::open(files, config, resources)?;
        for output in ["start_logits", "end_logits"] {
            if !encoder.gives(output) {
                return Err(files.unsupported(format!("its graph has no output `{output}`")));
            }
        }
        let names = [files.id.as_str(), config.text("_name_or_path").unwrap_or_default()];
        // No field of the files says so, but the names of such checkpoints do.
        let may_abstain = names.iter().any(|name| {
            let name = name.to_lowercase();
            ["squad2", "squad_v2", "squad-v2"].iter().any(|mark| name.contains(mark))
        });
        Ok(Reader { cls: encoder.tokenizer.special_id("cls_token"), encoder, may_abstain })
    }

    fn find(&self, window: &Window, starts: &[f32], ends: &[f32]) -> Found {
        let is_allowed = |index: usize| {
            let in_context = window.sequences.get(index).copied().flatten() == Some(1);
            in_context || self.cls.is_some_and(|cls| window.ids.get(index) == Some(&cls))
        };
        let probabilities = |logits: &[f32]| {
            let logits = logits.iter().take(window.len()).enumerate();
            softmax(
                &logits.map(|(index, logit)| if is_allowed(index) { *logit } else { OUTSIDE }).collect::<Vec<f32>>(),
            )
        };
        let (mut starts, mut ends) = (probabilities(starts), probabilities(ends));
        let mut no_answer = 1.0;
        for scores in [&mut starts, &mut ends] {
            if let Some(first) = scores.first_mut() {
                no_answer *= std::mem::take(first);
            }
        }
        let mut best: Vec<(usize, usize, f32)> = Vec::new();
        for (start, one) in starts.iter().enumerate() {
            for (end, other) in ends.iter().enumerate().skip(start).take(LONGEST) {
                let score = one * other;
                let is_better = best.len() < CANDIDATES || best.last().is_some_and(|(_, _, worst)| score > *worst);
                if score > 0.0 && is_better && is_allowed(start) && is_allowed(end) {
                    let place = best.partition_point(|(_, _, better)| *better >= score);
                    best.insert(place, (start, end, score));
                    best.truncate(CANDIDATES);
                }
            }
        }
        let candidates = best.into_iter().map(|(first, last, score)| {
            let (start, end) = characters(window, first, last);
            Candidate { start, end, score }
        });
        Found { candidates: candidates.collect(), no_answer }
    }
}

/// The characters from the first token's word to the last token's, or from token to token where there are no words.
fn characters(window: &Window, first: usize, last: usize) -> (usize, usize) {
    let word = |token: usize| window.words.get(token).copied().flatten();
    let tokens_of = |word: u32| {
        let same = move |index: &usize| {
            window.words.get(*index).copied().flatten() == Some(word)
                && window.sequences.get(*index).copied().flatten() == Some(1)
        };
        (0..window.len()).filter(same)
    };
    let offset = |token: usize| window.offsets.get(token).copied().unwrap_or_default();
    let by_word = word(first).zip(word(last)).and_then(|(first, last)| {
        let (first, last) = (tokens_of(first).next()?, tokens_of(last).next_back()?);
        Some((offset(first).0, offset(last).1))
    });
    by_word.unwrap_or_else(|| (offset(first).0, offset(last).1))
}

impl LocalModel for Reader {
    fn memory(&self) -> u64 {
        self.encoder.memory()
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let Input::Question { question, context } = input else {
            return Err(wrong_input("question answering", "a question and a context"));
        };
        require_text(question, "question")?;
        require_text(context, "context")?;
        let encoder = &self.encoder;
        let limit = encoder.tokenizer.window.min(WINDOW);
        let pair = encoder.tokenizer.encode_pair(question, context)?;
        let windows = encoder.tokenizer.windows(&pair, 1, limit, OVERLAP.min(limit / 2))?;
        let mut found: Vec<Found> = windows.iter().map(|_| Found::default()).collect();
        encoder.run(&windows, &["start_logits", "end_logits"], 2, call, |number, rows| {
            if let (Some(window), Some(place), [starts, ends]) = (windows.get(number), found.get_mut(number), rows) {
                *place = self.find(window, starts.values, ends.values);
            }
            Ok(())
        })?;
        let text: Vec<char> = context.chars().collect();
        let mut answers: Vec<(String, usize, usize, f32)> = Vec::new();
        let mut no_answer = 1.0_f32;
        for window in found {
            no_answer = no_answer.min(window.no_answer);
            for Candidate { start, end, score } in window.candidates {
                let answer: String = text.get(start..end.min(text.len())).unwrap_or_default().iter().collect();
                let lowered = answer.to_lowercase();
                match answers.iter_mut().find(|(known, ..)| known.to_lowercase() == lowered) {
                    Some((.., sum)) => *sum += score,
                    None => answers.push((answer, start, end, score)),
                }
            }
        }
        if self.may_abstain {
            answers.push((String::new(), 0, 0, no_answer));
        }
        answers.sort_by(|one, other| other.3.total_cmp(&one.3));
        let (answer, start, end, score) = answers.into_iter().next().unwrap_or_default();
        let spaces = |trimmed: &str| answer.chars().count() - trimmed.chars().count();
        let (start, end) = (start + spaces(answer.trim_start()), end - spaces(answer.trim_end()));
        let text = answer.trim().to_owned();
        Ok(if text.is_empty() {
            Output::Answer { text, score, start: 0, end: 0 }
        } else {
            Output::Answer { text, score, start, end }
        })
    }
}
