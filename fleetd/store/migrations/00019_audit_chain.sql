-- +goose Up

-- Who made each request from where, through which program, why, what changed and how it ended; and the
-- place of the row in the chain of hashes (package audit). seq = 0: the row is not in the chain
-- yet, because an instance of before this migration wrote it. The next migration, and then the
-- leader, links such rows.
ALTER TABLE audit ADD COLUMN address TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN via TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN why TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN changed_from TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN changed_to TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN outcome TEXT NOT NULL DEFAULT 'done';
ALTER TABLE audit ADD COLUMN of_id TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN seq BIGINT NOT NULL DEFAULT 0;
ALTER TABLE audit ADD COLUMN prev TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN hash TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX audit_by_seq ON audit (seq) WHERE seq > 0;
CREATE INDEX audit_unlinked ON audit (at, id) WHERE seq = 0;

-- When the audit recorded how a batch ended; 0 = not yet. Batches of before this migration
-- have no entry of their beginning, and get none of their end.
ALTER TABLE batches ADD COLUMN outcome_at BIGINT NOT NULL DEFAULT 0;
UPDATE batches SET outcome_at = created_at;
CREATE INDEX commands_open_of_batch ON commands (batch) WHERE ended_at = 0;
