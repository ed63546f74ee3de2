-- +goose Up

-- Who sent a live stop: whom he names as its asker is his word alone.
ALTER TABLE stops ADD COLUMN client TEXT NOT NULL DEFAULT '';
