-- +goose Up

-- Which change touched each robot last, by the number that fleet.changes had then, so that
-- other instances read only these robots again. A table of its own: it is written only under
-- the lock of the row of fleet, so two transactions never wait for each other here.
CREATE TABLE robot_changes (
    robot  TEXT   PRIMARY KEY REFERENCES robots (id),
    change BIGINT NOT NULL
);
CREATE INDEX robot_changes_by_change ON robot_changes (change);

-- How many changes named the robots that they touched. An instance of before this migration,
-- which may still run, names none.
ALTER TABLE fleet ADD COLUMN named_changes BIGINT NOT NULL DEFAULT 0;
