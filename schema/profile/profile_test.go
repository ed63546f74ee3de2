package profile_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"troupe/schema/profile"
)

func TestProfilesAreServedAtAddressesOfThisMachineOnly(t *testing.T) {
	for addr, own := range map[string]bool{
		"127.0.0.1:9102": true, "127.0.0.1:0": true, "localhost:9102": true, "[::1]:9102": true, "127.3.2.1:80": true,
		"0.0.0.0:9102": false, ":9102": false, "[::]:9102": false, "10.0.0.5:9102": false, "fleet.example:9102": false, "http": false, "": false,
	} {
		if err := profile.CheckAddress(addr); (err == nil) != own {
			t.Errorf("%q: %v", addr, err)
		}
	}
}

func TestProfilesAreReadOnly(t *testing.T) {
	mux := http.NewServeMux()
	profile.Register(mux)
	for _, name := range []string{"", "heap?gc=1", "goroutine?debug=1", "symbol"} {
		for method, want := range map[string]int{http.MethodGet: http.StatusOK, http.MethodPost: http.StatusMethodNotAllowed} {
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, httptest.NewRequest(method, profile.Path+name, nil))
			if w.Code != want {
				t.Errorf("%s %s: %d", method, name, w.Code)
			}
		}
	}
}
