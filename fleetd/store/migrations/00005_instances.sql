-- +goose Up

-- Which instance sends a command, queries it and receives its answers. Those from
-- before there were several belong to the only instance, under its name of then.
ALTER TABLE commands ADD COLUMN owner TEXT NOT NULL DEFAULT 'fleetd';

-- Rises with every change of what each instance keeps in memory: robots, labels, desired documents,
-- stops.
ALTER TABLE fleet ADD COLUMN changes BIGINT NOT NULL DEFAULT 0;

-- The instance that leads, or that led last.
CREATE TABLE leader (
    only_row    BIGINT PRIMARY KEY CHECK (only_row = 1),
    term        BIGINT NOT NULL, -- rises whenever an instance begins to lead
    name        TEXT   NOT NULL,
    since       BIGINT NOT NULL,
    resigned_at BIGINT NOT NULL  -- 0 = it did not say that it writes no more
);
