//! Input files: those given with `--file`, and those that the request names in the working folder.
//!
//! A picture or sound is copied under the public root and the request then speaks of its display path; a text becomes
//! an attachment. Paths in the request are followed inside the working folder, and to the files that earlier runs made; `--file`
//! may name any file.

use std::io::Read;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use jarvis_document::DocumentReader;
use jarvis_hugginggpt::decisions::Executable;
use jarvis_plan::{Arg, Kind, Request, Resource, Source, is_han};
use jarvis_store::Media;
use jarvis_workers::{AttachError, Attached, attach};
use serde_json::Value;

use crate::failure::Failure;
use crate::results::Results;
use crate::wiring::App;

/// The most files of a folder.
const MAX_FILES: usize = 256;

/// What stands for standard input among files.
const STDIN: &str = "-";

/// Where files come from and go to.
#[derive(Clone, Copy)]
pub(crate) struct Intake<'a> {
    media: &'a Arc<Media>,
    reader: &'a dyn DocumentReader,
    /// The files that earlier runs made.
    results: Option<&'a Results>,
    /// The largest file that is taken.
    max_bytes: u64,
}

impl<'a> Intake<'a> {
    pub(crate) fn of(app: &'a App) -> Intake<'a> {
        let max_bytes = app.config.limits.max_input_bytes;
        Intake { media: &app.media, reader: app.agent.reader.as_ref(), results: app.results.as_deref(), max_bytes }
    }

    /// The file of an earlier run that is called so, by its name alone or by its whole path.
    fn made_before(self, name: &str) -> Option<PathBuf> {
        self.results.and_then(|results| results.find(name))
    }

    /// Takes in the file that a person calls `name`.
    async fn take(self, path: &Path, name: &str) -> Result<Attached, Failure> {
        let bytes = read(path, name, self.max_bytes)?;
        let attached = attach(name, bytes, self.media, self.reader).await.map_err(|error| {
            let hint = error.hint();
            let failure = match &error {
                AttachError::Store(_) | AttachError::Broken { .. } => Failure::work(error),
                AttachError::TextTooLong { .. }
                | AttachError::Unknown { .. }
                | AttachError::Document { .. }
                | AttachError::Other { .. } => Failure::usage(error),
            };
            failure.maybe_hint(hint)
        })?;
        if let (Some(results), Source::Public(display)) = (self.results, &attached.resource.source) {
            results.know(display, path);
        }
        Ok(attached)
    }
}

/// Makes the request from its text and files; also says which files it names were not read, and what is odd about others.
pub(crate) async fn request(
    text: &str,
    files: &[PathBuf],
    intake: Intake<'_>,
) -> Result<(Request, Vec<String>), Failure> {
    let (mut attachments, mut warnings) = (Vec::new(), Vec::new());
    let (given, files) = (files, each_file(files)?);
    for path in &files {
        let name = if path == Path::new(STDIN) { "stdin".to_owned() } else { path.display().to_string() };
        let before = if path.exists() { None } else { intake.made_before(&name) };
        let taken = intake.take(before.as_ref().unwrap_or(path), &name).await;
        let Attached { resource, warnings: told } = match taken {
            Ok(attached) => attached,
            // A folder may hold anything; a file that is given is meant.
            Err(failure) if !given.contains(path) => {
                warnings.push(format!("{}; it is left out", failure.message()));
                continue;
            }
            Err(failure) => return Err(failure),
        };
        attachments.push(resource);
        warnings.extend(told);
    }
    // Display paths that take the place of what the person typed, in the order of the text.
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for Mention { range, found } in mentions(text) {
        let Some(name) = text.get(range.clone()) else { continue };
        // What a result is to be called is no input, also where there is a file of that name.
        if jarvis_planner::names_result(text, range.start) {
            continue;
        }
        let typed = Path::new(name);
        let is_given = |path: &PathBuf| path == typed || path.file_name().is_some_and(|file| file == typed.as_os_str());
        let named = |resource: &Resource| resource.name.as_deref() == Some(name);
        let at = match (files.iter().position(is_given), attachments.iter().position(named), found) {
            (Some(at), _, _) | (None, Some(at), _) => at,
            (None, None, Found::Here) => {
                let Attached { resource, warnings: told } = intake.take(typed, name).await?;
                attachments.push(resource);
                warnings.extend(told);
                attachments.len() - 1
            }
            (None, None, Found::Nowhere | Found::Outside) => {
                let Some(path) = intake.made_before(name) else {
                    warnings.push(unread(name, found));
                    continue;
                };
                let Attached { resource, warnings: told } = intake.take(&path, name).await?;
                attachments.push(resource);
                warnings.extend(told);
                attachments.len() - 1
            }
        };
        let Some(resource) = attachments.get_mut(at) else { continue };
        // The rest of the request speaks of the file by this name.
        resource.name = Some(name.to_owned());
        let in_quotes = text.get(..range.start).is_some_and(|before| before.ends_with(|c| "\"'«“「`".contains(c)));
        match &resource.source {
            Source::Public(display) => edits.push((range, display.clone())),
            // Quotes keep a name with blanks in one piece.
            Source::Inline(_) | Source::Url(_) if name.contains(' ') && !in_quotes => {
                edits.push((range, format!("\"{name}\"")));
            }
            Source::Inline(_) | Source::Url(_) => {}
        }
    }
    let mut rewritten = text.to_owned();
    for (range, display) in edits.into_iter().rev() {
        rewritten.replace_range(range, &display);
    }
    Ok((Request { text: rewritten, attachments, ..Request::default() }, warnings))
}

/// The files that are given, in the place of a folder those in it.
pub(crate) fn each_file(given: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in given {
        match path.is_dir() {
            true => files.extend(files_in(path)?),
            false => files.push(path.clone()),
        }
    }
    Ok(files)
}

/// The files in a folder by their names, those of folders in it and hidden ones left out.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let shown = folder.display();
    let failed = |error: std::io::Error| Failure::usage(format!("the folder `{shown}` cannot be read: {error}"));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let is_hidden = path.file_name().is_none_or(|name| name.to_string_lossy().starts_with('.'));
        if path.is_file() && !is_hidden {
            files.push(path);
        }
        if files.len() > MAX_FILES {
            return Err(Failure::usage(format!("the folder `{shown}` has more than {MAX_FILES} files"))
                .hint("give those that are meant, each with --file"));
        }
    }
    if files.is_empty() {
        return Err(Failure::usage(format!("the folder `{shown}` has no file in it, those of folders in it aside")));
    }
    files.sort();
    Ok(files)
}

/// The files that a question names, as a request names them, and what is to be said about those that are not read.
pub(crate) fn named(text: &str, intake: Intake<'_>) -> (Vec<PathBuf>, Vec<String>) {
    let (mut paths, mut warnings): (Vec<PathBuf>, Vec<String>) = (Vec::new(), Vec::new());
    for Mention { range, found } in mentions(text) {
        let Some(name) = text.get(range.clone()) else { continue };
        if jarvis_planner::names_result(text, range.start) {
            continue;
        }
        let path = match found {
            Found::Here => Some(PathBuf::from(name)),
            Found::Nowhere | Found::Outside => intake.made_before(name),
        };
        match path {
            Some(path) if paths.contains(&path) => {}
            Some(path) => paths.push(path),
            None => warnings.push(unread(name, found)),
        }
    }
    (paths, warnings)
}

fn unread(name: &str, found: Found) -> String {
    match found {
        Found::Outside => {
            format!("`{name}` is outside the working folder and is not read; give it with --file if it is meant")
        }
        Found::Here | Found::Nowhere => {
            format!("there is no file `{name}` in the working folder; a file elsewhere is given with --file")
        }
    }
}

/// Puts the files that a plan's arguments name in their place: those of the request by their names, and those of the
/// working folder. Returns the request with the texts among them.
pub(crate) async fn plan(plan: &mut Executable, mut request: Request, intake: Intake<'_>) -> Result<Request, Failure> {
    let args = plan.plan.tasks().iter().flat_map(|task| task.args.values());
    let named: Vec<String> = args.filter_map(file_named).collect();
    for typed in named {
        let name = own_name(&typed);
        let is_public = || name != typed && intake.media.disk_path(&typed).is_ok_and(|path| path.is_file());
        if given(&request, name).is_none() && !is_public() && is_here(name) {
            request.attachments.push(intake.take(Path::new(name), name).await?.resource);
        }
    }
    plan.plan.set_values(|_, _, arg| attached(arg, &mut request).map(Value::from));
    Ok(request)
}

/// The file that an argument names, as it was written.
fn file_named(arg: &Arg) -> Option<String> {
    let typed = arg.as_literal()?;
    let typed = typed.trim();
    let is_file = Kind::of_name(typed).is_some() && !typed.starts_with('/') && !typed.contains("://");
    is_file.then(|| typed.to_owned())
}

/// Decisions write the paths of media as the public folder's.
fn own_name(typed: &str) -> &str {
    typed.strip_prefix("public/").unwrap_or(typed)
}

/// The place among the attachments of the one that has this name.
fn given(request: &Request, name: &str) -> Option<usize> {
    request.attachments.iter().position(|resource| {
        let given = resource.name.as_deref().map(Path::new);
        given.is_some_and(|given| given == Path::new(name) || given.file_name().is_some_and(|file| file == name))
    })
}

/// The display path of the medium that an argument names by file name. Texts are attached under the name that was written.
fn attached(arg: &Arg, request: &mut Request) -> Option<String> {
    let typed = file_named(arg)?;
    let at = given(request, own_name(&typed))?;
    let resource = request.attachments.get_mut(at)?;
    match &resource.source {
        Source::Public(display) => return Some(display.clone()),
        // Workers find the text of a file by this name.
        Source::Inline(_) => resource.name = Some(typed),
        Source::Url(_) => {}
    }
    None
}

/// A file that a text names, and where in the text.
#[derive(Debug, PartialEq, Eq)]
struct Mention {
    range: Range<usize>,
    found: Found,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Here,
    /// In the working folder there is none.
    Nowhere,
    /// The path leads out of the working folder.
    Outside,
}

/// What stands between words, and around quoted names that may hold blanks.
const SEPARATORS: &str = "\"'‘’“”«»「」`()[]<>,;，。、；：？！（）《》";

/// The most words that a name without quotes around it may have.
const MOST_WORDS: usize = 6;

/// The files that a text names, in order. Addresses and display paths of the public root do not count.
fn mentions(text: &str) -> Vec<Mention> {
    let mut found = spaced(text);
    let mut start = 0;
    let ends = |c: char| c.is_whitespace() || SEPARATORS.contains(c);
    for word in text.split_inclusive(ends) {
        let mut at = start;
        start += word.len();
        let word = word.trim_end_matches(ends).trim_end_matches(['.', '!', '?', ':', '…']);
        if found.iter().any(|mention| mention.range.start <= at && at < mention.range.end) {
            continue;
        }
        // Where names run into Chinese there may be several in a word.
        let mut rest = word;
        while let Some((inner, where_it_is)) = file_in(rest) {
            found.push(Mention { range: at + inner.start..at + inner.end, found: where_it_is });
            at += inner.end;
            rest = rest.get(inner.end..).expect("a name ends inside the word");
        }
    }
    found.sort_by_key(|mention| mention.range.start);
    found
}

/// The names of files in the working folder that hold blanks or what else separates words, the longest first.
fn spaced(text: &str) -> Vec<Mention> {
    let words: Vec<Range<usize>> = text
        .split_inclusive(char::is_whitespace)
        .scan(0, |at, word| {
            let range = *at..*at + word.trim_end().len();
            *at += word.len();
            Some(range)
        })
        .filter(|range| !range.is_empty())
        .collect();
    let mut found = Vec::new();
    let mut next = 0;
    while let Some(first) = words.get(next) {
        let longest = words.iter().enumerate().skip(next).take(MOST_WORDS).rev().find_map(|(at, last)| {
            let whole = text.get(first.start..last.end)?;
            let front = whole.len() - whole.trim_start_matches(|c| SEPARATORS.contains(c)).len();
            let name = whole.get(front..)?.trim_end_matches(|c| SEPARATORS.contains(c) || ".!?:…".contains(c));
            let range = first.start + front..first.start + front + name.len();
            (name.contains(|c: char| c == ' ' || SEPARATORS.contains(c)) && is_here(name)).then_some((at, range))
        });
        next = match longest {
            Some((at, range)) => {
                found.push(Mention { range, found: Found::Here });
                at + 1
            }
            None => next + 1,
        };
    }
    found
}

/// The file that a word names, and where it is. A name may be cut out of a word only where Chinese characters run into it:
/// `找出photo.jpg的边缘` holds `photo.jpg`, while `11.jpg` never means `1.jpg`.
fn file_in(word: &str) -> Option<(Range<usize>, Found)> {
    if word.is_empty() || word.contains("://") || word.starts_with("data:") {
        return None;
    }
    if is_here(word) {
        return Some((0..word.len(), Found::Here));
    }
    if leads_out(word) {
        return Some((0..word.len(), Found::Outside));
    }
    let after_han = |at: usize| word.get(..at).and_then(|before| before.chars().next_back()).is_some_and(is_han);
    let before_han = |at: usize| word.get(at..).and_then(|after| after.chars().next()).is_some_and(is_han);
    let borders: Vec<usize> = word.char_indices().map(|(at, _)| at).chain([word.len()]).take(LONGEST_WORD).collect();
    let starts = borders.iter().copied().filter(|at| *at == 0 || after_han(*at));
    let stops: Vec<usize> = borders.iter().copied().filter(|at| *at == word.len() || before_han(*at)).collect();
    for start in starts {
        for stop in stops.iter().rev().filter(|stop| **stop > start) {
            if word.get(start..*stop).is_some_and(is_here) {
                return Some((start..*stop, Found::Here));
            }
        }
    }
    // No such file: the longest part without Chinese characters is what was meant.
    let start = word
        .char_indices()
        .filter(|(at, _)| *at == 0 || after_han(*at))
        .map(|(at, _)| at)
        .find(|start| word.get(*start..).is_some_and(|rest| !rest.starts_with(is_han)))?;
    let stop = start + word.get(start..)?.find(is_han).unwrap_or(word.len() - start);
    let name = word.get(start..stop)?;
    (Kind::of_name(name).is_some() && !name.starts_with('/')).then_some((start..stop, Found::Nowhere))
}

/// The longest word that is searched for a name, in characters.
const LONGEST_WORD: usize = 200;

/// True for a file in the working folder whose name looks like a file's: with an ending, or with a capital as in `README`.
fn is_here(name: &str) -> bool {
    let path = Path::new(name);
    let ending = path.extension().and_then(|ending| ending.to_str());
    let is_ending = |ending: &str| ending.len() <= 5 && ending.starts_with(|c: char| c.is_ascii_alphabetic());
    let looks_so = Kind::of_name(name).is_some()
        || ending.is_some_and(is_ending)
        || (ending.is_none() && name.contains(char::is_uppercase));
    looks_so && inside_working_folder(path) && path.is_file()
}

/// True for a path that leads out of the working folder, as far as its spelling or the disk says.
fn leads_out(word: &str) -> bool {
    let path = Path::new(word);
    let climbs = word.contains('/') && path.components().any(|part| part == Component::ParentDir);
    let elsewhere = Kind::of_name(word).is_some() && path.is_file() && !inside_working_folder(path);
    climbs || elsewhere
}

/// True for an existing path inside the working folder: without `..`, and not through a symbolic link that leaves it.
fn inside_working_folder(path: &Path) -> bool {
    if path.components().any(|part| part == Component::ParentDir) {
        return false;
    }
    match (std::env::current_dir().and_then(|here| here.canonicalize()), path.canonicalize()) {
        (Ok(here), Ok(real)) => real.starts_with(here),
        _ => false,
    }
}

/// The bytes of the file that a person calls `name`.
fn read(path: &Path, name: &str, max_bytes: u64) -> Result<Vec<u8>, Failure> {
    if path == Path::new(STDIN) {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().take(max_bytes + 1).read_to_end(&mut bytes);
        let size = read.map_err(|error| Failure::usage(format!("cannot read standard input: {error}")))?;
        return match size {
            0 => Err(Failure::usage("standard input is empty")),
            size if size as u64 > max_bytes => {
                Err(Failure::usage(format!("standard input has more than {max_bytes} bytes, which is the limit"))
                    .hint("raise limits.max_input_bytes in the configuration"))
            }
            _ => Ok(bytes),
        };
    }
    let size = std::fs::metadata(path).map_err(|error| missing(name, &error))?;
    if !size.is_file() {
        return Err(Failure::usage(format!("`{name}` is not a file")));
    }
    if size.len() > max_bytes {
        return Err(Failure::usage(format!("`{name}` has {} bytes; the limit is {max_bytes}", size.len()))
            .hint("raise limits.max_input_bytes in the configuration"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size.len()).unwrap_or(0));
    std::fs::File::open(path)
        .and_then(|file| file.take(max_bytes).read_to_end(&mut bytes))
        .map_err(|error| missing(name, &error))?;
    Ok(bytes)
}

fn missing(name: &str, error: &std::io::Error) -> Failure {
    match error.kind() {
        std::io::ErrorKind::NotFound => Failure::usage(format!("there is no file `{name}`"))
            .hint("check the path; it is taken relative to the working folder"),
        _ => Failure::usage(format!("cannot read `{name}`: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::mentions;

    #[test]
    fn files_that_are_not_there_are_told_and_addresses_are_no_files() {
        for (text, want) in
            jarvis_testing::rows::<(String, Vec<(String, String)>)>(include_str!("cases.yaml"), "mentions")
        {
            let found = mentions(&text).into_iter();
            let got: Vec<(String, String)> =
                found.map(|m| (text[m.range].to_owned(), format!("{:?}", m.found).to_lowercase())).collect();
            assert_eq!(got, want, "{text}");
        }
    }
}
