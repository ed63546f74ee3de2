package api

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/store/storetest"
)

// slowAudit is an audit each of whose answers takes a minute.
type slowAudit struct {
	change.History
	now time.Time
}

// answersTo has a minute pass whenever the database is asked.
func answersTo[T any](a *slowAudit, open func() (T, error)) func() (T, error) {
	return func() (T, error) {
		a.now = a.now.Add(time.Minute)
		return open()
	}
}

// deadlined is an answer over a connection with a write deadline.
type deadlined struct {
	*httptest.ResponseRecorder
	log   *slowAudit
	until time.Time
}

func (d *deadlined) SetWriteDeadline(t time.Time) error {
	d.until = t
	return nil
}

func (d *deadlined) Write(b []byte) (int, error) {
	if d.log.now.After(d.until) {
		return 0, http.ErrHandlerTimeout
	}
	return d.ResponseRecorder.Write(b)
}

// auditGuarded asks the routes of an audit.
func auditGuarded(log *slowAudit, to http.ResponseWriter, path string) {
	mux := http.NewServeMux()
	routes(mux, Deps{Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return log.now }, History: &log.History})
	Guard(mux, slog.New(slog.DiscardHandler), anyHost, rights(auth.Audit)).ServeHTTP(to, httptest.NewRequest(http.MethodGet, Prefix+path, nil))
}

func TestExportOfALongAuditIsNotCutOff(t *testing.T) {
	db := storetest.Open(t, storetest.SQLite(t))
	storetest.Note(t, db, make([]audit.Note, 5*exportPage/2)...)
	log := &slowAudit{now: time.Now()}
	log.History.Store = answersTo(log, storetest.Opened(db))
	answer := &deadlined{httptest.NewRecorder(), log, log.now.Add(90 * time.Second)}
	auditGuarded(log, answer, "/audit/export")
	if n := strings.Count(answer.Body.String(), "\n"); n != 5*exportPage/2 {
		t.Errorf("the export has %d entries", n)
	}
}

// With half a head a check would compare nothing, or report a whole chain as broken.
func TestHalfANotedHeadIsRefused(t *testing.T) {
	for _, query := range []string{"head_seq=7", "head_hash=" + strings.Repeat("a", 64)} {
		answer := httptest.NewRecorder()
		auditGuarded(&slowAudit{}, answer, "/audit/verify?"+query)
		if body := answer.Body.String(); answer.Code != http.StatusUnprocessableEntity || !strings.Contains(body, "send both") {
			t.Errorf("%s: %d %s", query, answer.Code, body)
		}
	}
}
