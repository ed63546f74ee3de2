package cli_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"troupe/fleetd/cli"
	"troupe/fleetd/teleop"
)

// The command says once why the robot does not follow, with the command that leads out.
func TestDriveSaysWhyTheRobotDoesNotFollow(t *testing.T) {
	fleetd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/teleop"):
			ws, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer ws.Close()
			refused := teleop.Message{Type: teleop.TypeRefused, Cause: "safety_disabled",
				Detail: "the drive may not move: the safety core is DISABLED; safety/enable"}
			for _, m := range []teleop.Message{refused, refused, {Type: teleop.TypeEnded, Cause: "lease-over", Detail: "the lease has ended"}} {
				if err := ws.WriteJSON(m); err != nil {
					t.Error(err)
				}
			}
		case r.Method == http.MethodPost:
			_, _ = w.Write([]byte(fakeAnswers["command"]))
		default:
			_, _ = w.Write([]byte(`{"id":"r1","mode":"mnl","safety":"ENABLED","presence":{"status":"online"}}`))
		}
	}))
	defer fleetd.Close()
	keys, _ := net.Pipe() // nobody presses a key
	defer keys.Close()
	var out strings.Builder
	code := cli.Main(t.Context(), cli.Streams{In: keys, Out: &out, Err: &out}, "v0", "drive", "r1", "--server", fleetd.URL)
	if code != 5 ||
		strings.Count(out.String(), "r1 does not follow: the drive may not move: the safety core is DISABLED; fleetd safety enable r1\r\n") != 1 {
		t.Errorf("exit code %d:\n%q", code, out.String())
	}
}
