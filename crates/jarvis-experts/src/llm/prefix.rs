//! Sequences of earlier prompts, kept for later ones that begin alike.
//!
//! The stages of a request share their instructions, and a conversation repeats all that came before: most of a prompt is known
//! already. Memory is bounded over all sequences of a model, those in use among them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::transformer::{Sequence, Transformer};

/// Sequences that are kept while nobody uses them.
const KEPT: usize = 4;
/// A prefix shorter than this is not worth copying.
const WORTH: usize = 16;

/// The sequences of one model.
#[derive(Debug)]
pub(super) struct Prefixes {
    /// Tokens for which sequences may hold memory, all together.
    budget: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Of sequences in use and kept ones.
    held: usize,
    /// The one used last is the last.
    kept: Vec<Known>,
}

/// A sequence and its tokens.
#[derive(Debug)]
struct Known {
    tokens: Vec<u32>,
    sequence: Sequence,
}

/// A sequence in use. Dropped without [`Lease::keep`], it is forgotten.
pub(super) struct Lease<'a> {
    prefixes: &'a Prefixes,
    transformer: &'a Transformer,
    /// Taken only when it is given back.
    sequence: Option<Sequence>,
    /// Tokens of the budget that are set aside for it.
    held: usize,
}

/// Why a sequence cannot grow.
#[derive(Debug)]
pub(super) enum Full {
    /// Other calls hold the memory.
    Busy,
    Engine(candle_core::Error),
}

impl Prefixes {
    pub(super) fn new(budget: usize) -> Prefixes {
        Prefixes { budget, state: Mutex::default() }
    }

    // Held for moments only and never while computing: a thread of the pool that waits for work may take up another call.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A sequence that begins with as many of these tokens as are known, save the last, whose logits are wanted anyway.
    pub(super) fn lease<'a>(&'a self, transformer: &'a Transformer, prompt: &[u32]) -> Result<Lease<'a>, Full> {
        let known = self.take_longest(prompt);
        let (mut sequence, held) = match known {
            Some((sequence, length, held)) => {
                let mut sequence = sequence;
                sequence.truncate(length);
                (sequence, held)
            }
            None => (transformer.empty_sequence(0).map_err(Full::Engine)?, 0),
        };
        sequence.truncate(prompt.len().saturating_sub(1));
        let mut lease = Lease { prefixes: self, transformer, sequence: Some(sequence), held };
        lease.reserve(prompt.len())?;
        Ok(lease)
    }

    /// Takes out the sequence that begins most like this, or copies its beginning where much of it would be lost.
    fn take_longest(&self, prompt: &[u32]) -> Option<(Sequence, usize, usize)> {
        let mut state = self.state();
        let common = |known: &Known| known.tokens.iter().zip(prompt).take_while(|(a, b)| a == b).count();
        let (at, length) =
            state.kept.iter().enumerate().map(|(at, known)| (at, common(known))).max_by_key(|&(_, length)| length)?;
        let known = state.kept.get(at)?;
        if length < WORTH.min(prompt.len().saturating_sub(1)).max(1) {
            return None;
        }
        let lost = known.tokens.len() - length;
        let room = prompt.len().next_multiple_of(256);
        if lost > WORTH && state.held + room <= self.budget && state.kept.len() < KEPT {
            let copy = known.sequence.prefix(length, prompt.len()).ok()?;
            let held = copy.capacity();
            state.held += held;
            return Some((copy, length, held));
        }
        let known = state.kept.remove(at);
        let held = known.sequence.capacity();
        Some((known.sequence, length, held))
    }

    /// Sets memory aside, and drops kept sequences for it, the oldest first.
    fn set_aside(&self, more: usize) -> bool {
        let mut state = self.state();
        while state.held + more > self.budget {
            if state.kept.is_empty() {
                return false;
            }
            let dropped = state.kept.remove(0);
            state.held -= dropped.sequence.capacity().min(state.held);
        }
        state.held += more;
        true
    }
}

impl Lease<'_> {
    pub(super) fn sequence(&mut self) -> &mut Sequence {
        self.sequence.as_mut().expect("a sequence is taken out only when the lease ends")
    }

    /// Tokens that are known.
    pub(super) fn length(&self) -> usize {
        self.sequence.as_ref().map_or(0, Sequence::length)
    }

    /// Makes room for so many tokens in all.
    pub(super) fn reserve(&mut self, tokens: usize) -> Result<(), Full> {
        let most = self.transformer.settings.context.max(tokens);
        let needed = self.sequence().capacity_for(tokens).min(most.next_multiple_of(256));
        let more = needed.saturating_sub(self.held);
        if more == 0 {
            return Ok(());
        }
        if !self.prefixes.set_aside(more) {
            return Err(Full::Busy);
        }
        self.held += more;
        self.sequence().reserve(tokens).map_err(Full::Engine)
    }

    /// Keeps the sequence for later prompts. These are its tokens.
    pub(super) fn keep(mut self, mut tokens: Vec<u32>) {
        let Some(sequence) = self.sequence.take() else { return };
        tokens.truncate(sequence.length());
        let mut state = self.prefixes.state();
        if state.kept.len() >= KEPT {
            let dropped = state.kept.remove(0);
            state.held -= dropped.sequence.capacity().min(state.held);
        }
        // The kept one holds its memory on; what was set aside beyond it is free.
        state.held -= self.held.saturating_sub(sequence.capacity()).min(state.held);
        self.held = 0;
        state.kept.push(Known { tokens, sequence });
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if self.held > 0 {
            let mut state = self.prefixes.state();
            state.held -= self.held.min(state.held);
        }
    }
}
