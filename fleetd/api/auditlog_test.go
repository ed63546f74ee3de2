package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
)

// longAudit has some pages of entries, each of which takes a minute to read.
type longAudit struct {
	AuditLog
	now time.Time
}

func (a *longAudit) AuditChain(_ context.Context, after int64, limit int) (page []audit.Entry, _ error) {
	a.now = a.now.Add(time.Minute)
	for seq := after + 1; len(page) < limit && seq <= 5*exportPage/2; seq++ {
		page = append(page, audit.Entry{Seq: seq})
	}
	return page, nil
}

// deadlined is an answer over a connection with a write deadline.
type deadlined struct {
	*httptest.ResponseRecorder
	log   *longAudit
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
func auditGuarded(log *longAudit, to http.ResponseWriter, path string) {
	mux := http.NewServeMux()
	routes(mux, Deps{Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return log.now }, Audit: log})
	Guard(mux, slog.New(slog.DiscardHandler), anyHost, rights(auth.Audit)).ServeHTTP(to, httptest.NewRequest(http.MethodGet, Prefix+path, nil))
}

func TestExportOfALongAuditIsNotCutOff(t *testing.T) {
	log := &longAudit{now: time.Now()}
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
		auditGuarded(&longAudit{}, answer, "/audit/verify?"+query)
		if body := answer.Body.String(); answer.Code != http.StatusUnprocessableEntity || !strings.Contains(body, "send both") {
			t.Errorf("%s: %d %s", query, answer.Code, body)
		}
	}
}
