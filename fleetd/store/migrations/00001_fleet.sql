-- +goose Up

-- One text for both databases: times are microseconds UTC, zero and the empty
-- text mean "not said", BYTEA is bytes in PostgreSQL and has no effect on bytes
-- in SQLite. Documents that are hashed or sent are kept as their exact bytes.

CREATE TABLE fleet (
    only_row   BIGINT PRIMARY KEY CHECK (only_row = 1),
    authority  TEXT   NOT NULL, -- names this database to robots, for ever
    outbox_seq BIGINT NOT NULL, -- number of the newest outbox row
    created_at BIGINT NOT NULL
);

CREATE TABLE robots (
    id         TEXT   PRIMARY KEY,
    first_seen BIGINT NOT NULL,
    last_seen  BIGINT NOT NULL
);

CREATE TABLE labels (
    robot TEXT NOT NULL REFERENCES robots (id),
    key   TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (robot, key)
);
CREATE INDEX labels_by_value ON labels (key, value, robot);

-- The newest document of each kind that a robot has told.
CREATE TABLE documents (
    robot       TEXT   NOT NULL REFERENCES robots (id),
    kind        TEXT   NOT NULL,
    body        BYTEA  NOT NULL,
    received_at BIGINT NOT NULL,
    PRIMARY KEY (robot, kind)
);

CREATE TABLE events (
    robot       TEXT   NOT NULL REFERENCES robots (id),
    boot        TEXT   NOT NULL,
    seq         BIGINT NOT NULL,
    type        TEXT   NOT NULL,
    body        BYTEA  NOT NULL,
    received_at BIGINT NOT NULL,
    PRIMARY KEY (robot, boot, seq)
);
CREATE INDEX events_by_time ON events (received_at);
CREATE INDEX events_of_robot ON events (robot, received_at);

CREATE TABLE blobs (
    sha256     TEXT   PRIMARY KEY,
    size       BIGINT NOT NULL,
    body       BYTEA  NOT NULL,
    created_at BIGINT NOT NULL
);

-- Acts and stories: what their authors last saved, and how far they are.
CREATE TABLE entries (
    kind         TEXT   NOT NULL CHECK (kind IN ('act', 'story')),
    id           TEXT   NOT NULL,
    draft        BYTEA  NOT NULL, -- as its author wrote it
    draft_rev    BIGINT NOT NULL, -- rises with every save
    draft_sha256 TEXT   NOT NULL,
    problems     BYTEA  NOT NULL, -- of the draft, JSON; empty = none
    rev          BIGINT NOT NULL, -- newest published revision; 0 = none
    changed_at   BIGINT NOT NULL,
    changed_by   TEXT   NOT NULL,
    deleted_at   BIGINT NOT NULL, -- 0 = not deleted
    deleted_by   TEXT   NOT NULL,
    deleted_why  TEXT   NOT NULL,
    PRIMARY KEY (kind, id)
);

-- Published revisions are never changed and never removed.
CREATE TABLE revisions (
    kind       TEXT   NOT NULL,
    id         TEXT   NOT NULL,
    rev        BIGINT NOT NULL,
    sha256     TEXT   NOT NULL REFERENCES blobs (sha256),
    created_at BIGINT NOT NULL,
    created_by TEXT   NOT NULL,
    why        TEXT   NOT NULL,
    PRIMARY KEY (kind, id, rev),
    FOREIGN KEY (kind, id) REFERENCES entries (kind, id)
);

-- What robots are wished to have, as told to them; the revision rises for ever,
-- also when the wish is taken back.
CREATE TABLE desired (
    robot      TEXT   NOT NULL REFERENCES robots (id),
    kind       TEXT   NOT NULL,
    rev        BIGINT NOT NULL,
    payload    BYTEA  NOT NULL,
    changed_at BIGINT NOT NULL,
    changed_by TEXT   NOT NULL,
    PRIMARY KEY (robot, kind)
);

-- Which story each robot performs by default; no row = none.
CREATE TABLE defaults (
    robot TEXT   PRIMARY KEY REFERENCES robots (id),
    kind  TEXT   NOT NULL CHECK (kind = 'story'),
    story TEXT   NOT NULL,
    rev   BIGINT NOT NULL,
    apply TEXT   NOT NULL,
    FOREIGN KEY (kind, story, rev) REFERENCES revisions (kind, id, rev)
);
CREATE INDEX defaults_by_story ON defaults (story);

-- What is to be told to the broker, in this order. An empty payload of a blob
-- stands for the blob itself.
CREATE TABLE outbox (
    seq        BIGINT PRIMARY KEY,
    topic      TEXT   NOT NULL,
    target     TEXT   NOT NULL,
    payload    BYTEA  NOT NULL,
    created_at BIGINT NOT NULL,
    sent_at    BIGINT NOT NULL -- 0 = not yet
);
CREATE INDEX outbox_unsent ON outbox (seq) WHERE sent_at = 0;

CREATE TABLE batches (
    id         TEXT   PRIMARY KEY,
    verb       TEXT   NOT NULL,
    args       BYTEA  NOT NULL, -- JSON
    selector   TEXT   NOT NULL,
    total      BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    created_by TEXT   NOT NULL,
    why        TEXT   NOT NULL
);
CREATE INDEX batches_by_time ON batches (created_at);

CREATE TABLE commands (
    id         TEXT   PRIMARY KEY,
    batch      TEXT   NOT NULL REFERENCES batches (id),
    robot      TEXT   NOT NULL REFERENCES robots (id),
    verb       TEXT   NOT NULL,
    payload    BYTEA  NOT NULL, -- sent again as these same bytes
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL, -- 0 = never
    state      TEXT   NOT NULL,
    because    TEXT   NOT NULL,
    sends      BIGINT NOT NULL,
    sent_at    BIGINT NOT NULL, -- last time
    reached    BIGINT NOT NULL, -- 1 = sent at least once while the robot was there
    heard_at   BIGINT NOT NULL,
    asks       BIGINT NOT NULL,
    asked_at   BIGINT NOT NULL,
    answer     BYTEA  NOT NULL, -- the robot's newest answer, JSON
    ended_at   BIGINT NOT NULL -- 0 = not yet
);
CREATE INDEX commands_open ON commands (created_at) WHERE ended_at = 0;
CREATE INDEX commands_by_time ON commands (created_at);
CREATE INDEX commands_of_robot ON commands (robot, created_at);
CREATE INDEX commands_of_batch ON commands (batch);

CREATE TABLE audit (
    id     TEXT   PRIMARY KEY, -- UUIDv7, so that equal times keep their order
    at     BIGINT NOT NULL,
    who    TEXT   NOT NULL,
    what   TEXT   NOT NULL,
    target TEXT   NOT NULL,
    detail TEXT   NOT NULL
);
CREATE INDEX audit_by_time ON audit (at);
