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

/// The draft of a question about attached tables; any other draft as it is. What seems such a question, and has a part that cannot
/// be accounted for, is refused rather than answered with a line that has the same words.
pub(crate) fn asked(draft: Draft, request: &Request) -> Draft {
    let tables: Vec<Table> = tables_of(attached_texts(request));
    if tables.is_empty() {
        return draft;
    }
    let question = Question::new(&request.text);
    let intent = Intent::read(&question);
    // A chart is drawn from numbers, and by no model that paints.
    let quotes = draft.tasks.iter().all(|task| QUOTING.contains(&task.task.as_str()));
    // "The total revenue, and read it aloud" is no order to read all of the table.
    let asks_figure = intent.says_sum || matches!(intent.op, Op::Figure(Figure::Mean | Figure::Median));
    let takes_all = || {
        let mut args = draft.tasks.iter().flat_map(|task| task.args.values());
        args.any(|arg| arg.as_literal().is_some_and(|text| attached_texts(request).any(|(_, table)| table == text)))
    };
    let mistaken = !quotes && asks_figure && takes_all();
    if !quotes && intent.chart.is_none() && !mistaken {
        return draft;
    }
    match question::query(&question, &intent, &tables) {
        Ok(Some(made)) if holds_nothing(&made) => refusal(&Doubt::NoRow),
        Ok(Some(made)) => queries(&made, &question),
        Err(doubt) => refusal(&doubt),
        Ok(None) if mistaken => refusal(&Doubt::TooComplex),
        Ok(None) => draft,
    }
}

/// What joins an order to a question before it: "the total units, and read it aloud".
const JOINTS: [&str; 13] =
    [" and ", " then ", ", ", "; ", ". ", "? ", " и ", " затем ", "，", "。", "？", "并", "然后"];

/// The most places for each of them at which a request is parted.
const MOST_JOINTS: usize = 3;

/// The question about attached tables that a request begins with, and the rest of it, which is about [`ANSWER`]. Only one that
/// [`asked`] would not take as a whole, since its draft does something else too.
pub(crate) fn begun(draft: &Draft, request: &Request) -> Option<(Draft, Request)> {
    let is_about_all = Intent::read(&Question::new(&request.text)).chart.is_some();
    if is_about_all || draft.tasks.iter().all(|task| QUOTING.contains(&task.task.as_str())) {
        return None;
    }
    let tables: Vec<Table> = tables_of(attached_texts(request));
    if tables.is_empty() {
        return None;
    }
    let joints = JOINTS.iter().flat_map(|joint| request.text.match_indices(joint).take(MOST_JOINTS));
    let mut parts: Vec<(&str, &str)> = joints
        .filter_map(|(at, joint)| Some((request.text.get(..at)?, request.text.get(at + joint.len()..)?)))
        .collect();
    parts.sort_by_key(|(question, _)| std::cmp::Reverse(question.len()));
    parts.into_iter().find_map(|(question, order)| {
        let question = Question::new(question);
        let made = question::query(&question, &Intent::read(&question), &tables).ok()??;
        let answer = Resource { kind: Kind::Text, source: Source::Inline(ANSWER.to_owned()), name: None };
        let order = Request { text: order.to_owned(), attachments: vec![answer], ..request.clone() };
        (!holds_nothing(&made)).then(|| (queries(&made, &question), order))
    })
}

/// Stands for the answer of a question in the draft of what is to be done with it.
const ANSWER: &str = "⟦answer⟧";

/// The question, then what is done with its answer.
pub(crate) fn joined(question: Draft, said: &str, order: Draft) -> Draft {
    let asked = question.tasks.last().map_or(-1, |task| task.id);
    let left = if order.tasks.is_empty() {
        vec![Note::left_out(format!("no tool fits \"{}\"", said.trim()))]
    } else {
        order.notes
    };
    let mut tasks = question.tasks;
    for mut task in order.tasks {
        task.id += asked + 1;
        task.dep.iter_mut().for_each(|id| *id += asked + 1);
        for arg in task.args.values_mut() {
            *arg = match arg.as_literal() {
                Some(text) if text == ANSWER => Arg::output(DraftRef(Some(asked))),
                Some(_) => arg.clone(),
                None => arg.map(&mut |DraftRef(id)| vec![Piece::Output(DraftRef(id.map(|id| id + asked + 1)))]),
            };
        }
        tasks.push(task);
    }
    let notes = question.notes.into_iter().chain(left).collect();
    Draft { tasks, notes, ..Draft::default() }
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

fn queries(made: &Interpretation<'_>, question: &Question) -> Draft {
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
