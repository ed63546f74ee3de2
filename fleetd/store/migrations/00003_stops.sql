-- +goose Up

-- Every stop that was held, on one robot or on all; released ones stay, so that
-- one that is put on record late, or again, is known.
CREATE TABLE stops (
    id           TEXT   NOT NULL,
    robot        TEXT   NOT NULL, -- empty = all robots
    level        TEXT   NOT NULL,
    asked_by     TEXT   NOT NULL,
    why          TEXT   NOT NULL,
    asked_at     BIGINT NOT NULL, -- the last time
    released_at  BIGINT NOT NULL, -- 0 = it is held
    released_by  TEXT   NOT NULL,
    released_why TEXT   NOT NULL,
    PRIMARY KEY (id, robot)
);
CREATE INDEX stops_held ON stops (robot) WHERE released_at = 0;

-- Retained documents of fleetd that are for no robot in particular.
CREATE TABLE fleet_documents (
    kind       TEXT   PRIMARY KEY,
    rev        BIGINT NOT NULL,
    payload    BYTEA  NOT NULL,
    changed_at BIGINT NOT NULL
);
