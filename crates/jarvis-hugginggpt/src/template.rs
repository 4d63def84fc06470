//! The answer without a model: written by template, in the language of the request, from the outcomes alone.

use std::fmt::Write;

use jarvis_plan::{Language, Outcome, Output, Plan, Request, Source, Status};
use serde_json::Value;

/// How a display path is shown to the person: as a path on disk or an address.
pub(crate) type ShowPath<'a> = &'a dyn Fn(&str) -> String;

/// Characters of one text result that are shown before it is cut.
const SHOWN: usize = 4_000;

/// Tells what was done, with every file named, and what failed and why. For an empty plan it says so.
pub(crate) fn answer(request: &Request, plan: &Plan, outcomes: &[Outcome], show: ShowPath<'_>) -> String {
    let words = Words::of(Language::of(&request.text));
    let mut out = String::new();
    let done = outcomes.iter().filter(|outcome| outcome.succeeded()).count();
    if outcomes.is_empty() {
        return words.nothing.to_owned();
    }
    if outcomes.len() > 1 || done == 0 {
        out.push_str(&(words.summary)(done, outcomes.len()));
        out.push('\n');
    }
    for outcome in outcomes {
        let number = if outcomes.len() > 1 { format!("{}. ", outcome.id.0 + 1) } else { String::new() };
        let _ = write!(out, "{number}{}", outcome.task);
        if let Some(performer) = outcome.performer() {
            let _ = write!(out, " ({})", performer.id);
        }
        match outcome.status {
            Status::Succeeded => success(&mut out, outcome, show),
            Status::Failed => failure(&mut out, words.failed, outcome, words),
            Status::Skipped => failure(&mut out, words.skipped, outcome, words),
            Status::Cancelled => failure(&mut out, words.cancelled, outcome, words),
        }
    }
    if let Some(note) = plan.notes.iter().find(|note| note.0.contains("limit")) {
        let _ = writeln!(out, "{}: {note}", words.note);
    }
    by_name(out.trim_end().to_owned(), request)
}

/// Calls files as the person did: by the name they gave, not by the path the file was taken in under.
fn by_name(mut text: String, request: &Request) -> String {
    for resource in &request.attachments {
        if let (Source::Public(path), Some(name)) = (&resource.source, &resource.name) {
            text = text.replace(&format!("`{path}`"), &format!("`{name}`"));
        }
    }
    text
}

fn success(out: &mut String, outcome: &Outcome, show: ShowPath<'_>) {
    out.push_str(":\n");
    let Some(inference) = &outcome.inference else { return };
    let outputs = inference.outputs();
    let mut said = false;
    for output in &outputs {
        match output {
            Output::Image { url } | Output::Audio { url } | Output::Video { url } => {
                let _ = writeln!(out, "   {}", show(url));
                said = true;
            }
            Output::Text { text } => {
                let scored = labels(&inference.0).unwrap_or_else(|| text.clone());
                indent(out, &cut(&clean(&scored)));
                said = true;
            }
            Output::Json { .. } => {}
        }
    }
    if !said {
        indent(out, &cut(&inference.0.to_string()));
    }
    for key in ["note", "operations"] {
        match inference.0.get(key) {
            Some(Value::String(note)) => indent(out, &format!("({note})")),
            Some(Value::Array(items)) => {
                let items: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                if !items.is_empty() {
                    indent(out, &format!("({})", items.join(", ")));
                }
            }
            _ => {}
        }
    }
}

/// Labels with their scores, best first, when that is all a result is: `positive 82%, neutral 15%`.
fn labels(value: &Value) -> Option<String> {
    let mut rows: Vec<(&str, f64)> = Vec::new();
    for row in value.as_array()? {
        rows.push((row.get("label")?.as_str()?, row.get("score")?.as_f64()?));
    }
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    let shown: Vec<String> =
        rows.iter().take(5).map(|(label, score)| format!("{} {:.0}%", label.to_lowercase(), score * 100.0)).collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}

fn failure(out: &mut String, what: &str, outcome: &Outcome, words: &Words) {
    let _ = write!(out, ": {what}");
    match &outcome.error {
        Some(error) => {
            let _ = writeln!(out, ": {}", error.message);
            if let Some(hint) = &error.hint {
                let _ = writeln!(out, "   {}: {hint}", words.hint);
            }
        }
        None => out.push('\n'),
    }
}

fn indent(out: &mut String, text: &str) {
    for line in text.lines() {
        let _ = writeln!(out, "   {line}");
    }
}

/// Results come from models and files: control characters, which could drive a terminal, do not pass.
fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or(text)),
        None => text.to_owned(),
    }
}

struct Words {
    nothing: &'static str,
    summary: fn(usize, usize) -> String,
    failed: &'static str,
    skipped: &'static str,
    cancelled: &'static str,
    hint: &'static str,
    note: &'static str,
}

impl Words {
    fn of(language: Language) -> &'static Words {
        match language {
            Language::English => &ENGLISH,
            Language::Russian => &RUSSIAN,
            Language::Chinese => &CHINESE,
        }
    }
}

static ENGLISH: Words = Words {
    nothing: "I found nothing in this request that I can do without a language model. I can, for example, find the edges of a \
              picture, change or describe one, summarise a text, tell its mood or its names, and read it aloud. Name the \
              file and what to do with it, or set a model with --llm.",
    summary: |done, all| match (done, all) {
        (0, 1) => "This could not be done.".into(),
        (0, _) => "None of the tasks could be done.".into(),
        (done, all) if done == all => format!("All {all} tasks are done."),
        (done, all) => format!("{done} of {all} tasks are done."),
    },
    failed: "failed",
    skipped: "skipped",
    cancelled: "cancelled",
    hint: "try",
    note: "Note",
};

static RUSSIAN: Words = Words {
    nothing: "В этом запросе не нашлось ничего, что можно сделать без языковой модели. Можно, например, найти контуры на \
              картинке, изменить или описать её, кратко пересказать текст, определить его тональность и имена в нём, \
              прочитать его вслух. Назовите файл и что с ним сделать или укажите модель: --llm.",
    summary: |done, all| match (done, all) {
        (0, 1) => "Это сделать не удалось.".into(),
        (0, _) => "Ни одну из задач выполнить не удалось.".into(),
        (done, all) if done == all => format!("Выполнены все задачи: {all}."),
        (done, all) => format!("Выполнено задач: {done} из {all}."),
    },
    failed: "не удалось",
    skipped: "пропущено",
    cancelled: "отменено",
    hint: "попробуйте",
    note: "Замечание",
};

static CHINESE: Words = Words {
    nothing: "在没有语言模型的情况下，这个请求里没有我能做的事。我可以提取图片的边缘、修改或描述图片、概括文本、判断文本的情感、\
              找出其中的人名，以及朗读文本。请写明文件和要做的事，或用 --llm 指定模型。",
    summary: |done, all| match (done, all) {
        (0, 1) => "这件事没有做成。".into(),
        (0, _) => "所有任务都没有完成。".into(),
        (done, all) if done == all => format!("{all} 个任务全部完成。"),
        (done, all) => format!("{all} 个任务中完成了 {done} 个。"),
    },
    failed: "失败",
    skipped: "已跳过",
    cancelled: "已取消",
    hint: "可以试试",
    note: "说明",
};
