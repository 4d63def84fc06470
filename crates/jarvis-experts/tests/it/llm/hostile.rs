//! Files that are cut, or say what is not so.

use std::fs;

use jarvis_experts::{Call, ExpertError, Input, ModelFiles, Resources, open};

use super::{TASK, endless, folder, models};

/// A fixture whose bytes are changed.
pub(super) struct Patch {
    bytes: Vec<u8>,
}

impl Patch {
    pub(super) fn of(architecture: &str) -> Patch {
        Patch { bytes: fs::read(folder().join(format!("{architecture}.gguf"))).unwrap() }
    }

    /// Where a key or a tensor's name ends.
    fn after(&self, name: &str) -> usize {
        let mut marked = (name.len() as u64).to_le_bytes().to_vec();
        marked.extend_from_slice(name.as_bytes());
        let found = self.bytes.windows(marked.len()).position(|window| window == marked);
        found.unwrap_or_else(|| panic!("no {name}")) + marked.len()
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// The value of a key, behind its type.
    fn value(&mut self, key: &str, bytes: &[u8]) {
        let at = self.after(key) + 4;
        self.put(at, bytes);
    }

    /// A field of a tensor of two dimensions, so many bytes behind its name.
    fn tensor(&mut self, name: &str, offset: usize, bytes: &[u8]) {
        let at = self.after(name) + offset;
        self.put(at, bytes);
    }

    fn rename(&mut self, from: &str, to: &str) {
        let at = self.after(from) - from.len();
        self.put(at, to.as_bytes());
    }

    /// Puts a text in front of the other metadata. Spaces keep the tensors aligned.
    pub(super) fn insert_text(&mut self, key: &str, text: &str) {
        let mut entry = (key.len() as u64).to_le_bytes().to_vec();
        entry.extend_from_slice(key.as_bytes());
        entry.extend_from_slice(&8_u32.to_le_bytes());
        let size = entry.len() + 8 + text.len();
        let text = format!("{text}{}", "\0".repeat(size.next_multiple_of(32) - size));
        entry.extend_from_slice(&(text.len() as u64).to_le_bytes());
        entry.extend_from_slice(text.as_bytes());
        let count = u64::from_le_bytes(self.bytes[16..24].try_into().unwrap());
        self.put(16, &(count + 1).to_le_bytes());
        self.bytes.splice(24..24, entry);
    }

    pub(super) fn save(&self) -> (tempfile::TempDir, ModelFiles) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("model.gguf"), &self.bytes).unwrap();
        let files = ModelFiles::new("hostile", folder.path());
        (folder, files)
    }

    fn open(&self) -> Result<(), ExpertError> {
        let (_folder, files) = self.save();
        open(&files, TASK, &Resources::new(1, 1 << 30).unwrap()).map(drop)
    }
}

enum Expected {
    Bad(&'static str),
    Unsupported(&'static str),
}
use Expected::{Bad, Unsupported};

type Change = fn(&mut Patch);

#[test]
fn damaged_files_are_refused_in_words() {
    let cases: &[(&str, Change, Expected)] = &[
        ("empty", |p| p.bytes.clear(), Bad("ends too early")),
        ("cut in the magic", |p| p.bytes.truncate(3), Bad("ends too early")),
        ("cut in the counts", |p| p.bytes.truncate(20), Bad("ends too early")),
        ("cut in the metadata", |p| p.bytes.truncate(700), Bad("announces")),
        ("cut in the weights", |p| p.bytes.truncate(p.bytes.len() - 100), Bad("lies outside of the file")),
        ("no GGUF", |p| p.put(0, b"GGML"), Bad("not a GGUF file")),
        ("big-endian", |p| p.put(4, &[0, 0, 0, 3]), Unsupported("version 50331648")),
        ("old", |p| p.put(4, &[1, 0, 0, 0]), Unsupported("version 1 of GGUF")),
        ("many tensors", |p| p.put(8, &u64::MAX.to_le_bytes()), Bad("announces")),
        ("many entries", |p| p.put(16, &u64::MAX.to_le_bytes()), Bad("announces")),
        ("more entries than bytes", |p| p.put(16, &60_000_u64.to_le_bytes()), Bad("announces")),
        ("a long key", |p| p.put(24, &u64::MAX.to_le_bytes()), Bad("announces a text")),
        ("a long text", |p| p.value("general.architecture", &(1_u64 << 40).to_le_bytes()), Bad("announces a text")),
        ("a long array", |p| p.tensor("tokenizer.ggml.tokens", 8, &u64::MAX.to_le_bytes()), Bad("announces an array")),
        ("nested arrays", |p| p.value("tokenizer.ggml.tokens", &[9]), Unsupported("arrays of arrays")),
        ("unknown elements", |p| p.value("tokenizer.ggml.tokens", &[77]), Bad("unknown type 77")),
        ("an unknown value", |p| p.tensor("general.name", 0, &[13]), Bad("unknown type 13")),
        (
            "a key twice",
            |p| p.rename("tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id"),
            Bad("occurs twice"),
        ),
        ("a tensor twice", |p| p.rename("blk.0.attn_k.weight", "blk.0.attn_v.weight"), Bad("occurs twice")),
        ("no norm", |p| p.rename("output_norm.weight", "output_nurm.weight"), Bad("`output_norm.weight` is missing")),
        (
            "no embeddings",
            |p| p.rename("token_embd.weight", "token_embt.weight"),
            Bad("`token_embd.weight` is missing"),
        ),
        ("another kind", |p| p.rename("qwen3", "mamba"), Unsupported("the architecture `mamba`")),
        (
            "no heads",
            |p| p.value("qwen3.attention.head_count", &[0; 4]),
            Bad("`qwen3.attention.head_count` cannot be 0"),
        ),
        (
            "odd heads",
            |p| p.value("qwen3.attention.head_count", &[3, 0, 0, 0]),
            Bad("3 attention heads cannot share 2"),
        ),
        ("no key heads", |p| p.value("qwen3.attention.head_count_kv", &[0; 4]), Bad("cannot be 0")),
        ("no layers", |p| p.value("qwen3.block_count", &[0; 4]), Bad("cannot be 0")),
        ("many layers", |p| p.value("qwen3.block_count", &[255; 4]), Bad("cannot be 4294967295")),
        ("a layer more", |p| p.value("qwen3.block_count", &[3, 0, 0, 0]), Bad("`blk.2.attn_q.weight` is missing")),
        ("wider", |p| p.value("qwen3.embedding_length", &[64, 0, 0, 0]), Bad("`token_embd.weight` has the shape")),
        ("no context", |p| p.value("qwen3.context_length", &[0; 4]), Bad("cannot be 0")),
        ("odd channels", |p| p.value("qwen3.attention.key_length", &[15, 0, 0, 0]), Bad("rotated channels")),
        (
            "longer keys",
            |p| p.value("qwen3.attention.key_length", &[64, 0, 0, 0]),
            Bad("`blk.0.attn_q.weight` has the shape"),
        ),
        ("more feed-forward", |p| p.value("qwen3.feed_forward_length", &[65, 0, 0, 0]), Bad("has the shape")),
        ("no epsilon", |p| p.value("qwen3.attention.layer_norm_rms_epsilon", &f32::NAN.to_le_bytes()), Bad("epsilon")),
        ("no base", |p| p.value("qwen3.rope.freq_base", &0_f32.to_le_bytes()), Bad("base of rotary")),
        (
            "a base without end",
            |p| p.value("qwen3.rope.freq_base", &f32::INFINITY.to_le_bytes()),
            Bad("base of rotary"),
        ),
        // A tensor: dimensions u32, each u64, type u32, offset u64.
        ("fewer embeddings", |p| p.tensor("token_embd.weight", 12, &10_u64.to_le_bytes()), Bad("and embeddings of 10")),
        ("no rows", |p| p.tensor("token_embd.weight", 12, &[0; 8]), Bad("impossible shape")),
        ("rows without end", |p| p.tensor("token_embd.weight", 12, &u64::MAX.to_le_bytes()), Bad("impossible shape")),
        ("many rows", |p| p.tensor("token_embd.weight", 12, &(1_u64 << 40).to_le_bytes()), Bad("outside of the file")),
        ("no dimensions", |p| p.tensor("token_embd.weight", 0, &[0; 4]), Bad("has 0 dimensions")),
        ("many dimensions", |p| p.tensor("token_embd.weight", 0, &[200, 0, 0, 0]), Bad("has 200 dimensions")),
        ("unknown weights", |p| p.tensor("token_embd.weight", 20, &[19, 0, 0, 0]), Unsupported("the GGML type 19")),
        (
            "parts of blocks",
            |p| p.tensor("token_embd.weight", 20, &[12, 0, 0, 0]),
            Bad("no whole number of Q4K blocks"),
        ),
        ("outside", |p| p.tensor("token_embd.weight", 24, &(1_u64 << 40).to_le_bytes()), Bad("outside of the file")),
        (
            "far outside",
            |p| p.tensor("token_embd.weight", 24, &(u64::MAX - 31).to_le_bytes()),
            Bad("outside of the file"),
        ),
        ("not aligned", |p| p.tensor("token_embd.weight", 24, &[1]), Bad("not aligned")),
        ("another split", |p| p.tensor("tokenizer.ggml.pre", 12, b"qwen9"), Unsupported("`qwen9`")),
        ("another tokenizer", |p| p.tensor("tokenizer.ggml.model", 12, b"bert"), Unsupported("the tokenizer `bert`")),
        ("no vocabulary", |p| p.rename("tokenizer.ggml.tokens", "tokenizer.ggml.tokenz"), Bad("no vocabulary")),
        ("no merges", |p| p.rename("tokenizer.ggml.merges", "tokenizer.ggml.mergez"), Bad("no merges")),
    ];
    for (name, change, expected) in cases {
        let mut patch = Patch::of("qwen3");
        change(&mut patch);
        match (patch.open(), expected) {
            (Err(ExpertError::BadFile { reason, .. }), Bad(part)) => assert!(reason.contains(part), "{name}: {reason}"),
            (Err(ExpertError::Unsupported { reason, .. }), Unsupported(part)) => {
                assert!(reason.contains(part), "{name}: {reason}");
            }
            (result, _) => panic!("{name}: {result:?}"),
        }
    }
}

#[test]
fn no_changed_byte_breaks_the_reader() {
    let header = 8000;
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let mut refused = 0;
    for _ in 0..400 {
        let mut patch = Patch::of(["llama", "qwen2", "qwen3"][next() % 3]);
        for _ in 0..=next() % 3 {
            let at = next() % header;
            patch.bytes[at] = next() as u8;
        }
        refused += usize::from(patch.open().is_err());
    }
    assert!((10..400).contains(&refused), "{refused}");
}

#[tokio::test]
async fn weights_that_are_no_numbers_are_told() {
    let mut patch = Patch::of("qwen2");
    let weights = patch.bytes.len() - 60_000;
    for value in patch.bytes[weights..].chunks_exact_mut(4) {
        value.copy_from_slice(&f32::NAN.to_le_bytes());
    }
    let (_folder, files) = patch.save();
    let result = models().run(&files, TASK, Input::Chat(endless("Hi", 4)), Call::default()).await;
    let Err(ExpertError::Failed { reason, .. }) = result else { panic!("{result:?}") };
    assert!(reason.contains("no token has a logit"), "{reason}");
}
