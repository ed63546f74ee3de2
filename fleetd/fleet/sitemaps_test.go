package fleet_test

import (
	"image/png"
	"net/http/httptest"
	"strings"
	"testing"

	"troupe/fleetd/api"
	"troupe/fleetd/site"
)

func TestMapOfASite(t *testing.T) {
	onBoth(t, func(w *world) {
		get := func(query string) *httptest.ResponseRecorder {
			r := httptest.NewRequest("GET", api.Prefix+"/sites/lobby/map"+query, nil)
			r.Host = "localhost"
			answer := httptest.NewRecorder()
			w.Handler().ServeHTTP(answer, r)
			return answer
		}
		if answer := get(""); answer.Code != 404 {
			t.Fatalf("a site without a map: %d %s", answer.Code, answer.Body)
		}
		var m api.SiteMap
		w.must("PUT", "/sites/lobby/map?resolution_m=0.05&x_m=-1.5&theta_rad=0.1&negate=true", "P5 2 1 255\n\x00\xff", &m)
		if m.Width != 2 || m.Height != 1 || m.XM != -1.5 || m.YM != 0 || m.ThetaRad != 0.1 || m.By == "" || len(m.SHA256) != 64 {
			t.Errorf("got %+v", m)
		}
		var list api.SiteList
		w.must("GET", "/sites", nil, &list)
		if len(list.Sites) != 1 || list.Sites[0].ID != "lobby" || list.Sites[0].Map == nil ||
			list.Sites[0].Map.SHA256 != m.SHA256 ||
			list.Sites[0].Zone != "" {
			t.Errorf("the sites are %+v", list.Sites)
		}
		answer := get("?sha256=" + m.SHA256)
		head := answer.Header()
		if answer.Code != 200 || head.Get("Content-Type") != "image/png" || head.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.Contains(head.Get("Cache-Control"), "immutable") || !strings.Contains(head.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("the image: %d %v", answer.Code, head)
		}
		if image, err := png.Decode(answer.Body); err != nil || image.Bounds().Dx() != 2 {
			t.Errorf("the image is none: %v", err)
		} else if black, _, _, _ := image.At(1, 0).RGBA(); black != 0 {
			t.Errorf("a negated white pixel is %x", black)
		}
		if head := get("").Header(); head.Get("Cache-Control") != "no-store" {
			t.Errorf("an image that may change is kept: %v", head)
		}
		r := httptest.NewRequest("GET", api.Prefix+"/sites/lobby/map", nil)
		r.Host = "localhost"
		r.Header.Set("If-None-Match", head.Get("ETag"))
		unchanged := httptest.NewRecorder()
		w.Handler().ServeHTTP(unchanged, r)
		if unchanged.Code != 304 || unchanged.Body.Len() > 0 || unchanged.Header().Get("ETag") != head.Get("ETag") {
			t.Errorf("an image that is there already: %d %v", unchanged.Code, unchanged.Header())
		}
		if answer := get("?sha256=" + strings.Repeat("0", 64)); answer.Code != 404 {
			t.Errorf("another digest: %d", answer.Code)
		}
		for _, c := range []struct{ query, body, want string }{
			{"resolution_m=0.05", "<svg xmlns='http://www.w3.org/2000/svg'/>", "neither a PNG nor a PGM"},
			{"resolution_m=0.05", "P5 100000 100000 255\n", "100000 x 100000 pixels"},
			{"resolution_m=0", "P5 1 1 255\n0", "a pixel of 0 m"},
			{"resolution_m=NaN", "P5 1 1 255\n0", ""},
			{"x_m=1", "P5 1 1 255\n0", "resolution_m"},
		} {
			if p := w.ask("PUT", "/sites/lobby/map?"+c.query, c.body, nil); p == nil || p.Status/100 != 4 || !strings.Contains(p.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.query, p, c.want)
			}
		}
		if p := w.ask("PUT", "/sites/lobby/map?resolution_m=1", strings.Repeat("P", 16<<20+1), nil); p == nil || p.Status != 413 {
			t.Errorf("an image over 16 MiB: %v", p)
		}
		w.must("DELETE", "/sites/lobby/map", nil, nil)
		list = api.SiteList{}
		w.must("GET", "/sites", nil, &list)
		if len(list.Sites) != 0 || get("").Code != 404 {
			t.Errorf("a deleted map is there: %+v", list.Sites)
		}
	})
}

func TestRobotsWithoutASiteHaveAMap(t *testing.T) {
	inWorld(t, func(w *world) {
		w.robot("r1")
		w.robot("r2")
		w.must("PUT", "/robots/r1/labels", map[string]any{"labels": map[string]string{"site": "lobby"}}, nil)
		w.must("PUT", "/sites/-/map?resolution_m=0.5", "P5 1 1 255\n0", nil)
		var list api.SiteList
		w.must("GET", "/sites", nil, &list)
		if len(list.Sites) != 2 || list.Sites[0].ID != site.None || list.Sites[0].Robots != 1 || list.Sites[0].Map == nil ||
			list.Sites[1].Map != nil {
			t.Errorf("the sites are %+v", list.Sites)
		}
		w.must("DELETE", "/sites/-/map", nil, nil)
		list = api.SiteList{}
		if w.must("GET", "/sites", nil, &list); len(list.Sites) != 1 {
			t.Errorf("robots without a site and a map have one: %+v", list.Sites)
		}
	})
}

func TestMapOfAnotherSiteIsRefused(t *testing.T) {
	inWorld(t, func(w *world) {
		w.must("PUT", "/sites/hall/map?resolution_m=1", "P5 1 1 255\n0", nil)
		for _, method := range []string{"PUT", "GET", "DELETE"} {
			path, body := "/sites/hall/map", any(nil)
			if method == "PUT" {
				path, body = path+"?resolution_m=1", "P5 1 1 255\n0"
			}
			if p := w.ask(method, path, body, nil, "As", "anna"); p == nil || p.Status != 403 {
				t.Errorf("%s of the map of another site: %v", method, p)
			}
		}
	}, ofLobby.option)
}
