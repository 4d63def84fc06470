//! Native models that read the writing in a picture: all of it, the part that is asked for, or the answer it holds.

use image::DynamicImage;
use jarvis_catalogue::TaskOutput;
use jarvis_engine::Job;
use jarvis_plan::{ErrorCode, Language, Level, TaskError};
use serde_json::{Value, json};

use super::super::text::part;
use super::super::unread::with_rest;
use super::super::{Native, Program, cancelled};
use super::{VISION_HINT, edit, not_compared, ocr, open, reading, with_picture};

/// Whether a picture holds writing, and which.
pub(super) async fn any_text(native: &Native, job: &Job) -> Result<TaskOutput, TaskError> {
    let lang = Language::of(&job.request.text);
    let (lines, _) = text_lines(native, job).await?;
    let answer = match lines.is_empty() {
        true => lang
            .pick("no: nothing legible was found", "нет: ничего читаемого не найдено", "没有：没有找到可读的文字")
            .to_owned(),
        false => format!("{}\n{}", lang.pick("yes:", "да:", "有："), ocr::join(&lines)),
    };
    Ok(TaskOutput(json!([{"answer": answer, "score": 0.9}])))
}

/// What is read in the picture of a job, and the package whose language data would help tesseract. A local model reads before
/// tesseract, but for Russian requests: the models of the catalogue know Latin letters and Chinese.
async fn text_lines(native: &Native, job: &Job) -> Result<(Vec<ocr::Line>, Option<&'static str>), TaskError> {
    native.available("native/ocr")?;
    let language = Language::of(&job.request.text);
    let is_installed = native.programs.path(Program::Tesseract).is_ok();
    if let Some(reader) = native.reader().filter(|_| language != Language::Russian || !is_installed) {
        let picture = with_part(native, job, |picture| Ok(open::flatten(picture))).await?;
        match reader.read(picture, job).await.map(ocr::of_model) {
            Ok(lines) if !lines.is_empty() || !is_installed => return Ok((lines, None)),
            Ok(_) => {}
            Err(error) if !is_installed || error.code == ErrorCode::Cancelled => return Err(error),
            Err(error) => {
                let message =
                    format!("the model that reads pictures failed ({}); tesseract reads instead", error.message);
                job.events.note(Level::Warning, message);
            }
        }
    }
    let (languages, missing) = ocr::languages(native.programs.ocr_languages().await?, language);
    if languages.is_empty() {
        return Err(TaskError::new(ErrorCode::NotConfigured, "`tesseract` has no language data")
            .hint("install some, for example with `apt-get install tesseract-ocr-eng`"));
    }
    let png = with_part(native, job, |picture| ocr::prepare(&picture)).await?;
    let read = ocr::read(&native.programs, &png, &languages);
    let lines = tokio::select! {
        lines = read => lines?,
        () = job.cancel.cancelled() => return Err(cancelled()),
    };
    Ok((lines, missing))
}

/// Works on the part of the picture that the request names; what a task before cut out is read whole.
async fn with_part<T: Send + 'static>(
    native: &Native,
    job: &Job,
    work: impl FnOnce(DynamicImage) -> Result<T, TaskError> + Send + 'static,
) -> Result<T, TaskError> {
    let region = if job.task.dep.is_empty() { reading::region(&job.request.text) } else { None };
    let on_part = move |opened: open::Opened, _: &super::Cancel| {
        work(match region {
            Some(region) => {
                let (x, y, wide, high) = edit::part((opened.picture.width(), opened.picture.height()), region);
                opened.picture.crop_imm(x, y, wide, high)
            }
            None => opened.picture,
        })
    };
    with_picture(native, job, on_part).await
}

/// That only some of the writing is wanted, or another form of it, which reading does not give.
fn restricted(restriction: &str) -> TaskError {
    let message = format!("the writing is read here as it stands, and whole, not as asked: `{restriction}`");
    TaskError::new(ErrorCode::CannotDo, message)
        .hint("ask for all of it, for the first or last lines, or for a half of the picture")
}

/// Why a reading that a request asks for is none that is given here.
pub(super) fn refusal(request: &str) -> Option<TaskError> {
    match reading::is_code(request) {
        true => Some(no_code()),
        false => reading::restriction(request).map(|restriction| restricted(&restriction)),
    }
}

fn no_code() -> TaskError {
    TaskError::new(ErrorCode::CannotDo, "QR codes and bar codes are not read here, only writing")
        .hint("configure a vision model (`llm.model`)")
}

fn no_text(missing: Option<&str>) -> TaskError {
    let error = TaskError::new(ErrorCode::CannotDo, "nothing legible was found in the picture");
    match missing {
        Some(package) => error.hint(format!("to read it in the language of the request, install `{package}`")),
        None => error.hint(VISION_HINT),
    }
}

/// `native/ocr`: the text in a picture.
pub(in crate::native) async fn read_text(native: &Native, job: &Job) -> Result<TaskOutput, TaskError> {
    if reading::compares(&job.request.text) {
        return Err(not_compared());
    }
    if let Some(error) = refusal(&job.request.text) {
        return Err(error);
    }
    let (lines, missing) = text_lines(native, job).await?;
    let text = ocr::join(&lines);
    if text.trim().is_empty() {
        return Err(no_text(missing));
    }
    let text = part::of(&text, &without_region(&job.request.text))?.map_or(text, |(_, part)| part);
    // The text is told, and no file is written.
    let file = reading::file_wanted(&job.request.text).map(|name| match Language::of(&job.request.text) {
        Language::English => format!("save the text as {name}"),
        Language::Russian => format!("сохранить текст в {name}"),
        Language::Chinese => format!("把文字保存为 {name}"),
    });
    let inference = with_rest(TaskOutput::text(text), file.into_iter().collect());
    Ok(match missing {
        Some(package) => {
            inference.with("note", format!("the language of the request was not read: `{package}` is not installed"))
        }
        None => inference,
    })
}

/// `native/ocr-qa`: the line of a document that shares most words with the question.
pub(in crate::native) async fn answer_from_text(native: &Native, job: &Job) -> Result<TaskOutput, TaskError> {
    let question = job.arg("text").unwrap_or(&job.request.text);
    if reading::is_code(&job.request.text) {
        return Err(no_code());
    }
    let (lines, missing) = text_lines(native, job).await?;
    if lines.is_empty() {
        return Err(no_text(missing));
    }
    let text = ocr::join(&lines);
    let part = part::of(&text, question).unwrap_or_default().map(|(_, part)| part);
    let text = part.clone().unwrap_or(text);
    if let Some(answer) = super::super::text::told(question, &text) {
        return Ok(TaskOutput(json!([{"answer": answer, "score": 1.0}])));
    }
    if part.is_some() || reading::all_wanted(question) {
        if let Some(restriction) = reading::restriction(&job.request.text) {
            return Err(restricted(&restriction));
        }
        return Ok(TaskOutput(json!([{"answer": text, "score": 1.0}])));
    }
    let found = ocr::answers(&lines, question);
    if found.is_empty() {
        let message = "no line of the document shares a word with the question";
        return Err(TaskError::new(ErrorCode::CannotDo, message).hint(VISION_HINT));
    }
    if reading::number_wanted(&job.request.text) {
        let best = found.first().map_or("", |(answer, _)| answer.as_str());
        let [number] = reading::numbers(best)[..] else {
            return Err(restricted("only the number"));
        };
        return Ok(TaskOutput(json!([{"answer": number, "score": 0.9}])));
    }
    let rows = found.into_iter().map(|(answer, score)| json!({"answer": answer, "score": score}));
    Ok(TaskOutput(Value::Array(rows.collect())))
}

/// What the thing in the picture costs: the one price that is written there.
pub(super) async fn price(native: &Native, job: &Job) -> Result<TaskOutput, TaskError> {
    let (lines, missing) = text_lines(native, job).await?;
    if lines.is_empty() {
        return Err(no_text(missing));
    }
    let text = ocr::join(&lines);
    match reading::prices(&text)[..] {
        [price] => Ok(TaskOutput(json!([{"answer": price, "score": 0.9}]))),
        [] => Err(TaskError::new(ErrorCode::CannotDo, "no price is written in the picture").hint(VISION_HINT)),
        ref several => {
            let message = format!("several prices are written in the picture: {}", several.join(", "));
            Err(TaskError::new(ErrorCode::CannotDo, message).hint("say what is meant, in the words beside its price"))
        }
    }
}

/// A request without the part of the picture that it names: the left half of a picture is none of a text.
pub(in crate::native) fn without_region(request: &str) -> String {
    super::part_of().replace_all(&request.to_lowercase(), " ").into_owned()
}
