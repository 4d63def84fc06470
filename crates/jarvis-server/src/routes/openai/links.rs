//! How files are linked in what leaves by a chat protocol: by whole addresses, since a chat client knows nothing of this server's
//! paths, and signed where callers need a token, since it sends none for a picture.

use std::time::Duration;

use axum::http::HeaderMap;
use jarvis_plan::{AnswerResource, Kind};

use crate::links::LinkKey;
use crate::state::Server;

#[derive(Debug, Clone)]
pub(crate) struct Links {
    base: String,
    signed: Option<(LinkKey, Duration)>,
}

impl Links {
    /// The base is where clients reach the server.
    pub(crate) fn of(server: &Server, headers: &HeaderMap) -> Links {
        let options = &server.options;
        Links {
            base: server.base(headers),
            signed: server.users.need_token().then(|| (options.link_key.clone(), options.link_time)),
        }
    }

    /// Links that are not signed.
    #[cfg(test)]
    pub(super) fn unsigned(base: &str) -> Links {
        Links { base: base.to_owned(), signed: None }
    }

    /// The whole address of a file.
    pub(crate) fn to(&self, path: &str) -> String {
        match &self.signed {
            Some((key, good_for)) => format!("{}{}", self.base, key.sign(path, *good_for)),
            None => format!("{}{path}", self.base),
        }
    }

    /// The path of an address that is one of this server's own.
    pub(super) fn own_path(&self, url: &str) -> Option<String> {
        let path = url.strip_prefix(&self.base)?.split(['?', '#']).next()?;
        path.starts_with('/').then(|| path.to_owned())
    }

    /// A text with whole addresses in the place of the paths of files.
    pub(super) fn in_text(&self, text: &str) -> String {
        // A full stop behind a path is none of it.
        let mut paths: Vec<&str> = jarvis_store::named(text).map(|path| path.trim_end_matches('.')).collect();
        // A path may be the beginning of another.
        paths.sort_unstable_by_key(|path| std::cmp::Reverse(path.len()));
        paths.dedup();
        let (mut out, mut rest) = (String::with_capacity(text.len()), text);
        while let Some((at, path)) = paths
            .iter()
            .filter_map(|path| Some((rest.find(path)?, *path)))
            .min_by_key(|(at, path)| (*at, std::cmp::Reverse(path.len())))
        {
            let (before, found) = rest.split_at(at);
            out.push_str(before);
            // What is part of an address already is whole.
            if before.chars().next_back().is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | ':')) {
                out.push_str(path);
            } else {
                out.push_str(&self.to(path));
            }
            rest = found.get(path.len()..).unwrap_or_default();
        }
        out.push_str(rest);
        out
    }

    /// A link to a file, in Markdown, on a line of its own.
    pub(super) fn link(&self, resource: &AnswerResource) -> String {
        let mark = if resource.kind == Kind::Image { "!" } else { "" };
        format!("\n\n{mark}[{}]({})", resource.name, self.to(&resource.url))
    }
}
