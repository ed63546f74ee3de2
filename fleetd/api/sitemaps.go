package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/operation"
	"troupe/fleetd/site"
	"troupe/schema"
	"troupe/schema/score"
)

// SiteMap is the map of a site: the image of its floor, and where it lies.
type SiteMap struct {
	site.Map
	Changed schema.Time `json:"changed_at"`
	By      string      `json:"changed_by"`
}

func siteMapOf(m change.SiteMap) SiteMap {
	return SiteMap{Map: m.Map, Changed: timeOf(m.ChangedAt), By: m.ChangedBy}
}

// siteMaps registers the requests for maps of sites. list-sites says which sites have one.
func (s *server) siteMaps(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "put-site-map", Method: http.MethodPut, Path: "/sites/{id}/map", Tag: "schedules", Right: auth.Edit,
		Summary: "Set the map of a site, which is drawn behind its robots",
		Description: "PNG, or PGM as ROS saves maps, of at most 16 MiB and 16777216 pixels; fleetd keeps it as a PNG. The parameters are " +
			"those of the YAML file that ROS saves beside it. The map of site - is that of robots without a site.",
		Audit:   audit.ActionSiteMap,
		Example: "site map set berlin map.yaml",
		MaxBody: score.MaxAsset,
		More:    s.upload,
	}, func(ctx context.Context, in *struct {
		PathSite
		ResolutionM float64 `query:"resolution_m" required:"true" doc:"metres of one pixel"`
		XM          float64 `query:"x_m" doc:"where the lower left corner of the image lies"`
		YM          float64 `query:"y_m" doc:"where the lower left corner of the image lies"`
		ThetaRad    float64 `query:"theta_rad" doc:"how the image is turned around that corner, counterclockwise"`
		Negate      bool    `query:"negate" doc:"black is white, and white is black"`
		MapSHA256   string  `query:"map_sha256" maxLength:"64" doc:"digest of the robots' map that it shows; left out: of each map of the site"`
		AttributionQuery
		RawBody []byte `contentType:"application/octet-stream"`
	}) (*answer[SiteMap], error) {
		if err := ofSite(in.principal, in.ID); err != nil {
			return nil, err
		}
		end, err := s.heavy.begin(ctx)
		if err != nil {
			return nil, err
		}
		defer end()
		m := change.SiteMap{Site: in.ID, Map: site.Map{ResolutionM: in.ResolutionM, XM: in.XM, YM: in.YM, ThetaRad: in.ThetaRad,
			MapSHA256: in.MapSHA256}}
		m, found, err := s.Schedules.PutSiteMap(ctx, in.principal, m, in.RawBody, in.Negate, in.attribution(in.principal))
		if err != nil {
			return nil, s.fail(err, "map of site "+in.ID)
		}
		if len(found) > 0 {
			return nil, refusal(mapFindings(found))
		}
		return &answer[SiteMap]{siteMapOf(m)}, nil
	})
	operation.Register(t, operation.Row{
		ID: "get-site-map", Method: http.MethodGet, Path: "/sites/{id}/map", Tag: "schedules", Right: auth.View,
		Summary: "Download the image of the map of a site, a PNG",
		Example: "site map get berlin --out berlin.png",
	}, func(ctx context.Context, in *struct {
		PathSite
		SHA256      string `query:"sha256" maxLength:"64" doc:"only the image of this digest, which browsers may keep"`
		IfNoneMatch string `header:"If-None-Match" hidden:"true"`
	}) (*huma.StreamResponse, error) {
		if err := ofSite(in.principal, in.ID); err != nil {
			return nil, err
		}
		// What needs no image reads none: an image has up to 16 MiB, and a slow reader holds it.
		m, err := s.Schedules.SiteMap(ctx, in.ID)
		digest, unchanged := m.SHA256, in.IfNoneMatch == strconv.Quote(m.SHA256)
		var image []byte
		if wanted := in.SHA256 == "" || in.SHA256 == digest; err == nil && wanted && !unchanged {
			image, err = s.Schedules.SiteMapImage(ctx, in.ID)
			sum := sha256.Sum256(image)
			digest = hex.EncodeToString(sum[:]) // another one if it was replaced meanwhile
		}
		if err == nil && in.SHA256 != "" && in.SHA256 != digest {
			err = change.ErrNotFound
		}
		if err != nil {
			return nil, s.fail(err, "map of site "+in.ID)
		}
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			r, w := humago.Unwrap(ctx)
			w.Header().Set("Content-Type", "image/png")
			w.Header().Set("Content-Disposition", "attachment") // pages of the console embed it all the same
			w.Header().Set("ETag", strconv.Quote(digest))
			if in.SHA256 != "" {
				w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
			}
			http.ServeContent(w, r, "", time.Time{}, &pacedFile{bytes.NewReader(image), http.NewResponseController(w), s.Now})
		}}, nil
	})
	operation.Register(t, operation.Row{
		ID: "delete-site-map", Method: http.MethodDelete, Path: "/sites/{id}/map", Tag: "schedules", Right: auth.Edit,
		Summary: "Delete the map of a site",
		Audit:   audit.ActionSiteMap,
		Use:     "site map delete SITE",
		Example: "site map delete berlin",
		Done:    "the map of site {id} is deleted",
	}, func(ctx context.Context, in *struct {
		PathSite
		AttributionQuery
	}) (*struct{}, error) {
		if err := ofSite(in.principal, in.ID); err != nil {
			return nil, err
		}
		if err := s.Schedules.DeleteSiteMap(ctx, in.principal, in.ID, in.attribution(in.principal)); err != nil {
			return nil, s.fail(err, "map of site "+in.ID)
		}
		return nil, nil
	})
}

// mapFindings says which part of the request each problem is about: the image is the body.
func mapFindings(found []schema.Problem) []Finding {
	out := findings("query", found)
	for i, f := range found {
		switch f.Code {
		case "bad_image":
			out[i].In = "body"
		case "bad_id":
			out[i].In = "path"
		}
	}
	return out
}
