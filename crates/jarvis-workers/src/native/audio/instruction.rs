//! Editing instructions for sounds in English, Russian and Chinese, and questions that measuring answers.

mod silence;
mod volume;

use std::sync::LazyLock;

use crate::native::words;
use jarvis_plan::{cardinal, is_path, pattern};
use regex::{Captures, Regex};
use volume::Change;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Op {
    /// Keeps what lies between two moments, in seconds.
    Keep(Moment, Moment),
    /// Takes that away and keeps the rest.
    Drop(Moment, Moment),
    /// A factor.
    Volume(f32),
    Normalise,
    Mono,
    /// A factor of the speed, at the same pitch.
    Speed(f32),
    /// Seconds at the start, or at the end.
    FadeIn(f64),
    FadeOut(f64),
    /// Takes the silence away at the start, at the end.
    TrimSilence {
        start: bool,
        end: bool,
    },
}

/// A place in a sound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Moment {
    /// Seconds after the start.
    At(f64),
    /// Seconds before the end.
    BeforeEnd(f64),
}

#[derive(Debug, Clone, Default)]
pub(super) struct Instruction {
    pub(super) ops: Vec<Op>,
    /// `mp3`, `wav` …
    pub(super) format: Option<String>,
    /// The name that the file is to have.
    pub(super) name: Option<String>,
    /// What was asked for and is not done here.
    pub(super) unmet: Vec<String>,
    /// Whether it says how much louder or quieter.
    pub(super) measured: bool,
    /// What was read of it.
    pub(super) read: Vec<&'static Regex>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fact {
    Length,
    Rate,
    Channels,
    Loudness,
    /// The loudest moment.
    Peak,
}

patterns! {
    PART BETWEEN FIRST LAST AFTER UNTIL REMOVE CUT LOUDER QUIETER NORMALISE MONO FORMAT SAVE_AS PERCENT DECIBELS TIMES TWICE
    OTHER NOISE KINDS UNHEARD LENGTH RATE CHANNELS LOUDNESS ABOUT BARE_FORMAT OF_SOUND JOIN
    SPEED_TIMES SPEED_HALF SPEED_DOUBLE FASTER SLOWER SLIGHTLY FADE_IN FADE_OUT FADE_BOTH NOTHING_ELSE FADES MUTE CHANNEL EXCEPT EITHER CLAUSES MIX REVERSE_ORDER WHICH OF_PICTURE
    AS_LOUD TO_SHARE SET_VOLUME BY_HALF NOT_LOUDER KEEP_PITCH SPEED_PERCENT TRIM_SILENCE AT_START AT_END EVERYWHERE PAUSE_BETWEEN PEAK TAG_ABOUT
}

fn row(name: &str) -> &'static str {
    words::row(include_str!("../../../data/audio_edits.tsv"), name)
}

fn named(name: &str) -> Regex {
    pattern(&row(name).replace("{T}", row("TIME")))
}

fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().filter(|word| !is_path(word)).collect();
    words.join(" ").to_lowercase().replace('ё', "е").replace('：', ":")
}

impl Instruction {
    pub(super) fn read(text: &str) -> Instruction {
        let name = SAVE_AS.captures(text).and_then(|found| group(&found));
        let plain = KEEP_PITCH.replace_all(&plain(text), " ").into_owned();
        let (silence, plain) = match silence::trimmed(&plain) {
            Some((ends, said)) => {
                let without = plain.get(..said.start).unwrap_or_default().to_owned();
                (Some(ends), without + " " + plain.get(said.end..).unwrap_or_default())
            }
            None => (None, plain),
        };
        let named_format = name.as_deref().and_then(|name| name.rsplit('.').next()).map(str::to_lowercase);
        let format = named_format.or_else(|| format(&plain));
        // What is to be done to a part of a sound, or to one of its channels, is done to none of it.
        let (of_part, plain) = apart(&plain, |clause| {
            let changes = [&LOUDER, &QUIETER, &AS_LOUD, &MUTE].iter().any(|pattern| pattern.is_match(clause));
            changes && [&FIRST, &LAST, &BETWEEN].iter().any(|times| times.is_match(clause)) || CHANNEL.is_match(clause)
        });
        let (_, cut_from) = apart(&plain, |clause| FADES.is_match(clause));
        let mut ops = Vec::new();
        ops.extend(silence.map(|(start, end)| Op::TrimSilence { start, end }));
        let mut read: Vec<&'static Regex> =
            vec![&LOUDER, &QUIETER, &NORMALISE, &MONO, &FORMAT, &BARE_FORMAT, &SAVE_AS, &OTHER, &NOISE, &KEEP_PITCH];
        read.extend(silence.map(|_| &*TRIM_SILENCE));
        let doubtful = EITHER.find(&cut_from).or_else(|| EXCEPT.find(&cut_from));
        let excepts = doubtful.map(|found| found.as_str().to_owned());
        if excepts.is_none()
            && let Some((op, by)) = cut(&cut_from)
        {
            ops.push(op);
            read.extend([&*CUT, by]);
        }
        if MONO.is_match(&plain) {
            ops.push(Op::Mono);
        }
        let (mut measured, mut doubtful_volume) = (false, None);
        match volume::change(&plain) {
            Change::By(factor, is_measured) => {
                ops.push(Op::Volume(factor));
                measured = is_measured;
                read.extend(volume::amounts());
            }
            Change::None if NORMALISE.is_match(&plain) => ops.push(Op::Normalise),
            Change::None => {}
            Change::Contradictory => {
                doubtful_volume = Some("a volume that is denied, or asked for in two ways".to_owned())
            }
        }
        if let Some(factor) = speed(&plain) {
            ops.push(Op::Speed(factor));
            read.extend([&*SPEED_PERCENT, &*SPEED_TIMES, &*SPEED_HALF, &*SPEED_DOUBLE, &*FASTER, &*SLOWER, &*SLIGHTLY]);
        }
        let fades = [(&FADE_IN, Op::FadeIn as fn(f64) -> Op), (&FADE_OUT, Op::FadeOut)];
        for (pattern, fade) in fades {
            let found = pattern.captures(&plain);
            if found.is_some() || FADE_BOTH.is_match(&plain) {
                let length = found.as_ref().and_then(group).and_then(|length| seconds(&length));
                // "Fade out over the last 2 seconds."
                let (clause, _) = apart(&plain, |clause| pattern.is_match(clause));
                let of_end = || [&FIRST, &LAST].iter().find_map(|times| seconds(&group(&times.captures(&clause)?)?));
                ops.push(fade(length.or_else(of_end).unwrap_or(FADE)));
                read.extend([&**pattern, &*FADE_BOTH, &*NOTHING_ELSE, &*FIRST, &*LAST]);
            }
        }
        read.push(&NOTHING_ELSE);
        let others = OTHER.find_iter(&plain).map(|found| found.as_str().to_owned());
        let unmet =
            others.chain(excepts).chain(doubtful_volume).chain((!of_part.is_empty()).then_some(of_part)).collect();
        Instruction { ops, format, name, unmet, measured, read }
    }

    pub(super) fn changes_volume(&self) -> bool {
        self.ops.iter().any(|op| matches!(op, Op::Volume(_) | Op::Normalise))
    }

    /// Whether it asks for nothing that can be done.
    pub(super) fn is_empty(&self) -> bool {
        self.ops.is_empty() && self.format.is_none()
    }
}

/// The clauses of a text of which this holds, and the others.
fn apart(text: &str, holds: impl Fn(&str) -> bool) -> (String, String) {
    let (mut held, mut others, mut start) = (Vec::new(), text.to_owned(), 0);
    let borders: Vec<_> = CLAUSES.find_iter(text).map(|border| border.range()).collect();
    for border in borders.into_iter().chain(std::iter::once(text.len()..text.len())) {
        let clause = start..border.start;
        start = border.end;
        let Some(said) = text.get(clause.clone()).filter(|said| holds(said)) else { continue };
        held.push(said.trim());
        // The others stay where they are.
        others.replace_range(clause, &" ".repeat(said.len()));
    }
    (held.join(", "), others)
}

/// Seconds of a fade whose length is not said.
const FADE: f64 = 2.0;
/// Factors that words stand for: faster, and a little faster.
const QUICK: f32 = 1.5;
const RATHER_QUICK: f32 = 1.2;

/// The factor of a change of speed.
fn speed(text: &str) -> Option<f32> {
    if let Some(found) = SPEED_TIMES.captures(text) {
        let slower = ["slower", "ruslower", "down"].iter().any(|name| found.name(name).is_some());
        let factor: f32 = group(&found)?.replace(',', ".").parse().ok()?;
        return (factor > 0.0).then_some(if slower { 1.0 / factor } else { factor });
    }
    if let Some(found) = SPEED_PERCENT.captures(text) {
        let slower = ["less", "slower"].iter().any(|name| found.name(name).is_some());
        let share = group(&found)?.parse::<f32>().ok()? / 100.0;
        let factor = if slower { 1.0 - share } else { 1.0 + share };
        return (factor > 0.0).then_some(factor);
    }
    let usual = if SLIGHTLY.is_match(text) { RATHER_QUICK } else { QUICK };
    match () {
        () if SPEED_HALF.is_match(text) => Some(0.5),
        () if SPEED_DOUBLE.is_match(text) => Some(2.0),
        () if FASTER.is_match(text) => Some(usual),
        () if SLOWER.is_match(text) => Some(1.0 / usual),
        () => None,
    }
}

/// How recordings are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Together {
    OneAfterOther,
    AtOnce,
}

/// How a request wants recordings put together, and whether the last comes first.
pub(super) fn together(request: &str) -> (Together, bool) {
    let plain = plain(request);
    let mixed = if MIX.is_match(&plain) { Together::AtOnce } else { Together::OneAfterOther };
    (mixed, REVERSE_ORDER.is_match(&plain))
}

/// The seconds of silence that a request wants between recordings that are joined.
pub(super) fn pause(request: &str) -> Option<f64> {
    silence::between(&plain(request))
}

/// The word of a request for what is heard and not measured here: pitch, tempo, who speaks.
pub(super) fn needs_ears(request: &str) -> Option<String> {
    let plain = plain(request);
    OTHER.find(&plain).or_else(|| UNHEARD.find(&plain)).map(|found| found.as_str().to_owned())
}

/// The word for what recordings are compared by.
pub(super) fn compared(question: &str) -> Option<String> {
    WHICH.captures(&plain(question)).and_then(|found| group(&found))
}

/// The format that a text in lower case asks for.
pub(super) fn format(text: &str) -> Option<String> {
    FORMAT.captures(text).or_else(|| BARE_FORMAT.captures(text)).and_then(|found| group(&found))
}

/// Whether a request over a video is about its picture, or wants it silent.
pub(super) fn wants_picture(request: &str) -> bool {
    OF_PICTURE.is_match(&plain(request))
}

/// Whether a request over a video wants its sound.
pub(super) fn wants_sound(request: &str) -> bool {
    OF_SOUND.is_match(&plain(request))
}

/// What marks the clauses that are about how loud a sound is, that join sounds, that want a video's sound.
pub(super) fn volume_keys() -> [&'static Regex; 6] {
    [&LOUDER, &QUIETER, &AS_LOUD, &SET_VOLUME, &NORMALISE, &MONO]
}

pub(super) fn join_keys() -> [&'static Regex; 4] {
    [&JOIN, &MIX, &REVERSE_ORDER, &PAUSE_BETWEEN]
}

pub(super) fn video_keys() -> [&'static Regex; 1] {
    [&OF_SOUND]
}

/// Whether the measured kinds of a sound answer a request.
pub(super) fn wants_kinds(request: &str) -> bool {
    let plain = plain(request);
    KINDS.is_match(&plain) && !UNHEARD.is_match(&plain)
}

/// Whether a request wants noise taken away.
pub(super) fn wants_less_noise(request: &str) -> bool {
    NOISE.is_match(&plain(request))
}

/// The first group that took part in a match.
fn group(found: &Captures<'_>) -> Option<String> {
    found.iter().skip(1).flatten().next().map(|part| part.as_str().to_owned())
}

/// The cut that a text asks for, and the pattern that read its times.
fn cut(text: &str) -> Option<(Op, &'static Regex)> {
    let remove = REMOVE.is_match(text);
    if !remove && !CUT.is_match(text) {
        return None;
    }
    let times = |pattern: &Regex| -> Vec<f64> {
        let found = pattern.captures(text);
        let groups = found.iter().flat_map(|found| found.iter().skip(1).flatten());
        groups.filter_map(|group| seconds(group.as_str())).collect()
    };
    let end = Moment::BeforeEnd(0.0);
    let (from, to, by): (Moment, Moment, &'static Regex) =
        match (times(&BETWEEN).as_slice(), times(&FIRST).as_slice(), times(&LAST).as_slice()) {
            ([from, to], ..) if from < to => (Moment::At(*from), Moment::At(*to), &BETWEEN),
            (_, [length], _) => (Moment::At(0.0), Moment::At(*length), &FIRST),
            (_, _, [length]) => (Moment::BeforeEnd(*length), end, &LAST),
            _ => match (times(&AFTER).as_slice(), times(&UNTIL).as_slice()) {
                ([from], _) => (Moment::At(*from), end, &AFTER),
                (_, [to]) => (Moment::At(0.0), Moment::At(*to), &UNTIL),
                _ => return None,
            },
        };
    Some((if remove { Op::Drop(from, to) } else { Op::Keep(from, to) }, by))
}

/// A time in seconds: `0:05`, `1:02:03.5`, `90`, `2 minutes 5 seconds`, `десять секунд`.
fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    if text.contains(':') {
        let mut sum = 0.0;
        for part in text.split_whitespace().next()?.split(':') {
            sum = sum * 60.0 + part.replace(',', ".").parse::<f64>().ok()?;
        }
        return Some(sum);
    }
    let mut sum = None;
    for found in PART.captures_iter(text) {
        let (Some(number), Some(unit)) = (found.get(1), found.get(2)) else { continue };
        sum = Some(sum.unwrap_or(0.0) + number_of(number.as_str())? * unit_of(unit.as_str())?);
    }
    // "The first minute".
    let alone = || unit_of(text).filter(|_| !text.contains(|ch: char| ch.is_ascii_digit()));
    sum.or_else(alone)
        .or_else(|| text.replace(',', ".").parse().ok())
        .filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0)
}

fn unit_of(word: &str) -> Option<f64> {
    Some(match word.chars().next()? {
        'h' | 'ч' | '小' => 3600.0,
        'm' | 'м' | '分' => 60.0,
        's' | 'с' | '秒' => 1.0,
        _ => return None,
    })
}

/// A number in figures or in words, as the lengths of sounds are told.
fn number_of(word: &str) -> Option<f64> {
    match word {
        "half a" | "пол" | "半" => Some(0.5),
        "a" | "одну" => Some(1.0),
        _ => cardinal(word).map(|number| number as f64).or_else(|| word.replace(',', ".").parse().ok()),
    }
}

/// The places of the rows that a question about nothing but tags asks for.
pub(super) fn tags<const N: usize>(question: &str, rows: [&str; N]) -> Vec<usize> {
    let plain = plain(question);
    let plain = plain.trim_matches(|ch: char| ch.is_whitespace() || "?!.？！。".contains(ch));
    if !TAG_ABOUT.is_match(plain) {
        return Vec::new();
    }
    rows.iter().enumerate().filter(|(_, name)| named(name).is_match(plain)).map(|(nth, _)| nth).collect()
}

/// What a question asks about a sound itself; nothing where it asks about what is said in it.
pub(super) fn facts(question: &str) -> Vec<Fact> {
    let plain = plain(question);
    let plain = plain.trim_matches(|ch: char| ch.is_whitespace() || "?!.？！。".contains(ch));
    if !ABOUT.is_match(plain) {
        return Vec::new();
    }
    // The loudest point is asked for, not how loud it is on the whole.
    let is_peak = PEAK.is_match(plain);
    let facts = [
        (Fact::Peak, &PEAK),
        (Fact::Length, &LENGTH),
        (Fact::Rate, &RATE),
        (Fact::Channels, &CHANNELS),
        (Fact::Loudness, &LOUDNESS),
    ];
    facts
        .into_iter()
        .filter(|(fact, pattern)| pattern.is_match(plain) && !(is_peak && *fact == Fact::Loudness))
        .map(|(fact, _)| fact)
        .collect()
}
