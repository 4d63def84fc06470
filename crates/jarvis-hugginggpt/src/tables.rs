//! Questions about attached tables, planned without a language model: a query, and a chart of what it gives.

use indexmap::IndexMap;
use jarvis_plan::{Arg, Draft, DraftRef, DraftTask, FieldPath, Kind, Note, Piece, Request, Resource, Source, Step};
use jarvis_tables::question::{self, Doubt, Drawing, Figure, Form, Intent, Interpretation, Op, Question};
use jarvis_tables::{Table, tables_of};
use jarvis_tools::attached_texts;
use jarvis_tools::local::{PLOT, TABLE_QUERY};
use serde_json::{Value, json};

/// The tasks that answer from a text by its words. Of a table they may only quote a line, which is seldom the answer.
const QUOTING: [&str; 4] = ["question-answering", "document-question-answering", "conversational", "summarization"];

/// The tables that are attached to a request.
pub(crate) fn attached(request: &Request) -> Vec<Table> {
    tables_of(attached_texts(request))
}

/// The draft of a question about attached tables; any other draft as it is. What seems such a question, and has a part that cannot
/// be accounted for, is refused rather than answered with a line that has the same words.
pub(crate) fn asked(draft: Draft, request: &Request, tables: &[Table]) -> Draft {
    let question = asked_of(&request.text, request);
    let intent = Intent::read(&question);
    // A chart is drawn from numbers, and by no model that paints.
    if !quotes(&draft) && intent.chart.is_none() {
        return draft;
    }
    match question::query(&question, &intent, tables) {
        Ok(Some(made)) if holds_nothing(&made) => refusal(&Doubt::NoRow),
        Ok(Some(made)) => queries(&made, &question, &intent),
        Err(doubt) => refusal(&doubt),
        Ok(None) => draft,
    }
}

/// Whether nothing is done but quoting.
fn quotes(draft: &Draft) -> bool {
    draft.tasks.iter().all(|task| QUOTING.contains(&task.task.as_str()))
}

/// What parts an order from a question before it: "the total units, and read it aloud".
const SEPARATORS: [&str; 13] =
    [" and ", " then ", ", ", "; ", ". ", "? ", " и ", " затем ", "，", "。", "？", "并", "然后"];

/// A question about attached tables, with an order behind it.
pub(crate) enum Begun {
    /// The queries, and the order, which is about [`ANSWER`].
    Question(Draft, Box<Request>),
    /// The question cannot be asked, so nothing is done with its answer.
    Doubt(Draft),
}

/// The question that a request begins with, and the order that ends it. Only one that [`asked`] would not take as a whole, since its
/// draft does something else too. All but the last order belongs to the question: what it does not account for there, such as
/// "without the South", is a doubt.
pub(crate) fn begun(draft: &Draft, request: &Request, tables: &[Table]) -> Option<Begun> {
    if quotes(draft) || Intent::read(&asked_of(&request.text, request)).chart.is_some() {
        return None;
    }
    let text = request.text.trim_end_matches([' ', '.', '。', '!', '！']);
    let places = SEPARATORS.iter().filter_map(|mark| text.rfind(mark).map(|at| (at, at + mark.len())));
    let (end, start) = places.max()?;
    let (question, order) = (asked_of(text.get(..end)?, request), text.get(start..)?);
    let intent = Intent::read(&question);
    let asks_figure = intent.says_sum || matches!(intent.op, Op::Figure(Figure::Mean | Figure::Median));
    let made = match question::query(&question, &intent, tables) {
        Ok(Some(made)) if !holds_nothing(&made) => made,
        Ok(Some(_)) => return asks_figure.then(|| Begun::Doubt(refusal(&Doubt::NoRow))),
        Ok(None) => return asks_figure.then(|| Begun::Doubt(refusal(&Doubt::TooComplex))),
        Err(doubt) => return asks_figure.then(|| Begun::Doubt(refusal(&doubt))),
    };
    // "Without the South read it aloud" is more than an order.
    if !jarvis_planner::opens_with_order(order) {
        return asks_figure.then(|| Begun::Doubt(refusal(&Doubt::TooComplex)));
    }
    let answer = Resource { kind: Kind::Text, source: Source::Inline(ANSWER.to_owned()), name: None };
    let others = request.attachments.iter().filter(|file| !matches!(file.source, Source::Inline(_))).cloned();
    let attachments = others.chain([answer]).collect();
    let order = Request { text: order.to_owned(), attachments, ..request.clone() };
    Some(Begun::Question(queries(&made, &question, &intent), Box::new(order)))
}

/// Stands for the answer of a question in the draft of what is to be done with it.
const ANSWER: &str = "⟦answer⟧";

/// The question, then what is done with its answer or with another attached file; the order is left out, and told, where its
/// draft does neither.
pub(crate) fn joined(question: Draft, order: &Request, then: Draft) -> Draft {
    let asked = question.tasks.last().map_or(-1, |task| task.id);
    let takes_file = |text: &str| order.attachments.iter().any(|file| file.as_arg() == text);
    let mut takes_something = false;
    let mut tasks = then.tasks;
    for task in &mut tasks {
        task.id += asked + 1;
        task.dep.iter_mut().for_each(|id| *id += asked + 1);
        for arg in task.args.values_mut() {
            let text = arg.as_literal();
            takes_something |= text.is_some_and(|text| text.contains(ANSWER) || takes_file(&text));
            *arg = answered(arg, asked);
        }
    }
    let mut notes = question.notes;
    if takes_something {
        notes.extend(then.notes);
    } else {
        tasks.clear();
        notes.push(Note::left_out(format!("no tool fits \"{}\"", order.text.trim())));
    }
    Draft { tasks: question.tasks.into_iter().chain(tasks).collect(), notes, ..Draft::default() }
}

/// The argument with the answer of this task in the place of what stands for it, and references moved behind it.
fn answered(arg: &Arg<DraftRef>, asked: i64) -> Arg<DraftRef> {
    match arg {
        Arg::Value(Value::String(text)) if text.contains(ANSWER) => {
            let mut pieces = Vec::new();
            for (nth, part) in text.split(ANSWER).enumerate() {
                pieces.extend((nth > 0).then_some(Piece::Output(DraftRef(Some(asked)))));
                pieces.push(Piece::Text(part.to_owned()));
            }
            Arg::text(pieces)
        }
        Arg::Value(Value::Array(items)) => {
            Arg::list(items.iter().map(|item| answered(&Arg::Value(item.clone()), asked)).collect())
        }
        Arg::Value(_) => arg.clone(),
        Arg::Text(_) | Arg::List(_) | Arg::Object(_) => {
            arg.map(&mut |DraftRef(id)| vec![Piece::Output(DraftRef(id.map(|id| id + asked + 1)))])
        }
    }
}

/// The question without the name of the attached file, which asks for nothing; of several it tells which is meant.
fn asked_of(text: &str, request: &Request) -> Question {
    match request.attachments.as_slice() {
        [file] => Question::new(&file.name.as_deref().map_or(text.to_owned(), |name| text.replace(name, " "))),
        _ => Question::new(text),
    }
}

/// Whether the cells that are asked for are all empty.
fn holds_nothing(made: &Interpretation<'_>) -> bool {
    made.query.as_ref().is_some_and(|query| query.values == 0 && matches!(query.form, Form::Cells { .. }))
}

/// A plan of nothing but a doubt.
fn refusal(doubt: &Doubt) -> Draft {
    Draft {
        notes: vec![Note::left_out(format!("nothing is asked of the attached table: {doubt}"))],
        ..Draft::default()
    }
}

fn queries(made: &Interpretation<'_>, question: &Question, intent: &Intent) -> Draft {
    let mut tasks: Vec<DraftTask> = Vec::new();
    let query = |tasks: &mut Vec<DraftTask>, sql: &str| {
        let args = literals([("sql", sql.into())]);
        if let Some(same) = tasks.iter().find(|task| task.args == args) {
            return same.id;
        }
        let id = i64::try_from(tasks.len()).expect("there are three tasks at most");
        tasks.push(DraftTask { args, ..DraftTask::new(id, TABLE_QUERY) });
        id
    };
    if let Some(asked) = &made.query {
        query(&mut tasks, &asked.sql);
    }
    if let Some(drawing) = &made.drawing {
        let from = query(&mut tasks, &drawing.sql);
        let id = i64::try_from(tasks.len()).expect("there are three tasks at most");
        tasks.push(DraftTask {
            dep: vec![from],
            args: plotted(made, drawing, question, from),
            ..DraftTask::new(id, PLOT)
        });
    }
    let left_out =
        made.query.iter().map(|query| query.left_out).chain(made.drawing.iter().map(|drawing| drawing.left_out)).max();
    let mut notes = Vec::new();
    if intent.is_pie && made.drawing.is_some() {
        notes.push(Note::left_out("a pie chart is not drawn here; this one has bars"));
    }
    if let Some(rows @ 1..) = left_out {
        notes
            .push(Note::from(format!("{rows} rows of the table have no value in `{}`, and are left out", made.column)));
    }
    if let Some(unit) = made.unit {
        notes.push(Note::from(format!("the numbers of `{}` are in {unit}", made.column)));
    }
    Draft { tasks, notes, ..Draft::default() }
}

fn plotted(
    made: &Interpretation<'_>,
    drawing: &Drawing<'_>,
    question: &Question,
    from: i64,
) -> IndexMap<String, Arg<DraftRef>> {
    let column = |name: &str| {
        let path = FieldPath(vec![Step::Field("values".to_owned()), Step::Field(name.to_owned())]);
        Arg::text([Piece::Part(DraftRef(Some(from)), path)])
    };
    let title = match made.column {
        "" => question.raw.clone(),
        value if drawing.by.is_empty() => value.to_owned(),
        value => format!("{value} / {}", drawing.by),
    };
    let mut args = literals([
        ("title", title.into()),
        ("x_label", drawing.by.into()),
        ("y_label", made.column.into()),
        ("kind", json!(drawing.kind)),
    ]);
    args.insert("x".into(), column(&drawing.label_column));
    args.insert("y".into(), column(&drawing.value_column));
    args
}

fn literals<const N: usize>(args: [(&str, Value); N]) -> IndexMap<String, Arg<DraftRef>> {
    args.into_iter().map(|(name, value)| (name.to_owned(), Arg::Value(value))).collect()
}
