//! Mends the structure of one broken value, and quotes its strings properly, in a single pass without recursion.
//!
//! The text is read with the stack of open brackets in hand, so that it is known at each place whether a key, a value
//! or a comma is due; that decides what a stray quote or bracket means. Syntax that is not understood is left to the
//! general repair. What the reply leaves incomplete at its end is dropped, never completed by guessing.

mod bare;
mod strings;

pub(super) use strings::is_sane_key;

use super::find::object_ahead;
use super::text::{byte, comment, is_word, key_ahead, quote, skip_blanks, structural};
use super::{Mend, Want};

/// The deepest nesting that is read; the strict parser has the same limit.
pub(super) const MAX_DEPTH: usize = 127;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The text ends before an element is complete.
    Cut,
    TooDeep,
    Garbage,
}

/// What was mended: JSON texts that should be strict now.
#[derive(Debug)]
pub(super) struct Mended {
    /// The value, and in bare lists the ones that follow it, each with what was done.
    pub(super) values: Vec<(String, Vec<Mend>)>,
    /// Where the last one ends.
    pub(super) end: usize,
}

/// Mends the value that starts at `start`, and bare elements after it when an array is wanted.
pub(super) fn mend(text: &str, start: usize, want: Want) -> Result<Mended, Stop> {
    let mut values: Vec<(String, Vec<Mend>)> = Vec::new();
    let mut at = start;
    loop {
        let mut mender =
            Mender { text, at, out: String::new(), stack: Vec::new(), keep: None, mends: Vec::new(), want };
        match mender.run() {
            Ok(()) => {}
            Err(Stop::Cut) if !values.is_empty() => {
                if let Some((_, mends)) = values.last_mut() {
                    mends.push(Mend::Cut);
                }
                return Ok(Mended { values, end: text.len() });
            }
            Err(stop) => return Err(stop),
        }
        at = mender.at;
        if goes_on(text, at) {
            return Err(Stop::Garbage);
        }
        values.push((mender.out, mender.mends));
        match next_element(text, at).filter(|_| want == Want::Array) {
            Some(next) => at = next,
            None => return Ok(Mended { values, end: at }),
        }
    }
}

/// True when what follows a closed value is more of its inside: it was closed in the wrong place.
fn goes_on(text: &str, end: usize) -> bool {
    match byte(text, end) {
        Some(b':' | b'[' | b'-' | b'0'..=b'9') => return true,
        Some(b'"') if byte(text, end + 1).is_some_and(|next| is_word(next) || next == b'/') => return true,
        Some(_) | None => {}
    }
    let at = skip_blanks(text, end);
    match structural(text, at) {
        Some((b':', _)) => true,
        Some((b',', length)) => quoted_key_ahead(text, skip_blanks(text, at + length)),
        _ => quoted_key_ahead(text, at),
    }
}

fn quoted_key_ahead(text: &str, at: usize) -> bool {
    quote(text, at).is_some_and(|(_, length)| at + length < text.len()) && key_ahead(text, at)
}

/// Where the next element of a bare list starts: after surplus closers and a comma or blanks.
fn next_element(text: &str, end: usize) -> Option<usize> {
    let mut at = end;
    loop {
        at = skip_blanks(text, at);
        match structural(text, at) {
            Some((b'{', _)) => return object_ahead(text, at).then_some(at),
            Some((b',' | b']' | b'}', length)) => at += length,
            _ => return None,
        }
    }
}

/// The last closing bracket in the text that fits the one at `start`: where quotes are broken, brackets cannot be counted.
pub(super) fn last_closer(text: &str, start: usize) -> Option<usize> {
    let closer = if byte(text, start) == Some(b'{') { '}' } else { ']' };
    text.get(start..)?.rfind(closer).map(|offset| start + offset + 1)
}

/// The end of the comment that starts at a position; `None` when it is not closed.
pub(super) fn comment_end(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    match rest.strip_prefix("/*") {
        Some(body) => body.find("*/").map(|end| at + end + 4),
        None => Some(rest.find('\n').map_or(text.len(), |end| at + end)),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    /// A key, or an element, or the closing bracket.
    Item,
    Colon,
    Value,
    Comma,
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    object: bool,
    due: Due,
    /// True once an item was written.
    filled: bool,
    /// True when a comma stands after the last item.
    comma: bool,
    after_object: bool,
}

/// The longest complete beginning of the value.
#[derive(Debug)]
struct Keep {
    out: usize,
    at: usize,
    open: Vec<bool>,
}

struct Mender<'a> {
    text: &'a str,
    at: usize,
    out: String,
    stack: Vec<Frame>,
    keep: Option<Keep>,
    mends: Vec<Mend>,
    want: Want,
}

impl Mender<'_> {
    fn run(&mut self) -> Result<(), Stop> {
        loop {
            self.at = skip_blanks(self.text, self.at);
            if self.at >= self.text.len() {
                return self.cut();
            }
            if comment(self.text, self.at) {
                self.note(Mend::Comments);
                match comment_end(self.text, self.at) {
                    Some(end) => self.at = end,
                    None => return self.cut(),
                }
                continue;
            }
            let done = if let Some((char, length)) = structural(self.text, self.at) {
                if length > 1 {
                    self.note(Mend::Commas);
                }
                match char {
                    b'{' | b'[' => self.open(char == b'{')?,
                    b'}' | b']' => self.close(char == b'}'),
                    b',' => self.comma(length)?,
                    _ => self.colon(length)?,
                }
            } else if let Some((open, length)) = quote(self.text, self.at) {
                if self.text.get(self.at..).is_some_and(|rest| rest.starts_with("```")) {
                    return self.cut();
                }
                if self.is_key_in_list() {
                    // The array before this key was not closed.
                    self.note(Mend::Brackets);
                    self.pop()
                } else {
                    self.at += length;
                    self.string(open)?
                }
            } else {
                self.word()?
            };
            match done {
                Step::On => {}
                Step::Done => return Ok(()),
                Step::End => return self.cut(),
            }
        }
    }

    fn note(&mut self, mend: Mend) {
        if !self.mends.contains(&mend) {
            self.mends.push(mend);
        }
    }

    fn top(&self) -> Option<Frame> {
        self.stack.last().copied()
    }

    /// Makes room for a key, element or value: separators are written here, so a trailing comma is never written.
    fn begin(&mut self) -> Result<(), Stop> {
        let mut missing = false;
        match self.stack.last_mut() {
            None => {}
            Some(frame) => match frame.due {
                Due::Item | Due::Comma => {
                    if frame.filled {
                        missing = !frame.comma;
                        self.out.push(',');
                    }
                    frame.filled = true;
                    frame.comma = false;
                }
                Due::Colon => {
                    missing = true;
                    self.out.push(':');
                    frame.due = Due::Value;
                }
                Due::Value => {}
            },
        }
        if missing {
            self.note(Mend::Commas);
        }
        Ok(())
    }

    /// True when a key of the surrounding object stands where an element is due.
    fn is_key_in_list(&self) -> bool {
        matches!(self.stack.as_slice(), [.., Frame { object: true, .. }, Frame { object: false, filled: true, .. }])
            && key_ahead(self.text, self.at)
    }

    /// A value is complete: a comma is due, and this may be as far as a cut reply can be kept.
    fn complete(&mut self, object: bool) -> Step {
        let Some(frame) = self.stack.last_mut() else { return Step::Done };
        frame.due = Due::Comma;
        frame.after_object = object;
        if self.is_keepable(object) {
            let keep = self.keep.get_or_insert(Keep { out: 0, at: 0, open: Vec::new() });
            keep.out = self.out.len();
            keep.at = self.at;
            keep.open.clear();
            keep.open.extend(self.stack.iter().map(|frame| frame.object));
        }
        Step::On
    }

    /// True when a value cut off right here has lost nothing but whole elements.
    fn is_keepable(&self, object: bool) -> bool {
        let frames = &self.stack;
        let in_list = frames.windows(2).any(|pair| matches!(pair, [outer, inner] if !outer.object && inner.object));
        let top_is_list = frames.last().is_some_and(|frame| !frame.object);
        let root_is_list = frames.first().is_some_and(|frame| !frame.object);
        !in_list
            && match self.want {
                Want::Array => top_is_list && object && frames.len() <= 2,
                Want::Object | Want::Any => !root_is_list || (object && frames.len() == 1),
            }
    }

    /// The text ends, or prose follows: closes what is complete and drops the rest.
    fn cut(&mut self) -> Result<(), Stop> {
        let Some(keep) = self.keep.take() else { return Err(Stop::Cut) };
        let blank_rest = self.text.get(keep.at..self.at).is_some_and(|rest| rest.trim().trim_matches(',').is_empty());
        let ends_in_list = keep.open.iter().any(|object| !object);
        self.note(match (blank_rest, ends_in_list) {
            (true, true) => Mend::Unclosed,
            (true, false) => Mend::Brackets,
            (false, _) => Mend::Cut,
        });
        self.out.truncate(keep.out);
        for object in keep.open.iter().rev() {
            self.out.push(if *object { '}' } else { ']' });
        }
        Ok(())
    }

    fn open(&mut self, object: bool) -> Result<Step, Stop> {
        if let Some(frame) = self.top()
            && frame.object
            && matches!(frame.due, Due::Item | Due::Comma)
        {
            // A key is due, so the object before was not closed.
            if !object {
                return Err(Stop::Garbage);
            }
            if !frame.filled {
                return Err(Stop::Garbage);
            }
            self.note(Mend::Brackets);
            return Ok(self.pop());
        }
        if self.stack.len() >= MAX_DEPTH {
            return Err(Stop::TooDeep);
        }
        self.begin()?;
        self.at += 1;
        self.out.push(if object { '{' } else { '[' });
        self.stack.push(Frame { object, due: Due::Item, filled: false, comma: false, after_object: false });
        Ok(Step::On)
    }

    fn pop(&mut self) -> Step {
        let Some(frame) = self.stack.pop() else { return Step::Done };
        match frame.due {
            Due::Colon => self.out.push_str(":null"),
            Due::Value => self.out.push_str("null"),
            Due::Item | Due::Comma => {}
        }
        if matches!(frame.due, Due::Colon | Due::Value) || frame.comma {
            self.note(Mend::Commas);
        }
        self.out.push(if frame.object { '}' } else { ']' });
        self.complete(frame.object)
    }

    fn close(&mut self, object: bool) -> Step {
        let after = skip_blanks(self.text, self.at + 1);
        self.at += 1;
        if self.top().is_some_and(|frame| frame.object == object) {
            return self.pop();
        }
        self.note(Mend::Brackets);
        if !self.stack.iter().any(|frame| frame.object == object) || self.is_surplus(object, after) {
            return Step::On;
        }
        // Where a colon or a value is due nothing can end: the closer strayed in.
        let strays = (self.stack.iter().rev())
            .take_while(|frame| frame.object != object)
            .any(|frame| matches!(frame.due, Due::Colon | Due::Value));
        if strays {
            return Step::On;
        }
        while self.top().is_some_and(|frame| frame.object != object) {
            self.pop();
        }
        self.pop()
    }

    /// True when a closer that does not fit is one too many, and not a sign that another one is missing.
    fn is_surplus(&self, object: bool, after: usize) -> bool {
        let following = match structural(self.text, after) {
            Some((b',', length)) => skip_blanks(self.text, after + length),
            Some((closer @ (b'}' | b']'), _)) => return (closer == b'}') != object,
            _ => return false,
        };
        if object { byte(self.text, following) == Some(b'{') } else { key_ahead(self.text, following) }
    }

    fn comma(&mut self, length: usize) -> Result<Step, Stop> {
        self.at += length;
        let Some(frame) = self.stack.last_mut() else { return Ok(Step::Done) };
        match frame.due {
            Due::Comma => {
                frame.due = Due::Item;
                frame.comma = true;
                Ok(Step::On)
            }
            Due::Item => {
                self.note(Mend::Commas);
                Ok(Step::On)
            }
            Due::Value => {
                self.out.push_str("null");
                self.note(Mend::Commas);
                let step = self.complete(false);
                if let Some(frame) = self.stack.last_mut() {
                    frame.due = Due::Item;
                    frame.comma = true;
                }
                Ok(step)
            }
            Due::Colon => Err(Stop::Garbage),
        }
    }

    fn colon(&mut self, length: usize) -> Result<Step, Stop> {
        self.at += length;
        match self.stack.last_mut() {
            Some(frame) if frame.due == Due::Colon => {
                self.out.push(':');
                frame.due = Due::Value;
                Ok(Step::On)
            }
            Some(_) | None => Err(Stop::Garbage),
        }
    }

    /// An unquoted word: a literal, a number, a key, a text, an ellipsis, or the prose after the value.
    fn word(&mut self) -> Result<Step, Stop> {
        let Some(frame) = self.top() else { return Err(Stop::Garbage) };
        let rest = self.text.get(self.at..).unwrap_or_default();
        if matches!(frame.due, Due::Item | Due::Comma) && rest.starts_with(['.', '…']) {
            let dots = rest.len() - rest.trim_start_matches(['.', '…']).len();
            if dots >= 3 {
                self.at += dots;
                self.note(Mend::Comments);
                return Ok(Step::On);
            }
        }
        if !frame.object && frame.after_object && frame.filled && matches!(frame.due, Due::Item | Due::Comma) {
            return if self.is_prose() { Ok(Step::End) } else { Err(Stop::Garbage) };
        }
        match frame.due {
            Due::Comma => Err(Stop::Garbage),
            Due::Item if frame.object => self.bare_key(),
            Due::Item | Due::Colon | Due::Value => self.bare_value(frame.object),
        }
    }

    /// True when what stands after an element is prose, so that only the closing bracket is missing: it does not touch
    /// the bracket before, is a word, and no further element follows soon.
    fn is_prose(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|before| byte(self.text, before));
        if matches!(before, Some(b'}' | b'{' | b'[' | b']')) || byte(self.text, self.at) == Some(b'\\') {
            return false;
        }
        let soon = (self.at..self.text.len().min(self.at + 200)).filter(|at| byte(self.text, *at) == Some(b'{'));
        !soon.into_iter().any(|at| object_ahead(self.text, at))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    On,
    Done,
    /// The text ends here as far as this value goes.
    End,
}
