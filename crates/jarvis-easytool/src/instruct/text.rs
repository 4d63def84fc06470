//! Cleans texts of documents: no markup, no hidden characters, bounded length.

use jarvis_net::text::is_hidden;

/// The longest sentence that is kept, in characters.
const MAX_SENTENCE: usize = 200;

/// Endings after which a full stop ends no sentence.
const ABBREVIATIONS: [&str; 8] = ["e.g", "i.e", "etc", "vs", "approx", "incl", "no", "eg"];

const ORDERS: &str = "add analyze apply approve assign borrow browse build calculate call cancel change check close compute convert \
    copy count create delete describe detect disable discover display download edit enable execute explore export \
    extract fetch filter find follow generate get give import insert list load look lookup make mark move obtain \
    open pause play post provide query rate read receive register remove reorder replace request resume retrieve \
    return save say search seek select send set show skip start store submit subscribe suggest translate unfollow \
    update upload validate verify view write";

/// The text without hidden characters; of controls only line ends stay.
pub(super) fn visible(text: &str) -> String {
    let shown = text.chars().filter(|c| !is_hidden(*c));
    shown.map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect()
}

pub(super) fn line(text: &str, max: usize) -> String {
    cut(&visible(text).split_whitespace().collect::<Vec<_>>().join(" "), max)
}

/// The text, cut at a word's end when it is longer than `max` characters.
pub(super) fn cut(text: &str, max: usize) -> String {
    let Some((at, _)) = text.char_indices().nth(max) else {
        return text.to_owned();
    };
    let head = text.split_at(at).0;
    let head = head.rsplit_once(' ').map_or(head, |(words, _)| words);
    format!("{}…", head.trim_end_matches([',', ';', ':', '.']))
}

/// The first sentence that says something, without markup; empty where there is none. It ends in a full stop only in the
/// middle of the document's own text, never at its end.
pub(super) fn sentence(text: &str) -> String {
    let text = visible(text);
    for paragraph in paragraphs(&text) {
        let plain = plain(&paragraph);
        let first = first_sentence(&plain);
        if first.chars().any(char::is_alphabetic) {
            return cut(first, MAX_SENTENCE);
        }
    }
    String::new()
}

/// The paragraphs of Markdown without headings, tables, rules and code.
fn paragraphs(text: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut code = false;
    for row in text.lines() {
        let row = row.trim();
        let fence = row.starts_with("```");
        code ^= fence;
        let apart = row.is_empty() || fence || row.starts_with(['#', '|']) || row.starts_with("---");
        match all.last_mut() {
            Some(last) if !apart && !code => {
                last.push(' ');
                last.push_str(row);
            }
            Some(_) | None => all.push(String::new()),
        }
    }
    all
}

fn plain(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let after = chars.as_str();
        let rest = match c {
            '<' if after.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') => match after.split_once('>') {
                Some((_, after)) => {
                    words.push(' ');
                    after
                }
                None => after,
            },
            ']' if after.starts_with('(') => after.split_once(')').map_or("", |(_, after)| after),
            '[' | ']' | '`' | '*' => after,
            '!' if after.starts_with('[') => after,
            c => {
                words.push(c);
                after
            }
        };
        chars = rest.chars();
    }
    let words = words.replace("__", "").replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    // A text that is emphasised from its start: the mark goes, and the one that closes it.
    let closes = |(at, _): &(usize, &str)| !words.split_at(at + 1).1.starts_with(char::is_alphanumeric);
    match words.match_indices('_').skip(1).find(closes).filter(|_| words.starts_with('_')) {
        Some((at, _)) => {
            let (inner, after) = words.split_at(at);
            format!("{}{}", inner.split_at(1).1, after.split_at(1).1)
        }
        None => words,
    }
}

fn first_sentence(text: &str) -> &str {
    let text = text.trim();
    for (at, mark) in text.match_indices(['.', '!', '?', '。', '！', '？']) {
        let (before, after) = (text.split_at(at).0, text.split_at(at + mark.len()).1);
        let word = before.rsplit([' ', '(']).next().map(str::to_ascii_lowercase);
        let ends = mark.len() > 1 || after.is_empty() || after.starts_with(' ');
        let is_short = word.is_some_and(|word| ABBREVIATIONS.contains(&word.as_str()));
        if ends && !is_short && before.chars().count() >= 10 {
            return before;
        }
    }
    text.trim_end_matches(['.', '!', '?', ':'])
}

/// The sentence as what one can do: `get the keywords of a movie`; `None` when it is no order.
pub(super) fn as_order(sentence: &str) -> Option<String> {
    let (first, rest) = sentence.split_once(' ').unwrap_or((sentence, ""));
    let verb = first.to_lowercase();
    let order = |verb: &str| ORDERS.split(' ').any(|known| known == verb);
    // Also `Gets`, `Searches`: the third person.
    let bare = [Some(verb.as_str()), verb.strip_suffix("es"), verb.strip_suffix('s')];
    let verb = bare.into_iter().flatten().find(|bare| order(bare))?;
    Some(if rest.is_empty() { verb.to_owned() } else { format!("{verb} {rest}") })
}

pub(super) fn singular(word: &str) -> String {
    let word = word.to_ascii_lowercase();
    let keep = |suffix: &str| word.strip_suffix(suffix).map(str::to_owned);
    match () {
        () if word == "people" => "person".into(),
        () if word == "series" || word.ends_with("ss") || word.ends_with("us") => word,
        () if word.ends_with("ies") && word.len() > 4 && word != "movies" => {
            keep("ies").map_or(word.clone(), |stem| format!("{stem}y"))
        }
        () if ["ses", "xes", "ches", "shes"].iter().any(|end| word.ends_with(end)) => {
            keep("es").unwrap_or_else(|| word.clone())
        }
        () => keep("s").unwrap_or_else(|| word.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_give_their_first_sentence() {
        for (text, wanted) in [
            ("Search for movies.", "Search for movies"),
            ("## Welcome\n\nThis is a **good** place, e.g. for notes. More.", "This is a good place, e.g. for notes"),
            ("Get [the details](#x) of `a` thing<br />in one go. And", "Get the details of a thing in one go"),
            ("v1.2 of the list of songs", "v1.2 of the list of songs"),
            ("| a | b |\n|---|---|\n\n_**Note**: read me first._", "Note: read me first"),
            ("Hidden\u{e0041}\u{202e} words stay out\u{200b}.", "Hidden words stay out"),
            ("获取电影的关键词列表信息。还有", "获取电影的关键词列表信息"),
            ("```\ncode\n```", ""),
            ("", ""),
        ] {
            assert_eq!(sentence(text), wanted, "{text:?}");
        }
        assert!(sentence(&"word ".repeat(100)).ends_with("word…"));
    }

    #[test]
    fn orders_and_singulars_are_known() {
        assert_eq!(as_order("Get the list").as_deref(), Some("get the list"));
        assert_eq!(as_order("Searches for it").as_deref(), Some("search for it"));
        assert_eq!(as_order("Gets it").as_deref(), Some("get it"));
        assert_eq!(as_order("The list"), None);
        for (word, one) in
            [("movies", "movie"), ("companies", "company"), ("boxes", "box"), ("albums", "album"), ("bus", "bus")]
        {
            assert_eq!(singular(word), one);
        }
    }
}
