//! What of a request a model that takes no instructions cannot mind: one that summarises, tells moods or finds names, as it was trained to.

use jarvis_engine::Job;

use super::super::unread::{self, Skill};
use super::{entities::Group, part, requests, summary::SummaryOptions};

/// The first wish that such a model passes over; none where the plain task is asked for.
pub(in crate::native) fn beyond(job: &Job) -> Option<String> {
    let text = job.arg("text").unwrap_or_default();
    let request = requests::plain(&job.request.text, text);
    let (skill, read) = match job.candidate.effective_task.as_str() {
        "summarization" => {
            let asks_otherwise = requests::explained(&request).is_some()
                || requests::wants_keywords(&request)
                || SummaryOptions::read(&request) != SummaryOptions::default();
            if asks_otherwise {
                return Some("how the summary is wanted".to_owned());
            }
            (Skill::Summary, Vec::new())
        }
        "text-classification" => {
            if requests::wants_other_kind(&request) {
                return Some("another kind than the mood".to_owned());
            }
            if let Some(beyond) = requests::beyond_mood(&request) {
                return Some(beyond.to_owned());
            }
            (Skill::Mood, Vec::new())
        }
        "token-classification" => {
            let named = [Group::Person, Group::Organisation, Group::Location, Group::Other];
            let wanted = requests::groups(&request);
            // Who names no kind wants all of them, and names are what such models find.
            let names_other = wanted.iter().any(|group| !named.contains(group));
            if names_other && !named.iter().all(|group| wanted.contains(group)) {
                return Some("other things than names".to_owned());
            }
            (Skill::Entities, [requests::group_patterns(), vec![requests::taken_out()]].concat())
        }
        _ => return None,
    };
    let things: Vec<&str> = job.args.values().filter_map(serde_json::Value::as_str).collect();
    let clauses = unread::asking_for(&request, &things, skill);
    let part = part::of(text, &clauses).ok().flatten().map(|(what, _)| what);
    part.or_else(|| unread::of(job, skill, &read).into_iter().next())
}
