//! What model calls took, summed over runs.

use std::path::Path;

use serde::Serialize;

use super::{JournalError, file};

/// The model calls of one day, model and pipeline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostRow {
    /// `YYYY-MM-DD`, UTC.
    pub day: String,
    pub model: String,
    /// The pipeline, or the command.
    pub pipeline: String,
    pub calls: u64,
    pub prompt_tokens: u64,
    /// Those of the prompt tokens that endpoints had kept from calls before.
    pub cached_tokens: u64,
    pub completion_tokens: u64,
    /// What they cost; `None` where the model had no price.
    pub cost: Option<f64>,
    /// The currency of the cost.
    pub currency: Option<String>,
    /// Calls without a price.
    pub unpriced: u64,
}

/// Runs of old journals tell their model at their beginning alone.
const SQL: &str = "
    WITH starts AS (
        SELECT run_id, body ->> 'model' AS model, coalesce(body ->> 'pipeline', '') AS pipeline
        FROM events WHERE body ->> 'event' = 'run_started'
    )
    SELECT date((e.body ->> 'at_ms') / 1000, 'unixepoch') AS day,
        coalesce(nullif(e.body ->> 'model', ''), s.model, '') AS model,
        coalesce(s.pipeline, '') AS pipeline,
        count(*), total(e.body ->> 'prompt_tokens'), total(e.body ->> 'cached_tokens'), total(e.body ->> 'completion_tokens'),
        sum(e.body ->> '$.cost.amount'), e.body ->> '$.cost.currency' AS currency, sum(e.body ->> '$.cost.amount' IS NULL)
    FROM events AS e LEFT JOIN starts AS s ON s.run_id = e.run_id
    WHERE e.body ->> 'event' = 'model_call' AND e.body ->> 'at_ms' >= ?1 AND e.body ->> 'taken_over' IS NULL
    GROUP BY 1, 2, 3, currency ORDER BY 1 DESC, 2, 3";

pub(super) fn costs(path: &Path, since_ms: u64) -> Result<Vec<CostRow>, JournalError> {
    let failed = |source| JournalError::sqlite("read", path, source);
    let connection = file::open_to_read(path)?;
    let mut statement = connection.prepare(SQL).map_err(failed)?;
    let since = i64::try_from(since_ms).unwrap_or(i64::MAX);
    let rows = statement.query_map([since], |row| {
        let tokens = |at: usize| row.get::<_, f64>(at).map(|tokens| tokens as u64);
        let count = |at: usize| row.get::<_, i64>(at).map(|count| u64::try_from(count).unwrap_or(0));
        Ok(CostRow {
            day: row.get(0)?,
            model: row.get(1)?,
            pipeline: row.get(2)?,
            calls: count(3)?,
            prompt_tokens: tokens(4)?,
            cached_tokens: tokens(5)?,
            completion_tokens: tokens(6)?,
            cost: row.get(7)?,
            currency: row.get(8)?,
            unpriced: count(9)?,
        })
    });
    rows.map_err(failed)?.collect::<rusqlite::Result<Vec<_>>>().map_err(failed)
}

/// What the runs of one user took in a day, removed ones too.
#[derive(Debug, Clone, PartialEq)]
pub struct UserUsage {
    pub user: String,
    pub calls: u64,
    pub tokens: u64,
    /// What the calls cost that had a price.
    pub cost: f64,
}

pub(super) fn spent_on(path: &Path, day: u64) -> Result<Vec<UserUsage>, JournalError> {
    let failed = |source| JournalError::sqlite("read", path, source);
    let connection = file::open_to_read(path)?;
    let mut statement =
        connection.prepare("SELECT user, calls, tokens, cost FROM spent WHERE day = ?1").map_err(failed)?;
    let count = |number: i64| u64::try_from(number).unwrap_or(0);
    let rows = statement.query_map([i64::try_from(day).unwrap_or(i64::MAX)], |row| {
        let (calls, tokens) = (count(row.get(1)?), count(row.get(2)?));
        Ok(UserUsage { user: row.get(0)?, calls, tokens, cost: row.get(3)? })
    });
    rows.map_err(failed)?.collect::<rusqlite::Result<Vec<_>>>().map_err(failed)
}
