package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"troupe/fleetd/api"
	"troupe/fleetd/library"
	"troupe/schema"
	"troupe/schema/score"
)

func (sh *shell) diffCommand(kind string) *cobra.Command {
	return &cobra.Command{
		Use: "diff NAME [REVISION [REVISION]]", Short: "compare published revisions, or the newest with the draft",
		Long: `Compare the newest published revision with the draft, or a revision with the draft or with another
one. Between two revisions of a story or an activity the acts that they contain are compared,
too. Comments and the order of fields do not count.`,
		Example: "  fleetd " + kind + " diff welcome\n  fleetd " + kind + " diff welcome 1 3",
		Args:    cobra.RangeArgs(1, 3),
		RunE: run(func(cmd *cobra.Command, args []string) error {
			var e api.Entry
			if err := sh.do(cmd.Context(), "get-"+kind, given{"id": args[0]}, &e); err != nil {
				return err
			}
			from, to := e.Rev, int64(0) // 0 = the draft
			for i, rev := range []*int64{&from, &to} {
				if len(args) <= i+1 {
					continue
				}
				n, err := strconv.ParseInt(args[i+1], 10, 64)
				if err != nil || n < 1 {
					return usage("%q is not a revision", args[i+1])
				}
				*rev = n
			}
			if from == 0 {
				return fmt.Errorf("%s %s was never published, so there is nothing to compare its draft with", kind, e.ID)
			}
			was, err := sh.contents(cmd.Context(), kind, e, from, to > 0)
			if err != nil {
				return err
			}
			is, err := sh.contents(cmd.Context(), kind, e, to, true)
			if err != nil {
				return err
			}
			lines := string(diff.Diff(revisionName(e.ID, from), was, revisionName(e.ID, to), is))
			return sh.show(map[string]string{"diff": lines}, func(w io.Writer) {
				fmt.Fprint(w, orElse(lines, "no difference\n"))
			})
		}),
	}
}

func revisionName(id string, rev int64) string {
	if rev == 0 {
		return id + " draft"
	}
	return fmt.Sprintf("%s revision %d", id, rev)
}

// contents returns what a revision or the draft says, as YAML with the fields in order; of a
// revision also the acts, if wanted.
func (sh *shell) contents(ctx context.Context, kind string, e api.Entry, rev int64, withActs bool) ([]byte, error) {
	if rev == 0 {
		return draftContents(library.Kind(kind), []byte(e.Draft))
	}
	var body map[string]any
	if err := sh.do(ctx, "get-published-"+kind, given{"id": e.ID, "rev": rev}, &body); err != nil {
		return nil, err
	}
	if kind == "act" {
		return yaml.Marshal(body)
	}
	own := body["story"]
	if list, ok := body["activities"].([]any); ok && len(list) == 1 {
		own = list[0]
	}
	text, err := yaml.Marshal(own)
	if err != nil || !withActs {
		return text, err
	}
	acts, err := yaml.Marshal(map[string]any{"acts of the revision": body["acts"], "files of the revision": body["assets"]})
	return append(text, acts...), err
}

// draftContents returns a draft as it would be published, without its acts.
func draftContents(kind library.Kind, text []byte) ([]byte, error) {
	var v any
	switch kind {
	case library.KindAct:
		a, _ := score.ParseAct(text)
		v = a.Sorted()
	case library.KindStory:
		v, _ = score.ParseStory(text)
	default:
		v, _ = score.ParseActivity(text)
	}
	encoded, err := schema.Encode(v) // as it is published
	if err != nil {
		return nil, err
	}
	return yaml.JSONToYAML(encoded)
}
