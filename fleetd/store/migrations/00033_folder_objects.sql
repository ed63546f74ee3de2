-- +goose Up

-- From which folder the newest apply brought each act, story, activity and asset: apply --prune deletes only what its own folder
-- brought. Policies, sites and schedules have it in their rows. No row = people made it, and no folder has it.
CREATE TABLE folder_objects (
    kind  TEXT NOT NULL, -- act, story, activity, asset
    id    TEXT NOT NULL,
    owner TEXT NOT NULL, -- the folder
    PRIMARY KEY (kind, id)
);
