package cli

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/schema"
)

func (sh *shell) auditCommand() *cobra.Command {
	return group("audit", "who did what: list, verify, export", sh.auditListCommand(), sh.auditVerifyCommand(), sh.auditExportCommand())
}

// auditFilter are the flags that select entries of the audit.
type auditFilter struct {
	who, what, target, via, outcome, id string
	since, until                        string
}

func (f *auditFilter) flags(c *cobra.Command) {
	c.Flags().StringVar(&f.who, "who", "", "only of this person or principal (a part of the name is enough)")
	c.Flags().StringVar(&f.what, "what", "", "only what contains this, such as release or command safety/enable")
	c.Flags().StringVar(&f.target, "target", "", "only what was done to this, such as robot r1")
	c.Flags().StringVar(&f.via, "via", "", "only through this: web, cli, token, api, mqtt, robot, fleetd")
	c.Flags().StringVar(&f.outcome, "outcome", "", "only what ended like this: done, accepted, partly, refused, failed")
	c.Flags().StringVar(&f.id, "id", "", "only this entry and those that say how it ended")
	c.Flags().StringVar(&f.since, "since", "", "only of the last 10m, 2h, ..., or since a time such as 2026-01-31T09:30:00Z")
	c.Flags().StringVar(&f.until, "until", "", "only entries older than 10m, 2h, ..., or from before a time such as 2026-01-31T09:30:00Z")
}

func (f *auditFilter) query() (url.Values, error) {
	q := url.Values{}
	for name, value := range map[string]string{"who": f.who, "what": f.what, "target": f.target, "via": f.via, "outcome": f.outcome, "id": f.id} {
		if value != "" {
			q.Set(name, value)
		}
	}
	for name, value := range map[string]string{"since": f.since, "until": f.until} {
		if value == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339, value)
		if ago, failed := time.ParseDuration(value); failed == nil && ago > 0 {
			at, err = time.Now().Add(-ago), nil
		}
		if err != nil {
			return nil, usage("--%s %s: write how long ago, such as 2h, or a time such as 2026-01-31T09:30:00Z", name, value)
		}
		q.Set(name, at.UTC().Format(time.RFC3339Nano))
	}
	return q, nil
}

// auditPage is the most entries that fleetd returns at once.
const auditPage = 1000

func (sh *shell) auditListCommand() *cobra.Command {
	var f auditFilter
	var limit int
	c := &cobra.Command{
		Use: "list", Short: "list who did what, the newest first", Args: cobra.NoArgs,
		Long: `List who did what, the newest first: requests to fleetd through the console, this command line or
the API, those that were refused, and commands that MQTT clients sent to robots directly. PRINCIPAL
is the account, client or robot as which the sender was authenticated, WHO the name of that account; where
nobody signs in, PRINCIPAL is dev and WHO the name that --by or TROUPE_BY gives. FROM is the program
and the address. WHAT is the name that --what finds; brackets explain a name that does not explain itself. The
outcome accepted means that a command was passed on: the entry that says how it ended comes later
(--id ID shows both), without WHO. Entries are in the order in which they were written. Frames of manual driving are not recorded. -o json shows all fields.`,
		Example: "  fleetd audit list --outcome refused --since 1h\n  fleetd audit list --target 'robot r1' --what command",
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			query, err := f.query()
			if err != nil {
				return err
			}
			all := api.Audit{Entries: []audit.Entry{}}
			for page := ""; ; page = all.Next {
				query.Set("limit", strconv.Itoa(min(auditPage, limit-len(all.Entries))))
				if page != "" {
					query.Set("page_token", page)
				}
				var got api.Audit
				if err := sh.call(cmd.Context(), apiRequest{method: http.MethodGet, path: "audit", query: query}, &got); err != nil {
					return err
				}
				all.Entries, all.Next = append(all.Entries, got.Entries...), got.Next
				if got.Next == "" || len(all.Entries) >= limit {
					break
				}
			}
			return sh.show(all, func(out io.Writer) { auditTable(out, all.Entries) })
		}),
	}
	f.flags(c)
	c.Flags().IntVar(&limit, "limit", 50, "at most this many")
	return c
}

// auditWords say what was done where the name that --what finds does not.
var auditWords = map[string]string{
	"clear default": "remove a deleted story from robots",
	"take activity": "remove a deleted activity from robots",
	"shorten":       "remove a deleted act from its story or activity",
	"reissue":       "publish again after a deletion",
	"put":           "upload a file",
	"requests":      "too many to list each",
}

func auditTable(out io.Writer, entries []audit.Entry) {
	w := newTable(out)
	fmt.Fprintln(w, "AT\tWHO\tPRINCIPAL\tFROM\tWHAT\tTARGET\tOUTCOME\tWHY\tDETAIL")
	for _, e := range entries {
		detail := e.Detail
		if detail == "" {
			detail = strings.TrimSpace(e.Before + " -> " + e.After)
			detail = strings.TrimPrefix(strings.TrimSuffix(detail, "->"), "-> ")
		}
		what := string(e.What)
		if words := auditWords[what]; words != "" {
			what += " (" + words + ")"
		}
		writeRow(w, formatTime(schema.TimeOf(e.At)), dash(e.Who), dash(e.Principal), strings.TrimSpace(string(e.Via)+" "+e.Address), what, e.Target, string(e.Outcome), dash(e.Why), detail)
	}
	_ = w.Flush() // a write error shows at the next write
}

func (sh *shell) auditVerifyCommand() *cobra.Command {
	var head string
	var partial bool
	c := &cobra.Command{
		Use: "verify [FILE]", Short: "check that no entry was changed or removed", Args: cobra.MaximumNArgs(1),
		Long: `Check that no entry of the audit was changed or removed: each carries a hash of itself and of the one
before. With a file, check an export of fleetd audit export, without fleetd. The result names the
first entry that does not hold.

The chain cannot show that its newest entries were removed. So keep the head that verify prints
in a place that nobody with access to the database can change, and give it to a later check with --head.`,
		Example: "  fleetd audit verify\n  fleetd audit verify --head 4711:3f0c...\n  fleetd audit verify audit.jsonl",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			var noted audit.Head
			if seq, hash, ok := strings.Cut(head, ":"); ok {
				noted.Seq, _ = strconv.ParseInt(seq, 10, 64)
				noted.Hash = hash
			}
			if head != "" && (noted.Seq < 1 || len(noted.Hash) != 64) {
				return usage("--head %s: write SEQ:HASH, as verify printed it", head)
			}
			var v audit.Verdict
			var err error
			if len(args) == 1 {
				v, err = verifyFile(args[0], noted, partial)
			} else {
				query := url.Values{}
				if noted.Seq > 0 {
					query = url.Values{"head_seq": {strconv.FormatInt(noted.Seq, 10)}, "head_hash": {noted.Hash}}
				}
				err = sh.call(cmd.Context(), apiRequest{method: http.MethodGet, path: "audit/verify", query: query, timeout: 2 * time.Minute}, &v)
			}
			if err != nil {
				return err
			}
			if err := sh.show(v, func(out io.Writer) { fmt.Fprintln(out, verdictText(v)) }); err != nil || v.Holds {
				return err
			}
			return &failure{code: exitError}
		}),
	}
	c.Flags().StringVar(&head, "head", "", "SEQ:HASH of an earlier check, which the chain must still contain")
	c.Flags().BoolVar(&partial, "partial", false, "accept an export that begins in the middle, such as one with --since")
	return c
}

func verifyFile(path string, noted audit.Head, partial bool) (audit.Verdict, error) {
	f, err := os.Open(path)
	if err != nil {
		return audit.Verdict{}, usage("%v", err)
	}
	defer f.Close()
	v := audit.Verifier{Noted: noted, Partial: partial}
	if err := audit.ReadLines(f, v.Add); err != nil {
		return audit.Verdict{}, fmt.Errorf("read %s: %w; verify reads JSON lines, not CSV", path, err)
	}
	return v.Verdict(), nil
}

func verdictText(v audit.Verdict) string {
	if b := v.Broken; b != nil {
		return strings.TrimSpace(fmt.Sprintf("BROKEN at entry %d %s", b.Seq, b.ID)) + ": " + b.Why
	}
	if v.Rows == 0 {
		return "the audit is empty"
	}
	text := fmt.Sprintf("intact: %d entries, %d to %d", v.Rows, v.First, v.Head.Seq)
	if v.Pruned > 0 {
		text += fmt.Sprintf("; those up to %d were pruned", v.Pruned)
	}
	return fmt.Sprintf("%s\nhead %d:%s", text, v.Head.Seq, v.Head.Hash)
}

func (sh *shell) auditExportCommand() *cobra.Command {
	var f auditFilter
	var format, file string
	c := &cobra.Command{
		Use: "export", Short: "write the audit as lines of JSON or as CSV, the oldest entry first", Args: cobra.NoArgs,
		Long: `Write the audit as lines of JSON or as CSV, the oldest entry first. fleetd audit verify FILE checks
lines of JSON; what a filter left out is missing in the chain, so verify an export without one.
In CSV, a text that a spreadsheet would take for a formula gets an apostrophe in front.`,
		Example: "  fleetd audit export --out audit.jsonl\n  fleetd audit export --format csv --since 720h >audit.csv",
		RunE: run(func(cmd *cobra.Command, _ []string) (err error) {
			query, err := f.query()
			if err != nil {
				return err
			}
			query.Set("format", format)
			response, err := sh.open(cmd.Context(), apiRequest{method: http.MethodGet, path: "audit/export", query: query})
			if err != nil {
				return err
			}
			defer response.Body.Close()
			out := unsanitized(sh.Out) // verify reads it
			if file != "" {
				to, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
				if err != nil {
					return usage("%v", err)
				}
				defer func() {
					if failed := to.Close(); failed != nil && err == nil {
						err = fmt.Errorf("the export is not whole: %w", failed)
					}
				}()
				out = to
			}
			if _, err := io.Copy(out, response.Body); err != nil {
				return errors.Join(errors.New("the export is not whole"), err)
			}
			return nil
		}),
	}
	f.flags(c)
	c.Flags().StringVar(&format, "format", "jsonl", "jsonl or csv")
	c.Flags().StringVar(&file, "out", "", "file to create; default: standard output")
	return c
}
