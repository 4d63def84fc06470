//! Bicubic `Resize` nodes, which the engine runs as bilinear ones without a word. Models with a table of positions (DINOv2, so
//! Depth Anything; YOLOS) resize it that way for pictures of another size than they were trained with. Here the file is searched
//! for such nodes, and each is computed outside of the engine: the graph is run up to what goes into the node, and then again
//! with the node's output given. Only tables depend on such nodes, so what runs twice is little.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

use rten::Value;
use rten_tensor::prelude::*;

use super::floats;
use crate::vision::{Corners, Interpolation, Mode};

/// Nodes of more bytes hold weights, and are not looked at.
const MAX_NODE: u64 = 1 << 16;

/// More such nodes than any model has.
const MAX_FOUND: usize = 64;

/// The largest plane and the most planes that are resized.
const MAX_VALUES: usize = 1 << 26;

/// The names of a node's values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct CubicResize {
    pub(super) input: String,
    /// The sizes wanted, of all four dimensions.
    pub(super) sizes: String,
    pub(super) output: String,
    /// Whether the centres of the corners stay where they are (CLAP).
    pub(super) aligned: bool,
}

/// The bicubic resizes of an ONNX file, in its order. Those that take scales instead of sizes are left to the engine.
pub(super) fn find(path: &Path) -> io::Result<Vec<CubicResize>> {
    let file = File::open(path)?;
    let end = file.metadata()?.len();
    let mut reader = BufReader::new(file);
    let mut found = Vec::new();
    // ModelProto.graph = 7, GraphProto.node = 1.
    each_message(&mut reader, end, &mut |reader, field, end| {
        if field != 7 {
            return Ok(());
        }
        each_message(reader, end, &mut |reader, field, end| {
            let start = reader.stream_position()?;
            if field == 1 && end - start <= MAX_NODE && found.len() < MAX_FOUND {
                let mut node = vec![0; (end - start) as usize];
                reader.read_exact(&mut node)?;
                found.extend(read_node(&node));
            }
            Ok(())
        })
    })?;
    Ok(found)
}

type Reader = BufReader<File>;

/// Calls `visit` with the number and the end of each length-delimited field up to `end`, the reader standing at its start.
fn each_message(
    reader: &mut Reader,
    end: u64,
    visit: &mut dyn FnMut(&mut Reader, u64, u64) -> io::Result<()>,
) -> io::Result<()> {
    while reader.stream_position()? < end {
        let key = varint(reader)?;
        let skip = match key & 7 {
            0 => {
                varint(reader)?;
                continue;
            }
            1 => 8,
            2 => varint(reader)?,
            5 => 4,
            _ => return Err(io::ErrorKind::InvalidData.into()),
        };
        let at = reader.stream_position()?;
        let next = at.checked_add(skip).filter(|next| *next <= end).ok_or(io::ErrorKind::InvalidData)?;
        if key & 7 == 2 {
            visit(reader, key >> 3, next)?;
        }
        let at = reader.stream_position()?;
        reader.seek_relative(next as i64 - at as i64)?;
    }
    Ok(())
}

fn varint(reader: &mut impl Read) -> io::Result<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let mut byte = [0];
        reader.read_exact(&mut byte)?;
        let [byte] = byte;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(io::ErrorKind::InvalidData.into())
}

/// The length-delimited fields of a message that lies in memory.
fn fields(mut message: &[u8]) -> Vec<(u64, &[u8])> {
    let mut fields = Vec::new();
    while let Ok(key) = varint(&mut message) {
        let length = match key & 7 {
            0 => varint(&mut message).map(|_| 0),
            1 => Ok(8),
            2 => varint(&mut message),
            5 => Ok(4),
            _ => return fields,
        };
        let Some((field, rest)) =
            length.ok().and_then(|length| message.split_at_checked(usize::try_from(length).ok()?))
        else {
            return fields;
        };
        if key & 7 == 2 {
            fields.push((key >> 3, field));
        }
        message = rest;
    }
    fields
}

/// The names of a node, where it is a bicubic resize to sizes.
fn read_node(node: &[u8]) -> Option<CubicResize> {
    let fields_of_node = fields(node);
    let texts = |number: u64| -> Vec<&str> {
        fields_of_node
            .iter()
            .filter(|(field, _)| *field == number)
            .filter_map(|(_, text)| str::from_utf8(text).ok())
            .collect()
    };
    if texts(4) != ["Resize"] {
        return None;
    }
    // NodeProto.attribute = 5 with name = 1 and s = 4.
    let attribute = |wanted: &str| {
        let attributes = fields_of_node.iter().filter(|(field, _)| *field == 5).map(|(_, attribute)| fields(attribute));
        attributes.filter(|parts| parts.contains(&(1, wanted.as_bytes()))).find_map(|parts| {
            let (_, text) = parts.iter().find(|(field, _)| *field == 4)?;
            str::from_utf8(text).ok()
        })
    };
    let coordinates = attribute("coordinate_transformation_mode").unwrap_or("half_pixel");
    if attribute("mode") != Some("cubic")
        || !matches!(coordinates, "half_pixel" | "pytorch_half_pixel" | "align_corners")
    {
        return None;
    }
    let (inputs, outputs) = (texts(1), texts(2));
    let sizes = inputs.get(3).filter(|name| !name.is_empty())?;
    Some(CubicResize {
        input: (*inputs.first()?).to_owned(),
        sizes: (*sizes).to_owned(),
        output: (*outputs.first()?).to_owned(),
        aligned: coordinates == "align_corners",
    })
}

/// Resizes a tensor of four dimensions to sizes, or tells why that cannot be.
pub(super) fn resize(input: &Value, sizes: &Value, aligned: bool) -> Result<Value, &'static str> {
    let input = input.as_tensor_view::<f32>().ok_or("a resize of no numbers")?;
    let sizes = sizes.as_tensor_view::<i32>().ok_or("a resize to no sizes")?.to_vec();
    let to: Vec<usize> = sizes.iter().filter_map(|size| usize::try_from(*size).ok()).collect();
    let (Ok([batch, channels, height, width]), Ok([to_batch, to_channels, to_height, to_width])) =
        (<[usize; 4]>::try_from(input.shape()), <[usize; 4]>::try_from(to.as_slice()))
    else {
        return Err("a resize of other than four dimensions");
    };
    let planes = batch.saturating_mul(channels);
    let area = to_height.saturating_mul(to_width);
    if (batch, channels) != (to_batch, to_channels) || height * width == 0 || area == 0 {
        return Err("a resize of other than pictures");
    }
    if planes.saturating_mul(area) > MAX_VALUES {
        return Err("a resize to more than fits into memory");
    }
    let values = input.to_vec();
    let corners = if aligned { Corners::Centres } else { Corners::Edges };
    let mut interpolation = Interpolation::aligned((width, height), (to_width, to_height), Mode::Bicubic, corners);
    let resized = values.chunks_exact(height * width).flat_map(|plane| interpolation.plane(plane)).collect();
    Ok(floats(&to, resized))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::{find, resize};
    use crate::onnx::{floats, ints};

    fn model(name: &str) -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/models").join(name)
    }

    #[test]
    fn bicubic_resizes_are_found_and_no_others() {
        let check = |name: &str, count: usize| assert_eq!(find(&model(name)).unwrap().len(), count, "{name}");
        check("vision-yolos/model.onnx", 2);
        check("vision-depth-anything/onnx/model.onnx", 1);
        check("audio-clap/onnx/model.onnx", 1);
        check("vision-dpt/model.onnx", 0);
        check("vision-segformer/model.onnx", 0);
    }

    #[test]
    fn cut_and_foreign_files_are_errors() {
        let whole = fs::read(model("vision-yolos/model.onnx")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.onnx");
        for bytes in
            [&whole[..whole.len() - 1], &whole[..100], &[0x3a, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], &[0xff; 40]]
        {
            fs::write(&path, bytes).unwrap();
            assert!(find(&path).is_err(), "{} bytes", bytes.len());
        }
    }

    #[test]
    fn sizes_that_cannot_be_are_refused() {
        let input = || floats(&[1, 2, 2, 2], vec![0.0; 8]);
        let check = |sizes: &[i32]| resize(&input(), &ints(&[sizes.len()], sizes.to_vec()), false).is_ok();
        assert!(check(&[1, 2, 3, 5]));
        for sizes in [&[1, 2, 3][..], &[1, 3, 3, 3], &[1, 2, -3, 3], &[1, 2, 0, 3], &[1, 2, i32::MAX, i32::MAX]] {
            assert!(!check(sizes), "{sizes:?}");
        }
    }
}
