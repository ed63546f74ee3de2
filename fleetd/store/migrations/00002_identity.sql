-- +goose Up

-- A robot that left the fleet: its history stays, it is in no list and no wish.
ALTER TABLE robots ADD COLUMN archived_at BIGINT NOT NULL DEFAULT 0; -- 0 = it is here

-- Enrolment tokens, by the digest of their secret.
CREATE TABLE tokens (
    digest      TEXT   PRIMARY KEY,
    robot       TEXT   NOT NULL,
    serial      TEXT   NOT NULL, -- of the body; empty = any
    created_at  BIGINT NOT NULL,
    created_by  TEXT   NOT NULL,
    expires_at  BIGINT NOT NULL,
    used_at     BIGINT NOT NULL, -- 0 = not yet
    key_sha256  TEXT   NOT NULL, -- that it was used for
    certificate TEXT   NOT NULL  -- that it was used for
);
CREATE INDEX tokens_of_robot ON tokens (robot, created_at);

-- Every certificate that a robot was given.
CREATE TABLE certificates (
    serial      TEXT   PRIMARY KEY,
    robot       TEXT   NOT NULL,
    how         TEXT   NOT NULL,
    pem         TEXT   NOT NULL, -- with who signed it
    issued_at   BIGINT NOT NULL,
    not_before  BIGINT NOT NULL,
    not_after   BIGINT NOT NULL,
    revoked_at  BIGINT NOT NULL, -- 0 = never
    revoked_by  TEXT   NOT NULL,
    revoked_why TEXT   NOT NULL
);
CREATE INDEX certificates_of_robot ON certificates (robot, issued_at);
CREATE INDEX certificates_revoked ON certificates (not_after) WHERE revoked_at > 0;

-- Robots that are not taken whatever they show.
CREATE TABLE barred (
    robot     TEXT   PRIMARY KEY,
    barred_at BIGINT NOT NULL,
    barred_by TEXT   NOT NULL,
    why       TEXT   NOT NULL
);

-- What brokers are told of all that, as its exact bytes.
CREATE TABLE revocation (
    only_row   BIGINT PRIMARY KEY CHECK (only_row = 1),
    rev        BIGINT NOT NULL,
    payload    BYTEA  NOT NULL,
    changed_at BIGINT NOT NULL
);

-- Robots on their way out of the fleet, step by step.
CREATE TABLE decommissions (
    robot      TEXT   PRIMARY KEY REFERENCES robots (id),
    step       TEXT   NOT NULL,
    step_at    BIGINT NOT NULL,
    begun_at   BIGINT NOT NULL,
    begun_by   TEXT   NOT NULL,
    why        TEXT   NOT NULL,
    outbox_seq BIGINT NOT NULL, -- what must be sent before the next step
    ended_at   BIGINT NOT NULL  -- 0 = on its way
);
