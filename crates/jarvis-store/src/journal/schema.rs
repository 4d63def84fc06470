//! The tables of the journal's file, and how a file of an older version becomes one of this.

use rusqlite::{Connection, TransactionBehavior};

use super::mentions;

/// `user_version` of the files written here.
pub(super) const VERSION: i64 = 5;

/// The first version in which `mentions` is filled as events are written.
const WITH_MENTIONS: i64 = 4;

/// What makes a file of each version one of the next. An empty file is of version 0, and a new one is made by all of them.
const STEPS: [&str; VERSION as usize] = [
    "
    CREATE TABLE runs (
        run_id        TEXT PRIMARY KEY,
        writer        TEXT NOT NULL,
        started_at_ms INTEGER NOT NULL,
        last_at_ms    INTEGER NOT NULL,
        request       TEXT NOT NULL DEFAULT '',
        ended         TEXT CHECK (ended IN ('done', 'failed')),
        tasks         INTEGER NOT NULL DEFAULT 0,
        ok            INTEGER NOT NULL DEFAULT 0,
        failed        INTEGER NOT NULL DEFAULT 0,
        ms            INTEGER
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX runs_by_time ON runs (started_at_ms);
    CREATE TABLE events (
        run_id TEXT NOT NULL,
        seq    INTEGER NOT NULL,
        body   TEXT NOT NULL,
        PRIMARY KEY (run_id, seq)
    ) STRICT, WITHOUT ROWID;
",
    "
    ALTER TABLE runs ADD COLUMN cancel INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE runs ADD COLUMN door TEXT NOT NULL DEFAULT '';
    CREATE INDEX runs_open ON runs (started_at_ms) WHERE ended IS NULL;
    CREATE TABLE requests (
        run_id TEXT PRIMARY KEY,
        body   TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
",
    "
    ALTER TABLE runs ADD COLUMN user TEXT NOT NULL DEFAULT '';
    CREATE INDEX runs_by_user ON runs (user, started_at_ms) WHERE user <> '';
    CREATE TABLE media (
        path TEXT NOT NULL,
        user TEXT NOT NULL,
        PRIMARY KEY (path, user)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE spent (
        user   TEXT NOT NULL,
        day    INTEGER NOT NULL,
        calls  INTEGER NOT NULL,
        tokens INTEGER NOT NULL,
        cost   REAL NOT NULL,
        PRIMARY KEY (user, day)
    ) STRICT, WITHOUT ROWID;
",
    "
    ALTER TABLE runs ADD COLUMN how TEXT NOT NULL DEFAULT '';
    ALTER TABLE runs ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
    UPDATE runs SET how = coalesce((
        SELECT CASE body ->> 'cancelled' WHEN 1 THEN 'cancelled' ELSE body ->> 'code' END
            FROM events WHERE events.run_id = runs.run_id AND body ->> 'event' IN ('done', 'error')
            ORDER BY seq DESC LIMIT 1
    ), '') WHERE ended = 'failed';
    UPDATE runs SET bytes = coalesce((SELECT sum(octet_length(body)) FROM events WHERE events.run_id = runs.run_id), 0)
        + coalesce((SELECT octet_length(body) FROM requests WHERE requests.run_id = runs.run_id), 0);
    DROP INDEX runs_by_time;
    DROP INDEX runs_by_user;
    CREATE INDEX runs_by_time ON runs (started_at_ms, run_id, ended, how);
    CREATE INDEX runs_by_user ON runs (user, started_at_ms, run_id, ended, how) WHERE user <> '';
    CREATE TABLE mentions (
        path   TEXT NOT NULL,
        holder TEXT NOT NULL,
        PRIMARY KEY (path, holder)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX mentions_by_holder ON mentions (holder);
    CREATE TABLE chats (
        user          TEXT NOT NULL,
        id            TEXT NOT NULL,
        title         TEXT NOT NULL,
        body          TEXT NOT NULL,
        version       INTEGER NOT NULL,
        updated_at_ms INTEGER NOT NULL,
        PRIMARY KEY (user, id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX chats_by_time ON chats (user, updated_at_ms, id);
    ALTER TABLE runs ADD COLUMN thread TEXT NOT NULL DEFAULT '';
    CREATE TABLE webhooks (
        run_id TEXT NOT NULL,
        id     TEXT NOT NULL,
        body   TEXT NOT NULL,
        PRIMARY KEY (run_id, id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE responses (
        run_id TEXT PRIMARY KEY,
        user   TEXT NOT NULL,
        body   TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE files (
        id            TEXT PRIMARY KEY,
        user          TEXT NOT NULL,
        created_at_ms INTEGER NOT NULL,
        body          TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
",
    "
    CREATE TABLE experience (
        seq     INTEGER PRIMARY KEY AUTOINCREMENT,
        run_id  TEXT NOT NULL,
        user    TEXT NOT NULL,
        at_ms   INTEGER NOT NULL,
        good    INTEGER NOT NULL,
        verdict TEXT NOT NULL,
        body    TEXT NOT NULL,
        UNIQUE (run_id, user)
    ) STRICT;
    CREATE INDEX experience_by_user ON experience (user, at_ms, seq);
",
];

/// Makes a file of an older version one of this, wholly or not at all.
pub(super) fn bring_up(connection: &mut Connection, found: i64, application: i64) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let steps = usize::try_from(found).ok().and_then(|found| STEPS.get(found..)).unwrap_or_default();
    transaction.execute_batch(&steps.concat())?;
    if (1..WITH_MENTIONS).contains(&found) {
        mentions::fill(&transaction)?;
    }
    transaction.pragma_update(None, "application_id", application)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}
