-- +goose Up

-- The bytes of assets, never changed, in parts of 256 KiB: a file of one part
-- travels as a blob, and of a larger one nobody has to hold all in memory.
CREATE TABLE files (
    sha256     TEXT   PRIMARY KEY,
    size       BIGINT NOT NULL,
    parts      BIGINT NOT NULL,
    media      TEXT   NOT NULL, -- as its first bytes say
    created_at BIGINT NOT NULL  -- the last time that it was put
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

-- The files that a published revision needs, whatever becomes of their names.
CREATE TABLE revision_files (
    kind   TEXT   NOT NULL,
    id     TEXT   NOT NULL,
    rev    BIGINT NOT NULL,
    sha256 TEXT   NOT NULL REFERENCES files (sha256),
    PRIMARY KEY (kind, id, rev, sha256),
    FOREIGN KEY (kind, id, rev) REFERENCES revisions (kind, id, rev)
);
CREATE INDEX revision_files_by_file ON revision_files (sha256);

-- Blobs that the broker was told, and since when no wish has needed them.
CREATE TABLE told_blobs (
    sha256    TEXT   PRIMARY KEY,
    unused_at BIGINT NOT NULL -- 0 = a wish needs it
);
INSERT INTO told_blobs (sha256, unused_at) SELECT sha256, 0 FROM blobs;

ALTER TABLE outbox ADD COLUMN removes BIGINT NOT NULL DEFAULT 0; -- 1 = the broker is to forget it

-- The blobs that wishes need.
CREATE VIEW wished_blobs AS
    SELECT v.sha256 AS sha256 FROM revisions v JOIN defaults d ON d.kind = v.kind AND d.story = v.id AND d.rev = v.rev
    UNION SELECT rf.sha256 FROM revision_files rf JOIN files f ON f.sha256 = rf.sha256 AND f.parts = 1
        JOIN defaults d ON d.kind = rf.kind AND d.story = rf.id AND d.rev = rf.rev
    UNION SELECT sha256 FROM desired_sets;
