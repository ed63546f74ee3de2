-- +goose Up

-- Where notifications go.
CREATE TABLE receivers (
    id         TEXT   PRIMARY KEY,
    version    BIGINT NOT NULL, -- rises with every change
    body       BYTEA  NOT NULL, -- JSON, without secrets
    secrets    BYTEA  NOT NULL, -- JSON, sealed; empty = none
    secret     TEXT   NOT NULL, -- names of the secrets that are set
    changed_at BIGINT NOT NULL,
    changed_by TEXT   NOT NULL
);

-- Which alerts and events go to which receiver.
CREATE TABLE routes (
    id         TEXT   PRIMARY KEY,
    version    BIGINT NOT NULL, -- rises with every change by a person
    body       BYTEA  NOT NULL, -- JSON
    changed_at BIGINT NOT NULL,
    changed_by TEXT   NOT NULL,
    step       BIGINT NOT NULL, -- rises with every change of state, which the leader alone changes
    state      BYTEA  NOT NULL  -- JSON: which alerts were sent; empty = nothing yet
);

-- What is sent. Of one receiver the oldest that waits is tried first, so the order of each alert stays.
CREATE TABLE notifications (
    id         TEXT   PRIMARY KEY,
    num        BIGINT NOT NULL, -- in the order in which they were decided
    route      TEXT   NOT NULL,
    receiver   TEXT   NOT NULL,
    kind       TEXT   NOT NULL,
    body       BYTEA  NOT NULL, -- JSON
    created_at BIGINT NOT NULL,
    state      TEXT   NOT NULL, -- waiting, sent, dead
    tries      BIGINT NOT NULL,
    since      BIGINT NOT NULL, -- from when on it is tried
    next_at    BIGINT NOT NULL, -- when it is tried next; 0 = never
    ended_at   BIGINT NOT NULL, -- 0 = not yet
    detail     TEXT   NOT NULL  -- of the newest try
);
CREATE UNIQUE INDEX notifications_by_num ON notifications (num);
CREATE INDEX notifications_waiting ON notifications (receiver, num) WHERE state = 'waiting';
CREATE INDEX notifications_by_state ON notifications (state, num);
CREATE INDEX notifications_by_end ON notifications (ended_at) WHERE ended_at > 0;

-- Alerts of rollouts and schedules that somebody has seen, as alert_acks has those of robots.
CREATE TABLE fleet_alert_acks (
    alert    TEXT   NOT NULL,
    first_ts BIGINT NOT NULL, -- in milliseconds
    at       BIGINT NOT NULL,
    acked_by TEXT   NOT NULL,
    note     TEXT   NOT NULL,
    PRIMARY KEY (alert, first_ts)
);
CREATE INDEX fleet_alert_acks_by_time ON fleet_alert_acks (at);
