-- A journal as the first version wrote it, with a run that ended and one that was cut off.
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
INSERT INTO runs VALUES ('0190-aa', '0123456789abcdef0123456789abcdef', 1000, 1200, 'find the edges', 'done', 1, 1, 0, 200);
INSERT INTO runs VALUES ('0190-ab', '0123456789abcdef0123456789abcdef', 2000, 2100, 'cut off', NULL, 1, 0, 0, NULL);
INSERT INTO runs VALUES ('0190-ac', '0123456789abcdef0123456789abcdef', 3000, 3100, 'see', 'failed', 0, 0, 0, 100);
INSERT INTO events VALUES ('0190-aa', 0, '{"run_id":"0190-aa","seq":0,"at_ms":1000,"event":"run_started","request":{"text":"find the edges"},"planner":"offline","model":"offline"}');
INSERT INTO events VALUES ('0190-aa', 1, '{"run_id":"0190-aa","seq":1,"at_ms":1200,"event":"done","ok":true,"usage":{},"ms":200}');
INSERT INTO events VALUES ('0190-ab', 0, '{"run_id":"0190-ab","seq":0,"at_ms":2000,"event":"run_started","request":{"text":"cut off"},"planner":"offline","model":"offline"}');
INSERT INTO events VALUES ('0190-ac', 0, '{"run_id":"0190-ac","seq":0,"at_ms":3000,"event":"run_started","request":{"text":"see /images/a.png"},"planner":"offline","model":"offline"}');
INSERT INTO events VALUES ('0190-ac', 1, '{"run_id":"0190-ac","seq":1,"at_ms":3100,"event":"error","code":"cancelled","message":"","ms":100}');
PRAGMA application_id = 1785886323;
PRAGMA user_version = 1;
