//! Outputs of graphs with their shapes checked, so that the code that reads them can take sizes for granted.

use rten::Value;

use crate::onnx::numbers;
use crate::{ExpertError, ModelFiles};

/// An output of a known number of dimensions, none of them 0.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tensor<const N: usize> {
    pub(super) shape: [usize; N],
    pub(super) values: Vec<f32>,
}

impl<const N: usize> Tensor<N> {
    /// Reads the output of this name.
    ///
    /// # Errors
    /// When it has other dimensions, or no values.
    pub(super) fn read(files: &ModelFiles, name: &str, value: &Value) -> Result<Tensor<N>, ExpertError> {
        let (shape, values) = numbers(files, value)?;
        match <[usize; N]>::try_from(shape.as_slice()) {
            Ok(shape) if !values.is_empty() => Ok(Tensor { shape, values }),
            Ok(_) | Err(_) => Err(files.failed(format!("its output `{name}` has the shape {shape:?}"))),
        }
    }
}

/// As many outputs as were asked for, in that order.
pub(super) fn exactly<const N: usize>(files: &ModelFiles, values: Vec<Value>) -> Result<[Value; N], ExpertError> {
    <[Value; N]>::try_from(values).map_err(|_| files.failed("the engine gave another number of outputs"))
}
