-- +goose Up

-- The level of an event, by which people filter: the few that matter among many. Events of
-- before this migration have none.
ALTER TABLE events ADD COLUMN level TEXT NOT NULL DEFAULT '';
CREATE INDEX events_by_level ON events (level, received_at);
