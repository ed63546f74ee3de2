-- +goose Up

-- The files that robots' desired sets (places, activities) need.
CREATE TABLE desired_set_files (
    robot  TEXT NOT NULL REFERENCES robots (id),
    kind   TEXT NOT NULL,
    sha256 TEXT NOT NULL REFERENCES files (sha256),
    PRIMARY KEY (robot, kind, sha256)
);
CREATE INDEX desired_set_files_by_file ON desired_set_files (sha256);

-- The blobs that wishes need.
DROP VIEW wished_blobs;
CREATE VIEW wished_blobs AS
    SELECT v.sha256 AS sha256 FROM revisions v JOIN defaults d ON d.kind = v.kind AND d.story = v.id AND d.rev = v.rev
    UNION SELECT rf.sha256 FROM revision_files rf JOIN files f ON f.sha256 = rf.sha256 AND f.parts = 1
        JOIN defaults d ON d.kind = rf.kind AND d.story = rf.id AND d.rev = rf.rev
    UNION SELECT sha256 FROM desired_sets
    UNION SELECT sf.sha256 FROM desired_set_files sf JOIN files f ON f.sha256 = sf.sha256 AND f.parts = 1;
