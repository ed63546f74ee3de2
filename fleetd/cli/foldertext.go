package cli

import (
	"fmt"
	"io"
	"strings"

	"troupe/fleetd/api"
	"troupe/fleetd/folder"
	"troupe/fleetd/library"
	"troupe/fleetd/rollout"
)

// folderDiff prints a plan with its diffs.
func folderDiff(w io.Writer, p api.FolderPlan) {
	for _, c := range p.Changes {
		fmt.Fprintln(w, changeLine(c, effectWords[c.Effect].would))
		if c.Diff != "" {
			fmt.Fprint(w, c.Diff)
		}
	}
	folderRest(w, p)
	if p.Empty() {
		fmt.Fprintln(w, "no difference")
		return
	}
	fmt.Fprintf(w, "%s; plan %s\n", p.Counts(), p.Digest)
}

// appliedFolder prints what an apply did, or would do.
func appliedFolder(w io.Writer, p api.FolderPlan, dryRun bool) {
	for _, c := range p.Changes {
		words := effectWords[c.Effect]
		if dryRun {
			fmt.Fprintln(w, changeLine(c, words.would))
		} else {
			fmt.Fprintln(w, changeLine(c, words.did))
		}
	}
	folderRest(w, p)
	word := "applied"
	if dryRun {
		word = "to apply"
	}
	if p.Empty() {
		fmt.Fprintf(w, "folder %s: nothing %s, %d unchanged\n", p.Folder, word, p.Unchanged)
		return
	}
	fmt.Fprintf(w, "folder %s: %s %s, %d unchanged\n", p.Folder, p.Counts(), word, p.Unchanged)
}

var effectWords = map[library.Effect]struct{ would, did string }{
	library.EffectCreate:    {"create", "created"},
	library.EffectChange:    {"change", "changed"},
	library.EffectText:      {"change the comments of", "changed the comments of"},
	library.EffectRepublish: {"publish", "published"},
	library.EffectDelete:    {"delete", "deleted"},
}

func changeLine(c folder.Change, word string) string {
	line := word + " " + c.Ref.String()
	if c.Rev > 0 && c.Effect != library.EffectText {
		line += fmt.Sprintf(" revision %d", c.Rev)
	}
	line += " (" + c.Path + ")"
	if c.Why != "" {
		line += ": " + c.Why
	}
	if len(c.Robots) > 0 {
		line += fmt.Sprintf("; %s keep an earlier revision until they are given this one", library.RobotsText(c.Robots))
	}
	return line
}

// folderRest prints which robots a plan reaches, and what it leaves and takes.
func folderRest(w io.Writer, p api.FolderPlan) {
	for _, r := range p.Reaches {
		reachLines(w, r)
	}
	if len(p.Leaves) > 0 {
		fmt.Fprintf(w, "not in the folder any more, and left: %s; --prune deletes it\n", refsText(p.Leaves))
	}
	if len(p.Takes) > 0 {
		fmt.Fprintf(w, "%s unchanged that belong to the folder from now on\n", countText(len(p.Takes), "object"))
	}
}

// reachLines prints which robots get what a policy says, and how.
func reachLines(w io.Writer, r folder.Reach) {
	if n := len(r.Robots); n > 0 {
		how := "at once"
		if len(r.Waves) > 0 {
			how = "in a rollout"
			if r.Rollout != "" {
				how = "in rollout " + r.Rollout
			}
			if r.State == string(rollout.WaitingForApproval) {
				how += ", which a second person has to approve"
			}
			var words []string
			for _, wave := range r.Waves {
				if wave.Robots > 0 {
					words = append(words, fmt.Sprintf("%s %d", wave.Name, wave.Robots))
				}
			}
			how += ": " + strings.Join(words, ", ")
		}
		fmt.Fprintf(w, "policy %s: %s to %s %s\n", r.Policy, r.Content, countText(n, "robot"), how)
		fmt.Fprintf(w, "  %s\n", library.RobotsText(r.Robots))
	}
	if r.Pinned > 0 {
		fmt.Fprintf(w, "policy %s: %s keep what a person pinned\n", r.Policy, countText(r.Pinned, "robot"))
	}
	if len(r.Left) > 0 {
		fmt.Fprintf(w, "policy %s: no policy decides any more for %s, which keep what they have\n", r.Policy, library.RobotsText(r.Left))
	}
	if r.Taken > 0 {
		fmt.Fprintf(w, "  %s taken from open rollouts\n", countText(r.Taken, "robot"))
	}
	for _, no := range r.Refused {
		fmt.Fprintf(w, "  will be refused by %s\n", no)
	}
}

func refsText(refs []folder.Ref) string {
	words := make([]string, len(refs))
	for i, r := range refs {
		words[i] = r.String()
	}
	return strings.Join(words, ", ")
}
