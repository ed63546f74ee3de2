-- +goose Up

-- When what a desired document says was changed last, and by whom. Publishing it again changes neither.
-- 0 = not since these columns exist.
ALTER TABLE desired ADD COLUMN assigned_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE desired ADD COLUMN assigned_by TEXT NOT NULL DEFAULT '';
CREATE INDEX desired_by_assignment ON desired (assigned_at);
