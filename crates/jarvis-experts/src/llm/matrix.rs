//! Quantised matrices: how they are read from a file, kept, and multiplied with.
//!
//! candle multiplies quantised matrices on threads of its own, whose number the environment variable `CANDLE_NUM_THREADS` fixes
//! for the process (else all physical cores), and which spin while they wait: on a busy machine they fall to a tenth of their
//! speed. With `CANDLE_NUM_THREADS=1` candle starts none, and the threads of the one compute pool share the rows of each matrix
//! instead ([`Matrix`] is cut for that).

use std::borrow::Cow;
use std::cell::Cell;

use candle_core::quantized::{GgmlDType, QMatMul, QStorage, QTensor};
use candle_core::{DType, Device, Module as _, Result, Tensor};
use rayon::prelude::*;

use super::gguf::{Checked, Fault, Gguf, TensorInfo, block};

/// Rows of a batch from which it is quicker to make numbers of the weights first.
const MANY: usize = 32;
/// Rows of a matrix below which sharing it among threads takes longer than multiplying.
const SHARED: usize = 256;

/// A matrix, cut into parts of rows that threads take on at once.
#[derive(Debug)]
pub(super) struct Matrix {
    parts: Vec<QMatMul>,
    /// Rows of each part but the last.
    rows: usize,
}

/// A matrix with what is added to its products.
#[derive(Debug)]
pub(super) struct Linear {
    matrix: Matrix,
    bias: Option<Tensor>,
}

impl Linear {
    pub(super) fn forward(&self, input: &Tensor) -> Result<Tensor> {
        let output = self.matrix.forward(input)?;
        match &self.bias {
            Some(bias) => output.broadcast_add(bias),
            None => Ok(output),
        }
    }
}

impl Matrix {
    fn new(tensor: QTensor, threads: usize) -> Checked<Matrix> {
        let (rows, columns) = tensor.shape().dims2()?;
        // Tiles have 16 rows. Numbers are multiplied on the threads of the pool anyway.
        let each = rows.div_ceil(threads.max(1)).next_multiple_of(16);
        if rows < SHARED || each >= rows || computed_as(tensor.dtype()) == GgmlDType::F32 {
            return Ok(Matrix { parts: vec![QMatMul::from_qtensor(tensor)?], rows });
        }
        let bytes = tensor.data()?;
        let (size, per_block) = (tensor.dtype().type_size(), tensor.dtype().block_size());
        let mut parts = Vec::new();
        for part in bytes.chunks(each * (columns / per_block) * size) {
            let rows = part.len() / ((columns / per_block) * size);
            let storage = QStorage::from_data(Cow::Borrowed(part), &Device::Cpu, tensor.dtype())?;
            parts.push(QMatMul::from_qtensor(QTensor::new(storage, (rows, columns))?)?);
        }
        Ok(Matrix { parts, rows: each })
    }

    /// Lets candle repack the weights for many rows now, which it does at the first use else.
    pub(super) fn prepare(&self) -> Result<()> {
        let tiled = |part: &QMatMul| match part {
            QMatMul::QTensor(weight) => {
                Some(weight.shape().dims2()).filter(|_| has_tiles(weight.dtype(), weight.shape().dims()))
            }
            QMatMul::Tensor(_) | QMatMul::TensorF16(_) => None,
        };
        match self.parts.first().and_then(tiled).transpose()? {
            // Of one row alone it leaves Q6_K as it is.
            Some((_, columns)) => self.forward(&Tensor::zeros((2, columns), DType::F32, &Device::Cpu)?).map(drop),
            None => Ok(()),
        }
    }

    /// The products of these rows with all rows of the matrix.
    pub(super) fn forward(&self, input: &Tensor) -> Result<Tensor> {
        match self.parts.as_slice() {
            [whole] => product(whole, input),
            parts => {
                let products: Vec<Tensor> = parts.par_iter().map(|part| product(part, input)).collect::<Result<_>>()?;
                Tensor::cat(&products, 1)
            }
        }
    }

    /// These rows of the matrix, as numbers.
    pub(super) fn rows(&self, numbers: &[u32]) -> Result<Tensor> {
        let row = |part: &QMatMul, numbers: &[u32]| part.embedding(&Tensor::new(numbers, &Device::Cpu)?);
        match self.parts.as_slice() {
            [whole] => row(whole, numbers),
            parts => {
                let rows: Vec<Tensor> = numbers
                    .iter()
                    .map(|&number| match parts.get(number as usize / self.rows) {
                        Some(part) => row(part, &[(number as usize % self.rows) as u32]),
                        None => candle_core::bail!("there is no row {number}"),
                    })
                    .collect::<Result<_>>()?;
                Tensor::cat(&rows, 0)
            }
        }
    }
}

fn product(weight: &QMatMul, input: &Tensor) -> Result<Tensor> {
    match weight {
        // Without tiles candle takes one row after the other, and each weight apart for each of them.
        QMatMul::QTensor(weight) if input.dim(0)? >= MANY && !has_tiles(weight.dtype(), weight.shape().dims()) => {
            input.matmul(&weight.dequantize(&Device::Cpu)?.t()?)
        }
        weight => weight.forward(input),
    }
}

/// Threads of a pool that share the work on one matrix: none beside candle's own, where it has some.
pub(super) fn threads_of(pool: usize) -> usize {
    if candle_core::utils::barrier_pool().n_workers() == 0 { pool } else { 1 }
}

/// The type that weights of this type are computed with. candle multiplies these three value by value, at a fifth of the speed
/// of Q8_0, which holds them without loss that matters; whole numbers of 16 bits become 32.
fn computed_as(dtype: GgmlDType) -> GgmlDType {
    match dtype {
        GgmlDType::Q4_1 | GgmlDType::Q5_0 | GgmlDType::Q5_1 => GgmlDType::Q8_0,
        GgmlDType::F16 | GgmlDType::BF16 => GgmlDType::F32,
        other => other,
    }
}

/// Whether candle multiplies many rows at once with weights of this type and shape. It repacks them for that, once.
fn has_tiles(dtype: GgmlDType, shape: &[usize]) -> bool {
    if cfg!(target_arch = "aarch64") {
        return true;
    }
    let fits = matches!(shape, [rows, columns] if rows.is_multiple_of(16) && columns.is_multiple_of(256));
    #[cfg(target_arch = "x86_64")]
    let fast = match dtype {
        GgmlDType::Q4K | GgmlDType::Q6K => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
        GgmlDType::Q8_0 => {
            is_x86_feature_detected!("avxvnni")
                || (is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni"))
        }
        _ => false,
    };
    #[cfg(not(target_arch = "x86_64"))]
    let fast = dtype == GgmlDType::F32;
    fits && fast
}

/// Bytes that the weights of a file take when they are loaded, with what candle repacks beside them.
pub(super) fn loaded_size(gguf: &Gguf) -> u64 {
    let size = |info: &TensorInfo| {
        let dtype = computed_as(info.dtype);
        let (bytes, per_block) = block(dtype);
        let elements: u64 = info.shape.iter().map(|&dimension| dimension as u64).product();
        let plain = (elements / per_block).saturating_mul(bytes);
        let packed = match dtype {
            _ if !has_tiles(dtype, &info.shape) => 0,
            // Tiles have eight bits for the six of Q6_K.
            GgmlDType::Q6K => elements.saturating_add(elements / 8),
            _ => plain,
        };
        plain.saturating_add(packed)
    };
    gguf.infos().map(size).fold(0, u64::saturating_add)
}

/// Reads the weights of one file.
pub(super) struct Weights<'a> {
    gguf: &'a Gguf,
    threads: usize,
    requantised: Cell<usize>,
}

impl<'a> Weights<'a> {
    pub(super) fn new(gguf: &'a Gguf, threads: usize) -> Weights<'a> {
        Weights { gguf, threads, requantised: Cell::new(0) }
    }

    fn read(&self, name: &str, rows: usize, columns: usize) -> Checked<QTensor> {
        let tensor = self.gguf.tensor(name, &[rows, columns])?;
        let target = computed_as(tensor.dtype());
        if target != GgmlDType::Q8_0 || tensor.dtype() == target {
            return Ok(tensor);
        }
        self.requantised.set(self.requantised.get() + 1);
        Ok(QTensor::quantize(&tensor.dequantize(&Device::Cpu)?, target)?)
    }

    pub(super) fn matrix(&self, name: &str, rows: usize, columns: usize) -> Checked<Matrix> {
        Matrix::new(self.read(name, rows, columns)?, self.threads)
    }

    pub(super) fn vector(&self, name: &str, length: usize) -> Checked<Tensor> {
        Ok(self.gguf.tensor(name, &[length])?.dequantize(&Device::Cpu)?)
    }

    pub(super) fn linear(&self, name: &str, rows: usize, columns: usize) -> Checked<Linear> {
        let matrix = self.matrix(&format!("{name}.weight"), rows, columns)?;
        let bias = format!("{name}.bias");
        let bias = if self.gguf.has(&bias) { Some(self.vector(&bias, rows)?) } else { None };
        matrix.prepare()?;
        Ok(Linear { matrix, bias })
    }
}

impl Weights<'_> {
    /// Matrices that the file holds as one, below each other: how many rows each has.
    pub(super) fn fused<const N: usize>(&self, name: &str, rows: [usize; N], columns: usize) -> Checked<[Linear; N]> {
        let whole = self.read(&format!("{name}.weight"), rows.iter().sum(), columns)?;
        let bytes = whole.data()?;
        let each_row = bytes.len() / rows.iter().sum::<usize>().max(1);
        let mut rest = bytes.as_ref();
        let mut parts = Vec::with_capacity(N);
        for rows in rows {
            let (part, after) = rest.split_at_checked(rows * each_row).unwrap_or((rest, &[]));
            let storage = QStorage::from_data(Cow::Borrowed(part), &Device::Cpu, whole.dtype())?;
            let matrix = Matrix::new(QTensor::new(storage, (rows, columns))?, self.threads)?;
            matrix.prepare()?;
            parts.push(Linear { matrix, bias: None });
            rest = after;
        }
        parts.try_into().map_err(|_| Fault::Damaged(format!("`{name}` cannot be cut")))
    }
}

impl Drop for Weights<'_> {
    fn drop(&mut self) {
        let tensors = self.requantised.get();
        if tensors > 0 {
            tracing::info!(tensors, "weights in Q4_1, Q5_0 or Q5_1 are kept as Q8_0, which is computed faster");
        }
    }
}
