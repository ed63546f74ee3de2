-- +goose Up

-- The image of the floor of a site, behind its robots. A site may have one without hours.
CREATE TABLE site_maps (
    site       TEXT   NOT NULL PRIMARY KEY, -- value of the label site
    body       BYTEA  NOT NULL, -- JSON: where the image lies, its digest and its size
    image      BYTEA  NOT NULL, -- PNG
    changed_at BIGINT NOT NULL,
    changed_by TEXT   NOT NULL
);
