//! Title cards: the words of a text drawn on a calm ground. It draws words; it does not paint what they mean.

use ab_glyph::{Font, PxScale, ScaleFont};
use image::{Rgb, RgbImage};
use imageproc::drawing::{draw_filled_rect_mut, draw_text_mut};
use imageproc::rect::Rect;
use jarvis_plan::{ErrorCode, TaskError};
use unicode_segmentation::UnicodeSegmentation;

use crate::draw;

pub(super) const SIZE: (u32, u32) = (1024, 768);
/// The share of the shorter side that stays free at each side.
const MARGIN: f32 = 0.125;
/// Letter sizes, tried from the largest down.
const LETTERS: [f32; 9] = [112.0, 92.0, 76.0, 64.0, 54.0, 46.0, 38.0, 30.0, 24.0];
/// Longer texts are cut; this many do not fit at the smallest size anyway.
const MOST_CHARS: usize = 2000;

#[derive(Debug)]
pub(super) struct Card {
    pub(super) picture: RgbImage,
    /// True when not all of the text was drawn: it was too long, or has signs that the font lacks.
    pub(super) cut: bool,
}

/// How a card is to look, where the request says so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) text: Option<[u8; 3]>,
    pub(super) ground: Option<[u8; 3]>,
    pub(super) size: Option<(u32, u32)>,
}

impl Look {
    /// The colours of text and ground, where one is asked for: the other is what it stands out from.
    fn colours(self) -> Option<([u8; 3], [u8; 3])> {
        let beside = |[r, g, b]: [u8; 3]| {
            let light = u32::from(r) * 2 + u32::from(g) * 7 + u32::from(b);
            if light > 1100 { [16, 16, 24] } else { [255; 3] }
        };
        match (self.text, self.ground) {
            (Some(text), Some(ground)) => Some((text, ground)),
            (Some(text), None) => Some((text, beside(text))),
            (None, Some(ground)) => Some((beside(ground), ground)),
            (None, None) => None,
        }
    }
}

/// Draws a text on a card. The same text gives the same card.
pub(super) fn draw(text: &str, look: Look) -> Result<Card, TaskError> {
    let broken = || TaskError::new(ErrorCode::Internal, "the embedded font cannot be read");
    let font = jarvis_tools::font::font().ok_or_else(broken)?;
    let wanted = text.chars().filter(|ch| !ch.is_whitespace()).count();
    let usable = |ch: &char| jarvis_tools::font::has_glyph(*ch);
    let kept: String = text.chars().filter(usable).take(MOST_CHARS).collect();
    let drawn = kept.chars().filter(|ch| !ch.is_whitespace()).count();
    if drawn == 0 || drawn * 2 < wanted.min(MOST_CHARS) {
        let message = "the embedded font cannot draw the script of this text";
        return Err(TaskError::new(ErrorCode::CannotDo, message)
            .hint("it has Latin, Greek, Cyrillic, Chinese, Japanese and Korean; or configure a text-to-image model"));
    }
    let size = look.size.unwrap_or(SIZE);
    let margin = (size.0.min(size.1) as f32 * MARGIN) as u32;
    let (wide, high) = (size.0 - 2 * margin, size.1 - 2 * margin);
    let colours = look.colours();
    let step = |px: f32| (px * 1.35).round() as u32;
    let mut cut = drawn < wanted;
    let mut fitting = None;
    for px in LETTERS {
        let lines = wrap(&kept, wide as f32, |line| width(font, px, line));
        let fits = lines.len() as u32 * step(px) <= high;
        let last = px <= 24.0;
        // At a large size a word must not be broken just because the letters are large.
        let whole = last
            || kept.split_whitespace().filter(|word| word.is_ascii()).all(|word| width(font, px, word) <= wide as f32);
        if (fits && whole) || last {
            fitting = Some((px, lines));
            break;
        }
    }
    let (px, mut lines) = fitting.ok_or_else(broken)?;
    let most = (high / step(px)).max(1) as usize;
    if lines.len() > most {
        cut = true;
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            last.push('…');
        }
    }
    let mut picture = match colours {
        Some((_, ground)) => RgbImage::from_pixel(size.0, size.1, Rgb(ground)),
        None => ground(text, size, margin),
    };
    let block = lines.len() as u32 * step(px);
    let top = size.1.saturating_sub(block) / 2;
    for (nth, line) in lines.iter().enumerate() {
        let x = (size.0 as f32 - width(font, px, line)) / 2.0;
        let y = top + nth as u32 * step(px);
        let (x, y) = (x.round() as i32, y as i32);
        let shadow = (px / 32.0).ceil() as i32;
        if colours.is_none() {
            draw_text_mut(&mut picture, Rgb([16, 16, 24]), x + shadow, y + shadow, px, font, line);
        }
        let letters = colours.map_or([255; 3], |(text, _)| text);
        draw_text_mut(&mut picture, Rgb(letters), x, y, px, font, line);
    }
    Ok(Card { picture, cut })
}

/// A dark gradient in two neighbouring hues that follow from the text, with a thin line above and below.
fn ground(text: &str, (width, height): (u32, u32), margin: u32) -> RgbImage {
    let hash = draw::hash(text);
    let hue = (hash % 360) as f32;
    let turn = 30.0 + (hash >> 20 & 0x1f) as f32;
    let channels = |hue: f32, value: f32| draw::hsv(hue, 0.6, value).map(|channel| channel * 255.0);
    let (from, to) = (channels(hue, 0.30), channels(hue + turn, 0.62));
    let mut picture = RgbImage::from_fn(width, height, |x, y| {
        let share = (x as f32 / width as f32 + y as f32 / height as f32) / 2.0;
        let [r, g, b] = [0, 1, 2].map(|at: usize| {
            let (from, to) = (from.get(at).copied().unwrap_or(0.0), to.get(at).copied().unwrap_or(0.0));
            (from + (to - from) * share).round() as u8
        });
        Rgb([r, g, b])
    });
    let line = channels(hue + turn, 0.95).map(|channel| channel as u8);
    for y in [margin / 2, height - margin / 2 - 3] {
        let rect = Rect::at(margin as i32, y as i32).of_size(width - 2 * margin, 3);
        draw_filled_rect_mut(&mut picture, rect, Rgb(line));
    }
    picture
}

fn width(font: &impl Font, px: f32, line: &str) -> f32 {
    let scaled = font.as_scaled(PxScale::from(px));
    line.chars().map(|ch| scaled.h_advance(font.glyph_id(ch))).sum()
}

/// Breaks a text into lines no wider than `wide`: at blanks, between Han, kana and Hangul signs, and inside a word only
/// when it does not fit on a line of its own. Closing punctuation stays with what it closes.
pub(super) fn wrap(text: &str, wide: f32, width: impl Fn(&str) -> f32) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for piece in pieces(paragraph) {
            let joined = format!("{line}{piece}");
            if width(joined.trim_end()) <= wide {
                line = joined;
                continue;
            }
            if !line.trim().is_empty() {
                lines.push(std::mem::take(&mut line).trim().to_owned());
            }
            line.clear();
            for cluster in piece.graphemes(true) {
                if !line.is_empty() && width(&format!("{line}{cluster}")) > wide {
                    lines.push(std::mem::take(&mut line).trim().to_owned());
                }
                line.push_str(cluster);
            }
        }
        if !line.trim().is_empty() {
            lines.push(line.trim().to_owned());
        }
    }
    lines
}

/// The parts between which a line may break, blanks kept at the end of the part before.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut open = false;
    for ch in text.chars() {
        let closing = "，。！？；：、）》」』】”’,.!?;:)]}%".contains(ch);
        let wide = is_wide(ch);
        let sticks = closing || ch.is_whitespace() || (open && !wide);
        match pieces.last_mut() {
            Some(last) if sticks => last.push(ch),
            _ => pieces.push(ch.to_string()),
        }
        let ends = ch.is_whitespace() || wide || (closing && !ch.is_ascii());
        open = !ends;
    }
    pieces
}

fn is_wide(ch: char) -> bool {
    matches!(ch, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}')
}
