-- +goose Up

-- Sites are the values of the label site; a row has what fleetd knows of one.
CREATE TABLE sites (
    id         TEXT   PRIMARY KEY,
    version    BIGINT NOT NULL, -- rises with every change
    body       BYTEA  NOT NULL, -- JSON: zone, opening hours, exceptions, maintenance windows, what happens at openings and closings
    owner      TEXT   NOT NULL, -- the folder that it was applied from; empty = a person
    changed_at BIGINT NOT NULL,
    changed_by TEXT   NOT NULL
);

CREATE TABLE schedules (
    id         TEXT   PRIMARY KEY,
    version    BIGINT NOT NULL, -- rises with every change by a person
    body       BYTEA  NOT NULL, -- JSON: times, policy for missed instants, action, robots
    author     BYTEA  NOT NULL, -- JSON: as whom it acts, with which rights and sites
    site       TEXT   NOT NULL, -- whose calendar wrote it; empty = a person
    owner      TEXT   NOT NULL, -- the folder that it was applied from; empty = a person
    next_at    BIGINT NOT NULL, -- 0 = never again, or it is disabled
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
    robots   BIGINT NOT NULL, -- how many it was for
    batch    TEXT   NOT NULL, -- id of the commands that it sent; empty = none
    rollout  TEXT   NOT NULL, -- id of the rollout that it started; empty = none
    PRIMARY KEY (schedule, instant)
);
CREATE INDEX schedule_runs_by_time ON schedule_runs (instant);
