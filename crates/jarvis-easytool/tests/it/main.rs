//! Tests of the crate as its users see it.

mod data;
mod instruct;
mod mock_api;
