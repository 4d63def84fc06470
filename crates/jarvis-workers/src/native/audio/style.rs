//! How a request wants something spoken: whose voice, how fast, how high, how loud, in which language. What espeak-ng cannot
//! do (sing, feel, imitate) is kept, so that the answer can say so.

use std::sync::LazyLock;

use jarvis_plan::{is_path, pattern};
use regex::Regex;

use super::instruction;
use super::voice::{self, Voice};
use crate::native::words;

/// espeak-ng's own speed, in words a minute, and the range that it speaks well.
const SPEED: f32 = 175.0;
const SPEEDS: (f32, f32) = (80.0, 450.0);

#[derive(Debug, Clone, Default)]
pub(super) struct Style {
    /// The request in lower case, without the text that is spoken.
    pub(super) request: String,
    pub(super) language: Option<&'static Voice>,
    pub(super) accent: Option<&'static Voice>,
    whose: Option<Whose>,
    /// Words a minute.
    speed: Option<u32>,
    /// 0 to 99; 50 is the voice's own.
    pitch: Option<u8>,
    /// 0 to 200; 100 is the voice's own.
    volume: Option<u8>,
    /// The format of the sound, where one is asked for.
    pub(super) format: Option<String>,
    /// What was asked for and cannot be done, in the request's words.
    pub(super) unmet: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    Child,
    Female,
    Male,
    Whisper,
    FemaleWhisper,
}

patterns! {
    SEPARATOR SPEAKING CHILD FEMALE MALE WHISPER PER_MINUTE HALF_SPEED DOUBLE_SPEED TIMES_SPEED NOT_FAST NOT_SLOW SLOW FAST
    LOW HIGH LOUD QUIET VERY SLIGHTLY SINGING FEELING IMITATION MUSIC STYLE_WORDS REFERENCE
}

fn named(name: &str) -> Regex {
    pattern(words::row(include_str!("../../../data/speech.tsv"), name))
}

/// What is read of how something is to be spoken, and what is known to be beyond the program.
pub(super) fn patterns() -> Vec<&'static Regex> {
    let how = [&*CHILD, &*FEMALE, &*MALE, &*WHISPER, &*PER_MINUTE, &*HALF_SPEED, &*DOUBLE_SPEED, &*TIMES_SPEED];
    let pace = [&*NOT_FAST, &*NOT_SLOW, &*LOW, &*HIGH, &*LOUD, &*QUIET];
    let beyond = [&*SINGING, &*FEELING, &*IMITATION, &*MUSIC];
    [how.as_slice(), &pace, &beyond].concat()
}

impl Style {
    /// Reads a request; what it says inside `spoken`, the text to speak, is no instruction.
    pub(super) fn read(request: &str, spoken: &str) -> Style {
        let spoken = spoken.trim();
        // Shorter than this it may be a part of any word.
        let whole = if spoken.chars().count() > 2 { request.replace(spoken, " ") } else { request.to_owned() };
        let words: Vec<&str> = whole.split([' ', '\t', '\r']).filter(|word| !is_path(word)).collect();
        let request = words.join(" ").to_lowercase().replace('ё', "е").replace('’', "'");
        let mut style = Style::default();
        for clause in SEPARATOR.split(&request).filter(|clause| SPEAKING.is_match(clause)) {
            style.clause(clause);
        }
        style.request = request;
        style
    }

    /// Takes a speed as a number: 1 is the usual one.
    pub(super) fn at_speed(&mut self, speed: Option<f32>) {
        self.speed = speed.map(|speed| (SPEED * speed).clamp(SPEEDS.0, SPEEDS.1).round() as u32).or(self.speed);
    }

    fn clause(&mut self, clause: &str) {
        self.accent = self.accent.or_else(|| voice::accent(clause));
        if self.accent.is_none() {
            self.language = self.language.or_else(|| voice::asked(clause));
        }
        self.format = self.format.take().or_else(|| instruction::format(clause));
        let whisper = WHISPER.is_match(clause);
        let whose = match () {
            () if CHILD.is_match(clause) => Some(Whose::Child),
            () if FEMALE.is_match(clause) => Some(if whisper { Whose::FemaleWhisper } else { Whose::Female }),
            () if MALE.is_match(clause) && !whisper => Some(Whose::Male),
            () if whisper => Some(Whose::Whisper),
            () => None,
        };
        let named = whose.is_some();
        self.whose = whose.or(self.whose);
        self.speed = speed(clause).or(self.speed);
        let very = VERY.is_match(clause);
        self.pitch = match (LOW.is_match(clause), HIGH.is_match(clause)) {
            (true, false) => Some(if very { 5 } else { 20 }),
            (false, true) => Some(if very { 99 } else { 80 }),
            _ => self.pitch,
        };
        self.volume = match (LOUD.is_match(clause), QUIET.is_match(clause)) {
            (true, false) => Some(180),
            (false, true) => Some(45),
            _ => self.volume,
        };
        let mut unmet: Vec<&Regex> = vec![&SINGING, &FEELING, &MUSIC];
        // "In a woman's voice" imitates nobody.
        if !named {
            unmet.push(&IMITATION);
        }
        for pattern in unmet {
            self.unmet.extend(pattern.find(clause).map(|found| found.as_str().trim().to_owned()));
        }
    }

    /// Whether a voice that speaks as it was trained to will do.
    pub(super) fn is_plain(&self) -> bool {
        let Style { request: _, language: _, accent, whose, speed, pitch, volume, format, unmet } = self;
        let is_set = [speed.is_some(), pitch.is_some(), volume.is_some(), format.is_some(), whose.is_some()];
        accent.is_none() && unmet.is_empty() && !is_set.contains(&true)
    }

    /// The variant of espeak-ng's voices that is wanted.
    pub(super) fn variant(&self) -> Option<&'static str> {
        self.whose.map(|whose| match whose {
            Whose::Child => "f5",
            Whose::Female => "f3",
            Whose::Male => "m3",
            Whose::Whisper => "whisper",
            Whose::FemaleWhisper => "whisperf",
        })
    }

    /// The variant in words.
    pub(super) fn whose(&self) -> &'static str {
        match self.whose {
            Some(Whose::Child) => "a child's voice",
            Some(Whose::Female) => "female voice",
            Some(Whose::Male) => "male voice",
            Some(Whose::Whisper) => "whispering",
            Some(Whose::FemaleWhisper) => "female whispering",
            None => "plain voice",
        }
    }

    pub(super) fn options(&self) -> Vec<String> {
        // A child's voice has no variant of its own: a woman's, higher.
        let pitch = self.pitch.or((self.whose == Some(Whose::Child)).then_some(85));
        let options = [
            ("-s", self.speed.map(|speed| speed.to_string())),
            ("-p", pitch.map(|pitch| pitch.to_string())),
            ("-a", self.volume.map(|volume| volume.to_string())),
        ];
        options.into_iter().filter_map(|(flag, value)| Some([flag.to_owned(), value?])).flatten().collect()
    }

    /// What was done of what was asked, in words.
    pub(super) fn met(&self, with_variant: bool) -> Vec<String> {
        let mut met = Vec::new();
        met.extend((self.whose.is_some() && with_variant).then(|| self.whose().to_owned()));
        met.extend(self.accent.map(|voice| format!("{} accent", voice.name)));
        met.extend(self.speed.map(|speed| format!("{speed} words per minute")));
        met.extend(self.pitch.map(|pitch| format!("pitch {pitch} of 99")));
        met.extend(self.volume.map(|volume| format!("volume {volume}%")));
        met
    }
}

/// True for words of a request that are no text to speak: how something is to be spoken, or which of what there is.
pub(super) fn is_no_text(text: &str, request: &str) -> bool {
    let close = |text: &str| text.to_lowercase().replace('ё', "е").split_whitespace().collect::<Vec<_>>().join(" ");
    let (text, request) = (close(text), close(request));
    let Some(at) = request.find(&text) else { return false };
    let quoted = request.get(..at).is_some_and(|before| before.ends_with(['"', '“', '«', '「', '\'', ':', '：']));
    let of_style: Vec<&Regex> = patterns().into_iter().chain([&*SLOW, &*FAST, &*VERY, &*SLIGHTLY]).collect();
    let style_only = of_style.iter().any(|pattern| pattern.is_match(&text))
        && super::super::unread::rest(&text, &STYLE_WORDS, &of_style).is_none();
    !quoted && (style_only || REFERENCE.is_match(&text))
}

fn speed(clause: &str) -> Option<u32> {
    let number = |pattern: &Regex| {
        let found = pattern.captures(clause)?;
        found.iter().skip(1).flatten().next()?.as_str().parse::<f32>().ok()
    };
    let (very, slightly) = (VERY.is_match(clause), SLIGHTLY.is_match(clause));
    let by_word = |plain: f32, slight: f32, strong: f32| match (very, slightly) {
        (true, _) => strong,
        (false, true) => slight,
        (false, false) => plain,
    };
    let speed = match () {
        () if PER_MINUTE.is_match(clause) => number(&PER_MINUTE)?,
        () if HALF_SPEED.is_match(clause) => SPEED / 2.0,
        () if DOUBLE_SPEED.is_match(clause) => SPEED * 2.0,
        () if TIMES_SPEED.is_match(clause) => SPEED * number(&TIMES_SPEED)?,
        () if NOT_FAST.is_match(clause) => 150.0,
        () if NOT_SLOW.is_match(clause) => 200.0,
        () if SLOW.is_match(clause) => by_word(120.0, 145.0, 90.0),
        () if FAST.is_match(clause) => by_word(250.0, 205.0, 330.0),
        () => return None,
    };
    Some(speed.clamp(SPEEDS.0, SPEEDS.1).round() as u32)
}
