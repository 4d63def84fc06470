//! Activations and softmax in place, by vector instructions: candle computes them number by number, with libm's `exp`, which was
//! a tenth of the time of a prompt.

use candle_core::{CpuStorage, InplaceOp1, Layout, Result, Tensor};
use rten_simd::{SimdOp as _, SimdUnaryOp as _};
use rten_vecmath::{ApproxGelu, Silu, Softmax};

/// What becomes of the numbers of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InPlace {
    Silu,
    /// GELU by its approximation with the hyperbolic tangent.
    Gelu,
    /// Each row of the last dimension becomes weights with the sum 1.
    Softmax,
}

impl InPlace {
    /// Changes a tensor that nothing else refers to.
    pub(super) fn on(self, tensor: Tensor) -> Result<Tensor> {
        let tensor = tensor.contiguous()?;
        tensor.inplace_op1(&self)?;
        Ok(tensor)
    }
}

impl InplaceOp1 for InPlace {
    fn name(&self) -> &'static str {
        match self {
            InPlace::Silu => "silu",
            InPlace::Gelu => "gelu",
            InPlace::Softmax => "softmax",
        }
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        let (CpuStorage::F32(numbers), Some((start, end))) = (storage, layout.contiguous_offsets()) else {
            candle_core::bail!("{} takes 32-bit numbers without gaps", self.name())
        };
        let numbers = numbers.get_mut(start..end).unwrap_or_default();
        match self {
            InPlace::Silu => Silu {}.map_mut(numbers),
            InPlace::Gelu => ApproxGelu {}.map_mut(numbers),
            InPlace::Softmax => {
                let width = layout.dims().last().copied().unwrap_or(1).max(1);
                for row in numbers.chunks_exact_mut(width) {
                    Softmax::new_mut(row).dispatch();
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Tensor};
    use candle_nn::ops;

    use super::InPlace;

    #[test]
    fn they_agree_with_candle() {
        let minus = f32::NEG_INFINITY;
        // Wider than the vectors of any processor, and no multiple of them.
        const WIDTH: usize = 77;
        let number = |at: usize| match at % 7 {
            0 => -3.0e3 * at as f32,
            1 => 80.0,
            2 => 1e-9,
            other => (other * at) as f32 / 50.0 - 9.0,
        };
        // As a mask leaves it: each row sees one more.
        let sees = |at: usize| if at % WIDTH <= at / WIDTH * 3 { number(at) } else { minus };
        let rows = Tensor::from_vec((0..WIDTH * 25).map(sees).collect(), (25, WIDTH), &Device::Cpu).unwrap();
        let finite = Tensor::from_vec((0..WIDTH * 25).map(number).collect(), (25, WIDTH), &Device::Cpu).unwrap();
        let values = |tensor: Tensor| tensor.flatten_all().unwrap().to_vec1::<f32>().unwrap();
        for (op, input, expected) in [
            (InPlace::Silu, &finite, finite.silu().unwrap()),
            (InPlace::Gelu, &finite, finite.gelu().unwrap()),
            (InPlace::Softmax, &rows, ops::softmax_last_dim(&rows).unwrap()),
        ] {
            let found = values(op.on(input.copy().unwrap()).unwrap());
            for (found, expected) in found.iter().zip(values(expected)) {
                assert!((found - expected).abs() < 1e-6, "{op:?}: {found} {expected}");
            }
        }
    }
}
