//! The hyperparameters of a model, from the metadata of its file, checked against each other.

use super::gguf::{Checked, Fault, Gguf, damaged, unsupported};
use super::rope::Rope;

/// The longest context that is offered, whatever a file announces.
const MAX_CONTEXT: usize = 131_072;

/// The families of models that [`super::transformer::Transformer`] computes. They differ in details only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Architecture {
    /// Also SmolLM, TinyLlama, Mistral and others that are stored as such.
    Llama,
    /// Qwen2 and Qwen2.5: biases on query, key and value.
    Qwen2,
    /// Normalised queries and keys.
    Qwen3,
    /// Query, key and value in one matrix, and so the two of the feed-forward network. Phi-3 to Phi-4.
    Phi3,
    /// More norms, another activation, and five of six layers that look back over a window only.
    Gemma3,
}

/// Sizes and constants of a model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Settings {
    pub(super) architecture: Architecture,
    pub(super) layers: usize,
    pub(super) hidden: usize,
    pub(super) feed_forward: usize,
    pub(super) heads: usize,
    pub(super) kv_heads: usize,
    pub(super) head_dim: usize,
    pub(super) vocabulary: usize,
    /// Of the RMS norms.
    pub(super) epsilon: f32,
    pub(super) rope: Rope,
    /// What most layers of Gemma have instead.
    pub(super) local: Option<Local>,
    /// Positions that the model can tell apart.
    pub(super) context: usize,
}

/// Layers that look back over a window only.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Local {
    /// Positions, the own among them.
    pub(super) window: usize,
    pub(super) rope: Rope,
}

/// The base of the rotation in the local layers of Gemma 3; files do not hold it.
const LOCAL_BASE: f64 = 10_000.0;
/// Every so many layers of Gemma 3 one looks at all positions.
const GLOBAL_EVERY: usize = 6;
/// Layers of the one Gemma 3 whose queries are scaled by the width of the model, not of a head.
const GEMMA3_27B: usize = 62;

impl Settings {
    pub(super) fn read(gguf: &Gguf) -> Checked<Settings> {
        let name = gguf.text("general.architecture");
        let name = name.ok_or_else(|| Fault::Damaged("it does not name its architecture".to_owned()))?;
        let architecture = match name {
            "llama" => Architecture::Llama,
            "qwen2" => Architecture::Qwen2,
            "qwen3" => Architecture::Qwen3,
            "phi3" => Architecture::Phi3,
            "gemma3" => Architecture::Gemma3,
            other => {
                return unsupported(format!("the architecture `{other}` (llama, qwen2, qwen3, phi3 and gemma3 are)"));
            }
        };
        let key = |field: &str| format!("{name}.{field}");
        let optional = |field: &str| gguf.integer(&key(field));
        let count = |field: &str, most: usize| in_range(&key(field), optional(field), most);
        if optional("expert_count").is_some_and(|experts| experts > 0) {
            return unsupported("mixtures of experts");
        }
        let layers = count("block_count", 512)?;
        let hidden = count("embedding_length", 1 << 16)?;
        let feed_forward = count("feed_forward_length", 1 << 20)?;
        let heads = count("attention.head_count", 1024)?;
        let kv_heads = match optional("attention.head_count_kv") {
            Some(_) => count("attention.head_count_kv", heads)?,
            None => heads,
        };
        if !heads.is_multiple_of(kv_heads) {
            return damaged(format!("{heads} attention heads cannot share {kv_heads} key heads"));
        }
        let head_dim = match optional("attention.key_length") {
            Some(_) => count("attention.key_length", 1024)?,
            None if hidden.is_multiple_of(heads) => hidden / heads,
            None => return damaged(format!("{hidden} channels cannot be divided among {heads} attention heads")),
        };
        if optional("attention.value_length").is_some_and(|length| length != head_dim as i64) {
            return unsupported("values of another length than keys");
        }
        let epsilon = gguf.float(&key("attention.layer_norm_rms_epsilon")).unwrap_or(1e-5);
        if !(epsilon > 0.0 && epsilon < 1.0) {
            return damaged(format!("{epsilon} is no epsilon of a norm"));
        }
        let mut context = count("context_length", usize::MAX)?.min(MAX_CONTEXT);
        let interleaved = architecture == Architecture::Llama;
        let (rope, original) = Rope::read(gguf, name, head_dim, interleaved)?;
        context = context.min(original.unwrap_or(context));
        let window = optional("attention.sliding_window").and_then(|window| usize::try_from(window).ok());
        let mut local = None;
        match window.filter(|&window| window > 0) {
            Some(window) if architecture == Architecture::Gemma3 => {
                local = Some(Local { window, rope: Rope::plain(head_dim, LOCAL_BASE) });
            }
            // Within the window, sliding attention is full attention.
            Some(window) => context = context.min(window),
            None => {}
        }
        let vocabulary = match gguf.info("token_embd.weight")?.shape.as_slice() {
            [rows, columns] if *columns == hidden => *rows,
            shape => {
                return damaged(format!("the tensor `token_embd.weight` has the shape {shape:?}, not […, {hidden}]"));
            }
        };
        Ok(Settings {
            architecture,
            layers,
            hidden,
            feed_forward,
            heads,
            kv_heads,
            head_dim,
            vocabulary,
            epsilon: epsilon as f32,
            rope,
            local,
            context,
        })
    }

    /// The window and rotation of a layer that has its own.
    pub(super) fn local_of(&self, layer: usize) -> Option<&Local> {
        self.local.as_ref().filter(|_| !(layer + 1).is_multiple_of(GLOBAL_EVERY))
    }

    /// What queries are multiplied with.
    pub(super) fn query_scale(&self) -> f64 {
        let width = match self.architecture {
            Architecture::Gemma3 if self.layers == GEMMA3_27B => self.hidden / self.heads,
            _ => self.head_dim,
        };
        (width as f64).powf(-0.5)
    }

    /// Bytes that the keys and values of one token take.
    pub(super) fn bytes_per_token(&self) -> u64 {
        (self.layers * self.kv_heads * self.head_dim) as u64 * 2 * 4
    }
}

/// A count from one to `most`.
fn in_range(key: &str, value: Option<i64>, most: usize) -> Checked<usize> {
    match value {
        None => damaged(format!("the metadata key `{key}` is missing")),
        Some(value) => match usize::try_from(value) {
            Ok(count) if (1..=most).contains(&count) => Ok(count),
            Ok(_) | Err(_) => damaged(format!("`{key}` cannot be {value}")),
        },
    }
}
