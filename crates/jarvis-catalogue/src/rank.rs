//! Ranks candidates without a chat model: by where they run, how well their description fits the request, and likes.
//!
//! It is simple on purpose, gives the same order every time, and says why in a sentence.

use std::collections::{HashMap, HashSet};

use crate::Host;

use crate::Available;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranked {
    pub candidate: Available,
    /// Why it has this place, in a sentence without a full stop.
    pub reason: String,
}

/// Ranks candidates, best first. With `native_first` (no model service configured) native models lead, then local
/// ones; otherwise native models come last, as a way out, save a specialty whose tags the request names. Within a host the
/// better fit of description and tags to the request wins, then likes, then the order given.
pub fn rank(candidates: &[Available], request: &str, task: &str, native_first: bool) -> Vec<Ranked> {
    let asked = words(&format!("{request} {}", task.replace('-', " ")));
    let request = request.to_lowercase();
    let texts: Vec<HashSet<String>> = candidates
        .iter()
        .map(|Available { model, .. }| {
            let tags = model.tags.as_deref().unwrap_or_default().join(" ");
            words(&format!("{} {} {tags}", model.id.replace(['/', '-', '_'], " "), model.description))
        })
        .collect();
    let mut common: HashMap<&str, usize> = HashMap::new();
    for word in texts.iter().flatten() {
        *common.entry(word.as_str()).or_default() += 1;
    }
    let mut ranked: Vec<(u8, u32, Vec<String>, &Available)> = candidates
        .iter()
        .zip(&texts)
        .map(|(candidate, text)| {
            // A word that all candidates share says nothing; one that few have says much.
            let mut fit = 0;
            let mut hits: Vec<String> = Vec::new();
            for word in &asked {
                let among = common.get(word.as_str()).copied().unwrap_or(0);
                if text.contains(word) && among < candidates.len() {
                    fit += weight(candidates.len(), among);
                    hits.push(word.clone());
                }
            }
            // Tags in scripts without blanks between words cannot be found as words.
            for tag in candidate.model.tags.as_deref().unwrap_or_default() {
                if !tag.is_ascii() && request.contains(&tag.to_lowercase()) && !hits.contains(tag) {
                    fit += weight(candidates.len(), 1);
                    hits.push(tag.clone());
                }
            }
            hits.sort();
            let tags = candidate.model.tags.as_deref().unwrap_or_default();
            let is_asked_for = candidate.model.specialty
                && tags
                    .iter()
                    .any(|tag| asked.contains(tag) || !tag.is_ascii() && request.contains(&tag.to_lowercase()));
            (place(candidate.host, native_first || is_asked_for), fit, hits, candidate)
        })
        .collect();
    ranked.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)).then(b.3.model.likes.cmp(&a.3.model.likes)));
    ranked
        .into_iter()
        .map(|(_, _, hits, candidate)| Ranked { candidate: candidate.clone(), reason: reason(candidate, &hits) })
        .collect()
}

/// The weight of a word that `among` of `all` candidates have, in thousandths: `ln(1 + all / among)`.
fn weight(all: usize, among: usize) -> u32 {
    ((1.0 + all as f64 / among.max(1) as f64).ln() * 1000.0) as u32
}

fn place(host: Host, native_first: bool) -> u8 {
    match host {
        Host::Native if native_first => 0,
        Host::Local => 1,
        Host::Tool | Host::Api => 2,
        Host::Llm => 3,
        Host::Huggingface => 4,
        Host::Native => 5,
    }
}

fn reason(candidate: &Available, hits: &[String]) -> String {
    let host = match candidate.host {
        Host::Native => "it runs inside jarvis",
        Host::Local => "it is a local model",
        Host::Huggingface => "it is available at Hugging Face",
        Host::Llm => "it is served by the configured endpoint",
        Host::Tool => "it is a configured tool",
        Host::Api => "the catalogue service offers it",
    };
    let mut reason = host.to_owned();
    if !hits.is_empty() {
        let shown: Vec<String> = hits.iter().take(3).map(|word| format!("\"{word}\"")).collect();
        reason.push_str(&format!(", and its description fits {}", shown.join(", ")));
    } else if candidate.model.likes > 0 {
        reason.push_str(&format!(", with {} likes", candidate.model.likes));
    }
    reason
}

/// The words of a text that can tell one model from another: lower case, three letters or more, no stop words, plural
/// `s` off.
fn words(text: &str) -> HashSet<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() >= 3 && !STOP.contains(word))
        .map(|word| word.strip_suffix('s').filter(|stem| stem.len() >= 3).unwrap_or(word).to_owned())
        .collect()
}

const STOP: &[&str] = &[
    "the", "and", "for", "with", "from", "this", "that", "what", "which", "model", "models", "please", "can", "you",
    "are", "its", "into", "not", "have", "has", "was", "will", "your", "how", "who", "where", "there", "then", "them",
    "one", "all", "any", "use", "used", "uses", "using", "based", "base", "jpg", "png", "jpeg", "wav", "images",
    "audios", "https", "http", "www", "com", "text", "image", "audio", "native", "give", "show", "make", "tell",
];

#[cfg(test)]
mod tests;
