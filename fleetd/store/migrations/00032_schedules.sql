-- +goose Up

-- Sites are the values of the label site; a row has what fleetd knows of one.
CREATE TABLE sites (
    id         TEXT   PRIMARY KEY,
    version    BIGINT NOT NULL,
    body       BYTEA  NOT NULL, -- JSON: zone, opening hours, exceptions, maintenance windows
    owner      TEXT   NOT NULL, -- the folder that it was applied from; empty = a person
    changed_at BIGINT NOT NULL,
    changed_by TEXT   NOT NULL
);

CREATE TABLE schedules (
    id         TEXT   PRIMARY KEY,
    version    BIGINT NOT NULL,
    body       BYTEA  NOT NULL, -- JSON: times, zone, policy for missed runs, action
    site       TEXT   NOT NULL, -- whose calendar wrote it; empty = a person
    owner      TEXT   NOT NULL, -- the folder that it was applied from; empty = a person
    enabled    BIGINT NOT NULL,
    next_at    BIGINT NOT NULL, -- 0 = never again
    changed_at BIGINT NOT NULL,
    changed_by TEXT   NOT NULL
);
CREATE INDEX schedules_due ON schedules (next_at) WHERE next_at > 0;

-- One row for each instant of a schedule that was run or missed: none is run twice.
CREATE TABLE schedule_runs (
    schedule TEXT   NOT NULL,
    instant  BIGINT NOT NULL,
    at       BIGINT NOT NULL, -- when it was decided
    outcome  TEXT   NOT NULL, -- done, missed, failed
    why      TEXT   NOT NULL,
    what     TEXT   NOT NULL, -- id of the batch or rollout that it began; empty = none
    PRIMARY KEY (schedule, instant)
);
CREATE INDEX schedule_runs_by_time ON schedule_runs (at);
