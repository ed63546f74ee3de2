-- +goose Up

-- What the header of a sound or an image says, as JSON: format, length, rate, size. Empty = not read, of files from before.
ALTER TABLE files ADD COLUMN details TEXT NOT NULL DEFAULT '';
