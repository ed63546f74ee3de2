package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	return group("audit", "who did what: list, verify, export", sh.auditVerifyCommand())
}

// auditPage is the most entries that fleetd returns at once.
const auditPage = 1000

func listAudit(sh *shell, _ *cobra.Command) finish {
	return func(ctx context.Context, _ []string, r rowRequest) error {
		limit, _ := strconv.Atoi(r.query.Get("limit")) // the flag is a number
		all := api.Audit{Entries: []audit.Entry{}}
		for more := true; more; more = all.Next != "" && len(all.Entries) < limit {
			r.query.Set("limit", strconv.Itoa(min(auditPage, limit-len(all.Entries))))
			r.query.Set("page_token", all.Next)
			var got api.Audit
			if err := sh.call(ctx, r.http(), &got); err != nil {
				return err
			}
			all.Entries, all.Next = append(all.Entries, got.Entries...), got.Next
		}
		return sh.show(all, func(out io.Writer) { auditTable(out, all.Entries) })
	}
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
	writeTable(out, "AT\tWHO\tPRINCIPAL\tFROM\tWHAT\tTARGET\tOUTCOME\tWHY\tDETAIL", entries, func(e audit.Entry) []any {
		detail := e.Detail
		if detail == "" {
			detail = strings.TrimSpace(e.Before + " -> " + e.After)
			detail = strings.TrimPrefix(strings.TrimSuffix(detail, "->"), "-> ")
		}
		what, from := string(e.What), strings.TrimSpace(string(e.Via)+" "+e.Address)
		if words := auditWords[what]; words != "" {
			what += " (" + words + ")"
		}
		at := formatTime(schema.TimeOf(e.At))
		return []any{at, dash(e.Who), dash(e.Principal), from, what, e.Target, string(e.Outcome), dash(e.Why), detail}
	})
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
				r := sh.request("verify-audit", given{"head_seq": noted.Seq, "head_hash": noted.Hash})
				a := r.http()
				a.timeout = 2 * time.Minute
				err = sh.call(cmd.Context(), a, &v)
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

func exportAudit(sh *shell, c *cobra.Command) finish {
	file := c.Flags().String("out", "", "file to create; default: standard output")
	return func(ctx context.Context, _ []string, r rowRequest) (err error) {
		response, err := sh.open(ctx, r.http())
		if err != nil {
			return err
		}
		defer response.Body.Close()
		out := unsanitized(sh.Out) // verify reads it
		if *file != "" {
			to, failed := os.OpenFile(*file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if failed != nil {
				return usage("%v", failed)
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
	}
}
