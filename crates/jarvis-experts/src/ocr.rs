//! Writing in pictures, by the detector and the recogniser of PaddleOCR in ONNX form. The detector marks lines, each is cut out
//! and turned level, and the recogniser reads it. Lines upside down are not turned, and pages are not split into columns.

mod detect;
mod geometry;
mod pixels;
mod recognise;

use std::path::PathBuf;

use self::detect::Detector;
use self::geometry::Line;
use self::recognise::Recogniser;
use crate::{Call, Detection, ExpertError, Input, LocalModel, ModelFiles, Output, Picture, Resources};

/// Lines read with less certainty than this are left out.
const MIN_SCORE: f32 = 0.5;
/// Lines whose tops differ by less than this many pixels stand side by side.
const SAME_ROW: f32 = 10.0;
/// The largest picture: its pixels are held a few times over as numbers.
const MAX_PIXELS: u64 = 100_000_000;

/// A reader of pictures.
#[derive(Debug)]
struct PaddleOcr {
    /// Absent where the model reads single lines only.
    detector: Option<Detector>,
    recogniser: Recogniser,
}

/// The model for this task type, where it is one of these: two ONNX files, of which one names detection (`det`) and one
/// recognition (`rec`), or the second alone.
pub(crate) fn open(
    files: &ModelFiles,
    task: &str,
    resources: &Resources,
) -> Result<Option<Box<dyn LocalModel>>, ExpertError> {
    if task != "image-ocr" {
        return Ok(None);
    }
    let Some(recogniser) = find(files, &["rec", "recognition"]) else { return Ok(None) };
    let detector = find(files, &["det", "detection"]);
    let detector = detector.map(|path| Detector::open(files, &path, resources)).transpose()?;
    let recogniser = Recogniser::open(files, &recogniser, resources)?;
    Ok(Some(Box::new(PaddleOcr { detector, recogniser })))
}

/// The ONNX file whose name has one of these words; named weights come first, then the shortest name.
fn find(files: &ModelFiles, words: &[&str]) -> Option<PathBuf> {
    let is_it = |path: &PathBuf| {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_lowercase();
        path.extension().is_some_and(|extension| extension == "onnx")
            && stem.split(|letter: char| !letter.is_alphanumeric()).any(|part| words.contains(&part))
            && path.is_file()
    };
    let named = files.weights.iter().map(|name| files.folder.join(name)).find(is_it);
    if named.is_some() {
        return named;
    }
    let folders = ["", "onnx"].iter().filter_map(|sub| std::fs::read_dir(files.folder.join(sub)).ok());
    let mut found: Vec<PathBuf> =
        folders.flatten().filter_map(|entry| Some(entry.ok()?.path())).filter(is_it).collect();
    found.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    found.into_iter().next()
}

impl LocalModel for PaddleOcr {
    fn memory(&self) -> u64 {
        self.recogniser.memory() + self.detector.as_ref().map_or(0, Detector::memory)
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let (Input::Picture(picture) | Input::PictureQuestion { picture, .. }) = input else {
            return Err(ExpertError::BadInput("reading a picture takes a picture".to_owned()));
        };
        check(picture)?;
        let mut lines = match &self.detector {
            Some(detector) => detector.lines(picture, call)?,
            None => vec![Line::whole(picture.width as f32, picture.height as f32)],
        };
        reading_order(&mut lines);
        let texts = self.recogniser.read(picture, &lines, call)?;
        let read = lines.iter().zip(texts).filter(|(_, text)| text.score >= MIN_SCORE && !text.label.trim().is_empty());
        let lines = read.map(|(line, text)| {
            let (xmin, ymin, xmax, ymax) = line.bounds();
            Detection { label: text.label, score: text.score, xmin, ymin, xmax, ymax }
        });
        Ok(Output::Lines(lines.collect()))
    }
}

/// # Errors
/// When the picture is empty, too large, or its pixels are not as many as it says.
fn check(picture: &Picture) -> Result<(), ExpertError> {
    let pixels = u64::from(picture.width) * u64::from(picture.height);
    if pixels == 0 || pixels > MAX_PIXELS || picture.pixels.len() as u64 != pixels * 3 {
        let (width, height) = (picture.width, picture.height);
        return Err(ExpertError::BadInput(format!("a picture of {width} × {height} pixels cannot be read")));
    }
    Ok(())
}

/// Orders lines from the top, and those in one row from the left.
fn reading_order(lines: &mut [Line]) {
    lines.sort_by(|a, b| a.top().total_cmp(&b.top()).then(a.left().total_cmp(&b.left())));
    for nth in 1..lines.len() {
        let mut at = nth;
        while let Some([before, after]) = at.checked_sub(1).and_then(|first| lines.get_mut(first..=at)) {
            if after.top() - before.top() >= SAME_ROW || after.left() >= before.left() {
                break;
            }
            std::mem::swap(before, after);
            at -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_in_order() {
        let line = |left: f32, top: f32| Line::whole(50.0, 10.0).moved(left, top);
        let mut lines = [line(300.0, 8.0), line(10.0, 100.0), line(10.0, 12.0), line(150.0, 10.0), line(200.0, 95.0)];
        reading_order(&mut lines);
        let order: Vec<(f32, f32)> = lines.iter().map(|line| (line.left(), line.top())).collect();
        assert_eq!(order, [(10.0, 12.0), (150.0, 10.0), (300.0, 8.0), (10.0, 100.0), (200.0, 95.0)]);
    }

    #[test]
    fn broken_pictures_are_refused() {
        for (width, height, bytes) in [(0, 0, 0), (2, 2, 11), (u32::MAX, u32::MAX, 3), (20_000, 20_000, 3)] {
            let picture = Picture { width, height, pixels: vec![0; bytes] };
            assert!(matches!(check(&picture), Err(ExpertError::BadInput(_))), "{width} × {height}");
        }
    }
}
