//! Paths that an answer names: only those that a task made or the request brought are true.

use std::collections::HashSet;
use std::sync::LazyLock;

use jarvis_plan::pattern;
use regex::Regex;

static MEDIA_PATH: LazyLock<Regex> = LazyLock::new(|| {
    // A literal pattern; the tests compile it.
    pattern(
        r"(?i)(?:https?://[^\s<>()\[\]]+|(?:public)?/[\w./%-]+|\bpublic/[\w./%-]+)\.(?:png|jpe?g|gif|webp|bmp|tiff?|wav|mp3|flac|ogg|m4a|mp4|mov|webm|avi|mkv)\b",
    )
});

/// The media paths and addresses in a text that `known` does not hold. A path counts as known in display form, with or
/// without the `public` prefix, and behind any host.
pub(crate) fn unknown_media(text: &str, known: &HashSet<String>) -> Vec<String> {
    let mut unknown = Vec::new();
    for found in MEDIA_PATH.find_iter(text) {
        let path = found.as_str();
        let bare = path.strip_prefix("public").unwrap_or(path);
        let is_known = known.contains(path)
            || known.contains(bare)
            || known.iter().any(|known| !known.is_empty() && path.ends_with(known.as_str()));
        if !is_known && !unknown.contains(&path.to_owned()) {
            unknown.push(path.to_owned());
        }
    }
    unknown
}

#[cfg(test)]
mod tests {
    use super::unknown_media;

    #[test]
    fn only_paths_nobody_made_are_flagged() {
        let known = ["/images/ab12.png".to_owned(), "https://example.com/cat.jpg".to_owned()].into();
        for (text, want) in jarvis_testing::rows::<(String, Vec<String>)>(include_str!("cases.yaml"), "paths") {
            assert_eq!(unknown_media(&text, &known), want, "{text}");
        }
    }
}
