-- +goose Up

-- The tables of the first release. A database of an earlier version is refused
-- (Store.refuseUnreadable).
--
-- One text for both databases: times are microseconds UTC, zero and the empty text
-- mean "not given", BYTEA is bytes in PostgreSQL and has no effect on bytes in SQLite.
-- Documents that are hashed or published are stored as their exact bytes.

CREATE TABLE fleet (
    only_row        BIGINT PRIMARY KEY CHECK (only_row = 1),
    fleet_id        TEXT   NOT NULL, -- names this database to robots; never changes
    outbox_seq      BIGINT NOT NULL, -- number of the newest outbox row
    created_at      BIGINT NOT NULL,
    release_counter BIGINT NOT NULL DEFAULT 0, -- newest counter with which a document was signed
    -- Rises with every change of what each instance keeps in memory: robots, labels, desired
    -- documents, stops.
    changes         BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE robots (
    id          TEXT   PRIMARY KEY,
    first_seen  BIGINT NOT NULL,
    last_seen   BIGINT NOT NULL,
    archived_at BIGINT NOT NULL DEFAULT 0 -- when it left the fleet, 0 = it belongs to it; its history stays
);

CREATE TABLE labels (
    robot TEXT NOT NULL REFERENCES robots (id),
    key   TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (robot, key)
);
CREATE INDEX labels_by_value ON labels (key, value, robot);

-- The newest document of each kind that a robot published.
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

-- Acts and stories: the newest draft, and the number of the newest revision.
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

-- The bytes of assets, never changed, in parts of 256 KiB: a file of one part is published
-- as a blob, and a larger one is never in memory as a whole.
CREATE TABLE files (
    sha256     TEXT   PRIMARY KEY,
    size       BIGINT NOT NULL,
    parts      BIGINT NOT NULL,
    media      TEXT   NOT NULL, -- detected from its first bytes
    created_at BIGINT NOT NULL  -- the last time that it was uploaded
);
CREATE TABLE file_parts (
    sha256 TEXT   NOT NULL REFERENCES files (sha256),
    part   BIGINT NOT NULL, -- from 0
    body   BYTEA  NOT NULL,
    PRIMARY KEY (sha256, part)
);

-- Sounds and images by the names that acts use: what is published next gets these.
CREATE TABLE assets (
    name       TEXT   PRIMARY KEY,
    sha256     TEXT   NOT NULL REFERENCES files (sha256),
    changed_at BIGINT NOT NULL,
    changed_by TEXT   NOT NULL
);
CREATE INDEX assets_by_file ON assets (sha256);

-- The files that a published revision needs, also after their names changed or were deleted.
CREATE TABLE revision_files (
    kind   TEXT   NOT NULL,
    id     TEXT   NOT NULL,
    rev    BIGINT NOT NULL,
    sha256 TEXT   NOT NULL REFERENCES files (sha256),
    PRIMARY KEY (kind, id, rev, sha256),
    FOREIGN KEY (kind, id, rev) REFERENCES revisions (kind, id, rev)
);
CREATE INDEX revision_files_by_file ON revision_files (sha256);

-- The desired documents of robots, as they are published. The revision only rises, also when
-- a document becomes empty.
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

-- The blobs of robots' desired sets (places, activities), and the files that these need.
CREATE TABLE desired_sets (
    robot  TEXT NOT NULL REFERENCES robots (id),
    kind   TEXT NOT NULL,
    sha256 TEXT NOT NULL REFERENCES blobs (sha256),
    PRIMARY KEY (robot, kind)
);
CREATE TABLE desired_set_files (
    robot  TEXT NOT NULL REFERENCES robots (id),
    kind   TEXT NOT NULL,
    sha256 TEXT NOT NULL REFERENCES files (sha256),
    PRIMARY KEY (robot, kind, sha256)
);
CREATE INDEX desired_set_files_by_file ON desired_set_files (sha256);

-- The blobs that desired documents need.
CREATE VIEW desired_blobs AS
    SELECT v.sha256 AS sha256 FROM revisions v JOIN defaults d ON d.kind = v.kind AND d.story = v.id AND d.rev = v.rev
    UNION SELECT rf.sha256 FROM revision_files rf JOIN files f ON f.sha256 = rf.sha256 AND f.parts = 1
        JOIN defaults d ON d.kind = rf.kind AND d.story = rf.id AND d.rev = rf.rev
    UNION SELECT sha256 FROM desired_sets
    UNION SELECT sf.sha256 FROM desired_set_files sf JOIN files f ON f.sha256 = sf.sha256 AND f.parts = 1;

-- Blobs that the broker retains, and since when no desired document has needed them.
CREATE TABLE published_blobs (
    sha256    TEXT   PRIMARY KEY,
    unused_at BIGINT NOT NULL -- 0 = a desired document needs it
);

-- What is to be published, in this order. An empty payload of a blob stands for the blob
-- itself.
CREATE TABLE outbox (
    seq        BIGINT PRIMARY KEY,
    topic      TEXT   NOT NULL,
    target     TEXT   NOT NULL,
    payload    BYTEA  NOT NULL,
    created_at BIGINT NOT NULL,
    sent_at    BIGINT NOT NULL, -- 0 = not yet
    removes    BIGINT NOT NULL DEFAULT 0 -- 1 = the retained message is deleted
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
    reached    BIGINT NOT NULL, -- 1 = sent at least once while the robot was online
    heard_at   BIGINT NOT NULL,
    asks       BIGINT NOT NULL,
    asked_at   BIGINT NOT NULL,
    answer     BYTEA  NOT NULL, -- the robot's newest answer, JSON
    ended_at   BIGINT NOT NULL, -- 0 = not yet
    owner      TEXT   NOT NULL DEFAULT 'fleetd' -- the instance that sends it and receives its answers
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

-- Enrolment tokens, by the digest of their secret.
CREATE TABLE tokens (
    digest      TEXT   PRIMARY KEY,
    robot       TEXT   NOT NULL,
    serial      TEXT   NOT NULL, -- of the body; empty = any
    created_at  BIGINT NOT NULL,
    created_by  TEXT   NOT NULL,
    expires_at  BIGINT NOT NULL,
    used_at     BIGINT NOT NULL, -- 0 = not yet
    key_sha256  TEXT   NOT NULL, -- that it was used for
    certificate TEXT   NOT NULL  -- that it was used for
);
CREATE INDEX tokens_of_robot ON tokens (robot, created_at);

-- Every certificate that was issued to a robot.
CREATE TABLE certificates (
    serial      TEXT   PRIMARY KEY,
    robot       TEXT   NOT NULL,
    how         TEXT   NOT NULL,
    pem         TEXT   NOT NULL, -- with the chain
    issued_at   BIGINT NOT NULL,
    not_before  BIGINT NOT NULL,
    not_after   BIGINT NOT NULL,
    revoked_at  BIGINT NOT NULL, -- 0 = never
    revoked_by  TEXT   NOT NULL,
    revoked_why TEXT   NOT NULL
);
CREATE INDEX certificates_of_robot ON certificates (robot, issued_at);
CREATE INDEX certificates_revoked ON certificates (not_after) WHERE revoked_at > 0;

-- Robots that are refused with any certificate.
CREATE TABLE barred (
    robot     TEXT   PRIMARY KEY,
    barred_at BIGINT NOT NULL,
    barred_by TEXT   NOT NULL,
    why       TEXT   NOT NULL
);

-- The revocation list for brokers, as its exact bytes.
CREATE TABLE revocation (
    only_row   BIGINT PRIMARY KEY CHECK (only_row = 1),
    rev        BIGINT NOT NULL,
    payload    BYTEA  NOT NULL,
    changed_at BIGINT NOT NULL
);

-- Robots that are being decommissioned, step by step.
CREATE TABLE decommissions (
    robot      TEXT   PRIMARY KEY REFERENCES robots (id),
    step       TEXT   NOT NULL,
    step_at    BIGINT NOT NULL,
    begun_at   BIGINT NOT NULL,
    begun_by   TEXT   NOT NULL,
    why        TEXT   NOT NULL,
    outbox_seq BIGINT NOT NULL, -- what must be sent before the next step
    ended_at   BIGINT NOT NULL  -- 0 = in progress
);

-- Every stop that was latched, on one robot or on all. Released ones stay, so that one that
-- is persisted late, or again, is known.
CREATE TABLE stops (
    id           TEXT   NOT NULL,
    robot        TEXT   NOT NULL, -- empty = all robots
    level        TEXT   NOT NULL,
    asked_by     TEXT   NOT NULL,
    why          TEXT   NOT NULL,
    asked_at     BIGINT NOT NULL, -- the last time
    released_at  BIGINT NOT NULL, -- 0 = it is latched
    released_by  TEXT   NOT NULL,
    released_why TEXT   NOT NULL,
    client       TEXT   NOT NULL DEFAULT '', -- MQTT client that sent it live, so asked_by is unverified
    PRIMARY KEY (id, robot)
);
CREATE INDEX stops_held ON stops (robot) WHERE released_at = 0;
CREATE INDEX stops_released ON stops (released_at) WHERE released_at > 0;

-- Retained documents of fleetd that belong to no single robot.
CREATE TABLE fleet_documents (
    kind       TEXT   PRIMARY KEY,
    rev        BIGINT NOT NULL,
    payload    BYTEA  NOT NULL,
    changed_at BIGINT NOT NULL
);

-- The instance that leads, or that led last.
CREATE TABLE leader (
    only_row    BIGINT PRIMARY KEY CHECK (only_row = 1),
    term        BIGINT NOT NULL, -- rises whenever an instance begins to lead
    name        TEXT   NOT NULL,
    since       BIGINT NOT NULL,
    resigned_at BIGINT NOT NULL  -- 0 = it did not announce that it writes no more
);
