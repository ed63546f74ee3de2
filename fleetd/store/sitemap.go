package store

import (
	"context"
	"fmt"
	"time"

	"troupe/fleetd/site"
	"troupe/schema"
)

// SiteMap is the map of a site, without its image.
type SiteMap struct {
	Site string
	site.Map
	ChangedAt time.Time
	ChangedBy string
}

const selectSiteMaps = `SELECT site, body, changed_at, changed_by FROM site_maps`

func scanSiteMap(scan func(...any) error) (m SiteMap, err error) {
	var body []byte
	var changed int64
	if err := scan(&m.Site, &body, &changed, &m.ChangedBy); err != nil {
		return m, err
	}
	m.ChangedAt = timeOf(changed)
	m.Map, err = decodeColumn[site.Map](body, "map", "site "+m.Site)
	return m, err
}

// SiteMaps lists the maps of sites.
func (r reads) SiteMaps(ctx context.Context) ([]SiteMap, error) {
	all, err := queryAll(ctx, r, scanSiteMap, selectSiteMaps+" ORDER BY site")
	if err != nil {
		return nil, fmt.Errorf("list maps of sites: %w", err)
	}
	return all, nil
}

// SiteMap returns the map of one site, or ErrNotFound.
func (r reads) SiteMap(ctx context.Context, id string) (SiteMap, error) {
	m, err := queryOne(ctx, r, scanSiteMap, selectSiteMaps+" WHERE site = $1", id)
	if err != nil {
		return m, fmt.Errorf("map of site %s: %w", id, err)
	}
	return m, nil
}

// SiteMapImage returns the image of a site's map, a PNG, or ErrNotFound.
func (r reads) SiteMapImage(ctx context.Context, id string) ([]byte, error) {
	image, err := queryOne(ctx, r, func(scan func(...any) error) (b []byte, err error) { return b, scan(&b) },
		`SELECT image FROM site_maps WHERE site = $1`, id)
	if err != nil {
		return nil, fmt.Errorf("map of site %s: %w", id, err)
	}
	return image, nil
}

// PutSiteMap writes the map of a site, in place of the one that it has.
func (t *Tx) PutSiteMap(ctx context.Context, m SiteMap, image []byte) error {
	body, err := schema.Encode(m.Map)
	if err != nil {
		return fmt.Errorf("write the map of site %s: %w", m.Site, err)
	}
	n, err := t.exec(ctx, `INSERT INTO site_maps (site, body, image, changed_at, changed_by) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (site) DO UPDATE SET body = excluded.body, image = excluded.image, changed_at = excluded.changed_at, changed_by = excluded.changed_by`,
		m.Site, body, image, micros(m.ChangedAt), m.ChangedBy)
	return expectOne(n, err, "the map of site "+m.Site)
}

// DeleteSiteMap deletes the map of a site, or returns ErrNotFound.
func (t *Tx) DeleteSiteMap(ctx context.Context, id string) error {
	return t.deleteOne(ctx, "map of site "+id, `DELETE FROM site_maps WHERE site = $1`, id)
}
