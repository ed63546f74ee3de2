package library

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"troupe/fleetd/audit"
	"troupe/schema"
)

// For any requests in any order: world.apply checks the invariants after each step (no
// default story that is deleted, empty or has a deleted act; revisions written once; desired
// revisions only rise; blobs before desired documents), and the effects of a deletion are
// checked here.
func TestPlansKeepInvariantsForAnyRequests(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld()
		w.catalogue = Catalogue{Sounds: []string{"chime"}, Faces: []string{"smile", "wink"}}
		w.otherFiles = rapid.SampledFrom([]int64{0, MaxFiles - 20}).Draw(rt, "bytes of other files")
		for _, act := range []string{"a", "b", "c"} { // a library to begin with
			w.save(rt, KindAct, actText(act, map[string]string{"a": "smile", "b": "smile+bell", "c": "smile+gong"}[act]))
			w.publish(rt, KindAct, act)
		}
		for range rapid.IntRange(1, 40).Draw(rt, "requests") {
			w.request(rt)
			w.listUses(rt)
			w.exportFolder(rt)
		}
	})
}

func (w *world) save(rt *rapid.T, kind Kind, text []byte) {
	by := w.by("")
	saved, problems := Save(w.rows(), kind, text, nil, by)
	needed, found := Save(w.read(ForDraft(kind, text)), kind, text, nil, by)
	alike(rt, "save", saved, needed, problems, found)
	w.decided(rt, saved.Changes, problems)
}

func (w *world) publish(rt *rapid.T, kind Kind, id string, acts ...string) {
	by := w.by("ready")
	p, problems := Publish(w.rows(), kind, id, nil, by, acts...)
	needed, found := Publish(w.read(ForPublish(kind, id, acts...)), kind, id, nil, by, acts...)
	alike(rt, "publish", p, needed, problems, found)
	w.decided(rt, p.Changes, problems)
	if p.Changes.robots() > 0 {
		rt.Fatalf("publishing updated %d robots", p.Changes.robots())
	}
	if len(problems) > 0 {
		return
	}
	again, problems := Publish(w.rows(), kind, id, nil, w.by("ready"), acts...)
	if len(problems) > 0 || !again.Unchanged || !again.Changes.Empty() || again.Revision.Rev != p.Revision.Rev {
		rt.Fatalf("publishing %s %s twice: %+v, %v", kind, id, again, problems)
	}
}

func (w *world) publishAll(rt *rapid.T, texts []Source) {
	by := w.by("ready")
	p, problems := PublishAll(w.rows(), texts, nil, by)
	needed, found := PublishAll(w.read(ForPublishAll(texts)), texts, nil, by)
	alike(rt, "publish all", p, needed, problems, found)
	w.decided(rt, p.Changes, problems)
	if len(problems) > 0 {
		return
	}
	if p.Changes.robots() > 0 || len(p.Results) != len(texts) {
		rt.Fatalf("publishing all updated %d robots, with %d results", p.Changes.robots(), len(p.Results))
	}
	again, problems := PublishAll(w.rows(), texts, nil, w.by("ready"))
	if len(problems) > 0 || !again.Changes.Empty() {
		rt.Fatalf("publishing the same again: %v, changes %+v", problems, again.Changes)
	}
}

func (w *world) assign(rt *rapid.T, a Assignment) {
	by := w.by("")
	assigned, problems := Assign(w.rows(Pin{a.Story, a.Rev}), a, by)
	needed, found := Assign(w.read(ForAssignment(a.Story, a.Rev), a.Robots...), a, by)
	alike(rt, "assign", assigned, needed, problems, found)
	w.decided(rt, assigned.Changes, problems)
	overtaken := func(rows Rows) Rows {
		rows.Reported = func(string, schema.TopicKind) schema.ReportedRev { return schema.ReportedRev{Rev: 1000} }
		return rows
	}
	robots, again, problems := Renumber(overtaken(w.rows()), a.Robots, by)
	same, less, found := Renumber(overtaken(w.read(ForRenumber(), a.Robots...)), a.Robots, by)
	alike(rt, "publish again", robots, same, problems, found)
	alike(rt, "publish again", again, less, problems, found)
}

func (w *world) assignSet(rt *rapid.T, a ActivitiesAssignment) {
	by := w.by("")
	assigned, problems := AssignActivities(w.rows(a.Activities...), a, by)
	needed, found := AssignActivities(w.read(ForActivities(a.Activities), a.Robots...), a, by)
	alike(rt, "assign activities", assigned, needed, problems, found)
	w.decided(rt, assigned.Changes, problems)
	if len(problems) > 0 {
		return
	}
	again, problems := AssignActivities(w.rows(a.Activities...), a, w.by(""))
	if len(problems) > 0 || !again.Changes.Empty() || len(again.Unchanged) != len(slices.Compact(slices.Sorted(slices.Values(a.Robots)))) {
		rt.Fatalf("assigning %v twice: %+v, %v", a, again, problems)
	}
}

// alike requires that a plan returns the same from the rows that its Reading reads as from all rows.
func alike[P any](rt *rapid.T, what string, all, needed P, problems, found []schema.Problem) {
	if !reflect.DeepEqual(all, needed) || !reflect.DeepEqual(problems, found) {
		rt.Fatalf("%s:\nfrom all rows       %+v %v\nfrom what it needs %+v %v", what, all, problems, needed, found)
	}
}

// decided checks that a plan has either problems or changes, and applies it.
func (w *world) decided(rt *rapid.T, c Changes, problems []schema.Problem) {
	if len(problems) > 0 && !c.Empty() {
		rt.Fatalf("refused with %v, and changes %+v", problems, c)
	}
	for _, p := range problems {
		if p.Code == string(schema.ReasonInternal) || p.Detail == "" {
			rt.Fatalf("refused with %+v", p)
		}
	}
	w.apply(rt, c)
}

func (w *world) request(rt *rapid.T) {
	act := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(rt, "act")
	story := rapid.SampledFrom([]string{"x", "x", "y"}).Draw(rt, "story")
	activity := rapid.SampledFrom([]string{"v", "w"}).Draw(rt, "activity")
	kind, id := KindStory, story
	switch rapid.IntRange(0, 3).Draw(rt, "it is about") {
	case 0, 1:
		kind, id = KindAct, act
	case 2:
		kind, id = KindActivity, activity
	}
	switch rapid.SampledFrom([]string{"act", "story", "asset", "asset", "remove", "save, publish and assign", "save, publish and assign",
		"save, publish and assign", "activity", "set", "set", "publish", "folder", "apply folder", "apply folder", "assign", "delete", "delete",
		"recover"}).Draw(rt, "request") {
	case "act":
		w.save(rt, KindAct, actText(act, rapid.SampledFrom([]string{"smile", "wink", "smile+gong", "wink+bell", "wrong", "unreadable",
			"performs:a", "performs:b", "performs:d"}).Draw(rt, "what it does")))
	case "story":
		w.save(rt, KindStory, storyText(story, rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 4).Draw(rt, "acts")))
	case "save, publish and assign": // the most common sequence
		w.save(rt, KindStory, storyText(story, rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 3).Draw(rt, "acts")))
		w.publish(rt, KindStory, story)
		robot := rapid.SampledFrom([]string{"r1", "r2", "r3", "r4"}).Draw(rt, "robot")
		w.assign(rt, Assignment{Story: story, Robots: []string{robot}})
	case "activity":
		w.save(rt, KindActivity, activityText(activity, rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 3).Draw(rt, "acts")))
		w.publish(rt, KindActivity, activity)
	case "set":
		robots := rapid.SliceOfN(rapid.SampledFrom([]string{"r1", "r2", "r3"}), 0, 2).Draw(rt, "robots")
		w.assignSet(rt, ActivitiesAssignment{Activities: rapid.SampledFrom([][]Pin{nil, {{ID: "v"}}, {{ID: "w"}}, {{ID: "v"}, {ID: "w"}},
			{{ID: "v", Rev: 1}, {ID: "w"}}, {{ID: "v", Rev: 2}}, {{ID: "v"}, {ID: "v"}}}).Draw(rt, "set"), Robots: robots})
	case "publish":
		w.publish(rt, kind, id, rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 2).Draw(rt, "with acts")...)
	case "apply folder":
		w.applyFolder(rt)
	case "folder":
		w.publishAll(rt, []Source{
			{KindStory, storyText(story, rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 2).Draw(rt, "acts"))},
			{KindAct, actText(act, rapid.SampledFrom([]string{"smile", "wink+gong", "wrong", "performs:a", "performs:b"}).Draw(rt, "what it does"))},
			{KindAct, actText(rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "another act"), "wink")},
			{KindActivity, activityText(activity, []string{act})},
		}[rapid.IntRange(0, 2).Draw(rt, "from"):])
	case "assign":
		a := Assignment{Story: story, Rev: int64(rapid.IntRange(0, 3).Draw(rt, "rev")),
			Robots: rapid.SliceOfN(rapid.SampledFrom([]string{"r1", "r2", "r3", "r4"}), 0, 3).Draw(rt, "robots")}
		if rapid.IntRange(0, 9).Draw(rt, "take back") == 0 {
			a.Story = ""
		}
		w.assign(rt, a)
	case "asset":
		before, by := w.revisionsOf(), w.by("")
		name := rapid.SampledFrom([]string{"gong", "bell", "Not A Name"}).Draw(rt, "asset")
		body := fileOf(rapid.SampledFrom([]string{"sound", "sound", "large", "picture", "text"}).Draw(rt, "file"),
			name+rapid.SampledFrom([]string{"1", "2"}).Draw(rt, "text"))
		up, problems := PutAsset(w.rows(), name, body, by)
		needed, found := PutAsset(w.read(ForPutAsset(name)), name, body, by)
		alike(rt, "put an asset", up, needed, problems, found)
		w.decided(rt, up.Changes, problems)
		if after := w.revisionsOf(); after != before || len(up.Changes.Outbox)+len(up.Changes.Defaults) > 0 {
			rt.Fatalf("an asset was uploaded, and published stories changed from %s to %s", before, after)
		}
	case "remove":
		name, by := rapid.SampledFrom([]string{"gong", "bell"}).Draw(rt, "asset"), w.by("")
		c, problems := DeleteAsset(w.rows(), name, by)
		needed, found := DeleteAsset(w.read(ForDeleteAsset(name)), name, by)
		alike(rt, "delete an asset", c, needed, problems, found)
		w.decided(rt, c, problems)
	case "recover":
		by := w.by("")
		saved, problems := Recover(w.rows(), kind, id, by)
		needed, found := Recover(w.read(ForRecover(kind, id)), kind, id, by)
		alike(rt, "recover", saved, needed, problems, found)
		w.decided(rt, saved.Changes, problems)
	case "delete":
		w.delete(rt, kind, id)
	}
}

// listUses compares the uses of all assets with those from the rows that the list needs.
func (w *world) listUses(rt *rapid.T) {
	of := func(rows Rows) map[string][]Use {
		uses, problems := Uses(rows)
		if len(problems) > 0 {
			rt.Fatalf("uses: %v", problems)
		}
		listed := map[string][]Use{}
		for _, a := range rows.Assets {
			listed[a.Name] = uses[a.Name]
		}
		return listed
	}
	alike(rt, "uses of assets", of(w.rows()), of(w.read(ForUses())), nil, nil)
}

func (w *world) delete(rt *rapid.T, kind Kind, id string) {
	by := w.by("not wanted")
	dry, problems := Delete(w.rows(), kind, id, nil, by)
	neededDry, found := Delete(w.read(ForDelete(kind, id)), kind, id, nil, by)
	alike(rt, "a dry run of delete", dry, neededDry, problems, found)
	if !dry.Changes.Empty() {
		rt.Fatalf("a dry run changes %+v", dry.Changes)
	}
	if len(problems) > 0 {
		return
	}
	agreed := Expect{Stories: len(dry.Impact.Stories), Activities: len(dry.Impact.Activities), Robots: dry.Impact.Robots,
		Clear: dry.Impact.Clears}
	for name, e := range map[string]Expect{
		"one story more":    {Stories: agreed.Stories + 1, Activities: agreed.Activities, Robots: agreed.Robots, Clear: agreed.Clear},
		"one activity more": {Stories: agreed.Stories, Activities: agreed.Activities + 1, Robots: agreed.Robots, Clear: agreed.Clear},
		"one robot less":    {Stories: agreed.Stories, Activities: agreed.Activities, Robots: agreed.Robots - 1, Clear: agreed.Clear},
		"no name":           {Stories: agreed.Stories, Activities: agreed.Activities, Robots: agreed.Robots},
	} {
		if name == "no name" && len(agreed.Clear) == 0 {
			continue
		}
		if refused, problems := Delete(w.rows(), kind, id, &e, by); len(problems) == 0 || !refused.Changes.Empty() {
			rt.Fatalf("%s, and it was not refused: %v", name, problems)
		}
	}
	before, entries, sets := maps.Clone(w.defaults), maps.Clone(w.entries), maps.Clone(w.sets)
	done, problems := Delete(w.rows(), kind, id, &agreed, by)
	needed, found := Delete(w.read(ForDelete(kind, id)), kind, id, &agreed, by)
	alike(rt, "delete", done, needed, problems, found)
	if len(problems) > 0 || !reflect.DeepEqual(done.Impact, dry.Impact) {
		rt.Fatalf("the dry run returned %+v, the deletion %+v with %v", dry.Impact, done.Impact, problems)
	}
	w.decided(rt, done.Changes, problems)
	for at, was := range entries {
		now := w.entries[at]
		if at.Kind == KindAct || was.Rev == 0 || was.Deleted() || now.Deleted() {
			continue
		}
		want := w.left(revisionKey{at, was.Rev}, kind, id)
		if got := w.contents(w.revisions[revisionKey{at, now.Rev}]); got != want {
			rt.Fatalf("%s %s was deleted, and the newest revision of %s changed from %d to %d and contains %q, want %q", kind, id, at.ID, was.Rev,
				now.Rev, got, want)
		}
	}
	touched := map[string]bool{}
	for robot, was := range sets {
		now := w.sets[robot]
		var want []string // of each activity that is left, its acts
		for _, p := range was.Activities {
			if left := w.left(revisionKey{Ref{KindActivity, p.ID}, p.Rev}, kind, id); left != "" && !w.entries[Ref{KindActivity, p.ID}].Deleted() {
				want = append(want, p.ID+": "+left)
			}
		}
		var got []string
		for _, p := range now.Activities {
			got = append(got, p.ID+": "+w.contents(w.revisions[revisionKey{Ref{KindActivity, p.ID}, p.Rev}]))
		}
		if !slices.Equal(got, want) || slices.Equal(was.Activities, now.Activities) != (was.DesiredRev == now.DesiredRev) {
			rt.Fatalf("%s had the activities %+v, %s %s was deleted, and it has %v, want %v", robot, was, kind, id, got, want)
		}
		touched[robot] = touched[robot] || now.DesiredRev != was.DesiredRev
	}
	for robot, now := range w.defaults {
		was := before[robot]
		if now.DesiredRev != was.DesiredRev {
			touched[robot] = true
		}
		if want := w.left(revisionKey{Ref{KindStory, was.Story}, was.Rev}, kind, id); now.Story == "" && want != "" &&
			!w.entries[Ref{KindStory, was.Story}].Deleted() || now.Story != "" && w.performs(now) != want {
			rt.Fatalf("%s performed %q, %s %s was deleted, and it performs %q of %q", robot, w.performs(was), kind, id, w.performs(now), now.Story)
		}
		if (was.Story != now.Story || was.Rev != now.Rev) != (was.DesiredRev != now.DesiredRev) {
			rt.Fatalf("%s changes from %+v to %+v", robot, was, now)
		}
	}
	maps.DeleteFunc(touched, func(_ string, is bool) bool { return !is })
	if len(touched) != dry.Impact.Robots {
		rt.Fatalf("%d robots should be updated, %d were", dry.Impact.Robots, len(touched))
	}
}

// revisionsOf returns everything that is published, as one text.
func (w *world) revisionsOf() string {
	var all []string
	for at, v := range w.revisions {
		all = append(all, fmt.Sprint(at, v.SHA256))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// performs returns the acts of a robot's default story.
func (w *world) performs(d Default) string {
	if d.Story == "" {
		return ""
	}
	return w.contents(w.revisions[revisionKey{Ref{KindStory, d.Story}, d.Rev}])
}

// left returns the acts of a revision that should be left after a deletion.
func (w *world) left(at revisionKey, kind Kind, id string) string {
	acts := w.contents(w.revisions[at])
	if kind != KindAct {
		if at.Ref == (Ref{kind, id}) {
			return ""
		}
		return acts
	}
	return strings.Join(slices.DeleteFunc(strings.Fields(acts), func(act string) bool { return act == id }), " ")
}

func TestAssignListsRobotsThatCannotPerformTheStory(t *testing.T) {
	w := newWorld()
	for _, plan := range []func() Changes{
		func() Changes {
			s, _ := Save(w.rows(), KindAct, actText("a", "smile"), nil, w.by(""))
			return s.Changes
		},
		func() Changes { p, _ := Publish(w.rows(), KindAct, "a", nil, w.by("")); return p.Changes },
		func() Changes {
			s, _ := Save(w.rows(), KindStory, storyText("x", []string{"a"}), nil, w.by(""))
			return s.Changes
		},
		func() Changes { p, _ := Publish(w.rows(), KindStory, "x", nil, w.by("")); return p.Changes },
	} {
		w.apply(t, plan())
	}
	face := schema.Unit{ID: "face", Kind: schema.UnitFace}
	caps := map[string]*schema.Caps{"r1": {Units: []schema.Unit{face}}, "r2": {}, "r4": {Session: "another"}}
	out, problems := Assign(w.rows(), Assignment{Story: "x", Robots: []string{"r1", "r2", "r3", "r4"},
		Caps: func(robot string) *schema.Caps { return caps[robot] }}, w.by(""))
	if len(problems) > 0 || fmt.Sprint(out.Updated) != "[r1 r2 r3 r4]" {
		t.Fatalf("updated %v, %v", out.Updated, problems)
	}
	if len(out.Misfits) != 1 || out.Misfits[0].ID != "x" || fmt.Sprint(out.Misfits[0].Robots) != "[r2 r4]" ||
		out.Misfits[0].Problems[0].Code != "no_unit" {
		t.Fatalf("misfits %+v", out.Misfits)
	}
}

func TestTooBigStoryIsNotPublished(t *testing.T) {
	w := newWorld()
	var acts []string
	for i := range 6 { // each within its own limit, together over that of a story
		id := fmt.Sprintf("long%d", i)
		var text strings.Builder
		fmt.Fprintf(&text, "act: %s\nactions:\n", id)
		for k := range 60 {
			fmt.Fprintf(&text, "  - {type: say, start_ms: %d, timeout_ms: 900, text: {en: %s}}\n", k*1000, strings.Repeat("long ", 180))
		}
		saved, problems := Save(w.rows(), KindAct, []byte(text.String()), nil, w.by(""))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		w.apply(t, saved.Changes)
		p, problems := Publish(w.rows(), KindAct, id, nil, w.by(""))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		w.apply(t, p.Changes)
		acts = append(acts, id)
	}
	saved, _ := Save(w.rows(), KindStory, storyText("x", acts), nil, w.by(""))
	w.apply(t, saved.Changes)
	p, problems := Publish(w.rows(), KindStory, "x", nil, w.by(""))
	if len(problems) != 1 || problems[0].Code != "too_big" || !p.Changes.Empty() {
		t.Fatalf("got %v", problems)
	}
}

func TestTextWithoutValidKindOrIDIsRefused(t *testing.T) {
	_, problems := Save(newWorld().rows(), "poem", []byte("act: a"), nil, audit.Attribution{})
	if len(problems) != 1 || problems[0].Code != CodeNotFound {
		t.Fatalf("got %v", problems)
	}
	for _, text := range []string{"actions: []", "act: Not An Id\nactions: []"} {
		if saved, problems := Save(newWorld().rows(), KindAct, []byte(text), nil, audit.Attribution{}); len(problems) == 0 ||
			!saved.Changes.Empty() {
			t.Errorf("%q was saved", text)
		}
	}
}
