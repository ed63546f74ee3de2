-- +goose Up

-- People and programs that use fleetd.
CREATE TABLE users (
    name       TEXT   PRIMARY KEY,
    display    TEXT   NOT NULL,
    roles      TEXT   NOT NULL, -- JSON
    sites      TEXT   NOT NULL, -- JSON; none = every site
    password   TEXT   NOT NULL, -- argon2id hash; empty = none
    subject    TEXT   NOT NULL, -- at the OpenID Connect provider; empty = not known
    disabled   BIGINT NOT NULL,
    epoch      BIGINT NOT NULL, -- sessions of an earlier epoch have ended
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL
);

-- Tokens of programs, by the digest of their secret. tokens has those for enrolment.
CREATE TABLE access_tokens (
    id         TEXT   PRIMARY KEY,
    digest     TEXT   NOT NULL UNIQUE,
    user_name  TEXT   NOT NULL REFERENCES users (name),
    name       TEXT   NOT NULL,
    roles      TEXT   NOT NULL, -- JSON; none = those of the user
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

-- Sessions of browsers, by the digest of their cookie.
CREATE TABLE sessions (
    digest     TEXT   PRIMARY KEY,
    data       BYTEA  NOT NULL,
    expires_at BIGINT NOT NULL
);

-- Grows with each change of the three tables, for other instances.
ALTER TABLE fleet ADD COLUMN accounts_rev BIGINT NOT NULL DEFAULT 0;
