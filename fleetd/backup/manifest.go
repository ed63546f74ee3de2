package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// format is the version of the file's format.
const format = 1

// Names of databases in a manifest.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
)

// Manifest says what a backup is a copy of.
type Manifest struct {
	Format   int       `json:"format"`
	ID       string    `json:"id"`
	MadeAt   time.Time `json:"made_at"` // the moment that it is a copy of
	MadeBy   string    `json:"made_by"` // user@computer
	Version  string    `json:"version"` // of the fleetd that made it
	Fleet    string    `json:"fleet"`   // name of the fleet in its certificates; empty without a CA
	FleetID  string    `json:"fleet_id"`
	Database string    `json:"database"` // sqlite or postgres
	// Schema is the schema of a PostgreSQL database that the dump fills; empty = public.
	Schema    string   `json:"schema,omitzero"`
	Migration int64    `json:"migration"`
	Robots    int64    `json:"robots"`
	Users     int64    `json:"users"`
	Members   []Member `json:"members"`
	// NoRootKey says why the key of the root is not in the backup; empty = it is, or there is none to back up.
	NoRootKey string `json:"no_root_key,omitzero"`
}

// Member is one part of a backup.
type Member struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Mode   uint32 `json:"mode,omitzero"` // permissions of a file
	From   string `json:"from,omitzero"` // path of a file where the backup was made
	// Setting is the setting of fleetd that names the file, or the folder that it was in; empty = none does.
	Setting string `json:"setting,omitzero"`
}

func (m Manifest) encode() ([]byte, error) {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the manifest: %w", err)
	}
	return append(text, '\n'), nil
}

func decodeManifest(text []byte) (m Manifest, err error) {
	var only struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(text, &only); err != nil {
		return m, fmt.Errorf("%w: its manifest: %w", ErrDamaged, err)
	}
	if only.Format != format {
		return m, fmt.Errorf("the backup has the format %d, and this fleetd reads %d: use the fleetd that made it, or a later one",
			only.Format, format)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("%w: its manifest: %w", ErrDamaged, err)
	}
	return m, nil
}

// same reports whether two manifests are of the same backup, apart from their members.
func (m Manifest) same(other Manifest) bool {
	m.Members, other.Members = nil, nil
	a, errA := m.encode()
	b, errB := other.encode()
	return errors.Join(errA, errB) == nil && string(a) == string(b)
}

// Keys says in words what is in a backup besides the database: the settings whose files it has.
func (m Manifest) Keys() string {
	var names []string
	for _, f := range m.Members {
		if f.Name == databaseName {
			continue
		}
		name := f.Setting
		if name == "" {
			name = f.Name
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
