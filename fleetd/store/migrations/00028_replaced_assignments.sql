-- +goose Up

-- When what a desired document said before its last assignment had been assigned: the audit says by whom and why.
-- 0 = never, or not since this column exists.
ALTER TABLE desired ADD COLUMN replaced_at BIGINT NOT NULL DEFAULT 0;
