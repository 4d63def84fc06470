//! Where a person at this machine finds the files of runs. A pipeline says when; the program says where.

use std::fmt::Debug;
use std::io;
use std::sync::Arc;

use jarvis_events::Events;
use jarvis_plan::{AnswerResource, Level};

/// A place for the files of answers.
pub trait Shelf: Debug + Send + Sync {
    /// Copies a file there under its name, or one like it that is free, and sets the resource's name and path. The same file
    /// again gets the same place. Blocks.
    ///
    /// # Errors
    /// When it cannot be read or written.
    fn put(&self, resource: &mut AnswerResource) -> io::Result<()>;
}

/// Puts files on the shelf. What cannot be put there keeps its place under the public root, and that is a warning of the run.
pub async fn put_out(
    shelf: Option<&Arc<dyn Shelf>>,
    resources: Vec<AnswerResource>,
    events: &Events,
) -> Vec<AnswerResource> {
    let Some(shelf) = shelf.cloned().filter(|_| !resources.is_empty()) else { return resources };
    let put = move || {
        let put = |mut resource: AnswerResource| {
            let failed =
                shelf.put(&mut resource).err().map(|error| format!("`{}` could not be copied: {error}", resource.name));
            (resource, failed)
        };
        resources.into_iter().map(put).unzip::<_, _, Vec<_>, Vec<_>>()
    };
    let (resources, failures) = tokio::task::spawn_blocking(put).await.expect("copying files does not panic");
    for failure in failures.into_iter().flatten() {
        events.note(Level::Warning, failure);
    }
    resources
}
