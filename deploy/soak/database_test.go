package soak

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"troupe/broker/brokertest"
	"troupe/fleetd/api"
	"troupe/fleetd/fleet"
)

// library is what fleetd publishes before the faults begin.
var library = []struct{ path, text string }{
	{"/acts/welcome", "act: welcome\nactions:\n- {type: face, start_ms: 0, end_ms: 1000, face: smile}\n"},
	{"/acts/bow", "act: bow\nactions:\n- {type: head, start_ms: 0, yaw_rad: 0.3, timeout_ms: 2000}\n"},
	{"/stories/museum", "story: museum\nname: {en: Museum}\nrepeat: loop\nacts:\n- {act: welcome}\n- {act: bow}\n"},
	{"/stories/evening", "story: evening\nname: {en: Evening}\nrepeat: loop\nacts:\n- {act: bow}\n"},
}

// prepareDatabase makes the database with which every world begins.
func prepareDatabase(t *testing.T, database string) {
	b := brokertest.Start(t, brokertest.InProcess)
	f, err := fleet.Start(context.Background(), fleet.Config{Dial: b.Dial, Database: "sqlite:" + database, Dev: true})
	if err != nil {
		t.Fatal(err)
	}
	post := func(method, path, kind, text string) {
		r := httptest.NewRequest(method, api.Prefix+path, strings.NewReader(text))
		r.Host = "127.0.0.1:8080"
		r.Header.Set("Content-Type", kind)
		r.Header.Set("If-Match", "*")
		answer := httptest.NewRecorder()
		f.Handler().ServeHTTP(answer, r)
		if answer.Code >= http.StatusBadRequest {
			t.Fatalf("%s %s: %d %s", method, path, answer.Code, answer.Body)
		}
	}
	for _, each := range library {
		post("PUT", each.path, "application/yaml", each.text)
		post("POST", each.path+"/publish", "application/json", `{"by":"ann"}`)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
