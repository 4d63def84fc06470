//! Reads GGUF files: the header with its metadata, and tensors.
//!
//! Files are untrusted. Every count, length, shape and offset is compared with the size of the file before anything of that
//! size is allocated, which candle's reader does only in part (`general.alignment = 0` makes it divide by zero, for example).
//! Format: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use candle_core::Device;
use candle_core::quantized::{GgmlDType, QStorage, QTensor};

const MAGIC: u32 = 0x4655_4747;
/// The longest key or tensor name; real ones have less than 64 bytes.
const MAX_NAME: u64 = 1024;
/// The longest text value: chat templates reach some 20 kB.
const MAX_TEXT: u64 = 4 << 20;
/// The most elements of one array; the largest vocabularies have some 260,000 tokens and twice as many merges.
const MAX_ARRAY: u64 = 4 << 20;
/// The most metadata entries and the most tensors.
const MAX_ENTRIES: u64 = 1 << 16;
/// The largest header; the largest vocabularies take some 15 MB.
const MAX_HEADER: u64 = 256 << 20;
const MAX_DIMENSIONS: u32 = 4;

/// Why a file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is damaged or contradicts itself.
    Damaged(String),
    /// It is whole, and uses something that is not implemented.
    Unsupported(String),
}

pub(super) type Checked<T> = Result<T, Fault>;

pub(super) fn damaged<T>(reason: impl Into<String>) -> Checked<T> {
    Err(Fault::Damaged(reason.into()))
}

pub(super) fn unsupported<T>(reason: impl Into<String>) -> Checked<T> {
    Err(Fault::Unsupported(reason.into()))
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Fault {
        match error.kind() {
            std::io::ErrorKind::UnexpectedEof => Fault::Damaged("the file ends too early".to_owned()),
            _ => Fault::Damaged(error.to_string()),
        }
    }
}

impl From<candle_core::Error> for Fault {
    fn from(error: candle_core::Error) -> Fault {
        Fault::Damaged(error.to_string())
    }
}

/// A metadata value. Arrays of arrays occur in no known model and are refused.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    Texts(Vec<String>),
    Integers(Vec<i64>),
    Floats(Vec<f64>),
}

/// Where a tensor lies and what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TensorInfo {
    /// Row-major: the last dimension is contiguous.
    pub(super) shape: Vec<usize>,
    pub(super) dtype: GgmlDType,
    /// From the start of the file.
    position: u64,
    /// Bytes in the file.
    size: u64,
}

/// The header of a file, and the file to read tensors from.
#[derive(Debug)]
pub(super) struct Gguf {
    metadata: HashMap<String, Value>,
    tensors: HashMap<String, TensorInfo>,
    file: File,
}

impl Gguf {
    /// Reads the header and checks that all tensors lie within the file.
    pub(super) fn read(file: File) -> Checked<Gguf> {
        let length = file.metadata()?.len();
        let mut header = Header { reader: BufReader::with_capacity(1 << 16, &file), position: 0, length };
        if header.u32()? != MAGIC {
            return damaged("it is not a GGUF file");
        }
        let version = header.u32()?;
        if !matches!(version, 2 | 3) {
            return unsupported(format!("version {version} of GGUF"));
        }
        let tensor_count = header.u64()?;
        let entry_count = header.u64()?;
        // An entry takes at least 13 bytes, a tensor 24.
        let least = entry_count.saturating_mul(13).saturating_add(tensor_count.saturating_mul(24));
        if entry_count > MAX_ENTRIES || tensor_count > MAX_ENTRIES || least > header.rest() {
            return damaged(format!("it announces {entry_count} metadata entries and {tensor_count} tensors"));
        }
        let mut metadata = HashMap::new();
        for _ in 0..entry_count {
            let key = header.text(MAX_NAME)?;
            let value = header.value()?;
            if metadata.insert(key.clone(), value).is_some() {
                return damaged(format!("the metadata key `{key}` occurs twice"));
            }
        }
        let alignment = match metadata.get("general.alignment") {
            None => 32,
            Some(Value::Integer(n)) if (8..=65536).contains(n) && n.count_ones() == 1 => *n as u64,
            Some(_) => return damaged("the alignment of its tensors is no power of two from 8 to 65536"),
        };
        let mut tensors = HashMap::new();
        for _ in 0..tensor_count {
            let name = header.text(MAX_NAME)?;
            let info = header.tensor(&name)?;
            if tensors.insert(name.clone(), info).is_some() {
                return damaged(format!("the tensor `{name}` occurs twice"));
            }
        }
        let start = header.position.next_multiple_of(alignment);
        for (name, info) in &mut tensors {
            if !info.position.is_multiple_of(alignment) {
                return damaged(format!("the tensor `{name}` is not aligned"));
            }
            let end = start.checked_add(info.position).and_then(|from| Some((from, from.checked_add(info.size)?)));
            match end {
                Some((from, end)) if end <= length => info.position = from,
                Some(_) | None => return damaged(format!("the tensor `{name}` lies outside of the file")),
            }
        }
        Ok(Gguf { metadata, tensors, file })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    pub(super) fn info(&self, name: &str) -> Checked<&TensorInfo> {
        self.tensors.get(name).ok_or_else(|| Fault::Damaged(format!("the tensor `{name}` is missing")))
    }

    /// All tensors.
    pub(super) fn infos(&self) -> impl Iterator<Item = &TensorInfo> {
        self.tensors.values()
    }

    /// Reads a tensor of a known shape.
    pub(super) fn tensor(&self, name: &str, shape: &[usize]) -> Checked<QTensor> {
        let info = self.info(name)?;
        if info.shape != shape {
            return damaged(format!("the tensor `{name}` has the shape {:?}, not {shape:?}", info.shape));
        }
        let size = usize::try_from(info.size).map_err(|_| Fault::Damaged(format!("`{name}` is too large")))?;
        let mut bytes = vec![0; size];
        let mut file = &self.file;
        file.seek(SeekFrom::Start(info.position))?;
        file.read_exact(&mut bytes)?;
        let storage = QStorage::from_data(Cow::Owned(bytes), &Device::Cpu, info.dtype)?;
        Ok(QTensor::new(storage, shape)?)
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        match self.metadata.get(key)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn texts(&self, key: &str) -> Option<&[String]> {
        match self.metadata.get(key)? {
            Value::Texts(texts) => Some(texts),
            _ => None,
        }
    }

    pub(super) fn integers(&self, key: &str) -> Option<&[i64]> {
        match self.metadata.get(key)? {
            Value::Integers(integers) => Some(integers),
            _ => None,
        }
    }

    pub(super) fn floats(&self, key: &str) -> Option<&[f64]> {
        match self.metadata.get(key)? {
            Value::Floats(floats) => Some(floats),
            _ => None,
        }
    }

    pub(super) fn bool(&self, key: &str) -> Option<bool> {
        match self.metadata.get(key)? {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn integer(&self, key: &str) -> Option<i64> {
        match self.metadata.get(key)? {
            Value::Integer(value) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn float(&self, key: &str) -> Option<f64> {
        match self.metadata.get(key)? {
            Value::Float(value) => Some(*value),
            Value::Integer(value) => Some(*value as f64),
            _ => None,
        }
    }
}

/// Bytes that a tensor of this type takes in memory for each block, and elements of a block.
pub(super) fn block(dtype: GgmlDType) -> (u64, u64) {
    (dtype.type_size() as u64, dtype.block_size() as u64)
}

/// The header as it is read.
struct Header<'a> {
    reader: BufReader<&'a File>,
    position: u64,
    /// Of the file.
    length: u64,
}

impl Header<'_> {
    /// Bytes that the header may still take.
    fn rest(&self) -> u64 {
        self.length.min(MAX_HEADER).saturating_sub(self.position)
    }

    fn bytes<const N: usize>(&mut self) -> Checked<[u8; N]> {
        let mut bytes = [0; N];
        self.reader.read_exact(&mut bytes)?;
        self.position += N as u64;
        if self.position > MAX_HEADER {
            return damaged("its header is larger than that of any model");
        }
        Ok(bytes)
    }

    fn u32(&mut self) -> Checked<u32> {
        Ok(u32::from_le_bytes(self.bytes()?))
    }

    fn u64(&mut self) -> Checked<u64> {
        Ok(u64::from_le_bytes(self.bytes()?))
    }

    fn text(&mut self, most: u64) -> Checked<String> {
        let length = self.u64()?;
        if length > most.min(self.rest()) {
            return damaged(format!("it announces a text of {length} bytes"));
        }
        let mut bytes = vec![0; length as usize];
        self.reader.read_exact(&mut bytes)?;
        self.position += length;
        // Some converters write a final NUL, and vocabularies are not always UTF-8.
        while bytes.last() == Some(&0) {
            bytes.pop();
        }
        Ok(match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        })
    }

    fn value(&mut self) -> Checked<Value> {
        let kind = self.u32()?;
        match kind {
            8 => Ok(Value::Text(self.text(MAX_TEXT)?)),
            9 => self.array(),
            _ => self.scalar(kind),
        }
    }

    fn scalar(&mut self, kind: u32) -> Checked<Value> {
        Ok(match kind {
            0 => Value::Integer(i64::from(u8::from_le_bytes(self.bytes()?))),
            1 => Value::Integer(i64::from(i8::from_le_bytes(self.bytes()?))),
            2 => Value::Integer(i64::from(u16::from_le_bytes(self.bytes()?))),
            3 => Value::Integer(i64::from(i16::from_le_bytes(self.bytes()?))),
            4 => Value::Integer(i64::from(u32::from_le_bytes(self.bytes()?))),
            5 => Value::Integer(i64::from(i32::from_le_bytes(self.bytes()?))),
            6 => Value::Float(f64::from(f32::from_le_bytes(self.bytes()?))),
            7 => Value::Bool(self.bytes::<1>()? != [0]),
            10 => Value::Integer(i64::try_from(self.u64()?).unwrap_or(i64::MAX)),
            11 => Value::Integer(i64::from_le_bytes(self.bytes()?)),
            12 => Value::Float(f64::from_le_bytes(self.bytes()?)),
            other => return damaged(format!("it has a metadata value of the unknown type {other}")),
        })
    }

    fn array(&mut self) -> Checked<Value> {
        let kind = self.u32()?;
        let count = self.u64()?;
        let size = match kind {
            0 | 1 | 7 => 1,
            2 | 3 => 2,
            4..=6 => 4,
            8 | 10 | 11 | 12 => 8,
            9 => return unsupported("arrays of arrays in the metadata"),
            other => return damaged(format!("it has an array of the unknown type {other}")),
        };
        if count > MAX_ARRAY || count.saturating_mul(size) > self.rest() {
            return damaged(format!("it announces an array of {count} elements"));
        }
        let range = 0..count;
        match kind {
            8 => Ok(Value::Texts(range.map(|_| self.text(MAX_NAME)).collect::<Checked<_>>()?)),
            6 | 12 => {
                let float = |value| if let Value::Float(value) = value { value } else { f64::NAN };
                Ok(Value::Floats(range.map(|_| self.scalar(kind).map(float)).collect::<Checked<_>>()?))
            }
            _ => {
                let integer = |value| match value {
                    Value::Integer(value) => value,
                    Value::Bool(value) => i64::from(value),
                    _ => 0,
                };
                Ok(Value::Integers(range.map(|_| self.scalar(kind).map(integer)).collect::<Checked<_>>()?))
            }
        }
    }

    fn tensor(&mut self, name: &str) -> Checked<TensorInfo> {
        let dimensions = self.u32()?;
        if !(1..=MAX_DIMENSIONS).contains(&dimensions) {
            return damaged(format!("the tensor `{name}` has {dimensions} dimensions"));
        }
        let mut shape = Vec::new();
        let mut elements: u64 = 1;
        for _ in 0..dimensions {
            let dimension = self.u64()?;
            elements = match elements.checked_mul(dimension) {
                Some(elements) if (1..=1 << 48).contains(&elements) => elements,
                Some(_) | None => return damaged(format!("the tensor `{name}` has an impossible shape")),
            };
            shape.push(dimension as usize);
        }
        let contiguous = shape.first().map_or(1, |&dimension| dimension as u64);
        shape.reverse();
        let code = self.u32()?;
        let Some(dtype) = dtype(code) else {
            return unsupported(format!("weights of the GGML type {code} (the tensor `{name}`)"));
        };
        let (bytes, per_block) = block(dtype);
        if !contiguous.is_multiple_of(per_block) {
            return damaged(format!("the rows of the tensor `{name}` are no whole number of {dtype:?} blocks"));
        }
        let position = self.u64()?;
        Ok(TensorInfo { shape, dtype, position, size: elements / per_block * bytes })
    }
}

/// GGML's types that candle computes with.
fn dtype(code: u32) -> Option<GgmlDType> {
    Some(match code {
        0 => GgmlDType::F32,
        1 => GgmlDType::F16,
        2 => GgmlDType::Q4_0,
        3 => GgmlDType::Q4_1,
        6 => GgmlDType::Q5_0,
        7 => GgmlDType::Q5_1,
        8 => GgmlDType::Q8_0,
        10 => GgmlDType::Q2K,
        11 => GgmlDType::Q3K,
        12 => GgmlDType::Q4K,
        13 => GgmlDType::Q5K,
        14 => GgmlDType::Q6K,
        30 => GgmlDType::BF16,
        _ => return None,
    })
}
