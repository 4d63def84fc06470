//! The protocols of jarvis that are written in `.proto` files, as Rust types: generated code and its descriptors, and the few types
//! that it needs; nothing else.

pub mod any;
pub mod time;

/// The Agent2Agent protocol, version 1.0. Serde gives the JSON of its bindings over HTTP: names in camelCase, fields that are not
/// known ignored.
#[allow(clippy::all, clippy::pedantic, clippy::unwrap_used, clippy::indexing_slicing, unreachable_pub, rustdoc::all)]
pub mod a2a {
    include!(concat!(env!("OUT_DIR"), "/a2a/lf.a2a.v1.rs"));
    include!(concat!(env!("OUT_DIR"), "/a2a/lf.a2a.v1.serde.rs"));
    include!(concat!(env!("OUT_DIR"), "/a2a/whole/lf.a2a.v1.serde.rs"));

    /// The descriptors, for reflection.
    pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/a2a/descriptors.bin"));
}

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
