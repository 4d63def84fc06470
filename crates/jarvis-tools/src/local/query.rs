//! `table-query`: SQL over the tables of the documents.

use jarvis_tables::{Database, QueryError};
use serde_json::{Value, json};

use super::{NativeTool, Work, native, wrong};
use crate::{Artifact, Observation, Scope, ToolError, ToolErrorKind};

/// The name of the tool.
pub const NAME: &str = "table-query";

/// The tool `table-query`.
pub(super) fn tool() -> NativeTool {
    let spec = native(
        NAME,
        "Runs one SELECT of SQLite over the tables of the attached documents (CSV, sheets, JSON lists, tables in texts) and \
         gives its rows; the values of a column `a` are the list `.values.a`. A table is named after its file without the ending, or after its sheet or heading where a document \
         has several; names are in lower case with `_` for everything but letters and digits. Numbers are without \
         their currency or unit. A wrong name is answered with all tables and columns.",
        "the answer follows from rows of a table: sums, averages, counts, groups, filters, the largest, joins of several files; \
         never calculate over a table yourself",
        json!({
            "type": "object",
            "properties": {"sql": {"type": "string", "description": "one SELECT in the dialect of SQLite"}},
            "required": ["sql"],
        }),
        json!({"sql": "SELECT region, sum(units) AS units FROM sales WHERE item = 'lamp' GROUP BY region ORDER BY units DESC"}),
    );
    let prepare = |input: &Value, scope: &Scope| {
        let sql = input.get("sql").and_then(Value::as_str).map(str::trim).unwrap_or_default().to_owned();
        if sql.is_empty() {
            return Err(wrong("`sql` must be a SELECT"));
        }
        let documents = scope.documents.clone();
        Ok(Box::new(move || {
            let mut database = Database::load(documents.tables()).map_err(|error| failed(&error))?;
            let result = database.query(&sql).map_err(|error| failed(&error))?;
            let media = match result.single() {
                Some(_) => Vec::new(),
                None => vec![Artifact { mime: "text/csv".to_owned(), bytes: result.to_csv().into() }],
            };
            Ok(Observation { text: result.to_markdown(), value: Some(result.to_json()), media })
        }) as Work)
    };
    NativeTool { spec, prepare: Box::new(prepare) }
}

fn failed(error: &QueryError) -> ToolError {
    let kind = match error {
        QueryError::Time(_) => ToolErrorKind::Timeout,
        QueryError::Load(_) => ToolErrorKind::Failed,
        QueryError::NoTable | QueryError::Invalid { .. } | QueryError::NotAllowed(_) | QueryError::Size => {
            ToolErrorKind::InvalidInput
        }
    };
    ToolError::new(kind, error.to_string())
}
