//! Which of a server's models fits best.

use std::cmp::Reverse;

use super::ServedModel;
use crate::family::{Family, UNKNOWN_CONTEXT};

/// How many models of a server are looked at closely.
pub(crate) const CANDIDATES: usize = 16;

/// The least context, in tokens, that holds a plan with its prompt.
const ROOMY: usize = 8192;

/// Parts of the names of models that hold no conversation.
const NO_CHAT: [&str; 9] = ["embed", "minilm", "bge-", "gte-", "e5-", "rerank", "whisper", "-tts", "clip-"];

/// Whether a model of this name may hold conversations.
pub(super) fn may_chat(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    !NO_CHAT.iter().any(|part| name.contains(part))
}

pub(super) fn best(models: &[ServedModel]) -> Option<&ServedModel> {
    order(models).first().and_then(|at| models.get(*at))
}

/// The places of the models that hold conversations, the best first. Total, so that the same list gives the same choice.
pub(super) fn order(models: &[ServedModel]) -> Vec<usize> {
    let rank = |model: &ServedModel| {
        let known = Family::of(&model.name).and_then(|family| family.context);
        let context = model.context.or(known).unwrap_or(UNKNOWN_CONTEXT);
        (model.loaded, context >= ROOMY, known.is_some(), model.parameters, context, model.sees())
    };
    let chats = models.iter().enumerate().filter(|(_, model)| model.chats);
    let mut ranked: Vec<_> = chats.map(|(at, model)| (Reverse(rank(model)), &model.name, at)).collect();
    ranked.sort();
    ranked.into_iter().map(|(_, _, at)| at).collect()
}

/// Millions of parameters as names and servers write them: `8B`, `494.03M`, `qwen3:8b`, `llama-3.2-3b-instruct`.
pub(super) fn parameters(text: &str) -> Option<u64> {
    let parts = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    parts.filter_map(millions).next()
}

fn millions(part: &str) -> Option<u64> {
    let (number, unit) = part.split_at_checked(part.len().checked_sub(1)?)?;
    let unit = match unit {
        "b" | "B" => 1000.0,
        "m" | "M" => 1.0,
        _ => return None,
    };
    if !number.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let number: f64 = number.parse().ok()?;
    // A saturating cast: nothing that servers write comes near its end.
    Some((number * unit) as u64)
}

#[cfg(test)]
mod tests {
    use jarvis_testing::rows;

    use super::*;

    #[test]
    fn sizes_are_read_from_names() {
        for (text, expected) in rows::<(String, Option<u64>)>(include_str!("../cases.yaml"), "parameters") {
            assert_eq!(parameters(&text), expected, "{text}");
        }
    }
}
