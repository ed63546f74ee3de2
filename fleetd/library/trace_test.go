package library

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"troupe/schema"
	"troupe/schema/golden"
	"troupe/schema/score"
)

// TestTraces plays each script of testdata: a line is a request, the indented lines below it
// are the plan.
func TestTraces(t *testing.T) {
	golden.PlayTraces(t, func(t *testing.T) func(string) string { return (&director{t: t, w: newWorld()}).play })
}

// director carries out the requests of a script and writes down the plans.
type director struct {
	t   *testing.T
	w   *world
	out strings.Builder // since the last line of the script
}

func (d *director) say(format string, args ...any) {
	d.out.WriteString(strings.TrimRight(fmt.Sprintf("    "+format, args...), " ") + "\n")
}

func (d *director) play(line string) string {
	d.t.Helper()
	d.out.Reset()
	words := strings.Fields(line)
	switch words[0] {
	case "act", "story", "activity": // act ID WHAT | story ID ACT ... | activity ID ACT ... [over N]
		var over *int64
		if i := slices.Index(words, "over"); i > 0 {
			n, _ := strconv.ParseInt(words[i+1], 10, 64)
			over, words = &n, words[:i]
		}
		text := storyText(words[1], words[2:])
		switch words[0] {
		case "act":
			text = actText(words[1], words[2])
		case "activity":
			text = activityText(words[1], words[2:])
		}
		saved, problems := Save(d.w.rows(), Kind(words[0]), text, over, d.w.by(""))
		d.decided(saved.Changes, problems)
		if saved.Unchanged {
			d.say("unchanged at draft %d", saved.Entry.DraftRev)
		}
	case "publish": // publish KIND ID [with ACT ...]
		p, problems := Publish(d.w.rows(), Kind(words[1]), words[2], nil, d.w.by("ready"), words[min(4, len(words)):]...)
		d.decided(p.Changes, problems)
		if p.Unchanged {
			d.say("unchanged at revision %d", p.Revision.Rev)
		}
		if len(p.Stale) > 0 {
			d.say("stale: %v", p.Stale)
		}
	case "assign": // assign STORY[@REV] to ROBOT ... [expecting N]
		d.assign(words)
	case "set": // set ACTIVITY[@REV],...|nothing to ROBOT ...
		a := ActivitiesAssignment{Robots: words[3:]}
		if words[1] != "nothing" {
			for one := range strings.SplitSeq(words[1], ",") {
				id, rev, _ := strings.Cut(one, "@")
				n, _ := strconv.ParseInt(rev, 10, 64) // 0 without a revision
				a.Activities = append(a.Activities, Pin{id, n})
			}
		}
		assigned, problems := AssignActivities(d.w.rows(a.Activities...), a, d.w.by(""))
		d.decided(assigned.Changes, problems)
		if len(assigned.Unchanged) > 0 {
			d.say("unchanged: %s", joinSorted(assigned.Unchanged))
		}
	case "delete": // delete KIND ID [expecting STORIES ROBOTS [activities ACTIVITIES] [clearing STORY ...]]
		d.delete(words)
	case "recover":
		saved, problems := Recover(d.w.rows(), Kind(words[1]), words[2], d.w.by(""))
		d.decided(saved.Changes, problems)
	case "asset": // asset NAME sound|large|picture|drawing|nothing|text TEXT
		up, problems := PutAsset(d.w.rows(), words[1], fileOf(words[2], strings.Join(words[3:], " ")), d.w.by(""))
		d.decided(up.Changes, problems)
		if up.Unchanged {
			d.say("unchanged")
		}
		if len(up.Stale) > 0 {
			d.say("stale: %v", up.Stale)
		}
	case "remove": // remove NAME
		c, problems := DeleteAsset(d.w.rows(), words[1], d.w.by("not wanted"))
		d.decided(c, problems)
	case "robots": // robots know sounds chime,bell faces smile,wink
		d.w.catalogue = Catalogue{Sounds: strings.Split(words[3], ","), Faces: strings.Split(words[5], ",")}
	case "show":
		d.show()
	default:
		d.t.Fatalf("unknown request %q", words)
	}
	return d.out.String()
}

func (d *director) assign(words []string) {
	var a Assignment
	if words[1] != "nothing" {
		story, rev, _ := strings.Cut(words[1], "@")
		a.Story = story
		a.Rev, _ = strconv.ParseInt(rev, 10, 64)
	}
	if i := slices.Index(words, "expecting"); i > 0 {
		n, _ := strconv.Atoi(words[i+1])
		a.Expected, words = &n, words[:i]
	}
	a.Robots = words[3:]
	assigned, problems := Assign(d.w.rows(Pin{a.Story, a.Rev}), a, d.w.by(""))
	d.decided(assigned.Changes, problems)
	if len(assigned.Unchanged) > 0 {
		d.say("unchanged: %s", joinSorted(assigned.Unchanged))
	}
}

func (d *director) delete(words []string) {
	var expect *Expect
	if len(words) > 3 {
		expect = &Expect{}
		expect.Stories, _ = strconv.Atoi(words[4])
		expect.Robots, _ = strconv.Atoi(words[5])
		if i := slices.Index(words, "activities"); i > 0 {
			expect.Activities, _ = strconv.Atoi(words[i+1])
		}
		if i := slices.Index(words, "clearing"); i > 0 {
			expect.Clear = words[i+1:]
		}
	}
	r, problems := Delete(d.w.rows(), Kind(words[1]), words[2], expect, d.w.by("not wanted"))
	if expect == nil && len(problems) == 0 {
		d.say("would change %d stories and update %d robots; would clear %v", len(r.Impact.Stories), r.Impact.Robots, r.Impact.Clears)
		for _, i := range append(r.Impact.Stories, r.Impact.Activities...) {
			d.say("  %s: %d acts of %d left, revision %d, repinned %v, cleared %v, draft only %v", i.ID, i.After, i.Before, i.Rev, i.Repinned,
				i.Cleared, i.DraftOnly)
		}
		if !r.Changes.Empty() {
			d.t.Fatal("a dry run changes something")
		}
	}
	d.decided(r.Changes, problems)
}

// decided writes down a plan and applies it.
func (d *director) decided(c Changes, problems []schema.Problem) {
	d.t.Helper()
	for _, p := range problems {
		d.say("refused: %s %s: %s", p.Pointer, p.Code, strings.TrimSuffix(p.Detail+"; "+p.Hint, "; "))
	}
	if len(problems) > 0 && !c.Empty() {
		d.t.Fatalf("refused, and changes %+v", c)
	}
	for _, e := range c.Entries {
		old, known := d.w.entries[Ref{e.Kind, e.ID}]
		switch {
		case e.Deleted():
			d.say("%s %s is deleted: %s", e.Kind, e.ID, e.DeletedWhy)
		case known && old.Deleted():
			d.say("%s %s is recovered", e.Kind, e.ID)
		}
		if e.DraftRev != old.DraftRev || !slices.Equal(e.Problems, old.Problems) {
			d.say("draft %d of %s %s", e.DraftRev, e.Kind, e.ID)
			for _, p := range e.Problems {
				d.say("  %s %s %s: %s", p.Severity, p.Pointer, p.Code, p.Detail)
			}
		}
	}
	d.w.apply(d.t, c)
	for _, v := range c.Revisions {
		d.say("revision %d of %s %s: %s (%s)", v.Rev, v.Kind, v.ID, d.w.contents(v), v.Why)
		if b, _ := parsePublished(v.Kind, v.Body); v.Kind != KindAct {
			for _, f := range b.Assets {
				d.say("  with the %s %s: %q", f.Kind, f.Name, textOf(d.w.files[f.SHA256]))
			}
		}
	}
	for _, a := range c.Assets {
		d.say("%s is %s of %d bytes", a.Name, a.Media, a.Size)
	}
	for _, name := range c.Removed {
		d.say("asset %s is deleted", name)
	}
	for _, m := range c.Outbox {
		d.say("publish: %s", d.message(m))
	}
	for _, n := range c.Notes {
		d.say("note: %s: %s %s", n.What, n.Target, strings.Trim(n.Detail+": "+n.Why, ": "))
	}
}

func (d *director) message(m Message) string {
	if m.Topic == schema.TopicBlob {
		if f, ok := d.w.files[m.Target]; ok {
			return fmt.Sprintf("blob of the file %q", textOf(f))
		}
		if b, ok := d.w.blobs[m.Target]; ok {
			set, _ := score.ParseActivities(b.Body)
			return fmt.Sprintf("blob of %d activities with %d acts", len(set.Activities), len(set.Acts))
		}
		for at, v := range d.w.revisions {
			if v.SHA256 == m.Target {
				return fmt.Sprintf("blob of %s revision %d", at.ID, at.rev)
			}
		}
		d.t.Fatalf("no blob %s", m.Target)
	}
	if m.Topic == schema.TopicDesiredActivities {
		return fmt.Sprintf("desired revision %d to %s: %s", d.w.sets[m.Target].DesiredRev, m.Target,
			cmp.Or(joinPins(d.w.sets[m.Target].Activities), "no activities"))
	}
	desired, _ := schema.Decode[schema.DesiredStory](m.Payload)
	if desired.Story == nil {
		return fmt.Sprintf("desired revision %d to %s: no story", desired.Rev, m.Target)
	}
	return fmt.Sprintf("desired revision %d to %s: %s revision %d", desired.Rev, m.Target, desired.Story.ID, desired.Story.Rev)
}

// textOf returns the text that was given to fileOf.
func textOf(f File) string {
	return strings.TrimRight(strings.TrimPrefix(string(f.Body),
		"RIFF....WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x01\x00\x00\x00"), ".")
}

func (d *director) show() {
	s, problems := newSnapshot(d.w.rows())
	if len(problems) > 0 {
		d.t.Fatal(problems)
	}
	for _, kind := range []Kind{KindAct, KindStory, KindActivity} {
		for _, e := range s.notDeleted(kind) {
			d.say("%s %s: draft %d, revision %d", kind, e.ID, e.DraftRev, e.Rev)
		}
	}
	var robots []string
	for robot := range s.defaults {
		robots = append(robots, robot)
	}
	for _, robot := range slices.Sorted(slices.Values(robots)) {
		if f := s.defaults[robot]; f.Story != "" {
			d.say("%s: %s revision %d, desired revision %d", robot, f.Story, f.Rev, f.DesiredRev)
		} else {
			d.say("%s: no story, desired revision %d", robot, f.DesiredRev)
		}
	}
}
