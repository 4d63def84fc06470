//! SQL over tables: an in-memory SQLite that can be read and nothing else, within steps, time and size.

use std::time::{Duration, Instant};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, params_from_iter};
use serde_json::Value;

use crate::{Cell, MAX_ROWS, QueryResult, Table};

/// The longest that a query may take.
const TIME: Duration = Duration::from_secs(5);

/// How many steps of SQLite's machine pass between two looks at the clock.
const STEPS: i32 = 10_000;

/// The most bytes of a result.
const MAX_BYTES: usize = 4 << 20;

/// The most bytes of one value, which functions such as `printf` can make out of nothing.
const MAX_VALUE: i32 = 1 << 20;

/// The most bytes of a query.
const MAX_SQL: i32 = 20_000;

/// The most columns of a result.
const MAX_COLUMNS: i32 = 500;

/// Tables in SQLite.
#[derive(Debug)]
pub struct Database {
    connection: Connection,
    /// Their signatures.
    tables: Vec<String>,
    /// The longest that a query may take.
    pub(crate) time: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    #[error("there is no table to query; attach a file that holds one, also to a plan that was saved")]
    NoTable,
    #[error("the tables cannot be loaded: {0}")]
    Load(String),
    /// The reason in the words of SQLite, and the tables that there are.
    #[error("the query is invalid: {reason}; the tables are {tables}")]
    Invalid { reason: String, tables: String },
    #[error("a query is one SELECT that reads the tables; {0}")]
    NotAllowed(&'static str),
    #[error("the query took longer than {} s", .0.as_secs_f64())]
    Time(Duration),
    #[error("the result is larger than {} MiB; select fewer columns or rows", MAX_BYTES >> 20)]
    Size,
}

impl Database {
    /// Loads tables.
    ///
    /// # Errors
    /// When there is none, or SQLite refuses one.
    pub fn load(tables: &[Table]) -> Result<Database, QueryError> {
        if tables.is_empty() {
            return Err(QueryError::NoTable);
        }
        let signatures = tables.iter().map(Table::signature).collect();
        let connection = fill(tables).map_err(|error| QueryError::Load(error.to_string()))?;
        Ok(Database { connection, tables: signatures, time: TIME })
    }

    /// The rows that one SELECT gives.
    ///
    /// # Errors
    /// When it is invalid, does anything else than read, or takes too much.
    pub fn query(&mut self, sql: &str) -> Result<QueryResult, QueryError> {
        let (tables, time) = (&self.tables, self.time);
        let failed = |error: rusqlite::Error| failed(&error, tables, time);
        let deadline = Instant::now() + self.time;
        self.connection.progress_handler(STEPS, Some(move || Instant::now() > deadline)).map_err(failed)?;
        let mut statement = self.connection.prepare(sql).map_err(failed)?;
        if !statement.readonly() || statement.column_count() == 0 {
            return Err(QueryError::NotAllowed("this one is none"));
        }
        if statement.parameter_count() > 0 {
            return Err(QueryError::NotAllowed("it has no parameters"));
        }
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut result = QueryResult { columns, ..QueryResult::default() };
        let mut bytes = 0;
        let mut rows = statement.query([]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            if result.rows.len() == MAX_ROWS {
                result.is_cut = true;
                break;
            }
            let mut cells = Vec::with_capacity(result.columns.len());
            for at in 0..result.columns.len() {
                let value = row.get_ref(at).map_err(failed)?;
                bytes += 8 + value.as_bytes().map_or(0, <[u8]>::len);
                cells.push(json_of(value));
            }
            if bytes > MAX_BYTES {
                return Err(QueryError::Size);
            }
            result.rows.push(cells);
        }
        Ok(result)
    }
}

fn failed(error: &rusqlite::Error, tables: &[String], time: Duration) -> QueryError {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::OperationInterrupted) => QueryError::Time(time),
        Some(rusqlite::ErrorCode::AuthorizationForStatementDenied) => {
            QueryError::NotAllowed("nothing can be written, attached or set")
        }
        Some(rusqlite::ErrorCode::TooBig) => QueryError::Size,
        _ => {
            let reason = match error {
                rusqlite::Error::SqliteFailure(_, Some(reason)) => reason.clone(),
                rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
                rusqlite::Error::MultipleStatement => return QueryError::NotAllowed("there are several statements"),
                other => other.to_string(),
            };
            QueryError::Invalid { reason, tables: tables.join(", ") }
        }
    }
}

/// Creates and fills the tables; after that nothing can be changed.
fn fill(tables: &[Table]) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    let transaction = connection.transaction()?;
    for table in tables {
        let column = |(at, column): (usize, &crate::Column)| {
            let affinity = if table.is_number(at) { "NUMERIC" } else { "TEXT" };
            format!("{} {affinity} COLLATE NOCASE", quoted(&column.name))
        };
        let columns: Vec<String> = table.columns.iter().enumerate().map(column).collect();
        transaction.execute(&format!("CREATE TABLE {} ({})", quoted(&table.name), columns.join(", ")), [])?;
        let marks = vec!["?"; table.columns.len()].join(", ");
        let mut insert = transaction.prepare(&format!("INSERT INTO {} VALUES ({marks})", quoted(&table.name)))?;
        for row in &table.rows {
            insert.execute(params_from_iter(row.iter().map(sql_of)))?;
        }
    }
    transaction.commit()?;
    let limits = [
        (Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, MAX_SQL),
        (Limit::SQLITE_LIMIT_COLUMN, MAX_COLUMNS),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 20),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000),
    ];
    for (limit, most) in limits {
        connection.set_limit(limit, most)?;
    }
    connection.authorizer(Some(|context: AuthContext<'_>| match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Function { function_name } if !function_name.eq_ignore_ascii_case("load_extension") => {
            Authorization::Allow
        }
        _ => Authorization::Deny,
    }))?;
    Ok(connection)
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn sql_of(cell: &Cell) -> rusqlite::types::Value {
    match cell {
        Cell::Empty => rusqlite::types::Value::Null,
        Cell::Integer(number) => (*number).into(),
        Cell::Real(number) => (*number).into(),
        Cell::Text(text) => text.clone().into(),
    }
}

fn json_of(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => tidy(number),
        ValueRef::Text(text) | ValueRef::Blob(text) => String::from_utf8_lossy(text).into_owned().into(),
    }
}

/// A float without the digits that come of adding decimal fractions: 0.1 + 0.2 is 0.3.
fn tidy(number: f64) -> Value {
    let rounded = format!("{number:.14e}").parse::<f64>().unwrap_or(number);
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if rounded.fract() == 0.0 && rounded.abs() < EXACT {
        return format!("{rounded:.0}").parse::<i64>().map_or(Value::Null, Value::from);
    }
    rounded.into()
}
