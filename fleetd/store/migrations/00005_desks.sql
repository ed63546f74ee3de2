-- +goose Up

-- Which desk sends a command, asks about it and hears its answers. Those from
-- before there were several were the only desk's, under the name it then had.
ALTER TABLE commands ADD COLUMN owner TEXT NOT NULL DEFAULT 'fleetd';

-- Rises with every change of what each desk keeps in mind: robots, labels, wishes,
-- stops.
ALTER TABLE fleet ADD COLUMN changes BIGINT NOT NULL DEFAULT 0;

-- The desk that leads, or that led last.
CREATE TABLE leader (
    only_row    BIGINT PRIMARY KEY CHECK (only_row = 1),
    term        BIGINT NOT NULL, -- rises with every desk that begins to lead
    name        TEXT   NOT NULL,
    since       BIGINT NOT NULL,
    resigned_at BIGINT NOT NULL  -- 0 = it did not say that it writes no more
);
