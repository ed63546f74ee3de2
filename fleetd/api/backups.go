package api

import (
	"context"
	"net/http"
	"time"

	"troupe/fleetd/auth"
	"troupe/fleetd/operation"
	"troupe/schema"
)

// Backup is a backup that was made of the database, or a restore from one.
type Backup struct {
	ID        string      `json:"id"`
	Kind      string      `json:"kind" enum:"made,restored"`
	At        schema.Time `json:"at" doc:"made: the moment that it is a copy of; restored: when"`
	Bytes     int64       `json:"bytes" doc:"size of the file"`
	File      string      `json:"file" doc:"path on the computer where it was made or read"`
	By        string      `json:"by" doc:"user@computer"`
	Migration int64       `json:"migration" doc:"the database's schema version in the copy"`
	Members   string      `json:"members,omitempty" doc:"what is in it besides the database"`
	Of        string      `json:"of,omitempty" doc:"of a restore: id of the backup"`
}

type backupList struct {
	Backups  []Backup    `json:"backups"`
	NewestAt schema.Time `json:"newest_at,omitzero" doc:"when the newest backup was made; absent if none was"`
	MaxAgeS  int64       `json:"max_age_s,omitempty" doc:"age in seconds from which the newest backup raises the alert backup_old; absent = none does"`
}

func (s *server) backups(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "list-backups", Method: http.MethodGet, Path: "/backups", Tag: "fleetd", Right: auth.Administer | auth.Audit,
		Summary: "List the backups that were made, and restores, the newest first",
		Description: "fleetd backup and fleetd restore record them, on the computers where they run. Backups that are made by other means are " +
			"not known. Whether a file is still where it was, fleetd does not know.",
		Use:     "backup list",
		Columns: "AT at | KIND kind | BYTES bytes | BY by | FILE file | BESIDES members",
	}, func(ctx context.Context, in *struct {
		caller
		Limit int `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"at most this many" cli:",,20"`
	}) (*answer[backupList], error) {
		all, err := s.Backups.List(ctx, in.Limit)
		if err != nil {
			return nil, s.fail(err, "backups")
		}
		newest, made, err := s.Backups.Newest(ctx)
		if err != nil {
			return nil, s.fail(err, "backups")
		}
		out := backupList{Backups: []Backup{}}
		if made {
			out.NewestAt = timeOf(newest)
		}
		if made || s.AlertSource.BackupAge.Expected {
			out.MaxAgeS = int64(s.AlertSource.BackupAge.Max / time.Second)
		}
		for _, b := range all {
			out.Backups = append(out.Backups, Backup{b.ID, string(b.Kind), timeOf(b.At), b.Bytes, b.File, b.By, b.Migration, b.Members, b.Of})
		}
		return &answer[backupList]{out}, nil
	})
}
