-- +goose Up
-- A step is named by what is under way in it.
UPDATE decommissions SET step = 'stop_sent' WHERE step = 'stopped';
UPDATE decommissions SET step = 'deleting_desired' WHERE step = 'desired_emptied';
UPDATE decommissions SET step = 'deleting_documents' WHERE step = 'emptied';
