//! Names as ToolBench writes them. They are kept beside the client of its server, which needs them too.

pub use jarvis_tools::names::{api_function_name, change_name, standardize};
