//! What the lines say: a network gives each column of a line the probabilities of characters; the best ones are taken, repeats
//! and blanks removed.

use std::path::Path;

use rten::ValueOrView;

use super::geometry::Line;
use super::pixels::Pixels;
use crate::onnx::{Session, floats, numbers};
use crate::{Call, ExpertError, ModelFiles, Picture, Resources, Scored};

/// The height of the network's input, and the width that the shortest lines are padded to.
const HEIGHT: usize = 48;
const MIN_WIDTH: usize = 320;
/// Longer lines are squeezed: the network's memory grows with the width.
const MAX_WIDTH: usize = 3_200;
/// Lines that are read at once. They are sorted by shape, so that few columns are padding.
const BATCH: usize = 6;
/// Characters that a keys file may have.
const MAX_KEYS: usize = 1 << 17;
/// The recogniser.
#[derive(Debug)]
pub(super) struct Recogniser {
    files: ModelFiles,
    session: Session,
    keys: Vec<String>,
}

/// The text file with the characters, one a line, where the ONNX file carries none: `ppocr_keys_v1.txt`, `en_dict.txt`.
fn keys_file(files: &ModelFiles) -> Result<String, ExpertError> {
    let is_keys = |name: &String| name.ends_with(".txt") && (name.contains("keys") || name.contains("dict"));
    let entries = std::fs::read_dir(&files.folder).into_iter().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).filter(is_keys).collect();
    names.sort();
    match names.first() {
        Some(name) => files.text(name),
        None => Err(ExpertError::MissingFile {
            model: files.id.clone(),
            file: "keys.txt (the characters of the recogniser)".to_owned(),
        }),
    }
}

impl Recogniser {
    pub(super) fn open(files: &ModelFiles, path: &Path, resources: &Resources) -> Result<Recogniser, ExpertError> {
        let session = Session::open_file(files, path, resources)?;
        let keys = match session.metadata("character") {
            Some(keys) => keys.to_owned(),
            None => keys_file(files)?,
        };
        let keys = keys.lines().take(MAX_KEYS).map(str::to_owned).collect();
        Ok(Recogniser { files: files.clone(), session, keys })
    }

    pub(super) fn memory(&self) -> u64 {
        self.session.memory()
    }

    /// The text of each line and how sure it is.
    pub(super) fn read(&self, picture: &Picture, lines: &[Line], call: &Call) -> Result<Vec<Scored>, ExpertError> {
        let shape = |line: &Line| {
            let (width, height) = line.size();
            let ratio = width.max(1) as f32 / height.max(1) as f32;
            // High lines are turned when they are cut out.
            if ratio <= 1.0 / 1.5 { 1.0 / ratio } else { ratio }
        };
        let mut order: Vec<(usize, f32, &Line)> =
            lines.iter().enumerate().map(|(nth, line)| (nth, shape(line), line)).collect();
        order.sort_by(|a, b| a.1.total_cmp(&b.1));
        let mut texts = vec![Scored { label: String::new(), score: 0.0 }; lines.len()];
        for batch in order.chunks(BATCH) {
            call.check()?;
            let widest = batch.iter().map(|(_, ratio, _)| (HEIGHT as f32 * ratio) as usize).max().unwrap_or(0);
            let width = widest.clamp(MIN_WIDTH, MAX_WIDTH);
            let pixels = batch.iter().map(|(_, ratio, line)| {
                let cut = Pixels::cut(picture, line);
                let wide = ((HEIGHT as f32 * ratio).ceil() as usize).clamp(1, width);
                Pixels::resized(&cut.bytes, (cut.width, cut.height), (wide, HEIGHT))
            });
            for ((nth, _, _), text) in batch.iter().zip(self.read_batch(pixels, width)?) {
                if let Some(place) = texts.get_mut(*nth) {
                    *place = text;
                }
            }
        }
        Ok(texts)
    }

    fn read_batch(&self, lines: impl Iterator<Item = Pixels>, width: usize) -> Result<Vec<Scored>, ExpertError> {
        let size = 3 * HEIGHT * width;
        let mut values = Vec::new();
        for line in lines {
            let start = values.len();
            values.resize(start + size, 0.0);
            line.write(values.get_mut(start..).unwrap_or_default(), width);
        }
        let input = floats(&[values.len() / size, 3, HEIGHT, width], values);
        let name = self.session.inputs().first().map(|port| port.name.clone()).unwrap_or_default();
        let (shape, scores) = numbers(&self.files, &self.session.run_first(vec![(&name, ValueOrView::from(input))])?)?;
        let [_, columns, characters] = shape.as_slice() else {
            return Err(self.files.unsupported(format!("its recogniser gives a tensor of shape {shape:?}")));
        };
        // Keys files have the blank at the start and the space at the end, or leave out the blank, or both.
        let missing = characters.checked_sub(self.keys.len()).filter(|missing| *missing <= 2 && *columns > 0);
        let Some(missing) = missing else {
            let keys = self.keys.len();
            return Err(self
                .files
                .unsupported(format!("its recogniser has {characters} characters, and its keys {keys}")));
        };
        let first = missing.min(1);
        Ok(scores
            .chunks_exact(columns * characters)
            .map(|line| self.decode(line.chunks_exact(*characters), first))
            .collect())
    }

    /// The character of a number above 0, which is the blank; the keys begin at `first`.
    fn character(&self, id: usize, first: usize) -> &str {
        id.checked_sub(first).and_then(|nth| self.keys.get(nth)).map_or(" ", String::as_str)
    }

    /// The text of the columns of one line.
    fn decode<'a>(&self, columns: impl Iterator<Item = &'a [f32]>, first: usize) -> Scored {
        let best = |column: &[f32]| {
            let pick =
                |best: (usize, f32), (nth, score): (usize, &f32)| if *score > best.1 { (nth, *score) } else { best };
            column.iter().enumerate().fold((0, f32::NEG_INFINITY), pick)
        };
        let (mut label, mut total, mut count, mut before) = (String::new(), 0.0, 0_u32, 0);
        for (id, score) in columns.map(best) {
            if id != 0 && id != before {
                label.push_str(self.character(id, first));
                total += score;
                count += 1;
            }
            before = id;
        }
        Scored { label, score: if count == 0 { 0.0 } else { total / count as f32 } }
    }
}
