//! Questions about attached tables, planned without a language model: a query, and a chart of what it gives.

use indexmap::IndexMap;
use jarvis_plan::{Arg, Draft, DraftRef, DraftTask, FieldPath, Note, Piece, Request, Step};
use jarvis_tables::question::{self, Doubt, Drawing, Form, Intent, Interpretation, Question};
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
    if !quotes && intent.chart.is_none() {
        return draft;
    }
    match question::query(&question, &intent, &tables) {
        Ok(Some(made)) if holds_nothing(&made) => refusal(&Doubt::NoRow),
        Ok(Some(made)) => queries(&made, &question),
        Err(doubt) => refusal(&doubt),
        Ok(None) => draft,
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
