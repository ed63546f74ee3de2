-- +goose Up

-- Alerts of robots that somebody has seen, with what they noted. An alert is one that began at
-- this time: robots count their ids from 1 again after a start.
CREATE TABLE alert_acks (
    robot    TEXT   NOT NULL REFERENCES robots (id),
    alert    TEXT   NOT NULL,
    first_ts BIGINT NOT NULL, -- by the robot's clock, in milliseconds
    at       BIGINT NOT NULL,
    acked_by TEXT   NOT NULL,
    note     TEXT   NOT NULL,
    PRIMARY KEY (robot, alert, first_ts)
);
CREATE INDEX alert_acks_by_time ON alert_acks (at);
