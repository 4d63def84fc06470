//! The file of results: a line an item, each written whole by one write; nothing is buffered.

use std::collections::HashSet;
use std::hash::Hash;
use std::path::Path;

use jarvis_store::files::{FileError, Growing};

/// The file of results, open and locked. What earlier runs wrote stays as it is.
#[derive(Debug)]
pub struct Log<I> {
    file: Growing,
    done: HashSet<I>,
    /// A last line that was cut off was dropped; its item is worked on again.
    pub torn: bool,
    /// The numbers, from 1, of lines that are no results; they stay.
    pub bad: Vec<usize>,
}

impl<I: Eq + Hash> Log<I> {
    /// Opens or makes the file. `id_of` reads a line; `None` says that it is no result.
    ///
    /// # Errors
    /// When another run has it, or it cannot be read or written.
    pub fn open(path: &Path, mut id_of: impl FnMut(&[u8]) -> Option<I>) -> Result<Log<I>, FileError> {
        let reads = std::cell::RefCell::new(&mut id_of);
        let (file, held) = Growing::open(path, |tail| (reads.borrow_mut())(tail).is_some())?;
        let mut log = Log { file, done: HashSet::new(), torn: held.torn, bad: Vec::new() };
        for (at, line) in held.bytes.split(|byte| *byte == b'\n').enumerate() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            match id_of(line) {
                Some(id) => drop(log.done.insert(id)),
                None => log.bad.push(at + 1),
            }
        }
        Ok(log)
    }

    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// What is odd about the file, in words. `what` is a line of it, such as `prediction`.
    pub fn notes(&self, what: &str) -> Vec<String> {
        let path = self.path().display();
        let bad = self.bad.iter().map(|number| format!("line {number} of {path} is no {what}; it is left as it is"));
        let torn = self.torn.then(|| format!("the last line of {path} was cut off, and is dropped"));
        bad.chain(torn).collect()
    }

    /// The items that are done.
    pub fn done(&self) -> &HashSet<I> {
        &self.done
    }

    /// Takes an item for one that is not done, and returns whether it was. Its line stays; the next result is written behind it.
    pub fn reopen(&mut self, id: &I) -> bool {
        self.done.remove(id)
    }

    /// Writes the result of an item; nothing when it is done.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&mut self, id: I, line: &str) -> Result<(), FileError> {
        if !self.done.contains(&id) {
            self.file.append(line)?;
            self.done.insert(id);
        }
        Ok(())
    }

    /// Removes the file when it holds nothing.
    pub fn remove_if_empty(&self) {
        self.file.remove_if_empty();
    }
}
