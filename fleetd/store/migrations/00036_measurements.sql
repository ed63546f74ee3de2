-- +goose Up

-- What was measured of each robot. Points are packed, see fleetd/measure. The robot's row is not referenced: a decommission
-- deletes the rows.

-- Minutes of hours that are not over. The newest are beside each other, so that a write changes few pages.
CREATE TABLE measurement_minutes (
    minute  BIGINT NOT NULL, -- when it began, in Unix seconds
    robot   TEXT   NOT NULL,
    samples BIGINT NOT NULL, -- how many values it has; a minute with more replaces one with fewer
    points  BYTEA  NOT NULL, -- one point
    PRIMARY KEY (minute, robot)
);

-- The minutes of an hour that is over.
CREATE TABLE measurement_hours (
    robot  TEXT   NOT NULL,
    hour   BIGINT NOT NULL, -- when it began, in Unix seconds
    points BYTEA  NOT NULL, -- a point each minute
    PRIMARY KEY (robot, hour)
);
CREATE INDEX measurement_hours_by_time ON measurement_hours (hour);

-- The same for longer, with a point each 15 minutes.
CREATE TABLE measurement_days (
    robot  TEXT   NOT NULL,
    day    BIGINT NOT NULL, -- when it began, in Unix seconds
    points BYTEA  NOT NULL, -- a point each 15 minutes
    PRIMARY KEY (robot, day)
);
CREATE INDEX measurement_days_by_time ON measurement_days (day);
