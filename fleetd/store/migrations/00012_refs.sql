-- +goose Up

-- The acts and assets to which each draft and each published revision refers, so that a
-- change of one finds them without reading the library. The next migration fills it.
CREATE TABLE refs (
    kind     TEXT   NOT NULL,
    id       TEXT   NOT NULL,
    rev      BIGINT NOT NULL, -- 0 = the draft
    ref_kind TEXT   NOT NULL CHECK (ref_kind IN ('act', 'asset')),
    ref_id   TEXT   NOT NULL,
    PRIMARY KEY (kind, id, rev, ref_kind, ref_id),
    FOREIGN KEY (kind, id) REFERENCES entries (kind, id)
);
CREATE INDEX refs_by_ref ON refs (ref_kind, ref_id);
