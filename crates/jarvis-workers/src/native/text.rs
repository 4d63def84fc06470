//! Native text models: summaries, sentiment, entities, answers from a passage, similarity. Rules and statistics for
//! English, Russian and Chinese; no learned weights, no network.

mod asking;
mod beyond;
mod counts;
mod entities;
mod keywords;
mod language;
mod lists;
mod logs;
pub(super) mod part;
mod passage;
mod requests;
mod segment;
mod sentiment;
mod similarity;
mod summary;
#[cfg(test)]
mod tests;

pub(super) use beyond::beyond;
use indexmap::{IndexMap, IndexSet};

use jarvis_catalogue::TaskOutput;
use jarvis_engine::Job;
use jarvis_plan::{ErrorCode, Language, Role, TaskError, is_han};
use regex::Regex;
use serde_json::{Value, json};

use super::unread::{Skill, asking_for, excluded, unread, with_rest};

pub use keywords::keywords;
pub(super) use language::is_function_word;
pub use language::language;
pub use passage::{Quote, Unanswered, quote};

/// The stem of a word, English or Russian; other words in lower case.
pub fn stem(word: &str) -> String {
    segment::Stemmers::new("en").stem(&segment::fold(word))
}

/// The largest argument that is read, in bytes.
pub const MAX_BYTES: usize = 2_000_000;

/// The most bytes that are read on the thread that asks: that takes a fraction of a millisecond, less than two changes of
/// threads under load.
const SHORT: usize = 1024;

/// What a model of this module works on, free of the job it came with.
struct Input {
    args: IndexMap<String, String>,
    request: String,
    /// What the files of the request are called.
    files: Vec<String>,
    /// What was answered last.
    before: String,
}

impl Input {
    /// The first of these arguments that is there and not blank.
    fn first(&self, names: &[&str]) -> Option<&str> {
        names.iter().filter_map(|name| self.args.get(*name)).map(|value| value.trim()).find(|value| !value.is_empty())
    }

    /// What the request wishes and `skill` does not read.
    fn unread(&self, skill: Skill, read: &[&Regex]) -> Vec<String> {
        let things = self.args.values().chain(&self.files).map(String::as_str);
        unread(&self.request, &things.collect::<Vec<_>>(), skill, read)
    }

    /// The clauses of the request that ask for `skill`, without its text.
    fn clauses(&self, skill: Skill, text: &str) -> String {
        let things = self.args.values().chain(&self.files).map(String::as_str);
        asking_for(&self.request.replace(text.trim(), " "), &things.collect::<Vec<_>>(), skill)
    }

    fn need(&self, name: &str) -> Result<&str, TaskError> {
        self.first(&[name]).ok_or_else(|| missing(name))
    }
}

/// Performs the job when its candidate is one of this module's models; `None` for other ids.
pub(super) async fn perform(job: &Job) -> Option<Result<TaskOutput, TaskError>> {
    let model: fn(&Input) -> Result<TaskOutput, TaskError> = match job.candidate.id.as_str() {
        "native/textrank" => textrank,
        "native/vader" => vader,
        "native/entity-rules" => entity_rules,
        "native/passage-qa" => passage_qa,
        "native/tfidf-similarity" => tfidf_similarity,
        _ => return None,
    };
    Some(run(job, model).await)
}

async fn run(job: &Job, model: fn(&Input) -> Result<TaskOutput, TaskError>) -> Result<TaskOutput, TaskError> {
    let args = job.texts();
    for (name, value) in &args {
        if value.len() > MAX_BYTES {
            let message = format!("`{name}` has {} bytes, and the built-in text models read {MAX_BYTES}", value.len());
            return Err(TaskError::new(ErrorCode::TooLarge, message).hint("give a part of the text"));
        }
    }
    let files = job.request.attachments.iter().filter_map(|file| file.name.clone()).collect();
    let answers = job.request.history.iter().rev().find(|turn| turn.role == Role::Assistant);
    let before = answers.map(|turn| turn.content.clone()).unwrap_or_default();
    let input = Input { args, request: job.request.text.clone(), files, before };
    let broken = |why: &str| TaskError::new(ErrorCode::Panic, format!("the built-in text model stopped{why}"));
    if input.args.values().map(String::len).sum::<usize>() + input.request.len() <= SHORT {
        return std::panic::catch_unwind(|| model(&input)).unwrap_or_else(|_| Err(broken("")));
    }
    // Every model is linear in its input, so what runs on after a cancellation is short.
    let work = tokio::task::spawn_blocking(move || model(&input));
    tokio::select! {
        done = work => match done {
            Ok(result) => result,
            Err(error) => Err(broken(&format!(": {error}"))),
        },
        () = job.cancel.cancelled() => Err(TaskError::new(ErrorCode::Cancelled, "the task was cancelled")),
    }
}

/// Texts of so few words are no texts to summarise.
const FEWEST_WORDS: usize = 3;

/// Words of a request that no mark sets apart are no text to summarise, unless there are more than so many.
const FEWEST_BARE: usize = 12;

/// `native/textrank`: the most central sentences of `text`, in their order.
fn textrank(input: &Input) -> Result<TaskOutput, TaskError> {
    let text = input.need("text")?;
    let words = text.split(is_mark).filter(|word| !word.is_empty()).count();
    if words <= FEWEST_WORDS && !text.contains(is_han) {
        let shown = jarvis_plan::schema::shown(&text.trim().into());
        let message = format!("the text to summarise would be {shown}, which is no more than a name or a few words");
        return Err(TaskError::new(ErrorCode::MissingArgument, message)
            .hint("put the text into the request, or name or attach a file"));
    }
    let is_bare = input.request.contains(text)
        && !text.ends_with(['.', '!', '?', '…', ':', '"', '”', '»'])
        && !input.request.contains(&format!("\"{text}"))
        && !input.request.contains(&format!(": {text}"));
    if is_bare && words <= FEWEST_BARE && !text.contains(is_han) {
        let shown = jarvis_plan::schema::shown(&text.trim().into());
        let message = format!("the text to summarise would be {shown}, which is rather a part of the request");
        return Err(TaskError::new(ErrorCode::MissingArgument, message)
            .hint("put the text into quotes or behind a colon, or name or attach a file"));
    }
    let request = requests::plain(&input.request, text);
    if let Some(asked) = requests::explained(&request) {
        let message = format!("a summary does not answer `{asked} …`");
        return Err(TaskError::new(ErrorCode::CannotDo, message)
            .hint("ask what the text says of it, or configure a chat model (`llm.model`)"));
    }
    no_table(text, "chosen")?;
    let part = part::of(text, &input.clauses(Skill::Summary, text))?;
    let text = part.as_ref().map_or(text, |(_, part)| part.as_str());
    // The text itself may be part of the request, and instructions inside it are not the user's.
    let mut options = summary::SummaryOptions::read(&input.request.replace(text, " "));
    let not_shorter = options.shorten(text, &input.before, &input.request);
    let language = language(text);
    if requests::wants_keywords(&request) {
        let count = requests::count(&request).unwrap_or(6);
        let made = TaskOutput::text(keywords(text, count).join(", ")).with("language", language);
        return Ok(with_rest(made, input.unread(Skill::Keywords, &part::patterns())));
    }
    let summary = summary::summarize(text, &options);
    let read: Vec<&Regex> = summary::patterns().into_iter().chain(part::patterns()).collect();
    let mut left = input.unread(Skill::Summary, &read);
    left.extend(summary::unmet(&summary, &options));
    left.extend(not_shorter);
    let count = requests::count(&request).unwrap_or(6);
    let made = TaskOutput::text(summary).with("keywords", keywords(text, count)).with("language", language);
    Ok(with_rest(made, left))
}

/// `native/vader`: how the writer of `text` feels.
fn vader(input: &Input) -> Result<TaskOutput, TaskError> {
    let text = input.need("text")?;
    if requests::wants_other_kind(&requests::plain(&input.request, text)) {
        let message = "only the mood of a text is told here, and the request asks for another kind";
        return Err(TaskError::new(ErrorCode::CannotDo, message)
            .hint("configure a chat model (`llm.model`), or ask whether the text is positive or negative"));
    }
    if let Some(beyond) = requests::beyond_mood(&requests::plain(&input.request, text)) {
        let message = format!("only what the mood of a text is can be told here, and not `{beyond}`");
        return Err(TaskError::new(ErrorCode::CannotDo, message)
            .hint("configure a chat model (`llm.model`), or ask whether the text is positive or negative"));
    }
    let part = part::of(text, &input.clauses(Skill::Mood, text))?;
    let text = part.as_ref().map_or(text, |(_, part)| part.as_str());
    // A list of labels has no room for what is left undone.
    if let Some(wish) = input.unread(Skill::Mood, &part::patterns()).first() {
        let message =
            format!("only the mood of a text is told here, as positive, negative or neutral, and not `{wish}`");
        return Err(TaskError::new(ErrorCode::CannotDo, message)
            .hint("configure a chat model (`llm.model`), or ask whether the text is positive or negative"));
    }
    let mood = sentiment::classify(text)?;
    let rows = mood.rows.iter().map(|(label, score)| json!({"label": label, "score": rounded(*score)}));
    let rows = Value::Array(rows.collect());
    Ok(match mood.doubt {
        None => TaskOutput(rows),
        Some(doubt) => TaskOutput::text(unsure(doubt, &mood, Language::of(&input.request))).with("predicted", rows),
    })
}

/// What is said instead of a label that may well be wrong.
fn unsure(doubt: sentiment::Doubt, mood: &sentiment::Mood, language: Language) -> String {
    let share = |label: &str| {
        let score = mood.rows.iter().find(|(name, _)| *name == label).map_or(0.0, |(_, score)| *score);
        format!("{:.0}%", score * 100.0)
    };
    let (good, bad, neither) = (share("POSITIVE"), share("NEGATIVE"), share("NEUTRAL"));
    let scores = language.pick(
        format!("positive {good}, negative {bad}, neutral {neither}"),
        format!("положительная {good}, отрицательная {bad}, нейтральная {neither}"),
        format!("正面 {good}，负面 {bad}，中性 {neither}"),
    );
    let why = match doubt {
        sentiment::Doubt::Ironic => language.pick(
            "unsure: the words are kind, and may be meant as irony",
            "не ясно: слова добрые, но похоже на иронию",
            "无法确定：措辞正面，但可能是反话",
        ),
        sentiment::Doubt::Turned => language.pick(
            "unsure: a turn of phrase in it says another thing than its words",
            "не ясно: оборот в тексте значит не то, что его слова",
            "无法确定：文中的说法与字面意思不同",
        ),
        sentiment::Doubt::Silent => language.pick(
            "neutral, or unsure: no word that shows a feeling was found",
            "нейтральная, или не ясно: слов, выражающих чувства, не найдено",
            "中性，或无法确定：没有找到表达情感的词",
        ),
        sentiment::Doubt::Faint => language.pick(
            "unsure: the feeling is too weak to tell",
            "не ясно: чувство выражено слишком слабо",
            "无法确定：情感太弱",
        ),
        sentiment::Doubt::Mixed => language.pick(
            "unsure: the text is mixed, with good and bad about as strong",
            "не ясно: в тексте примерно поровну хорошего и плохого",
            "无法确定：文中褒贬兼有，强度相近",
        ),
    };
    format!("{why} ({scores})")
}

/// `native/entity-rules`: names, dates and figures in `text`.
fn entity_rules(input: &Input) -> Result<TaskOutput, TaskError> {
    // Offsets count from the start of the argument as it was given.
    let text = input.args.get("text").filter(|text| !text.trim().is_empty()).ok_or_else(|| missing("text"))?;
    if requests::names_only_kinds(text) {
        let shown = jarvis_plan::schema::shown(&text.trim().into());
        let message = format!("the text to look in would be {shown}, which is no more than the question");
        return Err(TaskError::new(ErrorCode::MissingArgument, message)
            .hint("put the text into the request, or name or attach a file"));
    }
    let found = entities::find(text);
    let wanted = requests::groups(&requests::plain(&input.request, text));
    let within = match part::of(text, &input.clauses(Skill::Entities, text))? {
        None => 0..text.len(),
        Some((what, part)) => {
            let start = text.find(&part).filter(|_| !part.is_empty()).ok_or_else(|| {
                TaskError::new(ErrorCode::CannotDo, format!("names are not looked for in `{what}` alone here"))
            })?;
            start..start + part.len()
        }
    };
    let is_wanted = |entity: &entities::Entity| wanted.contains(&entity.group) && within.contains(&entity.range.start);
    let found: Vec<entities::Entity> = found.into_iter().filter(is_wanted).collect();
    let rows: Vec<Value> = offsets(text, &found)
        .map(|(entity, start, end)| {
            json!({"entity_group": entity.group.as_str(), "word": entity.word(text), "start": start, "end": end,
                   "score": rounded(entity.score)})
        })
        .collect();
    let made = TaskOutput::text(entities::describe(text, &found, &wanted)).with("predicted", rows);
    Ok(with_rest(
        made,
        input.unread(
            Skill::Entities,
            &[requests::group_patterns(), part::patterns(), vec![requests::taken_out()]].concat(),
        ),
    ))
}

/// Whether a question is how many words or the like a text has.
pub(super) fn counts(question: &str) -> bool {
    counts::answer(question, "").is_some()
}

/// What counting or the form of a thing tells of a text: how many words it has, its telephone numbers.
pub(super) fn told(question: &str, text: &str) -> Option<String> {
    if let Some(counted) = counts::answer(question, text) {
        return Some(counted);
    }
    // "Who has no telephone number?" is not answered by those that there are.
    if asking::denies(&requests::plain(question, text)) {
        return None;
    }
    let wanted = requests::plain_groups(&requests::plain(question, text))?;
    let found = entities::find(text);
    let found: Vec<entities::Entity> = found.into_iter().filter(|entity| wanted.contains(&entity.group)).collect();
    let words: IndexSet<&str> = found.iter().map(|entity| entity.word(text)).collect();
    (!words.is_empty()).then(|| words.into_iter().collect::<Vec<_>>().join(", "))
}

fn is_mark(c: char) -> bool {
    !c.is_alphanumeric()
}

/// Refuses a text that is a table or data, of which `done` are only sentences.
fn no_table(text: &str, done: &str) -> Result<(), TaskError> {
    if !passage::is_table(text) && !passage::is_data(text) {
        return Ok(());
    }
    let message = format!("the text is a table, and only sentences are {done} here; its rows are not reckoned with");
    Err(TaskError::new(ErrorCode::CannotDo, message).hint(
        "ask for a sum, mean, count, extreme or cell by the names of columns and rows, or configure a chat model (`llm.model`)",
    ))
}

/// `native/passage-qa`: the sentence of `context` that fits the question in `text` best; how many words it has and the like.
fn passage_qa(input: &Input) -> Result<TaskOutput, TaskError> {
    let text = input.first(&["question", "text"]).ok_or_else(|| missing("text"))?;
    // Offsets count from the start of the context as it was given.
    let given = input.args.get("context").map(String::as_str).filter(|context| !context.trim().is_empty());
    let (question, context) = match given {
        Some(context) => (text, context),
        None => passage::split(text).ok_or_else(|| {
            missing("context").hint("give the passage that holds the answer as `context`, or after the question")
        })?,
    };
    // A quoted word to count that came in the place of a text is none.
    let is_counted = counts::asks_for_occurrences(question);
    // The passage may be quoted in the question, and what it says is not asked.
    let asked = if is_counted { question.to_owned() } else { question.replace(context.trim(), " ") };
    let asked = match counts::lacks_word(&asked) && !counts::lacks_word(&input.request) {
        true => input.request.clone(),
        false => asked,
    };
    let more = counts::also(&input.request, &asked);
    let asked = more.unwrap_or(asked);
    // Nor is anything asked by the name of the file, whatever words it is made of.
    let is_file = |word: &&str| input.files.iter().any(|name| word.trim_matches(is_mark) == name.trim_matches(is_mark));
    let asked: Vec<&str> = asked.split_whitespace().filter(|word| !is_file(word)).collect();
    let asked = asked.join(" ");
    let question = asked.as_str();
    if requests::asks_language(&requests::plain(question, "")) {
        let known = jarvis_plan::Language::of(question);
        return match language::certain(context).and_then(|code| language::name(code, known)) {
            Some(name) => Ok(TaskOutput(json!({"answer": name, "score": 1.0}))),
            None => Err(TaskError::new(ErrorCode::CannotDo, "the language of the text is not recognised here")
                .hint("configure a chat model (`llm.model`)")),
        };
    }
    // "How many words are in the second paragraph?"
    if let Ok(Some((what, part))) = part::of(context, question)
        && let Some(counted) = counts::answer(&question.to_lowercase().replace(&what, "text"), &part)
    {
        return Ok(TaskOutput(json!({"answer": counted, "score": 1.0})));
    }
    if let Some(left) =
        excluded(&input.request, &[context, question]).filter(|_| counts::answer(question, context).is_some())
    {
        let message = format!("all of a text is counted here, and not some of it: `{left}`");
        return Err(TaskError::new(ErrorCode::CannotDo, message).hint("configure a chat model (`llm.model`)"));
    }
    if let Some(counted) = logs::count(question, context) {
        return Ok(TaskOutput(json!({"answer": counted, "score": 1.0})));
    }
    if logs::is_log(context) && asking::counts_things(question) {
        let message = "the text is a log, and of its lines only those of one level are counted here";
        return Err(
            TaskError::new(ErrorCode::CannotDo, message).hint("ask for example `how many errors are in server.log?`")
        );
    }
    if let Some(told) = told(question, context) {
        return Ok(TaskOutput(json!({"answer": told, "score": 1.0})));
    }
    if let Some(wanted) = asking::mentioned(question).filter(|_| !asking::denies(question)) {
        let found = entities::find(context);
        let found: Vec<entities::Entity> = found.into_iter().filter(|entity| wanted.contains(&entity.group)).collect();
        let told = entities::describe(context, &found, &wanted);
        return Ok(TaskOutput(json!({"answer": told, "score": 1.0})));
    }
    if counts::asks_for_occurrences(question)
        && (given.is_none() || context.trim().len() <= question.len() && !counts::is_beyond(question))
    {
        let message = "the text to count in was not given, only the word";
        return Err(TaskError::new(ErrorCode::MissingArgument, message).hint("name the file, or give the text"));
    }
    if counts::is_beyond(question) {
        let message =
            "all words, letters, sentences, lines or paragraphs of a text are counted here, and not some of them";
        return Err(TaskError::new(ErrorCode::CannotDo, message).hint("configure a chat model (`llm.model`)"));
    }
    no_table(context, "quoted")?;
    let answer = quote(question, context).map_err(|why| {
        TaskError::new(ErrorCode::CannotDo, why.to_string())
            .hint("ask in the passage's language and words, or configure a chat model (`llm.model`)")
    })?;
    let (start, end) = (chars_before(context, answer.range.start), chars_before(context, answer.range.end));
    let words = context.get(answer.range).expect("a quote lies in its passage");
    // The lines of a page are no lines of the sentence.
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(TaskOutput(json!({"answer": words, "score": rounded(answer.score), "start": start, "end": end})))
}

/// `native/tfidf-similarity`: how alike `text1` and `text2` are, or `text` and each of the JSON list `sentences`.
fn tfidf_similarity(input: &Input) -> Result<TaskOutput, TaskError> {
    let source = input.first(&["text1", "text", "source_sentence"]).ok_or_else(|| missing("text1"))?;
    let others = match input.first(&["sentences"]) {
        Some(list) => sentences_of(list)?,
        None => vec![input.need("text2")?.to_owned()],
    };
    let scores = similarity::compare(source, &others);
    Ok(TaskOutput(scores.into_iter().map(|score| json!(rounded(score))).collect()))
}

/// A JSON list of texts; a text that is no JSON list is taken by its lines.
fn sentences_of(list: &str) -> Result<Vec<String>, TaskError> {
    let found: Vec<String> = match serde_json::from_str::<Vec<String>>(list) {
        Ok(found) => found,
        Err(_) if list.starts_with('[') => {
            let message = "`sentences` is not a JSON list of texts";
            return Err(TaskError::new(ErrorCode::InvalidInput, message).hint("write it as [\"one\", \"two\"]"));
        }
        Err(_) => list.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect(),
    };
    if found.is_empty() { Err(missing("sentences")) } else { Ok(found) }
}

fn missing(name: &str) -> TaskError {
    TaskError::new(ErrorCode::MissingArgument, format!("the argument `{name}` is missing or empty"))
}

/// Each entity with its place in Unicode scalar values, counted in one pass.
fn offsets<'a>(
    text: &'a str,
    found: &'a [entities::Entity],
) -> impl Iterator<Item = (&'a entities::Entity, usize, usize)> {
    let (mut byte, mut count) = (0, 0);
    found.iter().map(move |entity| {
        count += chars_before(text.get(byte..).expect("entities lie in the text"), entity.range.start - byte);
        let start = count;
        count += chars_before(text.get(entity.range.start..).expect("entities lie in the text"), entity.range.len());
        byte = entity.range.end;
        (entity, start, count)
    })
}

/// How many Unicode scalar values stand before this byte.
fn chars_before(text: &str, byte: usize) -> usize {
    text.get(..byte).map_or(0, |before| before.chars().count())
}

/// Four decimals are more than these scores mean.
fn rounded(score: f64) -> f64 {
    (score * 10_000.0).round() / 10_000.0
}
