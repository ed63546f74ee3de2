package change_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"troupe/fleetd/change"
	"troupe/fleetd/content"
	"troupe/fleetd/desired"
	"troupe/fleetd/folder"
	"troupe/fleetd/library"
	"troupe/fleetd/policy"
	"troupe/fleetd/rollout"
	"troupe/fleetd/schedule"
	"troupe/fleetd/selector"
	ofsite "troupe/fleetd/site"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
)

// folderWorld is a fleet that people and a folder change.
type folderWorld struct {
	*policyWorld
	folders   *change.Folders
	schedules *change.Schedules
}

func (w *policyWorld) withFolders() folderWorld {
	return folderWorld{w, &change.Folders{Deps: w.deps, Rollouts: w.policies.Rollouts}, &change.Schedules{Deps: w.deps}}
}

// filesOf are the files of a folder with the name museum: a path, its text, and so on.
func filesOf(t *testing.T, pathsAndTexts ...string) folder.Fleet {
	t.Helper()
	files := []folder.File{{Path: folder.Settings, Text: "folder: museum\n"}}
	for i := 0; i < len(pathsAndTexts); i += 2 {
		files = append(files, folder.File{Path: pathsAndTexts[i], Text: pathsAndTexts[i+1]})
	}
	f, found := folder.Read(files, nil)
	if len(found) > 0 {
		t.Fatal(found)
	}
	return f
}

// does applies a folder, and requires that it is refused with these codes.
func (f folderWorld) does(of folder.Fleet, a change.FolderApply, codes ...string) change.FolderApplied {
	f.Helper()
	done, found, err := f.folders.Apply(f.Context(), anna, of, a, who)
	f.check(nil, err)
	got := make([]string, len(found))
	for i, p := range found {
		got[i] = p.Code
	}
	if !slices.Equal(got, codes) {
		f.Fatalf("%q, want the codes %q", found, codes)
	}
	return done
}

// Robots that join while the rollout of a folder is in its first wave wait for its last one, also after the folder was applied again.
func TestNewcomersWaitForTheRolloutOfAFolder(t *testing.T) {
	withPolicies(t, func(w *policyWorld) {
		ctx, f := w.Context(), w.withFolders()
		for i := range 6 {
			w.check(w.db.AddRobot(ctx, fmt.Sprintf("r%d", i), storetest.Start))
			w.label(fmt.Sprintf("r%d", i), map[string]string{"site": "lobby"})
		}
		text := "policy: lobby\nplace: 1\nselector: {labels: [{key: site, value: lobby}]}\ncontent: {story: {id: museum}}\n"
		done := f.does(filesOf(t, "policies/lobby.yaml", text), change.FolderApply{})
		f.does(filesOf(t, "policies/lobby.yaml", strings.Replace(text, "place: 1", "place: 2", 1)), change.FolderApply{})
		w.check(w.db.AddRobot(ctx, "r9", storetest.Start))
		w.label("r9", map[string]string{"site": "lobby"})
		w.want("r9", "nothing by policy lobby, differs")

		id := done.Reaches[0].Rollout
		row, err := w.db.Rollout(ctx, id)
		w.check(nil, err)
		members, err := w.db.RolloutRobots(ctx, store.RolloutRobotQuery{Rollout: id})
		w.check(nil, err)
		row.Wave = len(row.Waves) - 1
		w.check(nil, w.policies.Rollouts.Step(ctx, rollout.NewRun(row, members), rollout.Changes{Rollout: row,
			Notes: []rollout.Note{{What: rollout.OnWavePassed}}}, storetest.Start.Add(time.Hour)))
		w.want("r9", "story museum revision 1 by policy lobby")
		w.want("r1", "nothing by policy lobby, differs")
	})
}

// What an apply deletes is confirmed with the number, and that it takes robots from open rollouts with the plan.
func TestApplyOfAFolderIsConfirmed(t *testing.T) {
	withPolicies(t, func(w *policyWorld) {
		f := w.withFolders()
		w.check(w.db.AddRobot(w.Context(), "r1", storetest.Start))
		text := "policy: fleet\nselector: {all: true}\ncontent: {story: {id: museum}}\n"
		f.does(filesOf(t, "policies/fleet.yaml", text), change.FolderApply{})
		other := filesOf(t, "policies/fleet.yaml", strings.Replace(text, "museum", "other", 1))
		f.does(other, change.FolderApply{}, library.CodeConfirm)
		plan, _, err := f.folders.Plan(w.Context(), anna, other, change.FolderApply{}, who)
		w.check(nil, err)
		f.does(other, change.FolderApply{Digest: plan.Digest})
		prune, one := change.FolderApply{Options: folder.Options{Prune: true}}, 1
		f.does(filesOf(t), prune, library.CodeConfirm)
		prune.Deletes = &one
		f.does(filesOf(t), prune)
	})
}

// What a person changes of a folder stays of the folder, so that the folder can prune it.
func TestPeopleChangeWhatStaysOfTheFolder(t *testing.T) {
	withPolicies(t, func(w *policyWorld) {
		f, everybody := w.withFolders(), selector.All()
		files := []string{
			"policies/fleet.yaml", "policy: fleet\nselector: {all: true}\ncontent: {places: {id: points}}\n",
			"places/points.json", `{"schema":1,"points":{"desk":{"x_m":1,"y_m":2}}}`,
			"sites/lobby.yaml", "site: lobby\nzone: Europe/Berlin\nhours: {mon: [\"09:00-18:00\"]}\n",
			"schedules/quiet.yaml", "schedule: quiet\nevent: opening\nsite: lobby\naction: {performance: pause}\nselector: {all: true}\n",
		}
		f.does(filesOf(t, files...), change.FolderApply{})
		entries := len(w.audit())
		f.does(filesOf(t, files...), change.FolderApply{})
		if n := len(w.audit()); n != entries {
			t.Errorf("to apply it again wrote %d entries into the audit", n-entries)
		}

		w.put(policy.Policy{ID: "fleet", Place: 5, Selector: everybody, Content: storyOf("museum")})
		_, found, err := f.schedules.PutSite(w.Context(), anna, change.Site{ID: "lobby",
			Calendar: schedule.Calendar{Site: ofsite.Site{Zone: "Europe/Paris"}}}, false, who)
		w.fine(found, err)
		_, _, found, err = f.schedules.PutSchedule(w.Context(), anna, change.Schedule{ID: "quiet", Schedule: schedule.Schedule{
			Times: schedule.Times{Event: "opening", Site: "lobby"}, Action: schedule.Action{Mode: "mnl"}, Selector: &everybody}}, false, who)
		w.fine(found, err)

		plan, none, err := f.folders.Plan(w.Context(), anna, filesOf(t), change.FolderApply{Options: folder.Options{Prune: true}}, who)
		if w.check(nil, err); len(none) > 0 || plan.Deletes != 3 {
			t.Errorf("an empty folder deletes %d of 3 objects: %v", plan.Deletes, none)
		}
		two := 2 // the schedule is not at the openings of the site any more
		files[7] = "schedule: quiet\ncron: 0 9 * * 1\nzone: Europe/Berlin\naction: {performance: pause}\nselector: {all: true}\n"
		f.does(filesOf(t, files[6:]...), change.FolderApply{Options: folder.Options{Prune: true}, Deletes: &two})
	})
}

// A story that a schedule or a calendar assigns is not pruned, and the paths of the API name no schedule.
func TestSchedulesOfAFolderAreWhole(t *testing.T) {
	withPolicies(t, func(w *policyWorld) {
		f, two, one := w.withFolders(), 2, 1
		story := []string{"stories/party.yaml", "story: party\nname: {en: Party}\nrepeat: loop\nacts: [{act: wave}]\n",
			"sites/lobby.yaml", "site: lobby\nzone: Europe/Berlin\nhours: {mon: [\"09:00-18:00\"]}\nopen: {assign: {story: {id: party}}}\n",
			"schedules/party.yaml", "schedule: party\ncron: 0 9 * * 1\nzone: Europe/Berlin\naction: {assign: {story: {id: party}}}\n" +
				"selector: {all: true}\n"}
		f.does(filesOf(t, story...), change.FolderApply{})
		f.does(filesOf(t, story[2:]...), change.FolderApply{Options: folder.Options{Prune: true}, Deletes: &one}, library.CodeInUse,
			library.CodeInUse)
		f.does(filesOf(t, story[2:4]...), change.FolderApply{Options: folder.Options{Prune: true}, Deletes: &two}, library.CodeInUse)
		f.does(filesOf(t, "schedules/next.yaml", "schedule: next\ncron: 0 9 * * 1\nzone: UTC\naction: {performance: pause}\n"+
			"selector: {all: true}\n"),
			change.FolderApply{}, "bad_id")
	})
}

// Whatever people did: what is exported is no difference, to apply it takes what it has once, an edited folder is applied as its plan
// says or not at all, and to apply it again changes nothing.
func TestFolderIsTheFleetWhateverPeopleDid(t *testing.T) {
	withPolicies(t, func(w *policyWorld) {
		for _, robot := range []string{"r1", "r2", "r3"} {
			w.check(w.db.AddRobot(w.Context(), robot, storetest.Start))
		}
		w.label("r1", map[string]string{"site": "lobby"})
		w.label("r2", map[string]string{"site": "hall"})
		f := w.withFolders()
		check := func(rt *rapid.T) {
			for range rapid.IntRange(1, 4).Draw(rt, "changes of people") {
				f.somebodyChanges(rt)
			}
			files := f.export(rt)
			if done, found := f.plan(rt, files, change.FolderApply{}); len(found) > 0 || !done.Empty() {
				rt.Fatalf("the exported folder differs: %v %+v", found, done.Changes)
			}
			if done, found := f.apply(rt, files, change.FolderApply{}); len(found) > 0 || !done.Empty() || len(done.Reaches) > 0 {
				rt.Fatalf("to apply the exported folder changes something: %v %+v", found, done)
			}
			if done, found := f.apply(rt, files, change.FolderApply{}); len(found) > 0 || len(done.Takes) > 0 {
				rt.Fatalf("to apply it again takes %v: %v", done.Takes, found)
			}
			before := files
			files = edited(rt, files)
			ask := change.FolderApply{Options: folder.Options{Prune: rapid.Bool().Draw(rt, "prune"), Now: rapid.Bool().Draw(rt, "now")}}
			seen, found := f.plan(rt, files, ask)
			if len(found) > 0 {
				f.refused(rt, files, ask, before)
				return
			}
			ask.Digest, ask.Deletes = seen.Digest, &seen.Deletes
			done, found := f.apply(rt, files, ask)
			if len(found) > 0 || done.Digest != seen.Digest {
				rt.Fatalf("the plan was %s, the apply %s: %v", seen.Digest, done.Digest, found)
			}
			ask.Digest, ask.Deletes = "", nil
			if again, found := f.apply(rt, files, ask); len(found) > 0 || !again.Empty() || len(again.Takes) > 0 {
				rt.Fatalf("to apply it twice: %v %+v", found, again.Plan)
			}
			if !ask.Prune {
				return
			}
			if is := f.export(rt); !sameObjects(is, files) {
				rt.Fatalf("the fleet is not as the folder:\n%s\n%s", pathsOf(is), pathsOf(files))
			}
		}
		if strings.HasSuffix(w.Name(), "sqlite") {
			rapid.Check(w.T, check)
			return
		}
		for seed := range 5 { // a transaction of PostgreSQL takes many times longer
			rapid.Custom(func(rt *rapid.T) bool { check(rt); return true }).Example(seed)
		}
	})
}

// refused requires that a refused folder changes nothing.
func (f folderWorld) refused(rt *rapid.T, files []folder.File, ask change.FolderApply, before []folder.File) {
	if _, found := f.apply(rt, files, ask); len(found) == 0 {
		rt.Fatal("the plan was refused, and the apply was not")
	}
	if is := f.export(rt); !slices.Equal(is, before) {
		rt.Fatalf("a refused folder changed\n%v\nto\n%v", before, is)
	}
}

// sameObjects reports whether two folders have the same objects.
func sameObjects(a, b []folder.File) bool { return pathsOf(a) == pathsOf(b) }

func pathsOf(files []folder.File) string {
	var refs []string
	for _, file := range files {
		if ref, ok := folder.RefOf(file); ok && ref.Kind != folder.KindPlaces {
			refs = append(refs, ref.String())
		}
	}
	slices.Sort(refs)
	return strings.Join(refs, ", ")
}

func (f folderWorld) export(rt *rapid.T) []folder.File {
	out, err := f.folders.Export(f.Context(), "museum")
	if err != nil {
		rt.Fatal(err)
	}
	return out.Files
}

func (f folderWorld) plan(rt *rapid.T, files []folder.File, a change.FolderApply) (change.FolderApplied, []library.FileProblem) {
	of, found := folder.Read(files, nil)
	done, more, err := f.folders.Plan(f.Context(), anna, of, a, who)
	if err != nil {
		rt.Fatal(err)
	}
	return done, append(found, more...)
}

func (f folderWorld) apply(rt *rapid.T, files []folder.File, a change.FolderApply) (change.FolderApplied, []library.FileProblem) {
	of, found := folder.Read(files, nil)
	if len(found) > 0 {
		return change.FolderApplied{}, found
	}
	done, found, err := f.folders.Apply(f.Context(), anna, of, a, who)
	if err != nil {
		rt.Fatal(err)
	}
	return done, found
}

// edited returns the files of a folder as its authors changed them.
func edited(rt *rapid.T, files []folder.File) []folder.File {
	files = slices.Clone(files)
	for range rapid.IntRange(1, 3).Draw(rt, "edits") {
		i := rapid.IntRange(0, len(files)-1).Draw(rt, "file")
		switch edit := rapid.SampledFrom([]string{"remove", "time", "comment", "place", "new"}).Draw(rt, "edit"); {
		case edit == "remove" && files[i].Path != folder.Settings && !strings.HasPrefix(files[i].Path, "places/"):
			files = slices.Delete(files, i, i+1)
		case edit == "time":
			n := rapid.IntRange(1, 3).Draw(rt, "seconds") * 1000
			put(&files, "acts/wave.yaml", fmt.Sprintf("act: wave\nactions: [{type: wait, start_ms: 0, end_ms: %d}]\n", n))
		case edit == "comment" && strings.HasSuffix(files[i].Path, ".yaml"):
			files[i].Text += "# a comment\n"
		case edit == "place" && strings.HasPrefix(files[i].Path, "policies/"):
			files[i].Text = strings.Replace(files[i].Text, "place: 1", "place: 2", 1)
		case edit == "new":
			put(&files, "policies/night.yaml", "policy: night\nselector: {all: true}\ncontent: {mode: {mode: mnl}}\n")
		}
	}
	return files
}

func put(files *[]folder.File, path, text string) {
	for i := range *files {
		if (*files)[i].Path == path {
			(*files)[i].Text = text
			return
		}
	}
	*files = append(*files, folder.File{Path: path, Text: text})
}

// somebodyChanges changes something without the folder. A refusal is no failure: the test is about what is there then.
func (f folderWorld) somebodyChanges(rt *rapid.T) {
	name := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "name")
	robots := rapid.SampledFrom([]selector.Selector{selector.All(), site("lobby"), site("hall")}).Draw(rt, "robots")
	var err error
	switch rapid.SampledFrom([]string{"policy", "policy", "delete policy", "site", "schedule", "act", "draft"}).Draw(rt, "somebody changes") {
	case "policy":
		p := policy.Policy{ID: name, Place: rapid.IntRange(0, 20).Draw(rt, "place"), Selector: robots, Content: randomContent(rt),
			Enabled: rapid.Bool().Draw(rt, "enabled")}
		_, _, err = f.policies.Put(f.Context(), anna, change.PolicyPut{Policy: p, Now: true}, anyRobots, who)
	case "delete policy":
		_, _, _ = f.policies.Delete(f.Context(), anna, change.PolicyPut{Policy: policy.Policy{ID: name}}, anyRobots, who) // it may not exist
	case "site":
		c := schedule.Calendar{Site: ofsite.Site{Zone: rapid.SampledFrom([]string{"Europe/Berlin", "America/New_York"}).Draw(rt, "zone"),
			Hours: ofsite.Week{Mon: []string{"09:00-18:00"}}}}
		if rapid.Bool().Draw(rt, "opens") {
			c.Open = &schedule.Action{Performance: "start"}
		}
		id := rapid.SampledFrom([]string{"lobby", "Main Hall"}).Draw(rt, "site")
		_, _, err = f.schedules.PutSite(f.Context(), anna, change.Site{ID: id, Calendar: c}, false, who)
	case "schedule":
		s := schedule.Schedule{Times: schedule.Times{Cron: "0 9 * * 1-5", Zone: "Europe/Berlin"},
			Action: schedule.Action{Performance: rapid.SampledFrom([]string{"start", "stop"}).Draw(rt, "performance")}, Selector: &robots}
		if rapid.Bool().Draw(rt, "disabled") {
			s.Enabled = new(bool)
		}
		_, _, _, err = f.schedules.PutSchedule(f.Context(), anna, change.Schedule{ID: name, Schedule: s}, false, who)
	case "act":
		text := fmt.Sprintf("# by a person\nact: wave\nactions: [{type: wait, start_ms: 0, end_ms: %d}]\n",
			rapid.IntRange(1, 3).Draw(rt, "seconds")*1000)
		_, _, err = f.library.PublishAll(f.Context(), anna, []library.Source{{Kind: library.KindAct, Body: []byte(text)}}, nil, false, who)
	case "draft":
		_, _, err = f.library.Save(f.Context(), anna, library.KindStory, "other",
			fmt.Appendf(nil, "story: other\nname: {en: Other %d}\nrepeat: loop\nacts: [{act: wave}]\n",
				rapid.IntRange(0, 2).Draw(rt, "text")), nil, who)
	}
	if err != nil {
		rt.Fatal(err)
	}
}

func randomContent(rt *rapid.T) content.Content {
	return rapid.SampledFrom([]content.Content{
		storyOf("museum"), storyOf(""), {Story: &content.Story{ID: "museum", Rev: 1, Apply: schema.ApplyNow}},
		{Activities: &content.Activities{Pins: []library.Pin{{ID: "greet"}}}}, {Activities: &content.Activities{Pins: []library.Pin{}}},
		{Config: &desired.Config{Set: map[string]jsontext.Value{"time_zone": jsontext.Value(`"Europe/Paris"`)}, Unset: []string{"languages"}}},
		{Mode: &desired.Mode{Mode: schema.ModeMnl}},
		{Places: &desired.Set{ID: "points", Body: jsontext.Value(`{"schema":1,"points":{"desk":{"x_m":1,"y_m":2}}}`)}},
		{Places: &desired.Set{ID: "points", Rev: 7, Body: jsontext.Value(`{"schema": 1, "points": {"desk": {"x_m": 1.5, "y_m": 2}}}`)}},
		{Places: &desired.Set{}},
	}).Draw(rt, "content")
}
