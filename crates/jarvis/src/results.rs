//! The folder in which a person finds the files of runs, by names such as `photo-edges.png`: `--out`, the key `output.dir`, or
//! `results` in the data folder.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jarvis_pipeline::{Shelf, numbered};
use jarvis_plan::AnswerResource;
use jarvis_store::Media;

use crate::failure::Failure;

/// The folder. It is made when the first file is put there.
#[derive(Debug)]
pub(crate) struct Results {
    media: Arc<Media>,
    folder: PathBuf,
    /// Where runs put their files that were told no folder.
    usual: PathBuf,
    /// Where each file is, by its display path.
    places: Mutex<HashMap<String, PathBuf>>,
}

impl Results {
    /// `folder` is where files are put, `usual` where they are put when a command names no folder.
    pub(crate) fn new(media: Arc<Media>, folder: PathBuf, usual: PathBuf) -> Results {
        Results { media, folder, usual, places: Mutex::default() }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A file that the person gave is where the person has it.
    pub(crate) fn know(&self, url: &str, path: &Path) {
        self.places.lock().unwrap_or_else(PoisonError::into_inner).insert(url.to_owned(), path.to_owned());
    }

    /// The file that an earlier run made, by its name or its path.
    pub(crate) fn find(&self, name: &str) -> Option<PathBuf> {
        let named = Path::new(name);
        let is_name = named.file_name().is_some_and(|file| file == named.as_os_str());
        if !is_name && !named.is_absolute() {
            return None;
        }
        [&self.folder, &self.usual].into_iter().find_map(|folder| {
            // A path that leads out by `..` or by a link is none of the folder.
            let path = folder.join(named).canonicalize().ok()?;
            let inside = path.parent() == folder.canonicalize().ok().as_deref();
            (inside && path.is_file()).then_some(path)
        })
    }

    /// Copies a file to a name that is free.
    fn copy(&self, resource: &AnswerResource) -> io::Result<PathBuf> {
        let (mut from, _) = self.media.open_file(&resource.url).map_err(io::Error::other)?;
        std::fs::create_dir_all(&self.folder)?;
        for name in numbered(&resource.name) {
            let path = self.folder.join(name);
            let mut to = match OpenOptions::new().write(true).create_new(true).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                opened => opened?,
            };
            if let Err(error) = io::copy(&mut from, &mut to) {
                // Half a file is none. The first error is the one to tell.
                let _ = std::fs::remove_file(&path);
                return Err(error);
            }
            return Ok(path);
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

impl Shelf for Results {
    fn put(&self, resource: &mut AnswerResource) -> io::Result<()> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let path = match places.get(&resource.url) {
            Some(path) => path.clone(),
            None => self.copy(resource)?,
        };
        if let Some(name) = path.file_name() {
            resource.name = name.to_string_lossy().into_owned();
        }
        places.insert(resource.url.clone(), path.clone());
        resource.path = Some(path);
        Ok(())
    }
}

/// Makes the folder that a flag names, before any work is done for it.
pub(crate) fn make_folder(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::usage(format!("`{}` cannot be a folder: {error}", folder.display()))
            .hint("name another folder with --out")
    })
}
