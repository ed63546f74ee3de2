package page

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"troupe/schema"
)

// Status is what a program on the robot's computer learns of a robotd that runs, such as
// robotd doctor.
type Status struct {
	Waiting string             `json:"waiting,omitempty"` // what the robot waits for before it begins
	Mode    schema.ModeID      `json:"mode,omitempty"`
	Safety  schema.StateSafety `json:"safety,omitzero"`
	// FleetStops are the ids of the latched stops that only fleetd releases.
	FleetStops []string `json:"fleet_stops,omitempty"`
	Faults     []string `json:"faults,omitempty"`   // of units in error, as sentences
	Continue   bool     `json:"continue,omitzero"`  // a pause of ato waits for auto/continue
	Connected  bool     `json:"connected,omitzero"` // to the broker
}

// status answers a program that has the password. It counts as no operator. Only a request with a password is an
// attempt, and none of a page of another site: any page that is open at the robot could otherwise use the attempts up.
func (s *Server) status(w http.ResponseWriter, r *http.Request) {
	asForm := *r
	asForm.Method = http.MethodPost // the protection lets requests pass that only read
	if http.NewCrossOriginProtection().Check(&asForm) != nil {
		http.Error(w, "the request was made by a page of another site", http.StatusForbidden)
		return
	}
	_, password, given := r.BasicAuth()
	if !given || password == "" {
		http.Error(w, "send the password of the page (Basic); it is in the file "+PasswordFile+" in the robot's data directory",
			http.StatusUnauthorized)
		return
	}
	switch ok, tooMany, err := s.checkPassword(r, password); {
	case tooMany:
		http.Error(w, "too many attempts; wait a few seconds", http.StatusTooManyRequests)
		return
	case err != nil:
		s.Logger.Error("page: status not given", "error", err)
		http.Error(w, "robotd cannot read the password of the page; its log says why", http.StatusInternalServerError)
		return
	case !ok:
		http.Error(w, "this is not the password of this robot", http.StatusUnauthorized)
		return
	}
	v, err := s.Robot.View(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	text, err := json.Marshal(statusOf(v))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // an error means that the program is gone
}

func statusOf(v View) (s Status) {
	if v.Waiting != nil {
		s.Waiting = "it waits for its body"
		if v.Waiting.For != "" {
			s.Waiting += ": " + v.Waiting.For
		}
		return s
	}
	s.Mode, s.Safety, s.FleetStops, s.Connected = v.State.Mode.Active, v.State.Safety, v.FleetStops, v.State.Session != ""
	for _, u := range v.State.Units {
		if u.State == "error" && u.Detail != "" {
			s.Faults = append(s.Faults, "unit "+u.ID+": "+u.Detail)
		}
	}
	for _, p := range v.State.Auto.PauseHolders {
		s.Continue = s.Continue || p.NeedsContinue
	}
	return s
}

// StatusAt asks the robotd whose page is at an address, with the password in its data directory.
func StatusAt(ctx context.Context, address, data string) (s Status, err error) {
	password, err := os.ReadFile(filepath.Join(data, PasswordFile))
	if err != nil {
		return s, fmt.Errorf("read the password of the page: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/status", nil)
	if err != nil {
		return s, err
	}
	r.SetBasicAuth("robotd", strings.TrimSpace(string(password)))
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return s, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		why, _ := io.ReadAll(io.LimitReader(answer.Body, maxBody))
		return s, fmt.Errorf("its page answers %s: %s", answer.Status, schema.SanitizeText(strings.TrimSpace(string(why))))
	}
	return s, json.UnmarshalRead(answer.Body, &s)
}
