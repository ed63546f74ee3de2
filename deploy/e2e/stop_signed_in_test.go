package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"troupe/fleetd/api"
	"troupe/schema"
)

// A person who is known before the database goes away stops robots through a fleetd that starts
// without it, and nobody else does.
func TestStopNeedsASignInButNoDatabaseAtTheStartOfFleetd(t *testing.T) {
	runIn(t, []variant{postgres}, func(w *world) {
		database, socket := w.databaseProxy()
		start := func() { w.startFleetd("--dev=false") }
		start()
		w.signIn()
		admin := w.token
		w.mustRunCLI("user", "add", "anna", "--role", "operator", "--no-password")
		w.mustRunCLI("user", "add", "ben", "--role", "operator", "--no-password")
		token := func(user string) api.AccessToken {
			return mustRunJSON[api.AccessToken](w, "token", "create", "tablet of "+user, "--user", user)
		}
		anna, ben, lost := token("anna").Secret, token("ben").Secret, token("anna")
		w.mustRunCLI("token", "revoke", lost.ID)
		w.mustRunCLI("user", "disable", "ben")
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		w.mustRunCLI("adopt", "r1", "--wait")
		w.enable("r1")

		w.fleetd.kill()
		database.connectTo("")
		start()
		w.fleetd.log.await(t, "fleetd", "that it knows its users",
			func(line string) bool { return strings.Contains(line, "using the accounts saved on this machine") })
		for who, secret := range map[string]string{"nobody": "", "a wrong token": anna + "x", "a revoked token": lost.Secret,
			"a disabled user": ben} {
			w.token = secret
			if s := w.runCLI("stop", "r1"); s.code == 0 || !strings.Contains(s.err, "sign in") {
				t.Errorf("a stop by %s: status %d\n%s%s", who, s.code, s.out, s.err)
			}
		}
		w.token = admin
		for _, args := range [][]string{{"adopt", "r2"}, {"user", "add", "eve", "--role", "admin", "--no-password"},
			{"token", "create", "more"}} {
			if s := w.runCLI(args...); s.code == 0 || !strings.Contains(s.err, "database") {
				t.Errorf("%s: status %d\n%s%s", strings.Join(args, " "), s.code, s.out, s.err)
			}
		}
		w.token = anna
		stop := w.stopRobots("r1")
		w.awaitLatches("r1", stop)

		text, err := os.ReadFile(filepath.Join(w.folder, "fleetd.accounts"))
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{admin, anna, ben, lost.Secret} {
			if strings.Contains(string(text), strings.TrimPrefix(secret, "troupe_")) {
				t.Error("the file on fleetd's machine contains a token")
			}
		}

		// Once the database is back, its accounts apply, not those saved on this machine.
		database.connectTo(socket)
		w.awaitPersistedStops(stop)
		w.token = admin
		w.mustRunCLI("user", "disable", "anna")
		w.token = anna
		if s := w.runCLI("stop", "list"); s.code == 0 || !strings.Contains(s.err, "sign in") {
			t.Errorf("a user who was disabled later: status %d\n%s%s", s.code, s.out, s.err)
		}
	})
}
