-- +goose Up

-- Every instance reads what was released lately.
CREATE INDEX stops_released ON stops (released_at) WHERE released_at > 0;
