//! The gRPC protocols of jarvis as Rust types: generated code and its descriptors, nothing else.

/// `FileBasedQA`: questions about a document.
#[allow(clippy::all, clippy::pedantic, clippy::unwrap_used, unreachable_pub)]
pub mod file_based_qa {
    include!(concat!(env!("OUT_DIR"), "/file_based_qa/_.rs"));

    /// The descriptors, for reflection.
    pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/file_based_qa/descriptors.bin"));
}

/// `Math`: the sample of a remote procedure as a tool.
#[allow(clippy::all, clippy::pedantic, clippy::unwrap_used, unreachable_pub)]
pub mod math {
    include!(concat!(env!("OUT_DIR"), "/math/_.rs"));

    /// The descriptors, for reflection.
    pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/math/descriptors.bin"));
}
