//! What is kept of finished runs to plan by: a request and its plan, as one document that this crate does not read, and whether the plan
//! was good. It belongs to the user of its run and goes with the run.

use std::time::{SystemTime, UNIX_EPOCH};

use jarvis_plan::RunId;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

use super::write::Message;
use super::{Journal, JournalError, file, lease};

/// The most that is kept of a user; the oldest goes first.
const MOST: i64 = 5_000;

/// Why a plan counts as good, or does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Its run succeeded.
    Succeeded,
    /// Its run succeeded, and a person gave the plan.
    Edited,
    /// Its run succeeded, and a person approved a call of it.
    Approved,
    /// A person rated it.
    Rated,
    /// Its run did not succeed.
    Failed,
    /// Its run succeeded after the plan had been added to, or in spite of a task that failed.
    Mended,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Verdict; 6] =
        [Verdict::Succeeded, Verdict::Edited, Verdict::Approved, Verdict::Rated, Verdict::Failed, Verdict::Mended];

    /// The lower-case word.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Succeeded => "succeeded",
            Verdict::Edited => "edited",
            Verdict::Approved => "approved",
            Verdict::Rated => "rated",
            Verdict::Failed => "failed",
            Verdict::Mended => "mended",
        }
    }

    /// Whether a run that ended so is good by itself.
    pub fn is_good(self) -> bool {
        match self {
            Verdict::Succeeded | Verdict::Edited | Verdict::Approved | Verdict::Rated => true,
            Verdict::Failed | Verdict::Mended => false,
        }
    }
}

/// One request with its plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExperienceRow {
    /// The run that it is of.
    pub id: String,
    /// When it was kept, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// Whether the plan is one to plan by.
    pub good: bool,
    /// Why.
    pub verdict: Verdict,
    /// The request and the plan, as JSON.
    pub body: String,
}

/// Changes with everything that is kept, removed or rated of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExperienceStamp {
    count: i64,
    last: i64,
}

impl Journal {
    /// Keeps the plan of a run that is in this journal, for the run's user. Never waits for the disk: it is written before any event that
    /// is appended later. Of a run that is not here nothing is kept, and a rating stays.
    pub fn keep_experience(&self, run: &RunId, verdict: Verdict, body: String) {
        let (path, run) = (self.path.clone(), run.0.clone());
        self.send(Message::Do(Box::new(move |ready| {
            let kept = ready.and_then(|(connection, _)| {
                keep(connection, &run, verdict, &body).map_err(|source| JournalError::sqlite("write to", &path, source))
            });
            if let Err(error) = kept {
                tracing::warn!(%error, run, "the plan of a run could not be kept as experience");
            }
        })));
    }

    /// What is kept of a user, the oldest first. Blocks.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn experience(&self, user: &str) -> Result<Vec<ExperienceRow>, JournalError> {
        let failed = |source| JournalError::sqlite("read", &self.path, source);
        all(&file::open_to_read(&self.path)?, user).map_err(failed)
    }

    /// What tells whether [`Journal::experience`] is what it was. Blocks.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn experience_stamp(&self, user: &str) -> Result<ExperienceStamp, JournalError> {
        let failed = |source| JournalError::sqlite("read", &self.path, source);
        let sql = "SELECT count(*), coalesce(max(seq), 0) FROM experience WHERE user = ?1";
        let stamp = |row: &Row<'_>| Ok(ExperienceStamp { count: row.get(0)?, last: row.get(1)? });
        file::open_to_read(&self.path)?.query_row(sql, [user], stamp).map_err(failed)
    }

    /// Rates the plan of a run, by the id of the run or the start of it where only one has it; returns the whole id. `None` where nothing is
    /// kept of such a run of this user, or of anybody for no user.
    ///
    /// # Errors
    /// [`JournalError::Ambiguous`], or when the file cannot be written.
    pub async fn rate(&self, user: Option<&str>, id: &str, good: bool) -> Result<Option<String>, JournalError> {
        let (path, user, id) = (self.path.clone(), user.map(str::to_owned), id.to_owned());
        self.with(move |connection, _| {
            let failed = lease::failed(&path);
            let ids = matching(connection, user.as_deref(), &id).map_err(&failed)?;
            let Some(whole) = one(ids, &id)? else { return Ok(None) };
            rate(connection, user.as_deref(), &whole, good).map_err(&failed)?;
            Ok(Some(whole))
        })
        .await
    }

    /// Forgets what is kept of a user, or of all: of one run, by its id or the start of it, or of all runs. Returns how much that was. The
    /// file does not hold it any more after [`Journal::scrub`].
    ///
    /// # Errors
    /// [`JournalError::Ambiguous`], or when the file cannot be written.
    pub async fn forget_experience(&self, user: Option<&str>, id: Option<&str>) -> Result<u64, JournalError> {
        let (path, user, id) = (self.path.clone(), user.map(str::to_owned), id.map(str::to_owned));
        self.with(move |connection, _| {
            let failed = lease::failed(&path);
            let whole = match &id {
                Some(id) => match one(matching(connection, user.as_deref(), id).map_err(&failed)?, id)? {
                    Some(whole) => Some(whole),
                    None => return Ok(0),
                },
                None => None,
            };
            let sql = "DELETE FROM experience WHERE (?1 IS NULL OR user = ?1) AND (?2 IS NULL OR run_id = ?2)";
            connection.execute(sql, params![user, whole]).map(|gone| gone as u64).map_err(&failed)
        })
        .await
    }

    /// Adds what was kept elsewhere, all of it or nothing, in the place of what has the same ids; what was rated here stays rated so unless
    /// that was, too.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn import_experience(&self, user: &str, rows: Vec<ExperienceRow>) -> Result<(), JournalError> {
        let (path, user) = (self.path.clone(), user.to_owned());
        self.with(move |connection, _| import(connection, &user, &rows).map_err(lease::failed(&path))).await
    }
}

fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}

fn keep(connection: &mut Connection, run: &str, verdict: Verdict, body: &str) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let user: Option<String> =
        transaction.query_row("SELECT user FROM runs WHERE run_id = ?1", [run], |row| row.get(0)).optional()?;
    let Some(user) = user else { return Ok(()) };
    let approved = "SELECT 1 FROM events WHERE run_id = ?1 AND body ->> 'event' = 'approval_given'
                    AND body ->> 'approved' = 1 AND body ->> 'answer' IS NULL";
    let verdict = match verdict {
        Verdict::Succeeded if transaction.prepare(approved)?.exists([run])? => Verdict::Approved,
        verdict => verdict,
    };
    transaction.execute(
        "INSERT INTO experience (run_id, user, at_ms, good, verdict, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (run_id, user) DO NOTHING",
        params![run, user, now_ms(), verdict.is_good(), verdict.as_str(), body],
    )?;
    bound(&transaction, &user)?;
    transaction.commit()
}

/// Lets the oldest go of what is too much.
fn bound(connection: &Connection, user: &str) -> rusqlite::Result<()> {
    connection.execute(
        "DELETE FROM experience WHERE user = ?1 AND seq IN
         (SELECT seq FROM experience WHERE user = ?1 ORDER BY at_ms DESC, seq DESC LIMIT -1 OFFSET ?2)",
        params![user, MOST],
    )?;
    Ok(())
}

fn all(connection: &Connection, user: &str) -> rusqlite::Result<Vec<ExperienceRow>> {
    let sql = "SELECT run_id, at_ms, good, verdict, body FROM experience WHERE user = ?1 ORDER BY at_ms, run_id";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([user])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let verdict: String = row.get(3)?;
        // What a later version may say is not understood here, and not used.
        let Some(verdict) = Verdict::ALL.into_iter().find(|known| known.as_str() == verdict) else { continue };
        found.push(ExperienceRow {
            id: row.get(0)?,
            at_ms: row.get::<_, i64>(1)?.unsigned_abs(),
            good: row.get(2)?,
            verdict,
            body: row.get(4)?,
        });
    }
    Ok(found)
}

/// The ids that begin so.
fn matching(connection: &Connection, user: Option<&str>, id: &str) -> rusqlite::Result<Vec<String>> {
    let sql =
        "SELECT DISTINCT run_id FROM experience WHERE (?1 IS NULL OR user = ?1) AND substr(run_id, 1, length(?2)) = ?2";
    let mut statement = connection.prepare(sql)?;
    statement.query_map(params![user, id], |row| row.get(0))?.collect()
}

/// The id that is meant by the start of one.
fn one(ids: Vec<String>, id: &str) -> Result<Option<String>, JournalError> {
    match ids.as_slice() {
        [] => Ok(None),
        [only] => Ok(Some(only.clone())),
        several if several.iter().any(|whole| whole == id) => Ok(Some(id.to_owned())),
        _ => Err(JournalError::Ambiguous { id: id.to_owned(), matches: ids }),
    }
}

fn rate(connection: &mut Connection, user: Option<&str>, id: &str, good: bool) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let seqs: Vec<i64> = transaction
        .prepare("SELECT seq FROM experience WHERE run_id = ?2 AND (?1 IS NULL OR user = ?1)")?
        .query_map(params![user, id], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for seq in seqs {
        // Another number tells whoever has read it that it changed.
        let last = "SELECT seq FROM sqlite_sequence WHERE name = 'experience'";
        let next = transaction.query_row(last, [], |row| row.get::<_, i64>(0))? + 1;
        transaction.execute(
            "UPDATE experience SET good = ?2, verdict = 'rated', seq = ?3 WHERE seq = ?1",
            params![seq, good, next],
        )?;
        transaction.execute("UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'experience'", [next])?;
    }
    transaction.commit()
}

fn import(connection: &mut Connection, user: &str, rows: &[ExperienceRow]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let now = now_ms();
    for row in rows {
        // What says that it is of tomorrow would be of no run's past.
        let at = i64::try_from(row.at_ms).unwrap_or(i64::MAX).min(now);
        // What somebody said here of a plan outlives what the file says of how its run ended.
        let rated: Option<bool> = transaction
            .prepare_cached("SELECT good FROM experience WHERE run_id = ?1 AND user = ?2 AND verdict = 'rated'")?
            .query_row(params![row.id, user], |rated| rated.get(0))
            .optional()?;
        let rated = rated.filter(|_| row.verdict != Verdict::Rated);
        let (good, verdict) = rated.map_or((row.good, row.verdict), |good| (good, Verdict::Rated));
        transaction
            .prepare_cached(
                "INSERT OR REPLACE INTO experience (run_id, user, at_ms, good, verdict, body)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![row.id, user, at, good, verdict.as_str(), row.body])?;
    }
    bound(&transaction, user)?;
    transaction.commit()
}

/// Removes what is older than this and is of no run here: what was imported.
pub(super) fn prune(connection: &Connection, before_ms: u64, user: Option<&str>) -> rusqlite::Result<()> {
    let before = i64::try_from(before_ms).unwrap_or(i64::MAX);
    connection.execute(
        "DELETE FROM experience WHERE at_ms < ?1 AND (?2 IS NULL OR user = ?2)
         AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.run_id = experience.run_id)",
        params![before, user],
    )?;
    Ok(())
}
