package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"troupe/fleetd/cli"
)

func TestAuditShowsThePrincipalBesideThePerson(t *testing.T) {
	fleetd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if _, err := io.WriteString(w, `{"notes":[
			{"at":"2026-05-17T09:30:00Z","who":"anna","principal":"token-7","what":"label","target":"robot r1","detail":"hall=a"},
			{"at":"2026-05-17T09:29:00Z","who":"ben at op1","what":"mqtt mode/set","target":"r1"}]}`); err != nil {
			t.Error(err)
		}
	}))
	defer fleetd.Close()
	var out, errs strings.Builder
	if code := cli.Main(t.Context(), cli.Streams{Out: &out, Err: &errs}, "v0", "audit", "--server", fleetd.URL); code != 0 {
		t.Fatalf("ended with %d: %s", code, &errs)
	}
	lines := strings.Split(out.String(), "\n")
	for i, want := range []string{"WHO PRINCIPAL WHAT TARGET DETAIL", "anna token-7 label robot r1 hall=a", "ben at op1 - mqtt mode/set r1"} {
		if got := strings.Join(strings.Fields(lines[i]), " "); !strings.HasSuffix(got, want) {
			t.Errorf("line %d is %q, want %q at its end", i, got, want)
		}
	}
}
