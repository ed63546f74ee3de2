package fleet_test

import (
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"troupe/fleetd/api"
	"troupe/fleetd/latch"
	"troupe/fleetd/view"
	"troupe/schema"
)

// names are the members that a type has on the wire.
func names(t reflect.Type) map[string]bool {
	out := map[string]bool{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			for inner := range names(f.Type) {
				out[inner] = true
			}
		}
		out[name] = true
	}
	return out
}

func TestPageReadsOnlyFieldsOfTheStream(t *testing.T) {
	inWorld(t, func(w *world) {
		answer := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/live.js", nil)
		r.Host = "localhost"
		w.Handler().ServeHTTP(answer, r)
		script := answer.Body.String()
		for prefix, of := range map[string]reflect.Type{
			"r": reflect.TypeFor[view.Robot](), "w": reflect.TypeFor[view.DesiredStory](), "r.presence": reflect.TypeFor[view.Presence](), "life": reflect.TypeFor[view.Life](),
			"fleetd": reflect.TypeFor[api.Status](), "batch": reflect.TypeFor[api.Batch](),
			"h": reflect.TypeFor[latch.LatchedStop](), "led": reflect.TypeFor[api.Leadership](), "l": reflect.TypeFor[schema.StopLatch](),
		} {
			known := names(of)
			for _, own := range []string{"at", "hidden", "detail", "title"} { // the page's own, and a problem's
				known[own] = true
			}
			used := regexp.MustCompile(`\b`+regexp.QuoteMeta(prefix)+`\.([a-z_]+)\b[^(]`).FindAllStringSubmatch(script, -1)
			if len(used) == 0 {
				w.Errorf("the page reads nothing of %s", prefix)
			}
			for _, u := range used {
				if !known[u[1]] {
					w.Errorf("the page reads %s.%s, which the API does not send", prefix, u[1])
				}
			}
		}
	})
}
