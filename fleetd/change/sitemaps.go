package change

import (
	"context"
	"errors"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/site"
	"troupe/fleetd/store"
	"troupe/schema"
)

// SiteMaps lists the maps of sites.
func (s *Schedules) SiteMaps(ctx context.Context) ([]SiteMap, error) {
	return read(&s.Deps, func(db *store.Store) ([]SiteMap, error) { return db.SiteMaps(ctx) })
}

// SiteMap returns the map of a site.
func (s *Schedules) SiteMap(ctx context.Context, id string) (SiteMap, error) {
	return read(&s.Deps, func(db *store.Store) (SiteMap, error) { return db.SiteMap(ctx, id) })
}

// SiteMapImage returns the image of the map of a site, a PNG.
func (s *Schedules) SiteMapImage(ctx context.Context, id string) ([]byte, error) {
	return read(&s.Deps, func(db *store.Store) ([]byte, error) { return db.SiteMapImage(ctx, id) })
}

// PutSiteMap writes the map of a site. The image is a PNG or a PGM; with negate, black becomes white.
func (s *Schedules) PutSiteMap(
	ctx context.Context, p auth.Principal, m SiteMap, image []byte, negate bool, by audit.Attribution,
) (SiteMap, []schema.Problem, error) {
	found := append(siteProblems(m.Site), m.Problems()...)
	image, read, bad := site.ReadImage(image, negate)
	if found = append(found, bad...); len(found) > 0 {
		return m, found, nil
	}
	m.Image, m.ChangedAt, m.ChangedBy = read, s.Now(), by.Who
	return m, nil, s.transact(ctx, p, func(tx *store.Tx) error {
		note := audit.Note{Who: by.Who, What: audit.ActionSiteMap, Target: "site " + m.Site, Why: by.Why, After: audit.JSON(m.Map)}
		switch was, err := tx.SiteMap(ctx, m.Site); {
		case err == nil:
			note.Before = audit.JSON(was.Map)
		case !errors.Is(err, store.ErrNotFound):
			return err
		}
		if err := tx.PutSiteMap(ctx, m, image); err != nil {
			return err
		}
		return tx.Note(ctx, m.ChangedAt, note)
	})
}

// DeleteSiteMap deletes the map of a site.
func (s *Schedules) DeleteSiteMap(ctx context.Context, p auth.Principal, id string, by audit.Attribution) error {
	return s.transact(ctx, p, func(tx *store.Tx) error {
		was, err := tx.SiteMap(ctx, id)
		if err != nil {
			return err
		}
		if err := tx.DeleteSiteMap(ctx, id); err != nil {
			return err
		}
		return tx.Note(ctx, s.Now(), audit.Note{Who: by.Who, What: audit.ActionSiteMap, Target: "site " + id, Why: by.Why,
			Detail: "deletes it", Before: audit.JSON(was.Map)})
	})
}
