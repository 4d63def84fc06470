//! The text of an answer as it leaves by a chat protocol, piece by piece or whole: paths of files become whole addresses, and links
//! to the files that it does not name follow it.

use jarvis_plan::Answer;

use super::links::Links;

/// The longest word that is held back for the path that it may become.
const LONGEST_WORD: usize = 512;

/// An answer on its way.
#[derive(Debug)]
pub(crate) struct Text {
    links: Links,
    /// As far as it was written.
    written: String,
    /// The last word, while it may be a path that is not whole.
    held: String,
}

impl Text {
    pub(crate) fn new(links: Links) -> Text {
        Text { links, written: String::new(), held: String::new() }
    }

    /// A whole answer.
    pub(super) fn whole(links: &Links, answer: &Answer) -> String {
        Text::new(links.clone()).end(answer)
    }

    /// What may be sent now that this was written.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        self.written.push_str(piece);
        self.held.push_str(piece);
        let word = self.held.rfind(char::is_whitespace).unwrap_or(0);
        let may_be_path = self.held.get(word..).is_some_and(|word| word.contains('/') && word.len() < LONGEST_WORD);
        let rest = if may_be_path { self.held.split_off(word) } else { String::new() };
        let whole = std::mem::replace(&mut self.held, rest);
        self.links.in_text(&whole)
    }

    /// What of the answer was not sent yet.
    pub(crate) fn end(&mut self, answer: &Answer) -> String {
        let text = answer.text.trim();
        let more = match text.strip_prefix(self.written.trim()) {
            Some(more) => more.to_owned(),
            // It broke off and was written anew.
            None => format!("\n\n{text}"),
        };
        let mut rest = self.push(&more);
        let held = std::mem::take(&mut self.held);
        rest.push_str(&self.links.in_text(&held));
        for resource in &answer.resources {
            // A picture is shown; a name alone would not show it.
            if !self.written.contains(&resource.url) || resource.kind == jarvis_plan::Kind::Image {
                rest.push_str(&self.links.link(resource));
            }
        }
        rest
    }
}

#[cfg(test)]
mod tests {
    use jarvis_plan::{AnswerResource, Kind, TaskId};

    use super::*;

    fn answer(text: &str, files: &[(Kind, &str)]) -> Answer {
        let resource = |(kind, url): &(Kind, &str)| AnswerResource {
            kind: *kind,
            url: (*url).to_owned(),
            from: TaskId(0),
            name: "a file".to_owned(),
            path: None,
        };
        Answer { text: text.to_owned(), resources: files.iter().map(resource).collect(), ..Answer::default() }
    }

    #[test]
    fn an_answer_is_the_same_whole_and_in_any_pieces() {
        const BASE: &str = "http://h:1";
        let links = Links::unsigned(BASE);
        for (text, files, want) in [
            ("Done.", vec![], "Done.".to_owned()),
            ("See /images/a.png.", vec![], format!("See {BASE}/images/a.png.")),
            ("See (/audios/a.wav) and/or else", vec![], format!("See ({BASE}/audios/a.wav) and/or else")),
            ("At http://x/images/a.png", vec![], "At http://x/images/a.png".to_owned()),
            ("Done.", vec![(Kind::Audio, "/audios/a.wav")], format!("Done.\n\n[a file]({BASE}/audios/a.wav)")),
            (
                "See /images/a.png",
                vec![(Kind::Image, "/images/a.png")],
                format!("See {BASE}/images/a.png\n\n![a file]({BASE}/images/a.png)"),
            ),
            ("Готово: /tables/a.csv", vec![(Kind::Json, "/tables/a.csv")], format!("Готово: {BASE}/tables/a.csv")),
        ] {
            let answer = answer(text, &files);
            assert_eq!(Text::whole(&links, &answer), want, "{text}");
            for size in 1..=text.chars().count() {
                let letters: Vec<char> = text.chars().collect();
                let mut told = Text::new(links.clone());
                let pieces = letters.chunks(size).map(|piece| piece.iter().collect::<String>());
                let mut sent: String = pieces.map(|piece| told.push(&piece)).collect();
                sent.push_str(&told.end(&answer));
                assert_eq!(sent, want, "{text} in pieces of {size}");
            }
        }
        let mut broken = Text::new(links);
        let sent = broken.push("It bro") + &broken.end(&answer("Another answer.", &[]));
        assert_eq!(sent, "It bro\n\nAnother answer.");
    }
}
