-- +goose Up

-- Permissions that people gave in the console to the command line of a machine: each becomes one
-- token of its user. digest is that of the code, challenge that of PKCE.
CREATE TABLE login_codes (
    digest     TEXT   PRIMARY KEY,
    challenge  TEXT   NOT NULL,
    user_name  TEXT   NOT NULL REFERENCES users (name),
    machine    TEXT   NOT NULL,
    expires_at BIGINT NOT NULL
);
