-- +goose Up

-- Which story each robot performed by default before the present one, so that one request
-- leads back. story is empty if it had none. No row = its story was never changed.
CREATE TABLE previous_stories (
    robot TEXT   PRIMARY KEY REFERENCES robots (id),
    story TEXT   NOT NULL,
    rev   BIGINT NOT NULL
);
