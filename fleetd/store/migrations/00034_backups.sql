-- +goose Up

-- Backups that were made of this database, and the backup that it was restored from: how old the newest one is follows from
-- them. No row = no backup was made, or by other means.
CREATE TABLE backups (
    id        TEXT   PRIMARY KEY, -- the id in the backup's manifest; of a restore: an id of its own
    kind      TEXT   NOT NULL, -- made, restored
    at        BIGINT NOT NULL, -- made: the moment that it is a copy of; restored: when
    bytes     BIGINT NOT NULL, -- size of the file
    file      TEXT   NOT NULL, -- path on the computer where it was made or read
    made_by   TEXT   NOT NULL, -- user@computer
    migration BIGINT NOT NULL, -- the database's schema version in the copy
    members   TEXT   NOT NULL, -- what is in it besides the database, in words
    of_backup TEXT   NOT NULL  -- of a restore: id of the backup
);
CREATE INDEX backups_by_time ON backups (at);
