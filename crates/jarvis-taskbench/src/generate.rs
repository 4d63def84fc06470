//! Back-Instruct: new samples from random subgraphs of a tool graph. A chat model invents the request that a subgraph
//! fulfils, critics judge the result, and [`format()`] turns it into gold plans and requests.

mod critics;
mod folder;
mod format;
mod job;
mod prompt;
mod reply;
mod run;

pub use critics::{Critics, alignment, judge, teacher_says};
pub use folder::{Folder, FolderError, prepare};
pub use format::{FormatError, FormatOptions, Formatted, Reject, Rejected, format, format_line};
pub use job::{Job, SampleSpec, sample_id};
pub use prompt::{Prompts, Shown};
pub use reply::{ReplyError, read_reply};
pub use run::{ALIGNED, Done, GenerateError, Generator, STAGE, Settings};
