//go:build webconsole

package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newSecuredWithRobots has certificates, a fleetd that gives nobody a right without a
// sign-in, and three enrolled robots in two sites.
func newSecuredWithRobots(t *testing.T) *secured {
	t.Helper()
	s := newSecured(t)
	for _, rid := range []string{"r1", "r2", "r3"} {
		s.enrol(rid)
		s.runEnrolledRobot(rid)
		s.awaitPresenceStatus(rid, "online")
	}
	s.mustRunCLI("robot", "label", "r1", "site=museum")
	s.mustRunCLI("robot", "label", "r2", "site=museum")
	s.mustRunCLI("robot", "label", "r3", "site=stage")
	return s
}

// onPeople lets specs change the accounts of the world, and enrol a robot.
func (p *webPage) onPeople(on func(what string, do func(r *http.Request) (string, error))) {
	w := p.w
	on("password", func(*http.Request) (string, error) {
		text, err := os.ReadFile(filepath.Join(w.folder, passwordFile))
		return string(text), err
	})
	on("user/password", func(r *http.Request) (string, error) {
		q, file := r.URL.Query(), filepath.Join(w.folder, "new-password")
		if err := os.WriteFile(file, []byte(q.Get("password")), 0o600); err != nil {
			return "", err
		}
		w.mustRunCLI("user", "password", q.Get("user"), "--password-file", file)
		return "", nil
	})
	// The line is what a person pastes on the robot.
	on("robot/enrol", func(r *http.Request) (string, error) {
		s, q := &secured{world: w}, r.URL.Query()
		rid, line := q.Get("robot"), q.Get("line")
		out, err := s.runRobotd(append(strings.Fields(line)[1:], "--data", s.dataDir(rid))...)
		if err == nil {
			s.runEnrolledRobot(rid)
		}
		return out, err
	})
}

// trusting makes TLS connections to fleetd of the world, if it has certificates.
func trusting(w *world) *tls.Config {
	w.t.Helper()
	if w.ca == "" {
		return nil
	}
	text, err := os.ReadFile(w.ca)
	if err != nil {
		w.t.Fatal(err)
	}
	c := &tls.Config{RootCAs: x509.NewCertPool()}
	c.RootCAs.AppendCertsFromPEM(text)
	return c
}
