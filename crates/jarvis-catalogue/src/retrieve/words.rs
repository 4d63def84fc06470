//! The words of a text as they are compared: lower case, stems, and pairs of characters where a script has no blanks.

use jarvis_plan::{Script, spell_out, stem};

/// What a character does for the word that it stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Part of a word.
    Letter,
    /// Part of a text without blanks between words.
    Dense,
    /// Between words.
    Other,
}

fn kind(c: char) -> Kind {
    match Script::of(c) {
        Script::Han | Script::Kana | Script::Hangul => Kind::Dense,
        _ if c.is_alphanumeric() => Kind::Letter,
        _ => Kind::Other,
    }
}

/// The terms of a text, in order, repeated as they are.
pub(super) fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    let mut run = String::new();
    let mut of = Kind::Other;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let mut next = kind(c);
        // The apostrophe inside a word belongs to it; the stemmer knows its endings.
        let apostrophe = matches!(c, '\'' | '\u{2019}');
        if apostrophe && of == Kind::Letter && chars.peek().is_some_and(|c| kind(*c) == Kind::Letter) {
            next = Kind::Letter;
        }
        if next != of {
            add(&run, of, &mut terms);
            run.clear();
            of = next;
        }
        run.push(if apostrophe { '\'' } else { c });
    }
    add(&run, of, &mut terms);
    terms
}

fn add(run: &str, of: Kind, terms: &mut Vec<String>) {
    match of {
        Kind::Other => {}
        Kind::Dense => {
            let chars: Vec<char> = run.chars().collect();
            match chars.as_slice() {
                [_] => terms.push(run.to_owned()),
                chars => terms.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>())),
            }
        }
        Kind::Letter => {
            terms.push(stem(&run.to_lowercase()));
            // `getMovieKeywords` is found by each of its words, too.
            let spelled = spell_out(run);
            if spelled.contains(' ') {
                terms.extend(spelled.split(' ').map(|part| stem(&part.to_lowercase())));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use jarvis_testing::rows;

    use super::terms;

    #[test]
    fn texts_are_split_into_terms() {
        for (text, expected) in rows::<(String, String)>(include_str!("words.json"), "terms") {
            assert_eq!(terms(&text).join(" "), expected, "{text}");
        }
    }
}
