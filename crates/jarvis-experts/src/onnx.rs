//! ONNX graphs: one file as a [`Session`] that is run with named tensors. What the engine does not bound (sizes that a file
//! announces, operators that loop) is refused here.

mod cubic;

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use rten::{Dimension, Model, ModelOptions, NodeId, RunOptions, ThreadPool, Value, ValueOrView};
use rten_tensor::prelude::*;

use crate::files::is_repacked;
use crate::{ExpertError, ModelFiles, Resources};
use cubic::CubicResize;

/// A loaded graph.
pub(crate) struct Session {
    model: Model,
    inputs: Vec<Port>,
    outputs: HashMap<String, NodeId>,
    /// The names of the outputs, in the order of the file.
    names: Vec<String>,
    bytes: u64,
    /// Resizes that the engine does not do as the file says.
    cubic: Vec<Cubic>,
    pool: Arc<ThreadPool>,
    files: ModelFiles,
}

/// A bicubic resize, see [`cubic`].
struct Cubic {
    input: NodeId,
    sizes: NodeId,
    output: NodeId,
    aligned: bool,
}

/// An input of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Port {
    pub(crate) name: String,
    id: NodeId,
    /// The fixed sizes; `None` where a size may vary. Empty where the file tells no shape.
    pub(crate) shape: Vec<Option<usize>>,
}

impl Session {
    /// Loads the ONNX file of one part of a model, see [`ModelFiles::onnx`].
    pub(crate) fn open(files: &ModelFiles, part: &str, resources: &Resources) -> Result<Session, ExpertError> {
        Session::open_file(files, &files.onnx(part)?, resources)
    }

    /// Loads this ONNX file.
    pub(crate) fn open_file(files: &ModelFiles, path: &Path, resources: &Resources) -> Result<Session, ExpertError> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("the ONNX file").to_owned();
        let mut bytes = weigh(path).map_err(|error| files.bad(&name, error))?;
        let repacked = is_repacked(path, bytes) && bytes.saturating_mul(2) <= resources.max_memory;
        if repacked {
            bytes *= 2;
        }
        if bytes > resources.max_memory {
            return Err(ExpertError::TooLarge {
                model: files.id.clone(),
                needed: bytes >> 20,
                allowed: resources.max_memory >> 20,
            });
        }
        let resizes = cubic::find(path).map_err(|error| files.bad(&name, error))?;
        // The optimiser folds constants and drops their names, by which what is resized is asked for.
        let optimise = resizes.is_empty();
        let load = || {
            let mut options = ModelOptions::with_all_ops();
            options.enable_optimization(optimise).prepack_weights(repacked).load_file(path)
        };
        let model = resources.pool.run(load).map_err(|error| files.bad(&name, error))?;
        let port = |id: &NodeId| {
            let node = model.node_info(*id)?;
            let shape = node.shape().unwrap_or_default();
            let size = |dimension: &Dimension| match dimension {
                Dimension::Fixed(size) => Some(*size),
                Dimension::Symbolic(_) => None,
            };
            Some(Port { name: node.name()?.to_owned(), id: *id, shape: shape.iter().map(size).collect() })
        };
        let inputs = model.input_ids().iter().filter_map(port).collect();
        let named: Vec<(String, NodeId)> =
            model.output_ids().iter().filter_map(|id| Some((model.node_info(*id)?.name()?.to_owned(), *id))).collect();
        let names = named.iter().map(|(name, _)| name.clone()).collect();
        let outputs = named.into_iter().collect();
        let node = |name: &str| model.find_node(name);
        let resize = |resize: CubicResize| {
            Some(Cubic {
                input: node(&resize.input)?,
                sizes: node(&resize.sizes)?,
                output: node(&resize.output)?,
                aligned: resize.aligned,
            })
        };
        let cubic = resizes.into_iter().filter_map(resize).collect();
        let pool = Arc::clone(&resources.pool);
        Ok(Session { model, inputs, outputs, names, bytes, cubic, pool, files: files.clone() })
    }

    /// Bytes that the weights take.
    pub(crate) fn memory(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    pub(crate) fn input(&self, name: &str) -> Option<&Port> {
        self.inputs.iter().find(|port| port.name == name)
    }

    /// The names of the outputs, in the order of the file.
    pub(crate) fn output_names(&self) -> &[String] {
        &self.names
    }

    /// Fields of the file's own metadata.
    pub(crate) fn metadata(&self, name: &str) -> Option<&str> {
        self.model.metadata().get(name)
    }

    /// Runs the graph. Inputs that the graph does not have are left out, so that a caller may give all that models of its kind
    /// take (`token_type_ids`).
    pub(crate) fn run<'a>(
        &self,
        inputs: Vec<(&str, ValueOrView<'a>)>,
        outputs: &[&str],
    ) -> Result<Vec<Value>, ExpertError> {
        let mut given: Vec<(NodeId, ValueOrView<'a>)> =
            inputs.into_iter().filter_map(|(name, value)| Some((self.input(name)?.id, value))).collect();
        let wanted = outputs
            .iter()
            .map(|name| {
                let missing = || self.files.unsupported(format!("its graph has no output `{name}`"));
                self.outputs.get(*name).copied().ok_or_else(missing)
            })
            .collect::<Result<Vec<NodeId>, ExpertError>>()?;
        for resize in &self.cubic {
            let views = given.iter().map(|(id, value)| (*id, value.as_view().into())).collect();
            let mut values = self.run_nodes(views, &[resize.input, resize.sizes])?.into_iter();
            let (Some(input), Some(sizes)) = (values.next(), values.next()) else {
                return Err(self.files.failed("the engine gave no output"));
            };
            let resized =
                cubic::resize(&input, &sizes, resize.aligned).map_err(|reason| self.files.unsupported(reason))?;
            given.push((resize.output, resized.into()));
        }
        self.run_nodes(given, &wanted)
    }

    fn run_nodes(&self, given: Vec<(NodeId, ValueOrView<'_>)>, wanted: &[NodeId]) -> Result<Vec<Value>, ExpertError> {
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&self.pool)));
        self.model.run(given, wanted, Some(options)).map_err(|error| self.files.failed(error))
    }

    /// Runs the graph for its first output.
    pub(crate) fn run_first(&self, inputs: Vec<(&str, ValueOrView<'_>)>) -> Result<Value, ExpertError> {
        let first = self.names.first().ok_or_else(|| self.files.unsupported("its graph has no output"))?;
        let mut values = self.run(inputs, &[first.as_str()])?;
        values.pop().ok_or_else(|| self.files.failed("the engine gave no output"))
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("model", &self.files.id).field("inputs", &self.inputs).finish_non_exhaustive()
    }
}

/// The bytes of an ONNX file and of the file of weights beside it.
fn weigh(path: &Path) -> std::io::Result<u64> {
    let beside = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        fs::metadata(name).map_or(0, |data| data.len())
    };
    Ok(fs::metadata(path)?.len() + beside("_data") + beside(".data"))
}

/// A tensor of numbers.
///
/// # Panics
/// Never: the callers make as many values as the shape says.
pub(crate) fn floats(shape: &[usize], values: Vec<f32>) -> Value {
    Value::from_shape(shape, values).expect("as many values as the shape says")
}

/// A tensor of whole numbers. The engine holds 64-bit ones in 32 bits, truth values too.
pub(crate) fn ints(shape: &[usize], values: Vec<i32>) -> Value {
    Value::from_shape(shape, values).expect("as many values as the shape says")
}

/// The shape and the numbers of an output.
pub(crate) fn numbers(files: &ModelFiles, value: &Value) -> Result<(Vec<usize>, Vec<f32>), ExpertError> {
    let tensor = value.as_tensor_view::<f32>().ok_or_else(|| files.failed("an output is no tensor of numbers"))?;
    Ok((tensor.shape().to_vec(), tensor.to_vec()))
}
