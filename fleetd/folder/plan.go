package folder

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"troupe/fleetd/audit"
	"troupe/fleetd/library"
	"troupe/fleetd/policy"
	"troupe/fleetd/rollout"
	"troupe/schema"
)

// CodeOwned is of an object that another folder brought.
const CodeOwned = "other_folder"

// State is what fleetd has.
type State struct {
	Library   library.Rows
	Owners    map[Ref]string // the folder that brought an object
	Policies  []policy.Policy
	Sites     []SiteRow
	Schedules []ScheduleRow
}

// Options say how a folder is applied.
type Options struct {
	Now      bool         // robots get what policies say at once, without a rollout
	Rollout  rollout.Spec // how they get it otherwise
	Prune    bool         // delete what an earlier apply of this folder brought and the folder no longer has
	TakeOver bool         // take over what another folder brought
}

// Change is what an apply does to one object.
type Change struct {
	Ref
	Path   string         `json:"path" doc:"of its file; of what is deleted, as an export would write it"`
	Effect library.Effect `json:"effect" enum:"create,change,text,publish,delete" doc:"text: only comments or the layout change, so nothing is published; publish: its text stays, and acts or files that it uses change"`
	Why    string         `json:"why,omitempty"`
	Diff   string         `json:"diff,omitempty" doc:"unified diff from what fleetd has to the file"`
	Rev    int64          `json:"rev,omitempty" doc:"the newest revision afterwards"`
	Robots []string       `json:"robots,omitempty" doc:"robots that keep an earlier revision of it until they are given the new one"`
}

// Plan is what an apply of a folder does.
type Plan struct {
	Folder    string                `json:"folder"`
	Digest    string                `json:"digest" doc:"identifies what the apply would do: another one means that something changed since"`
	Changes   []Change              `json:"changes"`
	Unchanged int                   `json:"unchanged" doc:"objects that are as the folder says"`
	Deletes   int                   `json:"deletes" doc:"objects that are deleted"`
	Leaves    []Ref                 `json:"leaves" doc:"objects that an earlier apply of the folder brought and the folder no longer has; prune deletes them"`
	Takes     []Ref                 `json:"takes" doc:"objects that belong to the folder from now on, although nothing about them changes"`
	Reaches   []Reach               `json:"reaches" doc:"robots that get something else, by the policy that decides"`
	Robots    int                   `json:"robots" doc:"robots that get something else"`
	Warnings  []library.FileProblem `json:"warnings"`
}

// Reach is what robots get because policies change.
type Reach struct {
	Policy  string   `json:"policy" doc:"which decides for them afterwards"`
	Content string   `json:"content" doc:"in words"`
	Robots  []string `json:"robots"`
	Pinned  int      `json:"pinned,omitempty" doc:"robots that keep what a person pinned"`
	Left    []string `json:"left,omitempty" doc:"robots for which no policy decides any more: they keep what they have"`

	Waves   []ReachWave `json:"waves,omitempty" doc:"of the rollout; none if they get it at once"`
	Refused []string    `json:"refused,omitempty" doc:"robots that will refuse it, with the reason"`
	Taken   int         `json:"taken,omitempty" doc:"robots that it takes from open rollouts"`

	Rollout string `json:"rollout,omitempty" doc:"id of the rollout that an apply created"`
	State   string `json:"state,omitempty" doc:"of the rollout, such as WAITING_FOR_APPROVAL"`
}

// ReachWave is a wave of a rollout.
type ReachWave struct {
	Name   string `json:"name"`
	Robots int    `json:"robots"`
}

// Counts are the numbers of a plan that people compare.
type Counts struct {
	Changes, Deletes, Robots int
}

// Counts returns the numbers of p.
func (p Plan) Counts() Counts { return Counts{len(p.Changes) - p.Deletes, p.Deletes, p.Robots} }

// Taken is how many robots p takes from open rollouts.
func (p Plan) Taken() (n int) {
	for _, r := range p.Reaches {
		n += r.Taken
	}
	return n
}

func (c Counts) String() string {
	return fmt.Sprintf("%s, %s, %s", count(c.Changes, "change"), count(c.Deletes, "deletion"), count(c.Robots, "robot"))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// countsFormat begins the digest of a plan, so that a conflict can tell what the caller saw.
const countsFormat = "%dc%dd%dr-"

// CountsOf returns the numbers of the plan with a digest.
func CountsOf(digest string) (c Counts, ok bool) {
	var rest string
	n, _ := fmt.Sscanf(digest, countsFormat+"%s", &c.Changes, &c.Deletes, &c.Robots, &rest)
	return c, n == 4
}

// Empty reports whether an apply would change nothing that people see.
func (p Plan) Empty() bool { return len(p.Changes) == 0 }

// Made is a plan with the changes of the database.
type Made struct {
	Plan
	Library library.Changes
	Owned   []Ref // of the folder afterwards, that were not
}

// WithRemovals returns the folder with what it no longer has as what is to be removed, if that is wanted.
func (f Fleet) WithRemovals(owners map[Ref]string, o Options) (Fleet, []Ref) {
	has := f.Paths()
	var gone []Ref
	for ref, owner := range owners {
		if _, there := has[ref]; owner == f.Name && !there {
			gone = append(gone, ref)
		}
	}
	sortRefs(gone)
	if o.Prune {
		f.Library.Remove = nil
		for _, ref := range gone {
			if ref.OfLibrary() {
				f.Library.Remove = append(f.Library.Remove, library.Ref{Kind: library.Kind(ref.Kind), ID: ref.ID})
			}
		}
	}
	return f, gone
}

// OfLibrary reports whether an object is an act, a story, an activity or an asset.
func (r Ref) OfLibrary() bool { return slices.Index(Kinds, r.Kind) < slices.Index(Kinds, KindPlaces) }

func sortRefs(refs []Ref) {
	slices.SortFunc(refs, func(a, b Ref) int {
		return cmp.Or(cmp.Compare(slices.Index(Kinds, a.Kind), slices.Index(Kinds, b.Kind)), cmp.Compare(a.ID, b.ID))
	})
}

// Make plans an apply, all or nothing. The problems are those of all files.
func Make(state State, f Fleet, o Options, by audit.Attribution) (Made, []library.FileProblem) {
	f, gone := f.WithRemovals(state.Owners, o)
	m := Made{Plan: Plan{Folder: f.Name, Changes: []Change{}, Leaves: []Ref{}, Takes: []Ref{}, Reaches: []Reach{},
		Warnings: []library.FileProblem{}}}
	if !o.Prune {
		m.Leaves = append(m.Leaves, gone...)
	}
	found := m.own(state, f, o)
	done, problems := library.ApplyFolder(state.Library, f.Library, by)
	if found = append(found, problems...); len(found) > 0 {
		return Made{}, Sorted(found)
	}
	m.Library = done.Changes
	m.Warnings = append(m.Warnings, done.Warnings...)
	for _, a := range done.Assets {
		m.Add(assetChange(a))
	}
	for i, t := range done.Texts {
		m.Add(textChange(f.Name, t, f.Library.Texts[i].Body))
	}
	for _, r := range done.Removed {
		m.Add(removal(f.Name, r))
	}
	return m, nil
}

// Finish completes a plan whose changes were all added.
func (m *Made) Finish() {
	changed := map[Ref]bool{}
	for _, c := range m.Changes {
		changed[c.Ref] = true
	}
	for _, ref := range m.Owned {
		if !changed[ref] {
			m.Takes = append(m.Takes, ref)
		}
	}
	order := func(c Change) int { // what is deleted comes last
		if c.Effect == library.EffectDelete {
			return len(Kinds)
		}
		return slices.Index(Kinds, c.Kind)
	}
	slices.SortStableFunc(m.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	robots := map[string]bool{}
	for _, r := range m.Reaches {
		for _, id := range r.Robots {
			robots[id] = true
		}
	}
	m.Robots = len(robots)
	slices.SortFunc(m.Reaches, func(a, b Reach) int {
		return cmp.Or(cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Content, b.Content))
	})
	m.Warnings = Sorted(m.Warnings)
	m.Digest = digestOf(m.Plan)
}

// own finds what the folder takes, and refuses what another folder brought.
func (m *Made) own(state State, f Fleet, o Options) (found []library.FileProblem) {
	paths := f.Paths()
	refs := slices.Collect(maps.Keys(paths))
	sortRefs(refs)
	for _, ref := range refs {
		switch owner := state.Owners[ref]; {
		case owner == f.Name || ref.Kind == KindPlaces: // places belong to the policies that name them
		case owner != "" && !o.TakeOver:
			found = append(found, library.FileProblem{Path: paths[ref], Problem: schema.NewProblem("", CodeOwned,
				fmt.Sprintf("%s was applied from the folder %s", ref, owner),
				"keep it in one folder; if it shall be this one, apply with --take-over")})
		default:
			m.Owned = append(m.Owned, ref)
		}
	}
	return found
}

// Add adds a change, or counts what stays.
func (m *Made) Add(c Change) {
	switch c.Effect {
	case library.EffectNone:
		m.Unchanged++
		return
	case library.EffectDelete:
		m.Deletes++
	}
	m.Changes = append(m.Changes, c)
}

func assetChange(a library.AppliedAsset) Change {
	c := Change{Ref: Ref{KindAsset, a.Asset.Name}, Path: a.Path, Effect: a.Effect}
	c.Why = fmt.Sprintf("%d bytes, sha256 %s", a.Asset.Size, shortDigest(a.Asset.SHA256))
	if a.Effect == library.EffectChange {
		c.Why = fmt.Sprintf("%d bytes, sha256 %s, become %s", a.Before.Size, shortDigest(a.Before.SHA256), c.Why)
	}
	return c
}

func shortDigest(sha256 string) string { return sha256[:min(len(sha256), 12)] }

func textChange(folder string, t library.AppliedText, text []byte) Change {
	c := Change{Ref: Ref{Kind(t.Of.Kind), t.Of.ID}, Path: t.Path, Effect: t.Effect, Rev: t.Rev, Robots: t.Robots}
	var why []string
	if len(t.Because) > 0 {
		names := make([]string, len(t.Because))
		for i, r := range t.Because {
			names[i] = r.String()
		}
		why = append(why, "it uses "+strings.Join(names, ", "))
	}
	if e := t.Replaces; e != nil {
		why = append(why, fmt.Sprintf("replaces draft revision %d of %s, which was not published", e.DraftRev, cmp.Or(e.ChangedBy, "somebody")))
	}
	c.Why = strings.Join(why, "; ")
	if t.Effect != library.EffectNone {
		c.Diff = Diff(folder, t.Path, t.Before, text)
	}
	return c
}

func removal(folder string, r library.Removed) Change {
	c := Change{Ref: Ref{Kind(r.Of.Kind), r.Of.ID}, Effect: library.EffectDelete, Path: directories[Kind(r.Of.Kind)] + "/" + r.Of.ID + ".yaml"}
	if r.Of.Kind == library.KindAsset {
		c.Path = directories[KindAsset] + "/" + r.Of.ID + r.Asset.Media.Extension()
		c.Why = fmt.Sprintf("%d bytes, sha256 %s", r.Asset.Size, shortDigest(r.Asset.SHA256))
		return c
	}
	c.Diff = Diff(folder, c.Path, r.Before, nil)
	return c
}

// Diff is the unified diff from what fleetd has to a file of a folder; nil is a text that does not exist.
func Diff(folder, name string, before, after []byte) string {
	from, to := "fleetd/"+name, folder+"/"+name
	if before == nil {
		from = "/dev/null"
	}
	if after == nil {
		to = "/dev/null"
	}
	lines := diff.Diff(from, before, to, after)
	_, lines, _ = bytes.Cut(lines, []byte("\n")) // the line "diff FROM TO"
	return string(lines)
}

// Sorted sorts problems by file and line.
func Sorted(found []library.FileProblem) []library.FileProblem {
	slices.SortStableFunc(found, func(a, b library.FileProblem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return found
}

// digestOf identifies what a plan does.
func digestOf(p Plan) string {
	p.Digest, p.Warnings, p.Unchanged = "", nil, 0
	p.Reaches = slices.Clone(p.Reaches)
	for i := range p.Reaches {
		p.Reaches[i].Rollout = ""
	}
	b, err := schema.Encode(p)
	if err != nil {
		panic(err) // texts and numbers can be encoded
	}
	sum := sha256.Sum256(b)
	c := p.Counts()
	return fmt.Sprintf(countsFormat, c.Changes, c.Deletes, c.Robots) + hex.EncodeToString(sum[:16])
}
