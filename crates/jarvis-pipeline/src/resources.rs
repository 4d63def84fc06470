//! The files that tasks made, by names that a person would give: what they came from, and what was done.

use std::collections::HashMap;

use indexmap::IndexMap;
use jarvis_catalogue::{Output, TaskOutput};
use jarvis_plan::{AnswerResource, EACH, Kind, Outcome, Request, text_of};
use serde_json::Value;

/// The longest name of what a file came from, in characters.
const LONGEST: usize = 40;

/// What the result of a task is called in a name.
fn word(task: &str) -> &str {
    match task {
        "canny-control" => "edges",
        "mlsd-control" => "lines",
        "image-to-image" => "edited",
        "image-segmentation" => "regions",
        "depth-estimation" => "depth",
        "object-detection" => "objects",
        "image-collage" => "collage",
        "text-to-speech" => "speech",
        "text-to-image" => "picture",
        "text-to-video" => "video",
        "table-query" => "table",
        "plot" => "chart",
        "audio-to-audio" | "audio-editing" | "audio-joining" | "video-to-audio" => "sound",
        other => other,
    }
}

/// The files that tasks made, in task order, without repeats, each with a name of its own: `photo-edges.png`,
/// `photo-edges-2.png`.
pub fn resources(request: &Request, outcomes: &[Outcome]) -> Vec<AnswerResource> {
    let mut found: Vec<AnswerResource> = Vec::new();
    // What each file came from in the end.
    let mut stems: HashMap<String, String> = HashMap::new();
    for outcome in outcomes.iter().filter(|outcome| outcome.succeeded()) {
        for (output, stem) in outputs(request, outcome, &stems) {
            let Some(url) = output.url() else { continue };
            if stems.contains_key(url) {
                continue;
            }
            let ending = url.rsplit_once('.').map_or(String::new(), |(_, ending)| format!(".{}", slug(ending, 8)));
            let base = match (called(outcome), stem.is_empty()) {
                (Some(called), _) => called,
                (None, true) => word(&outcome.task).to_owned(),
                (None, false) => format!("{stem}-{}", word(&outcome.task)),
            };
            let is_free = |name: &String| found.iter().all(|other| other.name != *name);
            let name = numbered(&format!("{base}{ending}")).find(is_free).expect("there are more numbers than files");
            let (kind, url) = (output.kind(), url.to_owned());
            stems.insert(url.clone(), stem.clone());
            found.push(AnswerResource { kind, url, from: outcome.id, name, path: None });
        }
    }
    found
}

/// The results of a task, each with what it came from.
fn outputs(request: &Request, outcome: &Outcome, made: &HashMap<String, String>) -> Vec<(Output, String)> {
    let of_one = |output: TaskOutput, args: &IndexMap<String, Value>| {
        let stem = stem(request, args, made);
        output.outputs().into_iter().map(move |output| (output, stem.clone()))
    };
    let Some(output) = TaskOutput::of(outcome) else { return Vec::new() };
    let calls = outcome.args.get(EACH).cloned().and_then(|calls| serde_json::from_value::<Vec<_>>(calls).ok());
    match (output.0.get(EACH), calls) {
        (Some(Value::Array(each)), Some(calls)) => {
            let pairs = each.iter().cloned().map(TaskOutput).zip(&calls);
            pairs.flat_map(|(output, args)| of_one(output, args)).collect()
        }
        _ => of_one(output, &outcome.args).collect(),
    }
}

/// A name, and the same with numbers from 2 before its ending; where it has such a number, with the numbers after that.
pub fn numbered(name: &str) -> impl Iterator<Item = String> {
    let (stem, ending) =
        name.rsplit_once('.').map_or((name, String::new()), |(stem, ending)| (stem, format!(".{ending}")));
    let (stem, first) = match stem.rsplit_once('-') {
        Some((before, number)) if !number.starts_with('0') && number.len() <= 3 => match number.parse::<u32>() {
            Ok(number) if number >= 2 && !before.is_empty() => (before, number + 1),
            _ => (stem, 2),
        },
        _ => (stem, 2),
    };
    let more = (first..=u32::MAX).map(move |number| format!("{stem}-{number}{ending}"));
    std::iter::once(name.to_owned()).chain(more)
}

/// What the files of a task come from: the attached file that it took, itself or through others; else its first words.
fn stem(request: &Request, args: &IndexMap<String, Value>, made: &HashMap<String, String>) -> String {
    let values = args;
    let args = || values.values().map(|value| text_of(value));
    let attached = args().find_map(|value| {
        let named = |one: &&jarvis_plan::Resource| one.as_arg() == value || one.name.as_deref() == Some(&*value);
        let name = request.attachments.iter().find(named)?.name.as_deref()?;
        let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
        Some(slug(base.rsplit_once('.').map_or(base, |(stem, _)| stem), LONGEST))
    });
    let through = || args().find_map(|value| made.get(&*value).cloned());
    let said = || {
        // What is to be done with a medium is no name for it.
        let is_medium = |value: std::borrow::Cow<'_, str>| Kind::of_name(&value).is_some_and(Kind::is_media);
        if args().any(is_medium) {
            return String::new();
        }
        let text = values.get("text").map(text_of).unwrap_or_default();
        let words: Vec<&str> = text.split_whitespace().filter(|word| word.chars().count() > 3).take(3).collect();
        slug(&words.join(" "), LONGEST)
    };
    attached.or_else(through).unwrap_or_else(said)
}

/// The name that was asked for, without its ending.
fn called(outcome: &Outcome) -> Option<String> {
    let output = TaskOutput::of(outcome)?;
    let name = output.0.get(TaskOutput::CALLED)?.as_str()?;
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let stem = base.rsplit_once('.').map_or(base, |(stem, _)| stem);
    let safe: String = stem.chars().filter(|c| !c.is_control()).take(LONGEST).collect();
    (!safe.trim_matches('.').is_empty()).then_some(safe)
}

/// Letters and digits of a text in lower case, with single hyphens between.
fn slug(text: &str, longest: usize) -> String {
    let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    let joined = parts.collect::<Vec<_>>().join("-").to_lowercase();
    let cut: String = joined.chars().take(longest).collect();
    cut.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use jarvis_plan::{Resource, Source, Status, TaskId};
    use serde_json::json;

    use super::*;

    fn made(id: u32, task: &str, args: Value, output: Value) -> Outcome {
        let args: IndexMap<String, Value> = serde_json::from_value(args).expect("an object");
        Outcome {
            made_up_for: false,
            id: TaskId(id),
            task: task.into(),
            status: Status::Succeeded,
            args,
            selection: None,
            attempts: Vec::new(),
            output: Some(output),
            error: None,
            notes: Vec::new(),
            ms: 0,
        }
    }

    #[test]
    fn numbers_go_on() {
        let check = |name: &str, next: &str| assert_eq!(numbered(name).nth(1).as_deref(), Some(next), "{name}");
        check("photo.png", "photo-2.png");
        check("photo-2.png", "photo-3.png");
        check("plan-2024-05.png", "plan-2024-05-2.png");
        check("photo-1.png", "photo-1-2.png");
        check("README", "README-2");
    }

    #[test]
    fn files_are_named_after_what_they_came_from() {
        let photo = Resource {
            kind: Kind::Image,
            source: Source::Public("/images/0a.jpg".into()),
            name: Some("trips/My Coffee.jpg".into()),
        };
        let request = Request { attachments: vec![photo], ..Request::new("do it") };
        let picture = |url: &str| json!({"generated image": url});
        let outcomes = [
            made(0, "canny-control", json!({"image": "/images/0a.jpg"}), picture("/images/1b.png")),
            made(1, "image-to-image", json!({"image": "/images/1b.png", "text": "grey"}), picture("/images/2c.PNG")),
            made(2, "canny-control", json!({"image": "/images/0a.jpg"}), picture("/images/3d.png")),
            made(3, "text-to-image", json!({"text": "a fox in the deep snow"}), picture("/images/4e.png")),
            made(4, "text-to-speech", json!({"text": "hi"}), json!({"generated audio": "/audios/5f.wav"})),
        ];
        let names: Vec<String> = resources(&request, &outcomes).into_iter().map(|resource| resource.name).collect();
        assert_eq!(
            names,
            [
                "my-coffee-edges.png",
                "my-coffee-edited.png",
                "my-coffee-edges-2.png",
                "deep-snow-picture.png",
                "speech.wav"
            ]
        );
    }
}
