//! Native picture models: the thin shells that fetch, compute on a thread of their own, store and report.

mod animation;
mod arrange;
mod card;
mod compare;
mod compose;
mod content;
mod edges;
mod edit;
mod instruction;
mod look;
mod measure;
mod metadata;
mod ocr;
pub(crate) mod open;
mod overlay;
mod question;
mod reading;
mod same;
mod segment;
mod shrink;
mod written;

use std::sync::LazyLock;

use image::{DynamicImage, ImageFormat};
use jarvis_catalogue::TaskOutput;
use jarvis_engine::Job;
use jarvis_plan::{ErrorCode, Kind, TaskError};
use regex::Regex;
use serde_json::json;

use super::programs::Program;
use super::unread::{self, Clauses, Skill, with_rest};
use super::{Cancel, Native, required};
use jarvis_plan::Language;
pub(super) use written::{answer_from_text, read_text, without_region};

const VISION_HINT: &str = "a vision model can: configure one (`llm.model`), or Hugging Face";

/// Overlays of more pixels are stored as JPEG.
const OVERLAY_WITHOUT_LOSS: u64 = 4_000_000;

/// Does the work on the picture of a job, off the async threads.
async fn with_picture<T: Send + 'static>(
    native: &Native,
    job: &Job,
    work: impl FnOnce(open::Opened, &Cancel) -> Result<T, TaskError> + Send + 'static,
) -> Result<T, TaskError> {
    native.on_medium(job, ("image", Kind::Image), open::open, work).await
}

async fn store(native: &Native, (extension, bytes): (&str, Vec<u8>)) -> Result<TaskOutput, TaskError> {
    Ok(TaskOutput::image(native.inputs.store(Kind::Image, extension, bytes).await?))
}

/// `native/canny`: edges, white on black.
pub(super) async fn canny(native: &Native, job: &Job) -> Result<TaskOutput, TaskError> {
    if instruction::is_not_about_edges(&job.request.text) {
        let message = "the request is about the space around pictures, and only the edges in one are found here";
        return Err(TaskError::new(ErrorCode::CannotDo, message).hint("say for example `show the edges of photo.jpg`"));
    }
    let work = with_picture(native, job, |opened, cancel| {
        let found = edges::canny(&opened.picture);
        cancel.check()?;
        let any = found.iter().any(|level| *level > 0);
        Ok((open::encode(&DynamicImage::ImageLuma8(found), ImageFormat::Png)?, any))
    });
    let (encoded, any) = work.await?;
    let made = store(native, encoded).await?;
    Ok(if any { made } else { made.with("note", "no edges were found") })
}

/// `native/line-segments`: straight lines, white on black.
pub(super) async fn line_segments(native: &Native, job: &Job) -> Result<TaskOutput, TaskError> {
    let work = with_picture(native, job, |opened, cancel| {
        let found = edges::segments(&opened.picture);
        cancel.check()?;
        let size = open::fit((opened.picture.width(), opened.picture.height()), edges::EDGE_SIDE);
        let scale = size.0 as f32 / opened.picture.width() as f32;
        let placed: Vec<edges::Segment> = found.iter().map(|segment| segment.scaled(scale)).collect();
        let drawn = edges::draw(&placed, size);
        Ok((open::encode(&DynamicImage::ImageLuma8(drawn), ImageFormat::Png)?, found.len()))
    });
    let (encoded, count) = work.await?;
    Ok(store(native, encoded).await?.with("lines", count))
}

/// `native/image-edit`: the operations that the instruction names.
pub(super) async fn edit(native: &Native, job: &Job) -> Result<TaskOutput, TaskError> {
    let given = job.arg("text");
    let mut asked = instruction::read(&with_percents(given.unwrap_or(&job.request.text), &job.request.text));
    if given.is_some() && asked.is_empty() {
        // A planner may leave the quoted words out of "add the text …": the request has them.
        let labels =
            instruction::read(&job.request.text).ops.into_iter().filter(|op| matches!(op, instruction::Op::Label(_)));
        let labels: Vec<instruction::Op> = labels.collect();
        if !labels.is_empty() {
            asked = instruction::Instruction { ops: labels, ..instruction::Instruction::default() };
        }
    }
    let is_refused = matches!(asked.unclear, Some(instruction::Unclear::Frame | instruction::Unclear::Area));
    if asked.is_empty() || is_refused {
        return Err(no_edit(asked.unclear));
    }
    if let Some(reason) = instruction::hindrance(given.unwrap_or(&job.request.text), &job.request.text) {
        return Err(TaskError::new(ErrorCode::CannotDo, reason)
            .hint("ask for the whole picture to be changed, or configure an image-to-image model"));
    }
    if given.is_some_and(|text| instruction::of_a_part(text, &job.request.text)) {
        let message = "only a part of the picture is to be changed, and what is where is not recognised here";
        return Err(TaskError::new(ErrorCode::CannotDo, message)
            .hint("ask for the whole picture to be changed, or configure an image-to-image model"));
    }
    let max_pixels = native.inputs.limits().max_pixels;
    let (ops, format) = (asked.ops, asked.format);
    let (most_bytes, compress, quality) = (asked.most_bytes, asked.compress, asked.quality);
    let keeps_size = asked.keeps_size;
    let frame = asked.frame;
    let turns_upright = ops.contains(&instruction::Op::Upright);
    let strips = ops.iter().any(|op| matches!(op, instruction::Op::StripMetadata));
    if strips && instruction::keeps_metadata(&job.request.text) {
        let message = "some of the metadata is to stay, and only all of it can be removed here";
        return Err(TaskError::new(ErrorCode::CannotDo, message).hint("say for example `remove all metadata`"));
    }
    let work = move |(bytes, opened): (Vec<u8>, open::Opened), cancel: &Cancel| {
        if turns_upright && !opened.was_turned {
            let message = "the file has no EXIF orientation, and which way is up is not recognised here";
            return Err(TaskError::new(ErrorCode::CannotDo, message)
                .hint("say how to turn it, for example `rotate by 90 degrees to the right`"));
        }
        let stays_still = frame.is_none() && matches!(format, None | Some(ImageFormat::Gif));
        let left_out = (stays_still && animation::is_animated(&bytes))
            .then(|| "the other frames of the animation: only its first is in the result".to_owned());
        let picture = match frame {
            Some(frame) => animation::frame(&bytes, frame, cancel)?,
            None => opened.picture,
        };
        let (edited, mut done) = edit::apply(picture, &ops, max_pixels, cancel)?;
        match frame {
            Some(instruction::Frame::Nth(nth)) => done.insert(0, format!("frame {nth}")),
            Some(instruction::Frame::Last) => done.insert(0, "last frame".to_owned()),
            None => {}
        }
        cancel.check()?;
        let encoded = match (most_bytes, format) {
            (Some(most), _) => {
                let shrunk = shrink::within(edited, format, opened.format, most, cancel)?;
                done.extend(shrunk.words);
                shrunk.encoded
            }
            (None, None | Some(ImageFormat::Jpeg)) if compress || quality.is_some() => {
                let quality = quality.unwrap_or(shrink::USUAL);
                let bytes = shrink::jpeg(&edited, quality)?;
                done.push(format!("JPEG quality {quality}, {}", shrink::size(bytes.len())));
                ("jpg", bytes)
            }
            (None, Some(format)) if quality.is_some() => {
                let message = format!("a quality is that of a JPEG, and {} has none here", open::name_of(format));
                return Err(
                    TaskError::new(ErrorCode::CannotDo, message).hint("save it as jpg, or leave the quality out")
                );
            }
            (None, Some(format)) => open::encode_as(edited, format)?,
            (None, None) => open::encode(&edited, opened.format)?,
        };
        if format.is_some() {
            done.push(format!("save as {}", encoded.0));
        }
        Ok((encoded, done, left_out))
    };
    let decode = |bytes: &[u8], most: u64| Ok((bytes.to_vec(), open::open(bytes, most)?));
    let (encoded, done, left_out) = native.on_medium(job, ("image", Kind::Image), decode, work).await?;
    let resized = keeps_size && done.iter().any(|words| words.starts_with("resize"));
    let inference = store(native, encoded).await?.with("operations", done);
    // What a whole request says beside the edit is the business of other tasks.
    let mut undone = if given.is_some() { asked.rest } else { Vec::new() };
    undone.extend(left_out);
    undone.extend(resized.then(|| "same dimensions".to_owned()));
    let inference = match asked.name {
        Some(name) => inference.with(TaskOutput::CALLED, name),
        None => inference,
    };
    Ok(with_rest(inference, undone))
}

// The words that go with a collage, and with a card; a test reads them.
static COLLAGE_READ: LazyLock<Regex> = LazyLock::new(|| unread::words_of("COLLAGE_READ"));
static CARD_READ: LazyLock<Regex> = LazyLock::new(|| unread::words_of("CARD_READ"));
static CARD: LazyLock<Regex> = LazyLock::new(|| unread::words_of("CARD"));

/// The most pictures of one collage.
const COLLAGE: usize = 6;

/// `native/collage`: several pictures in one.
pub(super) async fn collage(native: &Native, job: &Job) -> Result<TaskOutput, TaskError> {
    let asked = job.arg("text").unwrap_or(&job.request.text);
    let names: Vec<String> = (1..=COLLAGE).map(|nth| format!("image{nth}")).collect();
    let paths: Vec<&str> = names.iter().filter_map(|name| job.arg(name)).collect();
    if let Some(how) = overlay::asked(&paths, &job.request) {
        return lay(native, job, &paths, how).await;
    }
    let arranged = arrange::arrange(&paths, &job.request)?;
    let mut files = Vec::new();
    for path in &arranged.paths {
        files.push(native.inputs.bytes(path, Kind::Image).await?);
    }
    if files.len() < 2 {
        return Err(TaskError::new(ErrorCode::MissingArgument, "a collage needs two pictures at least")
            .hint("name the files in the request, or attach them"));
    }
    let keys = instruction::collage_patterns();
    let mut read: Vec<&Regex> = keys.iter().copied().chain(&arranged.read).collect();
    let mut layout = arranged.layout.unwrap_or_else(|| instruction::layout(asked, files.len()));
    let mut done = Vec::new();
    if let Some(((columns, rows), pattern)) = instruction::grid(asked) {
        let cells = columns.saturating_mul(rows) as usize;
        if files.len() > cells || files.len() + columns as usize <= cells {
            let message = format!("{} pictures do not fill a grid of {columns} x {rows}", files.len());
            return Err(TaskError::new(ErrorCode::InvalidInput, message).hint("ask for a grid that they fill"));
        }
        layout = compose::Layout::Columns(columns);
        read.push(pattern);
        done.push(format!("{columns} columns, {rows} rows"));
    }
    let (gap, patterns) = instruction::gap(asked).or_else(|| instruction::gap(&job.request.text)).unwrap_or_default();
    if gap.pixels > compose::WIDEST_GAP {
        let message = format!("a gap is at most {} pixels wide here, not {}", compose::WIDEST_GAP, gap.pixels);
        return Err(TaskError::new(ErrorCode::CannotDo, message));
    }
    done.extend((!patterns.is_empty()).then(|| format!("gap of {} pixels", gap.pixels)));
    read.extend(patterns);
    let left = unread::of_edit(job, &keys, &COLLAGE_READ, &read, &[]);
    let max_pixels = native.inputs.limits().max_pixels;
    let work = move |cancel: &Cancel| {
        let mut pictures = Vec::with_capacity(files.len());
        for file in files {
            cancel.check()?;
            // What a collage shows of a picture is never larger than this.
            pictures.push(open::reduced(&open::open(&file, max_pixels)?.picture, compose::LONGEST));
        }
        open::encode(&compose::collage(&pictures, layout, gap), ImageFormat::Jpeg)
    };
    let encoded = native.inputs.heavy().run(&job.cancel, work).await?;
    let made = store(native, encoded).await?;
    Ok(with_rest(if done.is_empty() { made } else { made.with("operations", done) }, left))
}

/// One picture on the other, in the format of the one below.
async fn lay(native: &Native, job: &Job, paths: &[&str], how: overlay::Overlay) -> Result<TaskOutput, TaskError> {
    let mut files = Vec::new();
    for path in paths {
        files.push(native.inputs.bytes(path, Kind::Image).await?);
    }
    if how.second_on_top {
        files.reverse();
    }
    let max_pixels = native.inputs.limits().max_pixels;
    let work = move |cancel: &Cancel| {
        let pictures = files.iter().map(|file| open::open(file, max_pixels)).collect::<Result<Vec<_>, _>>()?;
        cancel.check()?;
        let [above, below] = pictures.as_slice() else {
            return Err(TaskError::new(ErrorCode::MissingArgument, "there are no two pictures to lay on each other"));
        };
        let (laid, (x, y)) = overlay::lay(&below.picture, &above.picture, how)?;
        let (width, height) = (above.picture.width(), above.picture.height());
        let words = format!("laid on top {width}x{height}+{x}+{y}, opacity {:.0}%", how.opacity * 100.0);
        Ok((open::encode(&laid, below.format)?, words))
    };
    let (encoded, words) = native.inputs.heavy().run(&job.cancel, work).await?;
    let patterns = overlay::patterns();
    let left = unread::of_edit(job, &patterns, &COLLAGE_READ, &patterns, &[]);
    Ok(with_rest(store(native, encoded).await?.with("operations", vec![words]), left))
}

fn no_edit(unclear: Option<instruction::Unclear>) -> TaskError {
    match unclear {
        Some(instruction::Unclear::Crop) => {
            TaskError::new(ErrorCode::CannotDo, "the request does not say which part of the picture to keep")
                .hint(format!("say which: {}", edit::CAN_CROP))
        }
        Some(instruction::Unclear::Nothing) => {
            TaskError::new(ErrorCode::InvalidInput, "a picture cannot be 0 pixels wide or high")
                .hint("give a size of at least 1x1, for example `resize to 640x480`")
        }
        Some(instruction::Unclear::Label) => {
            TaskError::new(ErrorCode::CannotDo, "the request does not say which words to write on the picture")
                .hint("put them in quotation marks, for example `add the text \"Hello\"`")
        }
        Some(instruction::Unclear::Turn) => {
            TaskError::new(ErrorCode::CannotDo, "the request does not say by how many degrees to turn the picture")
                .hint("say for example `rotate by 5 degrees`")
        }
        Some(instruction::Unclear::Frame) => {
            TaskError::new(ErrorCode::CannotDo, "the request does not say which one frame of the animation to take")
                .hint("say for example `take frame 5 as png`; several frames are not taken out at once")
        }
        Some(instruction::Unclear::Area) => {
            TaskError::new(ErrorCode::CannotDo, "this is not done to an area that coordinates give")
                .hint("an area can be cropped, blurred, pixelated, or changed in its light and colours")
        }
        None => {
            let message = format!("the instruction names no edit that is known here; known are: {}", edit::CAN);
            TaskError::new(ErrorCode::CannotDo, message)
                .hint("say for example `half size and grayscale`; other edits need an image-to-image model")
        }
    }
}

/// The instruction with the percent signs that the request has behind the same numbers, where a planner lost them.
fn with_percents(instruction: &str, request: &str) -> String {
    let is_percent = |number: &str| {
        request.match_indices(&format!("{number}%")).any(|(at, _)| {
            !request
                .get(..at)
                .expect("a match starts at a character")
                .ends_with(|before: char| before.is_ascii_digit() || before == '.')
        })
    };
    let words = instruction.split(' ').map(|word| {
        let number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        if number && is_percent(word) { format!("{word}%") } else { word.to_owned() }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// `native/graph-segmenter`: regions of like colour.
pub(super) async fn segment(native: &Native, job: &Job) -> Result<TaskOutput, TaskError> {
    let lang = Language::of(&job.request.text);
    let work = with_picture(native, job, move |opened, cancel| {
        let size = (opened.picture.width(), opened.picture.height());
        let (overlaid, list) = segment::segment(opened.picture, lang, cancel)?;
        cancel.check()?;
        let (width, height) = overlaid.dimensions();
        let reduced = (width, height) != size;
        let note = reduced.then(|| {
            format!(
                "the picture is drawn in {width} x {height} pixels; the boxes are in the {} x {} of the original",
                size.0, size.1
            )
        });
        // Without loss a large noisy picture would be larger than what may be stored.
        let large = u64::from(width) * u64::from(height) > OVERLAY_WITHOUT_LOSS;
        let format = if large { ImageFormat::Jpeg } else { opened.format };
        Ok((open::encode(&DynamicImage::ImageRgb8(overlaid), format)?, list, note))
    });
    let (encoded, list, note) = work.await?;
    let made = store(native, encoded).await?.with("predicted", list);
    let made = if let Some(note) = note { made.with("note", note) } else { made };
    Ok(with_rest(made, unread::of(job, Skill::Regions, &[])))
}

/// What names a part of a picture.
pub(super) fn part_of() -> &'static Regex {
    instruction::part_of()
}

/// True for a text that only says how a picture measures: nothing is to be made of it.
pub(super) fn is_unseen(text: &str) -> bool {
    measure::is_unseen(text)
}

/// What of an order a model that enlarges pictures cannot mind; none where a larger picture with its details is all that is wanted.
pub(crate) fn beyond_enlarging(job: &Job) -> Option<String> {
    static ENLARGE: LazyLock<Regex> = LazyLock::new(|| unread::words_of("ENLARGE"));
    let order = job.arg("text").unwrap_or(&job.request.text);
    let read = instruction::read(order);
    // The catalogue's model doubles a picture. Another factor or size, and a part of the picture, is for those that measure.
    let scales = |op: &instruction::Op| matches!(op, instruction::Op::Resize(instruction::Size::Factor(2.0)));
    let is_part = part_of().is_match(&order.to_lowercase());
    let is_plain =
        !is_part && read.format.is_none() && read.most_bytes.is_none() && !read.compress && read.frame.is_none();
    match ENLARGE.is_match(&order.to_lowercase()) && is_plain && read.ops.iter().all(scales) {
        true => None,
        false => Some("another change than a larger picture with its details".to_owned()),
    }
}

/// What of an order a model that cuts out what stands before a background cannot mind.
pub(crate) fn beyond_cutting_out(job: &Job) -> Option<String> {
    static CUT_OUT: LazyLock<Regex> = LazyLock::new(|| unread::words_of("CUT_OUT"));
    static FOR: LazyLock<Regex> = LazyLock::new(|| unread::words_of("CUT_OUT_FOR"));
    let order = job.arg("text").unwrap_or(&job.request.text);
    static CHANGES: LazyLock<Regex> = LazyLock::new(|| unread::words_of("CHANGES"));
    let order = order.to_lowercase();
    let mut changes = CHANGES
        .split(&order)
        .filter(|change| change.split_whitespace().count() > 1 || change.contains(jarvis_plan::is_han));
    match changes.all(|change| CUT_OUT.is_match(change) && !FOR.is_match(change)) && CUT_OUT.is_match(&order) {
        true => None,
        false => Some("another change than the background taken away".to_owned()),
    }
}

/// Whether the writing in the picture of a job is wanted, by the clauses that name the picture, else by the whole request.
pub(crate) fn is_to_be_read(job: &Job) -> bool {
    let request = &job.request.text;
    let path = job.arg("image").unwrap_or_default();
    let file = path.rsplit('/').next().unwrap_or_default().to_lowercase();
    let clauses: Vec<&str> = request
        .split([',', ';', '\n'])
        .flat_map(|part| part.split(" and "))
        .filter(|clause| !file.is_empty() && clause.to_lowercase().contains(&file))
        .collect();
    match clauses.is_empty() {
        true => reading::wanted(request),
        false => clauses.into_iter().any(reading::wanted),
    }
}

/// `native/image-measure`: a description of what can be measured.
pub(super) async fn describe(native: &Native, job: &Job) -> Result<TaskOutput, TaskError> {
    if reading::wanted(&job.request.text) {
        // What was not given as asked was read all the same.
        if let Some(error) = written::refusal(&job.request.text) {
            return Err(error);
        }
        let message = "no writing was read in the picture, and its size and colours are no answer";
        let error = TaskError::new(ErrorCode::CannotDo, message);
        return Err(match native.programs.path(Program::Tesseract) {
            Ok(_) => error.hint(VISION_HINT),
            Err(_) => error.hint(format!("tesseract reads it: {}", Program::Tesseract.hint())),
        });
    }
    if reading::compares(&job.request.text) {
        return Err(not_compared());
    }
    let lang = Language::of(&job.request.text);
    let measures = with_picture(native, job, |opened, _| Ok(measure::measure(&opened.picture))).await?;
    let mut left = unread::of(job, Skill::Described, &[]);
    // Measures are an answer only where measures were asked for.
    if reading::asks_what_is_shown(&job.request.text) || !question::has_parts(&job.request.text) {
        left.push(lang.pick("what the picture shows", "что изображено", "图里是什么").to_owned());
    }
    Ok(with_rest(TaskOutput::text(measures.describe(lang)), left))
}

/// `native/image-measure-qa`: questions about size, colour, light and sharpness.
pub(super) async fn answer_from_measures(native: &Native, job: &Job) -> Result<TaskOutput, TaskError> {
    let asked = job.arg("text").unwrap_or(&job.request.text);
    // A planner may take "text in sign.png" out of the question.
    if compare::asked(asked) {
        return compare::answer(native, job, asked).await;
    }
    if compare::asks_same(asked) {
        return compare::same(native, job).await;
    }
    if reading::any_wanted(&job.request.text) && !reading::wanted(asked) {
        return written::any_text(native, job).await;
    }
    let lang = Language::of(&job.request.text);
    let mut topics = metadata::topics(asked);
    // "When was it taken, where, and with what?": alone, "where" says too little.
    if topics.is_empty() && asked.split_whitespace().count() < 2 {
        topics = metadata::topics(&job.request.text);
    }
    let besides = metadata::without(asked);
    if reading::cost_wanted(asked) || reading::cost_wanted(&job.request.text) {
        return written::price(native, job).await;
    }
    if topics.is_empty() && (reading::wanted(asked) || super::text::counts(asked)) {
        return answer_from_text(native, job).await;
    }
    let mut answers = Vec::new();
    if !topics.is_empty() {
        let say = move |exif: Option<exif::Exif>, _: &Cancel| {
            topics.iter().map(|topic| metadata::answer(exif.as_ref(), *topic, lang)).collect::<Result<Vec<_>, _>>()
        };
        answers.extend(native.on_medium(job, ("image", Kind::Image), |bytes, _| Ok(metadata::read(bytes)), say).await?);
    }
    if question::asks_bytes(asked) {
        let bytes = native.inputs.bytes(required(job, "image")?, Kind::Image).await?;
        answers.push(shrink::size(bytes.len()));
    }
    if question::asks_format(asked) {
        answers.push(with_picture(native, job, |opened, _| Ok(open::name_of(opened.format))).await?);
    }
    let told = !answers.is_empty();
    let measures = with_picture(native, job, |opened, _| Ok(measure::measure(&opened.picture))).await?;
    // Where the file answers all of it, its measures would be more than was asked for.
    let measured = match told {
        true if !question::has_parts(&besides) => None,
        true => question::answer_parts(&measures, &besides),
        false => question::answer(&measures, asked),
    };
    if !told {
        let declined = || {
            let message = "this question is about what the picture shows, and only its size, shape, colours, brightness \
                           and sharpness can be measured here";
            TaskError::new(ErrorCode::CannotDo, message).hint(VISION_HINT)
        };
        let answered = TaskOutput(measured.ok_or_else(declined)?);
        return Ok(with_rest(answered, question::unanswered(asked, |_| false)));
    }
    let first = measured.as_ref().and_then(|rows| rows.get(0)?.get("answer")?.as_str());
    answers.extend(first.map(str::to_owned));
    let of_file = |part: &str| question::asks_bytes(part) || question::asks_format(part);
    let left = question::unanswered(&besides, of_file);
    let answer = answers.join(lang.pick("; ", "; ", "；"));
    Ok(with_rest(TaskOutput(json!([{"answer": answer, "score": 1.0}])), left))
}

/// `native/title-card`: the words themselves, drawn.
pub(super) async fn title_card(native: &Native, job: &Job) -> Result<TaskOutput, TaskError> {
    let text = required(job, "text")?.to_owned();
    if !reading::card_wanted(&job.request.text) {
        let message = "only words can be drawn here, as a title card; a picture of what they mean needs a model";
        return Err(TaskError::new(ErrorCode::CannotDo, message).hint(
            "configure Hugging Face or a media endpoint with `media.image_model`; or ask for a title card or a poster",
        ));
    }
    let Some(text) = reading::card_words(&job.request.text, &text) else {
        let message = "the request does not say which words the card is to bear";
        return Err(TaskError::new(ErrorCode::CannotDo, message)
            .hint("put them in quotation marks, for example `a poster that says \"Hello\"`"));
    };
    let files = job.request.attachments.iter().filter_map(|file| file.name.as_deref());
    let things: Vec<&str> = files.chain([text.as_str()]).collect();
    let (look, said) = look::look(&job.request.text, &text);
    let read: Vec<&Regex> = said.into_iter().chain([&*CARD]).collect();
    let left = unread::of_order(&job.request.text, &things, Clauses::With(&[&CARD]), &CARD_READ, &read);
    let lang = Language::of(&text);
    let drawn = native.inputs.heavy().run(&job.cancel, move |_| {
        let card = card::draw(&text, look)?;
        Ok((open::encode(&DynamicImage::ImageRgb8(card.picture), ImageFormat::Png)?, card.cut))
    });
    let (encoded, cut) = drawn.await?;
    let mut note = lang
        .pick(
            "This is a title card that draws the words, not a generated picture of what they mean",
            "Это карточка с самими словами, а не созданная по ним картинка",
            "这是一张写着文字的卡片,并非根据文字生成的图片",
        )
        .to_owned();
    if cut {
        note.push_str(lang.pick("; part of the text is left out", "; часть текста опущена", ";部分文字未显示"));
    }
    Ok(with_rest(store(native, encoded).await?.with("note", note), left))
}

fn not_compared() -> TaskError {
    let message = "pictures are only read and measured here, each by itself, and not compared";
    TaskError::new(ErrorCode::CannotDo, message).hint(VISION_HINT)
}

#[cfg(test)]
mod tests;
