//! Resources in a request: quoted text, paths, URLs and e-mail addresses, found as spans that are never cut, and the
//! words that point at resources ("the picture", "the result", "both").

use std::sync::LazyLock;

use jarvis_plan::{Kind, Request, Resource};
use regex::Regex;

use crate::data;
use crate::flow::kind_at;
use crate::result_names::names_result;
use crate::thesaurus::{self, Part};
use crate::words::grammar::{is_order_verb, is_question_word, strip_polite};
use crate::words::{Token, head, pattern, slice, tokens};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpanKind {
    /// Quoted text; the quotation marks are outside [`Span::text`].
    Quote,
    Path,
    Url,
    Email,
    /// Unquoted text to work on: after a colon, or a paragraph of its own.
    Payload,
}

/// A part of the request that is data and not instruction. Its words never choose a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    /// Where it starts, in bytes, quotation marks included.
    pub(crate) start: usize,
    /// Where it ends, in bytes, quotation marks included.
    pub(crate) end: usize,
    pub(crate) what: SpanKind,
    pub(crate) text: String,
    /// The kind of resource it stands for; `None` when it stands for none (an e-mail address, an unknown extension).
    pub(crate) kind: Option<Kind>,
}

impl Span {
    pub(crate) fn covers(&self, at: usize) -> bool {
        (self.start..self.end).contains(&at)
    }
}

static URL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?:https?://|www\.)[^\s<>"'“”«»‘’（）()，。、；！？「」\p{Han}]+|data:[a-z]+/[a-z0-9.+-]+;base64,[A-Za-z0-9+/=]+"#,
    )
});
static EMAIL: LazyLock<Regex> = LazyLock::new(|| pattern(r"[A-Za-z0-9_.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"));
pub(crate) static PATH: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:[A-Za-z]:)?[A-Za-z0-9_~%+\-./\\\p{Cyrillic}]*[A-Za-z0-9_\-\p{Cyrillic})]\.(?:[A-Za-z][A-Za-z0-9]{1,4})",
    )
});

pub(crate) fn is_url(text: &str) -> bool {
    let text = text.trim();
    URL.find(text).is_some_and(|found| found.start() == 0 && found.end() == text.len()) && !text.starts_with("data:")
}

/// Quotation marks that open, with those that close.
const QUOTES: &[(char, &[char])] = &[
    ('"', &['"']),
    ('“', &['”', '"']),
    ('„', &['“', '”']),
    ('«', &['»']),
    ('‘', &['’']),
    ('\'', &['\'']),
    ('「', &['」']),
    ('『', &['』']),
    ('《', &['》']),
    ('`', &['`']),
];

/// Every span of `text`, in order and without overlap.
pub(crate) fn spans(text: &str) -> Vec<Span> {
    spans_with(text, &[])
}

/// The same where some files are known by name: letters of any script may stand right beside a known name.
pub(crate) fn spans_with(text: &str, files: &[(&str, Kind)]) -> Vec<Span> {
    let mut spans = quotes(text);
    for (name, kind) in files.iter().filter(|(name, _)| name.contains('.')) {
        for (start, _) in text.match_indices(name) {
            let end = start + name.len();
            let inside =
                |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '\\' | '_'));
            let parted = !inside(slice(text, 0, start).chars().next_back())
                && !inside(text.get(end..).and_then(|rest| rest.chars().next()));
            if parted && !spans.iter().any(|span| span.start < end && start < span.end) {
                let (what, kind) = (SpanKind::Path, Some(*kind));
                spans.push(Span { start, end, what, text: (*name).to_owned(), kind });
            }
        }
    }
    let mut add = |start: usize, end: usize, what: SpanKind, kind: Option<Kind>| {
        if start < end && !spans.iter().any(|span: &Span| span.start < end && start < span.end) {
            spans.push(Span { start, end, what, text: slice(text, start, end).to_owned(), kind });
        }
    };
    for found in URL.find_iter(text) {
        let address = found.as_str().trim_end_matches(['.', ',', ';', ':', '!', '?', ')']);
        add(found.start(), found.start() + address.len(), SpanKind::Url, Some(kind_of_url(address)));
    }
    for found in EMAIL.find_iter(text) {
        add(found.start(), found.end(), SpanKind::Email, None);
    }
    for found in PATH.find_iter(text) {
        let whole = found.as_str();
        let kind = Kind::of_name(whole);
        let goes_on =
            text.get(found.end()..).and_then(|rest| rest.chars().next()).is_some_and(|c| c.is_ascii_alphanumeric());
        let is_path = kind.is_some() || (whole.contains('/') && !whole.starts_with('.'));
        if is_path && !goes_on && !names_result(text, found.start()) {
            add(found.start(), found.end(), SpanKind::Path, kind);
        }
    }
    spans.sort_by_key(|span| span.start);
    spans
}

/// The request without what begins it where that says no more than that each attached file is meant: "for each picture in the
/// folder, make it grey". A condition, as in "for each picture with a cat", is more. Where a kind is named, only such files are meant.
pub(crate) fn without_each(request: &Request) -> Option<Request> {
    let text = request.text.as_str();
    let tokens = tokens(text);
    let senses = thesaurus::of_tokens(&tokens);
    let acts = |at: usize| senses.iter().any(|(sense, from, _)| *from == at && thesaurus::is_a(*sense, Part::Action));
    // "把它变成灰色" is an order with its object before the verb.
    let puts_object_first = |token: &Token| matches!(token.lower.as_str(), "把" | "将");
    let opens = |(at, token): (usize, &Token)| {
        is_order_verb(token) || is_question_word(token) || puts_object_first(token) || acts(at)
    };
    let begins = tokens.iter().enumerate().position(opens)?;
    let (before, order) = tokens.split_at_checked(begins)?;
    let start = order.first()?.start;
    let said = data::FOLDER_HAN.words().fold(slice(text, 0, start).to_owned(), |said, folder| said.replace(folder, ""));
    let goes_without_saying = |token: &Token| {
        data::EACH_WORDS.has(&token.lower)
            || data::JOINTS.has(&token.lower)
            || data::GENERIC_STEMS.has(&token.stem)
            || data::FOLDER_STEMS.has(&token.stem)
            || data::FOLDER_TIES.has(&token.lower)
            || token.is_determiner()
            || data::FOLDER_TIES_HAN.has(&token.lower)
            || token.lower == "для"
    };
    let names_each = before.iter().any(|token| data::EACH_WORDS.has(&token.lower));
    let is_told =
        |sign: char| sign.is_alphanumeric() || sign.is_whitespace() || matches!(sign, ',' | '，' | '-' | '\'');
    let is_plain = said.chars().all(is_told) && crate::words::tokens(&said).iter().all(goes_without_saying);
    if !names_each || !is_plain {
        return None;
    }
    let kinds: Vec<Kind> =
        (0..before.len()).filter_map(|at| kind_at(before, at).filter(|kind| kind.is_media())).collect();
    let is_meant = |file: &&Resource| kinds.is_empty() || kinds.contains(&file.kind);
    let attachments: Vec<Resource> = request.attachments.iter().filter(is_meant).cloned().collect();
    let text = slice(text, start, text.len()).to_owned();
    (!attachments.is_empty()).then(|| Request { text, attachments, ..request.clone() })
}

/// Whether the word at that place names a file of whatever kind: "picture", "recording", "document".
pub(crate) fn is_file_noun(tokens: &[Token], at: usize) -> bool {
    let is_medium = kind_at(tokens, at).is_some_and(Kind::is_media);
    is_medium
        || tokens.get(at).is_some_and(|token| matches!(token.stem.as_str(), "file" | "файл" | "document" | "документ"))
}

/// Whether a text begins with an order: "read it aloud", "请朗读出来".
pub fn opens_with_order(text: &str) -> bool {
    let tokens = tokens(text);
    let said = strip_polite(&tokens);
    let joins = |token: &&Token| data::AND_PHRASES.has(&token.lower) || data::THEN_PHRASES.has(&token.lower);
    let said = strip_polite(said.get(said.iter().take_while(joins).count()..).unwrap_or_default());
    let Some(first) = said.first() else { return false };
    is_order_verb(first) || data::READING_VERBS.has(&first.lower) || thesaurus::begins_with_action(said)
}

/// Whether a request speaks of each of several things: "each picture", "all of them", "все фото".
pub fn speaks_of_each(text: &str) -> bool {
    crate::words::lowers(text).any(|word| data::EACH_WORDS.has(&word))
}

/// Bounds on what is read of earlier turns: the latest so many, and so much of each.
const MOST_TURNS: usize = 20;
const MOST_OF_A_TURN: usize = 4096;

/// The files and addresses that earlier turns named, what was spoken of last coming first.
pub(crate) fn remembered(request: &Request) -> Vec<Span> {
    let latest = request.history.iter().rev().take(MOST_TURNS);
    latest
        .flat_map(|turn| spans(head(&turn.content, MOST_OF_A_TURN)).into_iter().rev())
        .filter(|span| matches!(span.what, SpanKind::Path | SpanKind::Url))
        .collect()
}

fn kind_of_url(address: &str) -> Kind {
    if let Some(rest) = address.strip_prefix("data:") {
        return rest.split('/').next().and_then(|kind| kind.parse().ok()).unwrap_or(Kind::Text);
    }
    Kind::of_name(address).unwrap_or(Kind::Text)
}

fn quotes(text: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut resume = 0;
    let mut before: Option<char> = None;
    // Marks that nothing closes any more.
    let mut open: Vec<char> = Vec::new();
    for (start, letter) in text.char_indices() {
        let previous = before.replace(letter);
        if start < resume {
            continue;
        }
        if open.contains(&letter) {
            continue;
        }
        let Some((_, closing)) = QUOTES.iter().find(|(open, _)| *open == letter) else { continue };
        // An apostrophe inside a word opens nothing, and one before a letter closes nothing.
        let ascii_single = letter == '\'';
        if ascii_single && previous.is_some_and(char::is_alphanumeric) {
            continue;
        }
        let inside_at = start + letter.len_utf8();
        let Some(rest) = text.get(inside_at..) else { continue };
        let close = rest.char_indices().find(|(at, c)| {
            closing.contains(c)
                && !(ascii_single
                    && rest.get(at + c.len_utf8()..).and_then(|r| r.chars().next()).is_some_and(char::is_alphanumeric))
        });
        let Some((at, close)) = close else {
            open.push(letter);
            continue;
        };
        let inside = slice(text, inside_at, inside_at + at).trim();
        if inside.is_empty() {
            continue;
        }
        let end = inside_at + at + close.len_utf8();
        let named = (!inside.contains(char::is_whitespace) || inside.contains(['/', '\\']))
            .then(|| Kind::of_name(inside))
            .flatten();
        let is_url = inside.starts_with("http://") || inside.starts_with("https://");
        let (what, kind) = match named {
            _ if is_url => (SpanKind::Url, kind_of_url(inside)),
            Some(kind) => (SpanKind::Path, kind),
            None => (SpanKind::Quote, Kind::Text),
        };
        spans.push(Span { start, end, what, text: inside.to_owned(), kind: Some(kind) });
        resume = end;
    }
    spans
}

/// How a clause points at resources it does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Pointers {
    /// "it", "its", "его", "它": the thing spoken of last.
    pub(crate) pronoun: bool,
    /// "the result", "результат", "结果": the output of the task before.
    pub(crate) result: bool,
    /// "both", "each", "все", "每": one task for each resource.
    pub(crate) each: bool,
    /// "the first picture", "вторая": that resource, from 0.
    pub(crate) ordinal: Option<usize>,
    /// "the original picture": the resource given, not what was made of it.
    pub(crate) original: bool,
    /// "this text", "below", "следующий": text given elsewhere in the request.
    pub(crate) cataphora: bool,
}

pub(crate) fn pointers(tokens: &[Token]) -> Pointers {
    let mut pointers = Pointers::default();
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1).map_or("", |token| token.lower.as_str());
        let word = token.lower.as_str();
        pointers.pronoun |= data::PRONOUNS.has(word);
        let before = at.checked_sub(1).and_then(|before| tokens.get(before)).map_or("", |token| token.lower.as_str());
        // "The answer to the question" is still to be found.
        let answer = matches!(word, "answer" | "answers") && matches!(before, "the" | "this" | "that" | "your")
            || matches!(word, "ответ" | "ответа");
        let sought = matches!(next, "to" | "for" | "of" | "in" | "from" | "на" | "из" | "к");
        pointers.result |= data::RESULT_WORDS.has(word) || answer && !sought;
        pointers.each |= data::EACH_WORDS.has(word);
        pointers.original |= data::ORIGINAL_WORDS.has(word);
        pointers.cataphora |= data::ELSEWHERE_WORDS.has(word)
            || matches!(word, "this" | "these" | "этот" | "этого" | "этом") && data::TEXT_NOUNS.has(next);
        match (word, next) {
            ("结", "果") | ("答", "案") => pointers.result = true,
            ("两", "张" | "幅" | "个" | "段") | ("所", "有") | ("全", "部") | ("都", _) => {
                pointers.each = true
            }
            ("两", _) if token.is_han() => pointers.each = true,
            ("原", "图" | "来" | "始") => pointers.original = true,
            ("以", "下" | "上") | ("下", "面") | ("上", "面") | ("下", "列") => pointers.cataphora = true,
            ("这", "段" | "篇" | "句") => pointers.cataphora = true,
            ("first" | "1st", word) if data::COUNTED_NOUNS.has(word) => pointers.ordinal = Some(0),
            ("second" | "2nd", _) | ("第", "二") => pointers.ordinal = Some(1),
            ("third" | "3rd", word) if data::COUNTED_NOUNS.has(word) => pointers.ordinal = Some(2),
            ("第", "一") => pointers.ordinal = Some(0),
            ("第", "三") => pointers.ordinal = Some(2),
            _ => {}
        }
        match token.stem.as_str() {
            "перв" if next.is_empty() || data::COUNTED_NOUNS.has(next) => pointers.ordinal = Some(0),
            "втор" => pointers.ordinal = Some(1),
            "трет" if data::COUNTED_NOUNS.has(next) => pointers.ordinal = Some(2),
            _ => {}
        }
    }
    pointers
}

/// Whether a span names a file or an address.
pub(crate) fn is_file(span: &Span) -> bool {
    matches!(span.what, SpanKind::Path | SpanKind::Url)
}

/// The files and addresses that a text names.
pub(crate) fn files(text: &str, request: &Request) -> Vec<Span> {
    let attached: Vec<(&str, Kind)> =
        request.attachments.iter().filter_map(|resource| Some((resource.name.as_deref()?, resource.kind))).collect();
    spans_with(text, &attached).into_iter().filter(is_file).collect()
}

/// A text in lower case with a mark for each file.
pub(crate) fn without(text: &str, files: &[Span]) -> String {
    let mut kept = String::new();
    let mut from = 0;
    for span in files.iter().filter(|span| is_file(span)) {
        kept.push_str(slice(text, from, span.start));
        kept.push_str("⟨⟩");
        from = span.end;
    }
    kept.push_str(slice(text, from, text.len()));
    kept.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::{SpanKind, pointers, spans};
    use crate::words::tokens;

    fn check(text: &str, expected: &str) {
        let found: Vec<String> = spans(text)
            .iter()
            .map(|span| {
                let what = match span.what {
                    SpanKind::Quote => "quote",
                    SpanKind::Path => "path",
                    SpanKind::Url => "url",
                    SpanKind::Email => "email",
                    SpanKind::Payload => "payload",
                };
                let kind = span.kind.map_or(String::new(), |kind| format!(":{kind}"));
                format!("{what}{kind}={}", span.text)
            })
            .collect();
        assert_eq!(found.join(" | "), expected, "{text}");
    }

    #[test]
    fn spans_of_a_request() {
        check("edges of /images/a.png, please", "path:image=/images/a.png");
        check("把/images/a.png变成黑白", "path:image=/images/a.png");
        check("опиши фото.jpg и b.wav.", "path:image=фото.jpg | path:audio=b.wav");
        check("see https://x.org/a.png?b=1, then", "url:image=https://x.org/a.png?b=1");
        check("see (https://x.org/page).", "url:text=https://x.org/page");
        check("mail bob.b@example.com", "email=bob.b@example.com");
        check("say \"a, and then b\" now", "quote:text=a, and then b");
        check("скажи «привет, мир»", "quote:text=привет, мир");
        check("朗读“你好，世界”", "quote:text=你好，世界");
        check("it's Bob's 'big idea' isn't it", "quote:text=big idea");
        check("open \"my file.png\" or \"my.png\"", "quote:text=my file.png | path:image=my.png");
        check("C:\\pics\\a.JPG and ../b.mp4", "path:image=C:\\pics\\a.JPG | path:video=../b.mp4");
        check("e.g. this. And i.e. that.Then 3.14", "");
        check("an \"unclosed quote", "");
        check("data:image/png;base64,AAAA==", "url:image=data:image/png;base64,AAAA==");
        check("save a.png as b.png", "path:image=a.png");
        check("make a.png grey and save it as b.png", "path:image=a.png");
        check("merge a.wav and b.wav into all.wav", "path:audio=a.wav | path:audio=b.wav");
        check("соедини a.wav и b.wav в один файл всё.wav", "path:audio=a.wav | path:audio=b.wav");
        check("copy the words out of a.png into a text file called b.txt", "path:image=a.png");
        check("put b.png next to a file called c.png", "path:image=b.png | path:image=c.png");
        check("join a.wav to b.wav", "path:audio=a.wav | path:audio=b.wav");
        check("сохрани a.png как b.png", "path:image=a.png");
        check("把 a.png 另存为 b.png", "path:image=a.png");
    }

    #[test]
    fn pointing_words() {
        let read = |text: &str| pointers(&tokens(text));
        assert!(read("edges of the result").result);
        assert!(read("озвучь его").pronoun);
        assert!(read("描述两张图片").each);
        assert!(read("summarise this text").cataphora);
        assert_eq!(read("describe the second picture").ordinal, Some(1));
        assert_eq!(read("опиши первую картинку").ordinal, Some(0));
        assert_eq!(read("first, describe it").ordinal, None);
        assert_eq!(read("把第二张图变灰").ordinal, Some(1));
    }
}
