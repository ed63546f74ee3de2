-- +goose Up

-- Who made the request, as fleetd authenticated them; who is the name that they gave.
-- Empty: fleetd itself, or a client of the broker.
ALTER TABLE audit ADD COLUMN principal TEXT NOT NULL DEFAULT '';
ALTER TABLE batches ADD COLUMN principal TEXT NOT NULL DEFAULT '';
