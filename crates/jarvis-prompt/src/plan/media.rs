//! Values that name files: which attachment is meant.

use jarvis_plan::{Fault, Kind, Resource, Source};

use super::Scope;
use super::reference::quoted;

/// What a value of a media argument is.
pub(super) enum Medium {
    /// A path or an address of the request.
    Path(String),
    /// A fault.
    Fault(Fault),
    /// Nothing that names a file.
    Words,
}

/// The files and addresses of a request.
pub(super) struct Files<'a> {
    attachments: &'a [Resource],
    /// The request with its earlier turns: paths and addresses that stand there were given.
    said: Vec<&'a str>,
    exists: &'a (dyn Fn(&str) -> bool + Sync),
}

/// Beginnings that models put before the name of a file.
const SCHEMES: [&str; 8] =
    ["sandbox:", "file://localhost", "file://", "attachment://", "attachment:", "local://", "upload://", "data/"];

/// Names of the words that say "the attachment".
const THE_ATTACHMENT: [&str; 38] = [
    "the",
    "this",
    "my",
    "your",
    "a",
    "an",
    "attached",
    "attachment",
    "uploaded",
    "given",
    "provided",
    "input",
    "original",
    "source",
    "user",
    "users",
    "s",
    "image",
    "images",
    "picture",
    "photo",
    "photograph",
    "img",
    "pic",
    "audio",
    "sound",
    "recording",
    "clip",
    "video",
    "movie",
    "file",
    "path",
    "url",
    "text",
    "document",
    "content",
    "of",
    "from",
];

impl<'a> Files<'a> {
    pub(super) fn new(scope: Scope<'a>) -> Files<'a> {
        let Scope { request, exists, .. } = scope;
        let said = request.history.iter().map(|turn| turn.content.as_str()).chain([request.text.as_str()]).collect();
        Files { attachments: &request.attachments, said, exists }
    }

    fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &'a Resource> {
        let is_kind = move |one: &&Resource| one.kind == kind || (kind == Kind::Text && one.kind == Kind::Json);
        self.attachments.iter().filter(is_kind)
    }

    /// Whether the request brings files of a kind of media.
    pub(super) fn has(&self, kind: Kind) -> bool {
        kind.is_media() && self.of_kind(kind).next().is_some()
    }

    /// The only attachment of a kind, as an argument.
    pub(super) fn only(&self, kind: Kind) -> Option<&'a str> {
        let mut of_kind = self.of_kind(kind);
        let only = of_kind.next()?;
        of_kind.next().is_none().then(|| argument(only))
    }

    /// What the value of an argument that takes media of a kind names.
    pub(super) fn medium(&self, arg: &str, said: &str, kind: Kind) -> Medium {
        let name = bare(said);
        if let Some(found) = self.named(name, kind) {
            return found.map_or_else(|readings| Medium::Fault(ambiguous(arg, said, readings)), Medium::Path);
        }
        if is_file_like(name) && (self.is_said(name) || (self.exists)(name)) {
            return Medium::Path(name.to_owned());
        }
        if is_file_like(name) {
            return Medium::Fault(self.no_such_file(arg, said));
        }
        match (self.only(kind), self.of_kind(kind).count()) {
            (Some(path), _) => Medium::Path(path.to_owned()),
            (None, 0) => Medium::Words,
            (None, _) => {
                let readings = self.of_kind(kind).map(|one| argument(one).to_owned()).collect();
                Medium::Fault(ambiguous(arg, said, readings))
            }
        }
    }

    fn is_said(&self, name: &str) -> bool {
        self.said.iter().any(|text| text.contains(name))
    }

    /// The attachments that a value names one after another: "a.png, b.jpg and c.jpg".
    pub(super) fn several(&self, said: &str, kind: Kind) -> Option<Vec<&'a str>> {
        let parts = said.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '&'));
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty() && !part.eq_ignore_ascii_case("and")).collect();
        let named = |part: &&str| {
            let is_it = |own: &str| own == bare(part) || base(own).eq_ignore_ascii_case(base(bare(part)));
            let mut meant = self.of_kind(kind).filter(|one| names(one).into_iter().any(is_it));
            let only = meant.next()?;
            meant.next().is_none().then(|| argument(only))
        };
        let found = parts.iter().map(named).collect::<Option<Vec<&str>>>()?;
        (found.len() > 1).then_some(found)
    }

    /// The attachments that no task of these arguments takes.
    pub(super) fn untaken(&self, taken: &[String]) -> Vec<String> {
        // In a list it stands as JSON.
        let takes = |text: &String, own: &str| text == own || text.contains(&format!("\"{own}\""));
        let is_taken = |one: &&Resource| taken.iter().any(|text| names(one).iter().any(|own| takes(text, own)));
        let open = self.attachments.iter().filter(|one| one.name.is_some() || one.kind.is_media());
        open.filter(|one| !is_taken(one)).map(|one| argument(one).to_owned()).collect()
    }

    /// Whether a text stands in the request, or in a file of it, as something to work on: quoted, behind a colon, on lines of
    /// its own or at length. A few words of the instructions are not.
    pub(super) fn is_given(&self, text: &str) -> bool {
        let text = text.trim();
        let holds = |one: &Resource| one.as_arg() == text || !one.kind.is_media() && one.as_arg().contains(text);
        if self.attachments.iter().any(|one| names(one).contains(&text) || holds(one)) {
            return true;
        }
        if text.is_empty() || self.attachments.iter().flat_map(names).any(|own| text.contains(base(own))) {
            return false;
        }
        let quotes = ['"', '\'', '“', '”', '«', '»', '‘', '’', '`', '「', '」', '\n', ':', '：'];
        let is_long =
            text.split_whitespace().count() > 5 || text.chars().filter(|c| jarvis_plan::is_han(*c)).count() > 8;
        let mut request = self.said.iter().flat_map(|said| said.match_indices(text).map(move |(at, _)| (*said, at)));
        request.any(|(said, at)| {
            let before = said.get(..at).unwrap_or_default().trim_end_matches(' ');
            let is_all = said.trim() == text;
            before.ends_with(quotes) || (is_long && !is_all)
        })
    }

    pub(super) fn no_such_file(&self, arg: &str, said: &str) -> Fault {
        let attached = self.attachments.iter().map(|one| argument(one).to_owned()).collect();
        Fault::NoSuchFile { arg: arg.to_owned(), value: quoted(said), attached }
    }

    /// The attached text that a whole value names, as its argument.
    pub(super) fn text(&self, said: &str) -> Option<&'a str> {
        let name = bare(said);
        let words: Vec<String> = name.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).collect();
        let is_placeholder = name.len() <= 60
            && words.iter().filter(|word| !word.is_empty()).all(|word| THE_ATTACHMENT.contains(&word.as_str()))
            && words
                .iter()
                .any(|word| ["attached", "attachment", "file", "document", "uploaded"].contains(&word.as_str()));
        if is_placeholder {
            return self.only(Kind::Text);
        }
        // A word may be any text; what looks like a file is one.
        let is_meant = |one: &&Resource| {
            // "The contents of notes.txt" are the file, and so is a name that is a letter off, unless the request says that.
            let of_it = |own: &str| {
                name.split_whitespace().last().is_some_and(|last| base(last).eq_ignore_ascii_case(base(own)))
                    && name
                        .split_whitespace()
                        .rev()
                        .skip(1)
                        .all(|word| THE_ATTACHMENT.contains(&word.trim_end_matches('s')))
            };
            let is_near = |own: &str| is_file_like(name) && !self.is_said(name) && is_like(name, own);
            names(one).into_iter().any(|own| base(name).eq_ignore_ascii_case(base(own)) || of_it(own) || is_near(own))
        };
        let mut meant = self.of_kind(Kind::Text).filter(is_meant);
        let first = meant.next()?;
        meant.next().is_none().then(|| argument(first))
    }

    /// Whether a value is an attachment as an argument.
    pub(super) fn is_file(&self, value: &str) -> bool {
        self.attachments.iter().any(|one| argument(one) == value)
    }

    /// Whether a value names an attachment of this kind.
    pub(super) fn names(&self, said: &str, kind: Kind) -> bool {
        matches!(self.named(bare(said), kind), Some(Ok(_)))
    }

    /// The attached picture, sound or video whose name is the whole value of a text.
    pub(super) fn is_medium(&self, said: &str) -> bool {
        let name = bare(said);
        let media = self.attachments.iter().filter(|one| one.kind.is_media());
        media.flat_map(names).any(|own| own == name || base(own) == base(name))
    }

    /// The attachment that a name means: by its path or name, its last part, that without its ending, a letter off, or among
    /// other words; the names, where several are meant.
    fn named(&self, name: &str, kind: Kind) -> Option<Result<String, Vec<String>>> {
        let of_kind = || self.of_kind(kind);
        let tests: [fn(&str, &str) -> bool; 5] = [
            |said, own| said == own,
            |said, own| base(said).eq_ignore_ascii_case(base(own)),
            |said, own| !stem(said).is_empty() && stem(said).eq_ignore_ascii_case(stem(own)),
            |said, own| is_near(&base(said).to_lowercase(), &base(own).to_lowercase()),
            // "the base64 of photo.jpg"
            |said, own| said.split([' ', '(', ')', '"']).any(|word| word.eq_ignore_ascii_case(base(own))),
        ];
        // A name that the request says is no slip of the pen.
        let exact = if is_file_like(name) && self.is_said(name) { 2 } else { tests.len() };
        tests.iter().take(exact).find_map(|is_meant| {
            let meant: Vec<&Resource> =
                of_kind().filter(|one| names(one).iter().any(|own| is_meant(name, own))).collect();
            match meant.as_slice() {
                [] => None,
                [only] => Some(Ok(argument(only).to_owned())),
                several => Some(Err(several.iter().map(|one| argument(one).to_owned()).collect())),
            }
        })
    }
}

/// An attachment as an argument: an attached text by its name, since a plan does not carry what it holds.
fn argument(resource: &Resource) -> &str {
    match (&resource.source, &resource.name) {
        (Source::Inline(_), Some(name)) => name,
        (Source::Inline(_) | Source::Public(_) | Source::Url(_), _) => resource.as_arg(),
    }
}

/// The names of an attachment: the person's and the path.
fn names(resource: &Resource) -> Vec<&str> {
    let path = match &resource.source {
        Source::Inline(_) => None,
        Source::Public(path) | Source::Url(path) => Some(path.as_str()),
    };
    resource.name.as_deref().into_iter().chain(path).collect()
}

fn ambiguous(arg: &str, said: &str, readings: Vec<String>) -> Fault {
    Fault::Ambiguous { arg: arg.to_owned(), value: quoted(said), readings }
}

/// A name without what models put around it: a Markdown link, angle brackets, quotes, `file://` and the like.
fn bare(said: &str) -> &str {
    let mut name = said.trim().trim_matches(['`', '"', '\'', ' ']);
    if let Some((label, link)) =
        name.strip_prefix('!').unwrap_or(name).strip_prefix('[').and_then(|rest| rest.split_once("]("))
    {
        let link = link.trim_end_matches(')').trim();
        name = if link.is_empty() { label } else { link };
    }
    name = name.trim_matches(['<', '>', '{', '}']);
    for scheme in SCHEMES {
        if let Some(rest) = name.strip_prefix(scheme).filter(|rest| scheme != "data/" || !rest.contains('/')) {
            name = rest;
        }
    }
    name.strip_prefix("./").unwrap_or(name).trim()
}

/// The last part of a path, without a query.
fn base(name: &str) -> &str {
    let name = name.split(['?', '#']).next().unwrap_or(name);
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

/// The last part without its ending.
fn stem(name: &str) -> &str {
    let base = base(name);
    base.rsplit_once('.').map_or(base, |(stem, _)| stem)
}

fn is_like(said: &str, own: &str) -> bool {
    said == own || stem(said).eq_ignore_ascii_case(stem(own)) || is_near(base(said), base(own))
}

/// A letter left out, put in, changed or exchanged with its neighbour, in names that are long enough for it.
fn is_near(said: &str, own: &str) -> bool {
    own.chars().count() > 4 && strsim::osa_distance(said, own) <= 1
}

/// Whether a value looks like a path or an address and not like words.
fn is_file_like(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let has_ending = (1..=5).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_alphanumeric());
    name.contains("://")
        || name.starts_with("data:")
        || name.starts_with(['/', '~'])
        || (has_ending && !name.contains(' '))
        || Kind::of_name(name).is_some()
}
