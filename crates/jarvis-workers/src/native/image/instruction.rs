//! Editing instructions in English, Russian and Chinese, read into operations in their order.
//!
//! The text is cut into clauses, and each clause is searched for what it may ask. A clause about a part of the picture
//! that only a model could find (the background, a face) is left alone rather than done to the whole.

mod area;
mod clause;
mod collage;
mod extent;
mod frame;
mod hindrance;
mod labels;
mod leftover;
mod purpose;

use std::sync::LazyLock;

use image::ImageFormat;
use regex::Regex;

use jarvis_plan::{is_path, pattern};

use super::super::words::{COLOUR_NAMES, Colour};
use crate::native::words;
pub(super) use area::Area;
use clause::{bytes, clause_ops, first};
pub(super) use collage::{collage_patterns, gap, grid, is_about_gaps, layout};
pub(super) use extent::{place, region};
pub(super) use frame::Frame;
pub(super) use hindrance::hindrance;
pub(super) use labels::quoted;
use leftover::{leaves_alone, says_more, says_more_than_a_format, unread_negation};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Op {
    Resize(Size),
    Crop(Crop),
    /// Clockwise, in degrees.
    Rotate(f32),
    /// As its EXIF orientation says, which every picture is turned by when it is opened.
    Upright,
    FlipHorizontal,
    FlipVertical,
    Grayscale,
    /// Standard deviation in pixels.
    Blur(f32),
    Sharpen,
    SharpenSlightly,
    Invert,
    /// Percent, negative for darker.
    Brightness(f32),
    /// Percent, negative for less.
    Contrast(f32),
    /// Percent, negative for less.
    Saturation(f32),
    Edges,
    Sketch,
    Sepia,
    Warm,
    Cool,
    Pixelate,
    Label(Label),
    Border(Thickness, [u8; 3]),
    /// What is see-through gets this colour.
    Ground([u8; 3]),
    /// An operation on one part of the picture.
    Within(Area, Box<Op>),
    /// Every result is encoded anew, without the metadata of the file; this one is for that alone.
    StripMetadata,
}

/// Words to be written on the picture.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Label {
    pub(super) text: String,
    pub(super) place: Place,
    pub(super) colour: Option<[u8; 3]>,
    /// A watermark is see-through.
    pub(super) mark: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Thickness {
    Pixels(u32),
    /// Of the longest side.
    Share(f32),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Size {
    Exact(u32, u32),
    Width(u32),
    Height(u32),
    Longest(u32),
    /// The largest within this box, in the shape that it has.
    Within(u32, u32),
    Factor(f32),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Crop {
    /// The largest square.
    Square(Place),
    /// This many pixels.
    Exact(u32, u32, Place),
    /// The largest part with this ratio of width to height.
    Ratio(u32, u32, Place),
    /// This share of the width and of the height, 0 to 1.
    Share(f32, f32, Place),
    /// All but this many pixels at one side.
    Trim(u32, Place),
    /// All but this share at every side.
    Margins(f32),
    Area(Area),
    /// What is left without the empty space around it.
    Content(Empty),
}

/// What the empty space around a picture consists of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Empty {
    /// Whatever the corners have.
    Any,
    Transparent,
    Colour([u8; 3]),
}

/// Where a part lies: -1 is left or top, 0 the middle, 1 right or bottom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place(pub(super) i8, pub(super) i8);

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Instruction {
    pub(super) ops: Vec<Op>,
    pub(super) format: Option<ImageFormat>,
    /// The most bytes that the file may have.
    pub(super) most_bytes: Option<u64>,
    /// The quality of the JPEG file, of 100.
    pub(super) quality: Option<u8>,
    /// To be made smaller as a file, whatever that takes off its quality.
    pub(super) compress: bool,
    /// Whether the width and height are to stay.
    pub(super) keeps_size: bool,
    /// The name that the file is to have.
    pub(super) name: Option<String>,
    /// The picture of an animation that is meant.
    pub(super) frame: Option<Frame>,
    /// Clauses that seem to ask for something else.
    pub(super) rest: Vec<String>,
    /// A known edit whose details are missing or impossible.
    pub(super) unclear: Option<Unclear>,
}

impl Instruction {
    /// Whether it asks for nothing that can be done.
    pub(super) fn is_empty(&self) -> bool {
        self.ops.is_empty()
            && self.frame.is_none()
            && self.format.is_none()
            && self.most_bytes.is_none()
            && !self.compress
            && self.quality.is_none()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unclear {
    /// A crop that does not say what to keep.
    Crop,
    /// A width or height of no pixels.
    Nothing,
    /// A text or watermark without its words.
    Label,
    /// A slight turn without its degrees.
    Turn,
    /// Frames of an animation, and not which one.
    Frame,
    /// A part given by coordinates, and no edit that can be made of it alone.
    Area,
}

patterns! {
    BLACK_WHITE DESCRIBED OF_EDGES PRONOUN THEM SEEN COURTESY NO_NEGATION NEGATION FILLER FORMAT ZERO_SIZE NOISE_BETWEEN SEPARATOR PART CROP
    ROTATE FLIP GRAY UNBLUR BLUR SHARPEN INVERT DARKER BRIGHTER CONTRAST SATURATION EDGES SKETCH SEPIA WARM COOL
    PIXELATE RESIZE SIZED BY RATIO PERCENT BY_NUMBER THIRD_SIZE QUARTER_SIZE TIMES DEGREES NUMBER PIXELS TO_NUMBER
    WIDTH_FIRST WIDTH_LAST HEIGHT_FIRST HEIGHT_LAST SMALLER LARGER HALF TWO THREE FOUR TO BY_WORD THUMBNAIL LESS
    SLIGHT STRONG VERTICAL HORIZONTAL COUNTER AROUND SQUARE CENTRE LEFT RIGHT TOP BOTTOM THIRD QUARTER EACH_SIDE OFF
    KEEP_RATIO READ_TOO SIZING EXACTLY WITHOUT LABEL WATERMARK WORDLESS BORDER THICK THIN FILE_SIZE COMPRESS METADATA MAKE_SQUARE SAVE_AS DECIMAL_COMMA QUALITY NAMED_THING BARE_SIDE SOME_METADATA TITLE_ABOVE IN_COLUMN_PLAINLY IN_ROW IN_COLUMN IN_GRID
    EXCEPT CONDITION REGION BEYOND TILTED SCALE_OF KEEP_SIZE FREE_RATIO ONLY_SLIGHTLY GROUND PART_OF NAMING
    UPRIGHT LIES_WRONG STAYS TOO_BIG NOTHING_ELSE WHY AREA POINT FRAME_NTH FRAME_THICK FRAMES REPEATED EMPTY_SIDES TRANSPARENT GAP NO_GAP GRID_SIZE PART_TURN SIZE_NOUN
}

/// A pattern of `data/image_edits.tsv`.
fn named(name: &str) -> Regex {
    let row = words::row(include_str!("../../../data/image_edits.tsv"), name);
    pattern(&row.replace("COLOUR", COLOUR_NAMES.as_str()))
}

pub(super) fn read(text: &str) -> Instruction {
    let (text, labels) = labels::extract(text);
    let saved = SAVE_AS.captures(&text);
    let name = saved.as_ref().and_then(|found| found.get(1)).map(|name| name.as_str().to_owned());
    let folder = saved.and_then(|found| folder(found.get(0)?.as_str()));
    // The name is that of a file, and its end the format.
    let text = match &name {
        Some(name) => text.replace(name.as_str(), &format!(".{}", name.rsplit('.').next().unwrap_or(name))),
        None => text,
    };
    // ".png" alone is a format.
    let is_path = |word: &str| is_path(word) && !(word.starts_with('.') && word.len() <= 6);
    let words: Vec<&str> = text.split([' ', '\t', '\r']).filter(|word| !is_path(word)).collect();
    let plain: String = words.join(" ").to_lowercase().chars().map(plain_char).collect();
    // The second sign of this word would part the clause.
    let plain = plain.replace("饱和", " saturation ").replace("压缩", " compress ");
    let plain = COURTESY.replace_all(&plain, " ");
    let plain = SCALE_OF.replace_all(&plain, " ");
    let plain = NO_NEGATION.replace_all(&plain, " ");
    let plain = BLACK_WHITE.replace_all(&plain, "grayscale");
    let plain = NOISE_BETWEEN.replace_all(&plain, "${1}x${2}");
    let plain = DESCRIBED.replace_all(&plain, "the picture");
    let plain = DECIMAL_COMMA.replace_all(&plain, "${1}.${2}");
    let plain = PART_TURN.replace_all(&plain, in_degrees);
    let plain = purpose::without(&plain);
    let (plain, areas) = area::extract(&plain);
    let (frame, plain) = frame::extract(&plain).map_or((None, plain), |(frame, rest)| (Some(frame), rest));
    let ending = name.as_deref().and_then(|name| ImageFormat::from_path(name).ok());
    let mut found = Instruction { name, format: ending, frame, ..Instruction::default() };
    if frame.is_none() && frame::means_some(&plain) {
        found.unclear = Some(Unclear::Frame);
    }
    let mut areas = areas.into_iter();
    // What is made is kept in one place.
    found.rest.extend(folder.map(|folder| format!("in the folder {folder}")));
    let (mut of_part, mut vague) = (false, false);
    // Operations that ask for another size without saying which.
    let mut vague_sizes: Vec<Op> = Vec::new();
    for clause in SEPARATOR.split(&plain) {
        // A request not to do something is met by not doing it.
        let keeps_shape = KEEP_RATIO.is_match(clause);
        let whole = clause;
        let (clause, negated) = match NEGATION.find(clause) {
            Some(not) => (clause.get(..not.start()).expect("a match starts at a character"), true),
            None => (clause, false),
        };
        let clause = clause.trim();
        // "Blur it, but not the house": something of what was done is to be left as it is.
        if negated && clause.is_empty() && !found.ops.is_empty() && unread_negation(whole) {
            found.rest.push(whole.trim().to_owned());
        }
        // "Resize it to 300x300, but don't distort it."
        if keeps_shape && negated && clause.is_empty() {
            keep_shape(&mut found.ops);
        }
        if !clause.chars().any(char::is_alphanumeric) || FILLER.is_match(clause) {
            continue;
        }
        if found.name.is_some() && NAMING.is_match(clause) {
            continue;
        }
        if KEEP_SIZE.is_match(clause) && clause_ops(clause).iter().all(|op| matches!(op, Op::Resize(_))) {
            found.keeps_size = true;
            continue;
        }
        // "Sharpen it, but only slightly."
        if ONLY_SLIGHTLY.is_match(clause)
            && let Some(op) = found.ops.last_mut()
            && let Some(less) = clause::slightly(op)
        {
            *op = less;
            continue;
        }
        if FREE_RATIO.is_match(clause) && found.ops.iter().any(|op| matches!(op, Op::Resize(Size::Exact(..)))) {
            continue;
        }
        if let Some(ground) = GROUND.find(clause)
            && let Some(colour) = Colour::named(ground.as_str())
        {
            found.ops.push(Op::Ground(colour.rgb()));
            continue;
        }
        let format = FORMAT.captures(clause);
        let format = format.and_then(|found| found.get(1).or_else(|| found.get(2)));
        let format = format.and_then(|name| ImageFormat::from_extension(name.as_str()));
        found.format = format.or(found.format);
        found.quality = first::<u8>(&QUALITY, clause).map(|quality| quality.clamp(1, 100)).or(found.quality);
        let size = FILE_SIZE.captures(clause).and_then(|size| bytes(&size));
        found.most_bytes = size.or(found.most_bytes);
        let sizes = size.is_some() && !negated;
        let compress = COMPRESS.is_match(clause);
        found.compress |= compress;
        let more = if negated { leaves_alone(whole) } else { says_more(clause) };
        if let Some(label) = labels::read(clause, &labels) {
            found.ops.push(Op::Label(label));
            found.rest.extend(more.then(|| labels::shown(whole, &labels)));
            continue;
        }
        // "Smaller than 50 KB" is no size in pixels.
        let without_size = FILE_SIZE.replace_all(clause, " ");
        let clause = if sizes { without_size.as_ref() } else { clause };
        if (sizes || compress) && !SIZED.is_match(clause) {
            let mut ops = clause_ops(clause);
            ops.retain(|op| !matches!(op, Op::Resize(_)));
            found.ops.extend(ops);
            // What is written is the largest below that.
            found.rest.extend((more || sizes && EXACTLY.is_match(whole)).then(|| whole.trim().to_owned()));
            continue;
        }
        let mut ops = if PART.is_match(clause) && !CROP.is_match(clause) { Vec::new() } else { clause_ops(clause) };
        // "Blur it twice": an edit is made once, and only sizes are doubled.
        if REPEATED.is_match(clause) && !RESIZE.is_match(&REPEATED.replace_all(clause, " ")) {
            ops.retain(|op| !matches!(op, Op::Resize(_)));
            // A clause without an edit is told below.
            found.rest.extend((!ops.is_empty()).then(|| whole.trim().to_owned()));
        }
        // "Half transparent" is no size.
        if more && !SIZING.is_match(clause) {
            ops.retain(|op| !matches!(op, Op::Resize(_)));
        }
        if clause.contains(area::MARK) {
            let within = areas.next().and_then(|area| area::within(area, ops, CROP.is_match(clause)));
            if within.is_none() {
                found.unclear = Some(Unclear::Area);
            }
            ops = within.unwrap_or_default();
        }
        if keeps_shape {
            keep_shape(&mut ops);
            // "Resize to 640x480, keeping the proportions."
            if ops.is_empty() {
                keep_shape(&mut found.ops);
                continue;
            }
        }
        if SLIGHT.is_match(clause) && !NUMBER.is_match(clause) && ops.iter().any(|op| matches!(op, Op::Rotate(_))) {
            ops.clear();
            found.unclear = Some(Unclear::Turn);
        }
        // "Make it square, 500 px."
        if ops.is_empty()
            && found.ops.iter().any(|op| matches!(op, Op::Crop(Crop::Square(_))))
            && let Some(side) = first::<u32>(&BARE_SIDE, clause).filter(|side| *side > 0)
        {
            ops.push(Op::Resize(Size::Exact(side, side)));
        }
        if ops.is_empty()
            && let Some(Op::FlipHorizontal | Op::FlipVertical) = found.ops.last()
        {
            // "flip horizontally and vertically"
            if VERTICAL.is_match(clause) {
                ops.push(Op::FlipVertical);
            } else if HORIZONTAL.is_match(clause) {
                ops.push(Op::FlipHorizontal);
            }
        }
        let is_frame = clause.contains(frame::MARK) && !says_more(clause);
        if ops.is_empty() && !negated && format.is_none() && !QUALITY.is_match(clause) && !is_frame {
            let sized = CROP.is_match(clause) || RESIZE.is_match(clause);
            found.unclear = match () {
                () if sized && ZERO_SIZE.is_match(clause) => Some(Unclear::Nothing),
                () if CROP.is_match(clause) => Some(Unclear::Crop),
                () if WORDLESS.is_match(clause) => Some(Unclear::Label),
                () => found.unclear,
            };
            of_part |= PART.is_match(clause);
            found.rest.push(clause.to_owned());
        } else if of_part && PRONOUN.is_match(clause) {
            // "Find the faces and blur them": only they are to be blurred.
            found.rest.push(clause.to_owned());
            continue;
        }
        let saves = ops.is_empty() && format.is_some();
        if !ops.is_empty() && more || saves && says_more_than_a_format(clause) {
            found.rest.push(whole.trim().to_owned());
        }
        // "Smaller, half of that" is one size.
        let sized = matches!(ops.as_slice(), [Op::Resize(_)]);
        if vague && sized {
            found.ops.pop();
        }
        vague = sized && extent::is_vague(clause);
        if vague {
            vague_sizes.extend(ops.iter().cloned());
        }
        found.ops.extend(ops);
    }
    // "Even smaller, 40 KB": it is the file that is to be smaller.
    if found.most_bytes.is_some() {
        found.ops.retain(|op| !vague_sizes.contains(op));
    }
    upright_or_turned(&mut found.ops, &plain);
    if areas.next().is_some() {
        found.unclear = Some(Unclear::Area);
    }
    found
}

/// "A quarter turn" in degrees, so that no part of it is read as a size.
fn in_degrees(turn: &regex::Captures<'_>) -> String {
    let part = turn.iter().skip(1).flatten().next().map_or("", |part| part.as_str());
    let degrees = match () {
        () if part.starts_with("half") || part.starts_with("пол") => 180,
        () if part.starts_with("three") || part.starts_with("три") => 270,
        () => 90,
    };
    format!(" rotate {degrees} degrees ")
}

/// "It is upside down, rotate it": a turn without degrees or a side is the one that makes it upright; any other is the order.
fn upright_or_turned(ops: &mut Vec<Op>, text: &str) {
    let is_turn = |op: &Op| matches!(op, Op::Rotate(_) | Op::FlipHorizontal | Op::FlipVertical);
    if !ops.contains(&Op::Upright) {
        return;
    }
    // The right way up is no side.
    let text = &*UPRIGHT.replace_all(text, " ");
    let says_how = [&DEGREES, &COUNTER, &RIGHT, &AROUND, &HORIZONTAL, &VERTICAL].iter().any(|how| how.is_match(text));
    if says_how && ops.iter().any(is_turn) {
        ops.retain(|op| *op != Op::Upright);
        return;
    }
    ops.retain(|op| !is_turn(op));
    let mut first = true;
    ops.retain(|op| *op != Op::Upright || std::mem::take(&mut first));
}

/// The folder that a name to be saved under stands in.
fn folder(saved: &str) -> Option<String> {
    let path = saved.split_whitespace().last()?.trim_start_matches(['"', '“', '«', '\'', '`']);
    path.rsplit_once('/').map(|(folder, _)| folder.to_owned())
}

/// A size in both directions as the box to fit.
fn keep_shape(ops: &mut [Op]) {
    for op in ops {
        if let Op::Resize(size @ Size::Exact(..)) = op
            && let Size::Exact(wide, high) = *size
        {
            *size = Size::Within(wide, high);
        }
    }
}

/// Whether an instruction is for something in the picture that the rest of the request names: "find the faces … and blur
/// them".
pub(super) fn of_a_part(instruction: &str, request: &str) -> bool {
    let (instruction, request) = (instruction.to_lowercase(), request.to_lowercase());
    THEM.is_match(&instruction) && !request.trim().eq(instruction.trim()) && SEEN.is_match(&request)
}

/// Whether a request that is taken for one about edges means the sides of pictures or what lies between them.
pub(super) fn is_not_about_edges(request: &str) -> bool {
    let plain: String = request.to_lowercase().chars().map(plain_char).collect();
    EMPTY_SIDES.is_match(&plain) || is_about_gaps(&plain) && !EDGES.is_match(&plain)
}

/// What names a part of a picture.
pub(super) fn part_of() -> &'static Regex {
    &PART_OF
}

/// Whether only some of the metadata is to go.
pub(super) fn keeps_metadata(request: &str) -> bool {
    let plain = request.to_lowercase().replace('ё', "е");
    SOME_METADATA.is_match(&plain)
}

/// Full-width digits and signs as plain ones; `ё` as `е`.
fn plain_char(ch: char) -> char {
    match ch {
        'ё' => 'е',
        '’' | '‘' => '\'',
        '０'..='９' | '％' | '：' | 'ｘ' => char::from_u32(u32::from(ch) - 0xfee0).unwrap_or(ch),
        other => other,
    }
}

#[cfg(test)]
mod tests;
