package store

import (
	"context"
	"encoding/json"
	"fmt"

	"troupe/fleetd/library"
)

// FolderOwners returns the folder from which each act, story, activity and asset was applied.
func (r reads) FolderOwners(ctx context.Context) (map[library.Ref]string, error) {
	type row struct {
		of    library.Ref
		owner string
	}
	all, err := queryAll(ctx, r, func(scan func(...any) error) (v row, err error) { return v, scan(&v.of.Kind, &v.of.ID, &v.owner) },
		`SELECT kind, id, owner FROM folder_objects`)
	if err != nil {
		return nil, fmt.Errorf("list what folders brought: %w", err)
	}
	owners := map[library.Ref]string{}
	for _, v := range all {
		owners[v.of] = v.owner
	}
	return owners, nil
}

var ownedColumns = []column[library.Ref]{
	text("kind", func(r library.Ref) string { return string(r.Kind) }),
	text("id", func(r library.Ref) string { return r.ID }),
}

// SetFolderOwner records that a folder brought these.
func (t *Tx) SetFolderOwner(ctx context.Context, owner string, of []library.Ref) error {
	columns := append(ownedColumns[:len(ownedColumns):len(ownedColumns)], text("owner", func(library.Ref) string { return owner }))
	if _, err := writeRows(ctx, t, of, columns, `INSERT INTO folder_objects (kind, id, owner) SELECT kind, id, owner FROM given WHERE true
		ON CONFLICT (kind, id) DO UPDATE SET owner = excluded.owner`); err != nil {
		return fmt.Errorf("save what a folder brought: %w", err)
	}
	return nil
}

// forgetFolder removes what is deleted from what folders brought: somebody may make another one of the same name.
func (t *Tx) forgetFolder(ctx context.Context, c library.Changes) error {
	var gone []library.Ref
	for _, e := range c.Entries {
		if e.Deleted() {
			gone = append(gone, library.Ref{Kind: e.Kind, ID: e.ID})
		}
	}
	for _, name := range c.Removed {
		gone = append(gone, library.Ref{Kind: library.KindAsset, ID: name})
	}
	if _, err := writeRows(ctx, t, gone, ownedColumns, `DELETE FROM folder_objects WHERE (kind, id) IN (SELECT kind, id FROM given)`); err != nil {
		return fmt.Errorf("forget what a folder brought: %w", err)
	}
	return nil
}

// Files returns what is known of the files with these digests, without their bytes.
func (r reads) Files(ctx context.Context, digests []string) (map[string]library.Asset, error) {
	var w where
	w.addNamed("sha256", digests)
	all, err := queryAll(ctx, r, func(scan func(...any) error) (a library.Asset, err error) {
		var details string
		if err = scan(&a.SHA256, &a.Size, &a.Media, &details); err == nil && details != "" {
			err = json.Unmarshal([]byte(details), &a.Details)
		}
		return a, err
	}, `SELECT sha256, size, media, details FROM files`+w.String(), w.args...)
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	found := map[string]library.Asset{}
	for _, a := range all {
		found[a.SHA256] = a
	}
	return found, nil
}
