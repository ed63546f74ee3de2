-- +goose Up

-- The document that each robot had before the newest change of its settings, mode or places, so that
-- one request leads back; {} if it had none. Empty = nothing was changed since this column exists.
ALTER TABLE desired ADD COLUMN previous BYTEA NOT NULL DEFAULT '';
