-- +goose Up

-- The names of the first release. Documents that an earlier database holds name the
-- fleet by another key, so fleetd refuses one (Store.refuseUnreadable).
ALTER TABLE fleet RENAME COLUMN authority TO fleet_id;
ALTER TABLE told_blobs RENAME TO published_blobs;

DROP VIEW wished_blobs;
CREATE VIEW desired_blobs AS
    SELECT v.sha256 AS sha256 FROM revisions v JOIN defaults d ON d.kind = v.kind AND d.story = v.id AND d.rev = v.rev
    UNION SELECT rf.sha256 FROM revision_files rf JOIN files f ON f.sha256 = rf.sha256 AND f.parts = 1
        JOIN defaults d ON d.kind = rf.kind AND d.story = rf.id AND d.rev = rf.rev
    UNION SELECT sha256 FROM desired_sets
    UNION SELECT sf.sha256 FROM desired_set_files sf JOIN files f ON f.sha256 = sf.sha256 AND f.parts = 1;
