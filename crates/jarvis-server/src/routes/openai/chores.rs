//! Chores of chat front ends: titles, tags, follow-up questions and the like, which they ask of the model that they talk to. They are
//! about a conversation and none of it, so nothing is planned or carried out: one model call answers, or, without a model, a rule.
//!
//! Two forms are known. Open WebUI sends `### Task:` with the `JSON format` of the reply and the conversation in `<chat_history>`;
//! LibreChat asks for a title and quotes the conversation.

use serde_json::json;

use crate::wire::openai::{ChatMessage, Content};

/// A chore, as what a rule answers to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chore {
    pub(super) answer: String,
}

/// Words of a title that a rule makes.
const TITLE_WORDS: usize = 5;

/// How LibreChat begins when it wants a title.
const TITLE_WANTED: [&str; 3] = [
    "Provide a concise, 5-word-or-less title for the conversation",
    "Write a concise title for this conversation",
    "Detect user language and write in the same language an extremely concise title",
];

impl Chore {
    /// The chore that the last message asks for, if it asks for one.
    pub(super) fn of(messages: &[ChatMessage]) -> Option<Chore> {
        let text = match &messages.last().filter(|message| message.role == "user")?.content {
            Some(Content::Text(text)) => text.clone(),
            Some(Content::Parts(parts)) => {
                let texts: Option<Vec<&str>> = parts.iter().map(|part| part.text.as_deref()).collect();
                texts?.join("\n")
            }
            None => return None,
        };
        let asked = text.trim_start();
        let system = |message: &ChatMessage| match (&message.content, message.role.as_str()) {
            (Some(Content::Text(text)), "system" | "developer") => Some(text.clone()),
            _ => None,
        };
        let told = messages.iter().find_map(system).unwrap_or_default();
        let is_title = |text: &str| TITLE_WANTED.iter().any(|wanted| text.contains(wanted));
        if is_title(asked) || (is_title(&told) && messages.len() == 2) {
            return Some(Chore { answer: title(asked) });
        }
        if !asked.starts_with("### Task:") {
            return None;
        }
        let quoted = quoted(asked);
        // Without a form to fill in and a conversation to read it is somebody's own request in the same words.
        let form = asked.split_once("JSON format:").map(|(_, form)| form.trim_start());
        match (form.and_then(field), quoted) {
            (Some((name, is_list)), Some(quoted)) => {
                let value = match (name, is_list) {
                    ("title", false) => title(quoted).into(),
                    (_, true) => json!([]),
                    (_, false) => "".into(),
                };
                Some(Chore { answer: json!({ name: value }).to_string() })
            }
            (None, Some(quoted)) if asked.contains("title") => Some(Chore { answer: title(quoted) }),
            _ => None,
        }
    }
}

/// The conversation that a chore quotes.
fn quoted(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("<chat_history>")?;
    Some(rest.split_once("</chat_history>").map_or(rest, |(quoted, _)| quoted))
}

/// The first field of the form of a reply, and whether it is a list.
fn field(form: &str) -> Option<(&str, bool)> {
    let (name, rest) = form.strip_prefix('{')?.trim_start().strip_prefix('"')?.split_once('"')?;
    let is_list = rest.trim_start().strip_prefix(':')?.trim_start().starts_with('[');
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then_some((name, is_list))
}

/// A title: how the person began.
fn title(quoted: &str) -> String {
    let said = |line: &str| {
        let (who, said) = line.trim_start_matches(['|', '>', ' ']).split_once(':')?;
        let is_person = matches!(who.trim().trim_matches('*').to_lowercase().as_str(), "user" | "human");
        is_person.then(|| said.trim().trim_matches('"').trim().to_owned()).filter(|said| !said.is_empty())
    };
    let mut lines = quoted.lines();
    let first = lines.find_map(said);
    let next = || {
        let after = quoted.lines().skip_while(|line| !line.trim_end().to_lowercase().ends_with("user:")).nth(1);
        after.map(|line| line.trim().trim_matches('"').to_owned())
    };
    let begun = first.or_else(next).unwrap_or_else(|| "New conversation".to_owned());
    let words: Vec<&str> = begun.split_whitespace().take(TITLE_WORDS).collect();
    // Languages without blanks have one long word.
    jarvis_net::text::cut(&words.join(" "), 40, "…").trim_end_matches(['.', ',', ':', ';', '?', '!']).to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn check(messages: Value, want: Option<&str>) {
        let read: Vec<ChatMessage> = serde_json::from_value(messages.clone()).expect("messages");
        assert_eq!(Chore::of(&read).map(|chore| chore.answer).as_deref(), want, "{messages}");
    }

    /// As Open WebUI asks, shortened.
    fn task(what: &str, form: &str) -> Value {
        let history = "USER: Find the edges of this picture, please\nASSISTANT: Here they are.";
        json!([{"role": "user", "content": format!(
            "### Task:\n{what}\n### Guidelines:\n- Be brief.\n### Output:\nJSON format: {form}\n### Chat History:\n<chat_history>\n{history}\n</chat_history>"
        )}])
    }

    #[test]
    fn chores_are_known_by_their_form() {
        check(task("Generate a title.", r#"{ "title": "your title" }"#), Some(r#"{"title":"Find the edges of this"}"#));
        check(task("Generate tags.", r#"{ "tags": ["a", "b"] }"#), Some(r#"{"tags":[]}"#));
        check(task("Suggest questions.", r#"{ "follow_ups": ["a?"] }"#), Some(r#"{"follow_ups":[]}"#));
        check(task("Search?", r#"{ "queries": ["a"] }"#), Some(r#"{"queries":[]}"#));
        check(task("Complete.", r#"{ "text": "more" }"#), Some(r#"{"text":""}"#));
        let convo = "Provide a concise, 5-word-or-less title for the conversation, using title case conventions. Only return \
                     the title itself.\n\nConversation:\nUser: how warm is it in Oslo?\nAI: 4 degrees";
        check(json!([{"role": "user", "content": convo}]), Some("how warm is it in"));
        check(json!([{"role": "user", "content": [{"type": "text", "text": convo}]}]), Some("how warm is it in"));
    }

    #[test]
    fn what_a_person_asks_is_no_chore() {
        for text in [
            "Give me a title for my essay about user interfaces",
            "### Task:\nFind the edges of the attached picture",
            "### Task: reply in JSON format: {\"title\": \"x\"}",
            "what is <chat_history>?",
        ] {
            check(json!([{"role": "user", "content": text}]), None);
        }
        check(json!([]), None);
    }
}
