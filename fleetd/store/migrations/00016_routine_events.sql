-- +goose Up

-- Events that come with every act: many, and soon of no interest.
ALTER TABLE events ADD COLUMN routine BIGINT NOT NULL DEFAULT 0;
CREATE INDEX events_routine ON events (received_at) WHERE routine = 1;
