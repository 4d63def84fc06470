//! Which pictures of a collage are meant, and in which order: "the first two", "b above a".

use std::sync::LazyLock;

use jarvis_plan::{ErrorCode, Request, Source, TaskError};
use regex::Regex;

use super::compose::Layout;
use super::reading::{named, plain};

// A test runs each.
static SOME_OF: LazyLock<Regex> = LazyLock::new(|| named("SOME_OF"));
static TWO_OF: LazyLock<Regex> = LazyLock::new(|| named("TWO_OF"));
static ONE_BY_OTHER: LazyLock<Regex> = LazyLock::new(|| named("ONE_BY_OTHER"));

#[derive(Debug, Default)]
pub(super) struct Arranged<'a> {
    pub(super) paths: Vec<&'a str>,
    pub(super) layout: Option<Layout>,
    /// What said so.
    pub(super) read: Vec<Regex>,
}

/// # Errors
/// When two pictures are meant and there are more.
pub(super) fn arrange<'a>(paths: &[&'a str], request: &Request) -> Result<Arranged<'a>, TaskError> {
    let text = plain(&request.text);
    let mut arranged = Arranged { paths: paths.to_vec(), ..Arranged::default() };
    if let Some(found) = SOME_OF.captures(&text) {
        let last = found.name("last").is_some();
        let count = ["two", "three", "four"].iter().position(|name| found.name(name).is_some());
        if let Some(count) = count.map(|at| at + 2).filter(|count| *count < paths.len()) {
            let skipped = if last { paths.len() - count } else { 0 };
            arranged.paths = paths.iter().copied().skip(skipped).take(count).collect();
            return Ok(arranged);
        }
    }
    if paths.len() > 2 && TWO_OF.is_match(&text) {
        let message = format!("two pictures are meant, and there are {}", paths.len());
        return Err(TaskError::new(ErrorCode::InvalidInput, message).hint("name the two, or ask for all of them"));
    }
    let [first, second] = paths else { return Ok(arranged) };
    let (first_names, second_names) = (names(first, request), names(second, request));
    let lower = request.text.to_lowercase();
    for found in ONE_BY_OTHER.captures_iter(&lower) {
        let word =
            |group: &str| found.name(group).map_or("", |word| word.as_str().trim_matches(['.', ',', '!', '"', '`']));
        let (one, other) = (word("one").to_owned(), word("other").to_owned());
        let straight = first_names.contains(&one) && second_names.contains(&other);
        let crossed = second_names.contains(&one) && first_names.contains(&other);
        if !straight && !crossed {
            continue;
        }
        // "A below b": b comes first.
        let behind = found.name("behind").is_some();
        if crossed != behind {
            arranged.paths.reverse();
        }
        let beside = found.name("beside").is_some();
        arranged.layout = Some(if beside { Layout::Row } else { Layout::Column });
        let said = found.get(0).map_or("", |said| said.as_str());
        #[expect(clippy::disallowed_methods, reason = "words of a request, which may be too many to compile")]
        arranged.read.extend(Regex::new(&regex::escape(said)));
        break;
    }
    Ok(arranged)
}

/// What a request may call the file at a path: its name, with and without its end.
pub(super) fn names(path: &str, request: &Request) -> Vec<String> {
    let named = request.attachments.iter().filter(|file| matches!(&file.source, Source::Public(at) if at == path));
    let named = named.filter_map(|file| file.name.as_deref()).chain([path]).map(str::to_lowercase);
    let all = named.flat_map(|name| {
        let file = name.rsplit('/').next().unwrap_or(&name).to_owned();
        let stem = file.rsplit_once('.').map_or(file.clone(), |(stem, _)| stem.to_owned());
        [name, file, stem]
    });
    all.collect()
}

#[cfg(test)]
mod tests {
    use jarvis_plan::{Kind, Resource};

    use super::*;

    #[test]
    fn pictures_are_taken_and_ordered_as_asked() {
        let check = |text: &str, count: usize, want: &[&str], layout: Option<Layout>| {
            let paths = &["/images/1.jpg", "/images/2.jpg", "/images/3.jpg"][..count];
            let attach = |(path, name): (&&str, &str)| Resource {
                kind: Kind::Image,
                source: Source::Public((*path).to_owned()),
                name: Some(name.to_owned()),
            };
            let attachments = paths.iter().zip(["a.jpg", "b.jpg", "c.jpg"]).map(attach).collect();
            let request = Request { attachments, ..Request::new(text) };
            let arranged = arrange(paths, &request).expect("arranged");
            assert_eq!((arranged.paths.as_slice(), arranged.layout), (want, layout), "{text}");
        };
        let (one, two, three) = ("/images/1.jpg", "/images/2.jpg", "/images/3.jpg");
        check("collage of the first two", 3, &[one, two], None);
        check("collage of the last two", 3, &[two, three], None);
        check("collage of these", 3, &[one, two, three], None);
        check("put b above a in one picture", 2, &[two, one], Some(Layout::Column));
        check("put a above b", 2, &[one, two], Some(Layout::Column));
        check("put a.jpg below b.jpg", 2, &[two, one], Some(Layout::Column));
        check("put b to the left of a", 2, &[two, one], Some(Layout::Row));
        check("put the title above a", 2, &[one, two], None);
        let request = Request::new("put these two side by side");
        assert!(arrange(&[one, two, three], &request).is_err());
    }
}
