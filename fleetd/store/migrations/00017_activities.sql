-- +goose Up

-- Activities are entries, too. SQLite cannot change a check of a table, so the tables that
-- refer to entries are made again, with their rows.

CREATE TABLE entries_new (
    kind         TEXT   NOT NULL CHECK (kind IN ('act', 'story', 'activity')),
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
CREATE TABLE revisions_new (
    kind       TEXT   NOT NULL,
    id         TEXT   NOT NULL,
    rev        BIGINT NOT NULL,
    sha256     TEXT   NOT NULL REFERENCES blobs (sha256),
    created_at BIGINT NOT NULL,
    created_by TEXT   NOT NULL,
    why        TEXT   NOT NULL,
    PRIMARY KEY (kind, id, rev),
    FOREIGN KEY (kind, id) REFERENCES entries_new (kind, id)
);
CREATE TABLE revision_files_new (
    kind   TEXT   NOT NULL,
    id     TEXT   NOT NULL,
    rev    BIGINT NOT NULL,
    sha256 TEXT   NOT NULL REFERENCES files (sha256),
    PRIMARY KEY (kind, id, rev, sha256),
    FOREIGN KEY (kind, id, rev) REFERENCES revisions_new (kind, id, rev)
);
CREATE TABLE defaults_new (
    robot TEXT   PRIMARY KEY REFERENCES robots (id),
    kind  TEXT   NOT NULL CHECK (kind = 'story'),
    story TEXT   NOT NULL,
    rev   BIGINT NOT NULL,
    apply TEXT   NOT NULL,
    FOREIGN KEY (kind, story, rev) REFERENCES revisions_new (kind, id, rev)
);
CREATE TABLE refs_new (
    kind     TEXT   NOT NULL,
    id       TEXT   NOT NULL,
    rev      BIGINT NOT NULL, -- 0 = the draft
    ref_kind TEXT   NOT NULL CHECK (ref_kind IN ('act', 'asset')),
    ref_id   TEXT   NOT NULL,
    PRIMARY KEY (kind, id, rev, ref_kind, ref_id),
    FOREIGN KEY (kind, id) REFERENCES entries_new (kind, id)
);

INSERT INTO entries_new (kind, id, draft, draft_rev, draft_sha256, problems, rev, changed_at, changed_by, deleted_at, deleted_by, deleted_why)
    SELECT kind, id, draft, draft_rev, draft_sha256, problems, rev, changed_at, changed_by, deleted_at, deleted_by, deleted_why FROM entries;
INSERT INTO revisions_new (kind, id, rev, sha256, created_at, created_by, why)
    SELECT kind, id, rev, sha256, created_at, created_by, why FROM revisions;
INSERT INTO revision_files_new (kind, id, rev, sha256) SELECT kind, id, rev, sha256 FROM revision_files;
INSERT INTO defaults_new (robot, kind, story, rev, apply) SELECT robot, kind, story, rev, apply FROM defaults;
INSERT INTO refs_new (kind, id, rev, ref_kind, ref_id) SELECT kind, id, rev, ref_kind, ref_id FROM refs;

DROP VIEW desired_blobs;
DROP TABLE refs;
DROP TABLE defaults;
DROP TABLE revision_files;
DROP TABLE revisions;
DROP TABLE entries;

ALTER TABLE entries_new RENAME TO entries;
ALTER TABLE revisions_new RENAME TO revisions;
ALTER TABLE revision_files_new RENAME TO revision_files;
ALTER TABLE defaults_new RENAME TO defaults;
ALTER TABLE refs_new RENAME TO refs;

CREATE INDEX revision_files_by_file ON revision_files (sha256);
CREATE INDEX defaults_by_story ON defaults (story);
CREATE INDEX refs_by_ref ON refs (ref_kind, ref_id);
CREATE VIEW desired_blobs AS
    SELECT v.sha256 AS sha256 FROM revisions v JOIN defaults d ON d.kind = v.kind AND d.story = v.id AND d.rev = v.rev
    UNION SELECT rf.sha256 FROM revision_files rf JOIN files f ON f.sha256 = rf.sha256 AND f.parts = 1
        JOIN defaults d ON d.kind = rf.kind AND d.story = rf.id AND d.rev = rf.rev
    UNION SELECT sha256 FROM desired_sets
    UNION SELECT sf.sha256 FROM desired_set_files sf JOIN files f ON f.sha256 = sf.sha256 AND f.parts = 1;

-- The activities that each robot has. desired_sets has the blob with all of them.
CREATE TABLE assigned_activities (
    robot    TEXT   NOT NULL REFERENCES robots (id),
    kind     TEXT   NOT NULL CHECK (kind = 'activity'),
    activity TEXT   NOT NULL,
    rev      BIGINT NOT NULL,
    place    BIGINT NOT NULL, -- in the set, from 0
    PRIMARY KEY (robot, activity),
    FOREIGN KEY (kind, activity, rev) REFERENCES revisions (kind, id, rev)
);
CREATE INDEX assigned_activities_by_activity ON assigned_activities (activity);
