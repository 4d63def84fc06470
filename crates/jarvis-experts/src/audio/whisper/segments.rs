//! From the tokens of a window to segments with times, and to where the next window begins.

/// A stretch of text between two timestamps.
#[derive(Debug, PartialEq)]
pub(super) struct Segment<'a> {
    /// Seconds from the start of the window.
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) tokens: &'a [u32],
}

/// What a window gave.
#[derive(Debug, PartialEq)]
pub(super) struct Segments<'a> {
    pub(super) segments: Vec<Segment<'a>>,
    /// Frames to the start of the next window.
    pub(super) advance: usize,
}

/// Frames of one step of the timestamps: the encoder halves the rate.
const FRAMES_PER_STEP: usize = 2;

impl<'a> Segments<'a> {
    /// Splits the tokens of a window of `frames` frames of content at pairs of timestamps. Text after the last pair is left to
    /// the next window, unless a lone timestamp closes it.
    pub(super) fn new(tokens: &'a [u32], begin: u32, frames: usize, seconds_per_frame: f64) -> Segments<'a> {
        let is_timestamp = |id: &u32| *id >= begin;
        let steps = |id: &u32| id.saturating_sub(begin) as usize;
        let step = seconds_per_frame * FRAMES_PER_STEP as f64;
        let seconds = |id: Option<&u32>| id.map_or(0.0, |id| steps(id) as f64 * step);
        let ends_alone = matches!(tokens, [.., before, last] if !is_timestamp(before) && is_timestamp(last));
        let mut cuts: Vec<usize> = tokens
            .windows(2)
            .enumerate()
            .filter(|(_, pair)| pair.iter().all(is_timestamp))
            .map(|(nth, _)| nth + 1)
            .collect();
        if cuts.is_empty() {
            let last = tokens.iter().rfind(|id| is_timestamp(id)).filter(|id| steps(id) > 0);
            let end = last.map_or((frames / FRAMES_PER_STEP) as f64 * step, |last| seconds(Some(last)));
            return Segments { segments: vec![Segment { start: 0.0, end, tokens }], advance: frames };
        }
        let last_pair = cuts.last().copied().unwrap_or(0);
        if ends_alone {
            cuts.push(tokens.len());
        }
        let mut from = 0;
        let mut segments = Vec::with_capacity(cuts.len());
        for cut in cuts {
            let slice = tokens.get(from..cut).unwrap_or_default();
            segments.push(Segment { start: seconds(slice.first()), end: seconds(slice.last()), tokens: slice });
            from = cut;
        }
        let advance = if ends_alone {
            frames
        } else {
            let closing = last_pair.checked_sub(1).and_then(|nth| tokens.get(nth));
            closing.map_or(frames, |id| steps(id) * FRAMES_PER_STEP)
        };
        Segments { segments, advance }
    }
}

/// Turns of a loop that are taken as one.
const TURNS: usize = 4;

/// Shortens the tokens of a window that ran into the length limit: where their end repeats the same run of tokens four times or
/// more, the first turn stays. Speech repeats itself too, but not up to the limit.
pub(super) fn cut_loop(tokens: &mut Vec<u32>) {
    let len = tokens.len();
    for period in 1..=len / TURNS {
        // The tail has the period as long as each token equals the one a period before.
        let later = tokens.iter().rev();
        let earlier = tokens.iter().rev().skip(period);
        let same = later.zip(earlier).take_while(|(a, b)| a == b).count();
        if same >= period * (TURNS - 1) {
            tokens.truncate(len - same);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: u32 = 100;

    /// Start and end in steps of 20 ms, and text tokens.
    fn check(tokens: &[u32], expected: &[(u32, u32, &[u32])], advance: usize) {
        let found = Segments::new(tokens, BEGIN, 3_000, 0.01);
        let segments: Vec<(u32, u32, Vec<u32>)> = found
            .segments
            .iter()
            .map(|segment| {
                let text = segment.tokens.iter().copied().filter(|id| *id < BEGIN).collect();
                ((segment.start * 50.0).round() as u32, (segment.end * 50.0).round() as u32, text)
            })
            .collect();
        let expected: Vec<(u32, u32, Vec<u32>)> =
            expected.iter().map(|(start, end, text)| (*start, *end, text.to_vec())).collect();
        assert_eq!((segments, found.advance), (expected, advance), "{tokens:?}");
    }

    #[test]
    fn tokens_become_segments() {
        check(&[], &[(0, 1_500, &[])], 3_000);
        check(&[1, 2], &[(0, 1_500, &[1, 2])], 3_000);
        // No pair: one segment up to the last time.
        check(&[100, 1, 2, 150], &[(0, 50, &[1, 2])], 3_000);
        // Pairs; a lone end closes the window.
        check(&[100, 1, 150, 150, 2, 200], &[(0, 50, &[1]), (50, 100, &[2])], 3_000);
        // A pair at the end: the next window begins there.
        check(&[100, 1, 150, 160, 2, 200, 200], &[(0, 50, &[1]), (60, 100, &[2])], 200);
        // Text after the last pair belongs to the next window.
        check(&[100, 1, 150, 150, 2, 3], &[(0, 50, &[1])], 100);
    }

    #[test]
    fn loops_keep_their_first_turn() {
        let check = |tokens: &[u32], expected: &[u32]| {
            let mut found = tokens.to_vec();
            cut_loop(&mut found);
            assert_eq!(found, expected, "{tokens:?}");
        };
        check(&[], &[]);
        check(&[1, 2, 3], &[1, 2, 3]);
        check(&[1, 2, 3, 3, 3], &[1, 2, 3, 3, 3]);
        check(&[1, 2, 3, 3, 3, 3], &[1, 2, 3]);
        check(&[9, 1, 2, 1, 2, 1, 2, 1, 2], &[9, 1, 2]);
        // The limit falls within a turn.
        check(&[9, 1, 2, 1, 2, 1, 2, 1, 2, 1], &[9, 1, 2]);
    }
}
