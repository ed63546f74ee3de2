package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/operation"
)

// Audit is a page of the audit log.
type Audit struct {
	Entries []audit.Entry `json:"entries"`
	Next    string        `json:"next,omitempty" doc:"page_token of the next page, which is older; left out on the last one"`
}

// exportPage is how many entries an export reads at once.
const exportPage = 1000

// verifyTimeout bounds a check of the whole chain, some million rows.
const verifyTimeout = 80 * time.Second

func (s *server) auditLog(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "list-audit", Method: http.MethodGet, Path: "/audit", Tag: "audit", Right: auth.Audit,
		Summary: "List who did what, the newest first",
		Description: "Requests to fleetd, refused ones too, and commands that MQTT clients sent to robots. All conditions must " +
			"hold; texts match in any case.",
		Use:     "audit list",
		Example: "audit list\naudit list --outcome refused --since 1h\naudit list --target 'robot r1' --what command",
		Long: "List who did what, the newest first: requests to fleetd through the console, this command line or\n" +
			"the API, those that were refused, and commands that MQTT clients sent to robots directly. PRINCIPAL\n" +
			"is the account, client or robot as which the sender was authenticated, WHO the name of that account; where\n" +
			"nobody signs in, PRINCIPAL is dev and WHO the name that --by or TROUPE_BY gives. FROM is the program\n" +
			"and the address. WHAT is the name that --what finds; brackets explain a name that does not explain itself. The\n" +
			"outcome accepted means that a command was passed on: the entry that says how it ended comes later\n" +
			"(--id ID shows both), without WHO. Entries are in the order in which they were written. Frames of manual\n" +
			"driving are not recorded. -o json shows all fields.",
	}, func(ctx context.Context, in *struct {
		caller
		audit.Filter
		Page  string `query:"page_token" maxLength:"32" doc:"next of the page before" cli:"-"`
		Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"at most this many" cli:",,50"`
	}) (*answer[Audit], error) {
		before, err := pageOf(in.Page)
		if err != nil {
			return nil, err
		}
		found, err := s.History.Audit(ctx, change.AuditQuery{Filter: in.Filter, Before: before, Limit: in.Limit})
		if err != nil {
			return nil, s.fail(err, "audit")
		}
		out := Audit{Entries: nonNil(found)}
		if len(found) == in.Limit && found[len(found)-1].Seq > 1 {
			out.Next = strconv.FormatInt(found[len(found)-1].Seq, 10)
		}
		return &answer[Audit]{out}, nil
	})
	operation.Register(t, operation.Row{
		ID: "verify-audit", Method: http.MethodGet, Path: "/audit/verify", Tag: "audit", Right: auth.Audit,
		Summary: "Check the chain of the audit",
		Description: "Computes the hash of every entry and compares the chain, the oldest first. The answer names the first entry " +
			"that does not hold. That the newest entries were removed shows only by a head that was noted earlier.",
		Example: "audit verify",
	}, func(ctx context.Context, in *struct {
		caller
		Seq  int64  `query:"head_seq" minimum:"1" doc:"a head that was noted earlier; the chain must still contain it"`
		Hash string `query:"head_hash" maxLength:"64" doc:"its hash; both or neither"`
	}) (*answer[audit.Verdict], error) {
		if (in.Seq == 0) != (in.Hash == "") {
			return nil, KindInvalid.Problem("head_seq and head_hash name one head together, and one of them is missing",
				"send both, as an earlier check answered them, or neither")
		}
		if !s.verifying.TryLock() { // it reads the whole table
			return nil, KindBusy.Problem("the audit is being verified for somebody else", "try again in a moment")
		}
		defer s.verifying.Unlock()
		ctx, cancel := context.WithTimeout(ctx, verifyTimeout)
		defer cancel()
		v, err := s.History.VerifyAudit(ctx, audit.Head{Seq: in.Seq, Hash: in.Hash})
		if err != nil {
			return nil, s.fail(err, "audit")
		}
		return &answer[audit.Verdict]{v}, nil
	})
	operation.Register(t, operation.Row{
		ID: "export-audit", Method: http.MethodGet, Path: "/audit/export", Tag: "audit", Right: auth.Audit,
		Summary: "Download the audit, the oldest entry first",
		Description: "As lines of JSON, with which fleetd audit verify works offline, or as CSV for spreadsheets. Without " +
			"conditions it is the whole chain.",
		Use:     "audit export",
		Short:   "write the audit as lines of JSON or as CSV, the oldest entry first",
		Example: "audit export\naudit export --out audit.jsonl\naudit export --format csv --since 720h >audit.csv",
		Long: "Write the audit as lines of JSON or as CSV, the oldest entry first. fleetd audit verify FILE checks\n" +
			"lines of JSON; what a filter left out is missing in the chain, so verify an export without one.\n" +
			"In CSV, a text that a spreadsheet would take for a formula gets an apostrophe in front.",
	}, func(ctx context.Context, in *struct {
		caller
		audit.Filter
		Format string `query:"format" enum:"jsonl,csv" default:"jsonl" doc:"form of the file"`
	}) (*huma.StreamResponse, error) {
		first, err := s.History.AuditChain(ctx, 0, 1) // a database that does not answer is a problem, not a broken file
		if err != nil {
			return nil, s.fail(err, "audit")
		}
		return &huma.StreamResponse{Body: func(to huma.Context) { s.exportAudit(ctx, to, in.Filter, in.Format, len(first) > 0) }}, nil
	})
}

func pageOf(token string) (int64, error) {
	if token == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(token, 10, 64)
	if err != nil || n < 1 {
		return 0, KindInvalid.Problem(fmt.Sprintf("page_token %q is not one of this list", token), "send next of the page before")
	}
	return n, nil
}

func (s *server) exportAudit(ctx context.Context, to huma.Context, f audit.Filter, format string, more bool) {
	kind, name := "application/x-ndjson", "audit.jsonl"
	if format == "csv" {
		kind, name = "text/csv; charset=utf-8", "audit.csv"
	}
	to.SetHeader("Content-Type", kind)
	to.SetHeader("Content-Disposition", `attachment; filename="`+name+`"`)
	out := to.BodyWriter()
	_, w := humago.Unwrap(to)
	connection := http.NewResponseController(w)
	write, flush := func(e audit.Entry) error { return audit.WriteLine(out, e) }, func() error { return nil }
	if format == "csv" {
		write, flush = audit.WriteCSV(out)
	}
	for after := int64(0); more; {
		rows, err := s.History.AuditChain(ctx, after, exportPage)
		if err != nil {
			s.Log.ErrorContext(ctx, "export of the audit ended early", "after", after, "error", err)
			panic(http.ErrAbortHandler) // the client sees that the file is not whole
		}
		_ = connection.SetWriteDeadline(s.Now().Add(partTimeout)) // if it fails, the server's own deadline applies
		for _, e := range rows {
			after = e.Seq
			if f.Matches(e) {
				if err := write(e); err != nil {
					return // the client is gone
				}
			}
		}
		more = len(rows) == exportPage
	}
	_ = flush() // an error means that the client is gone
}
