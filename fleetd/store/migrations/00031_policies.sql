-- +goose Up

-- Which robots have which content, held for newcomers too.
CREATE TABLE policies (
    id         TEXT   PRIMARY KEY,
    version    BIGINT NOT NULL, -- rises with every change
    place      BIGINT NOT NULL, -- of several that select a robot, the lowest decides
    selector   BYTEA  NOT NULL, -- JSON; labels only, or all
    topic      TEXT   NOT NULL, -- kind of the desired documents
    content    BYTEA  NOT NULL, -- JSON, resolved
    enabled    BIGINT NOT NULL,
    rollout    TEXT   NOT NULL, -- that brings the content to its robots; empty = they got it at once
    owner      TEXT   NOT NULL, -- the folder that it was applied from; empty = a person
    changed_at BIGINT NOT NULL,
    changed_by TEXT   NOT NULL,
    why        TEXT   NOT NULL
);
CREATE INDEX policies_by_topic ON policies (topic, place);
CREATE INDEX policies_by_rollout ON policies (rollout);

-- Labels that a robot gets with the token with which it enrols, as JSON: so policies apply to it from the start. Empty = none.
ALTER TABLE tokens ADD COLUMN labels TEXT NOT NULL DEFAULT '';
