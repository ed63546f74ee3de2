-- +goose Up

-- The newest counter under which a wish was signed.
ALTER TABLE fleet ADD COLUMN release_counter BIGINT NOT NULL DEFAULT 0;

-- The bytes that robots' desired sets (places, activities) name.
CREATE TABLE desired_sets (
    robot  TEXT NOT NULL REFERENCES robots (id),
    kind   TEXT NOT NULL,
    sha256 TEXT NOT NULL REFERENCES blobs (sha256),
    PRIMARY KEY (robot, kind)
);
