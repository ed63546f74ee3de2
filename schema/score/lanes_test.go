package score

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"troupe/schema"
)

func TestBarsAreThoseOfAPerformanceWithEstimatedDurations(t *testing.T) {
	taken, waited, frozen := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		for range 40 {
			a := Act{ID: "a", Actions: drawList(t, 0, true)}
			if len(schema.Errors(ValidateAct(a))) > 0 {
				continue
			}
			taken++
			tl, found := ActTimeline(a, nil)
			if len(found) > 0 {
				t.Fatal(found)
			}
			checkBars(t, tl)
			var want, got []string
			r := perform(a.Actions, func(x *Action) int64 { return min(estimate(x), *x.TimeoutMS) })
			find(r.root, func(p *part) bool {
				if p.Type() != TypeGroup {
					want = append(want, fmt.Sprintf("%s %d-%d", p.Type(), p.from, p.to))
				}
				return false
			})
			for _, lane := range tl.Lanes {
				for _, b := range lane.Bars {
					got = append(got, fmt.Sprintf("%s %d-%d", b.Type, b.StartMS, b.EndMS))
					if b.WaitsMS > 0 {
						waited++
					}
				}
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) || tl.LengthMS != r.now {
				t.Fatalf("bars\n%q, length %d, want\n%q, length %d\n%+v", got, tl.LengthMS, want, r.now, a.Actions)
			}
			frozen += len(tl.Frozen)
		}
	})
	if taken < 100 || waited < 5 || frozen < 5 {
		t.Errorf("%d valid acts with %d bars that wait and %d exclusive actions: too few for this test", taken, waited, frozen)
	}
}

// checkBars fails if bars of a lane overlap or lie outside the timeline, or if a class that
// does not share its unit has two lanes on it.
func checkBars(t interface{ Fatalf(string, ...any) }, tl Timeline) {
	lanes := map[lane]bool{}
	for _, l := range tl.Lanes {
		row, _ := RowOf(l.Bars[0].Type)
		if at := (lane{l.Class, l.Unit}); lanes[at] && !row.Shares() {
			t.Fatalf("two lanes for %v", at)
		} else {
			lanes[at] = true
		}
		end := int64(0)
		for _, b := range l.Bars {
			if b.StartMS < end || b.EndMS < b.StartMS || b.EndMS > tl.LengthMS || b.WaitsMS < 0 {
				t.Fatalf("%s: %+v begins before %d or ends after %d", l.Class, b, end, tl.LengthMS)
			}
			end = b.EndMS
		}
	}
	for _, f := range tl.Frozen {
		if f.EndMS <= f.StartMS || f.EndMS > tl.LengthMS {
			t.Fatalf("%+v in a timeline of %d ms", f, tl.LengthMS)
		}
	}
}

const stroll = `{act: stroll, parameters: {place: {type: string, default: the desk}}, actions: [
  {type: say, start_ms: 0, timeout_ms: 9000, text: {en: "To ${place}, please", de: "Bitte zu ${place}"}},
  {type: say, start_ms: 500, end_ms: 1500, text: {en: "Now"}},
  {type: group, id: way, start_ms: 3000, method: exclusive, actions: [
    {type: goto, start_ms: 0, timeout_ms: 20000, point: desk}, {type: led, start_ms: 0, end_ms: 2000, colour: "#ffffff", unit: led-2}]},
  {type: face, start_ms: 3500, face: smile}, {type: wait, start_ms: 3500, end_ms: 4000}, {type: wait, start_ms: 3600, end_ms: 4100}]}`

func TestTimelineSaysWhatIsEstimatedAndWhatWaits(t *testing.T) {
	acts := library(t, stroll)
	tl, found := ActTimeline(acts["stroll"], In(acts), "de")
	if len(found) > 0 {
		t.Fatal(found)
	}
	var got []string
	for _, l := range tl.Lanes {
		for _, b := range l.Bars {
			got = append(got, fmt.Sprintf("%s/%s %d-%d start~%v lasts~%v waits %d %s %s", l.Class, l.Unit, b.StartMS, b.EndMS, b.StartEstimated,
				b.Estimated, b.WaitsMS, b.Text, b.Pointer))
		}
	}
	for _, f := range tl.Frozen {
		got = append(got, fmt.Sprintf("%+v", f))
	}
	want := strings.Join([]string{
		`speech/ 0-1357 start~false lasts~true waits 0 "Bitte zu the desk" /actions/0`,
		`speech/ 1357-2357 start~true lasts~false waits 857 "Now" /actions/1`,
		`face/ 18500-18500 start~true lasts~false waits 0 smile /actions/3`,
		`led/led-2 3000-5000 start~false lasts~false waits 0 #ffffff /actions/2/actions/1`,
		`body/ 3000-18000 start~false lasts~true waits 0 to desk /actions/2/actions/0`,
		`wait/ 18500-19000 start~true lasts~false waits 0  /actions/4`,
		`wait/ 18600-19100 start~true lasts~false waits 0  /actions/5`,
		`{StartMS:3000 EndMS:18000 StartEstimated:false Estimated:true Step:0 Pointer:/actions/2 Group: Text:goto, led alone}`,
	}, "\n")
	if all := strings.Join(got, "\n"); all != want {
		t.Errorf("got\n%s\nwant\n%s", all, want)
	}
	if tl.LengthMS != 19100 {
		t.Errorf("takes %d ms", tl.LengthMS)
	}
}

func TestHeadAndMotionOfOneUnitWaitForEachOther(t *testing.T) {
	const nod = `{type: motion, start_ms: %d, timeout_ms: 4000, motion: nod%s}`
	for _, c := range []struct {
		name          string
		first, second string
		waits         int64
	}{
		{"a motion for a turn of the head", turning, fmt.Sprintf(nod, 1000, ""), 2000},
		{"a turn of the head for a motion", fmt.Sprintf(nod, 0, ""), `{type: head, start_ms: 1000, end_ms: 2000, yaw_rad: 0.4}`, 2000},
		{"of units by name", turning[:len(turning)-1] + ", unit: head}", fmt.Sprintf(nod, 1000, ", unit: head"), 2000},
		{"of two units", turning[:len(turning)-1] + ", unit: head}", fmt.Sprintf(nod, 1000, ", unit: drive"), 0},
		{"a way for a turn of the head", turning, `{type: goto, start_ms: 1000, timeout_ms: 20000, point: desk}`, 0},
		{"a sentence for a motion", fmt.Sprintf(nod, 0, ""), `{type: say, start_ms: 1000, timeout_ms: 4000, text: {en: "Yes"}}`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := library(t, "{act: a, actions: ["+c.first+", "+c.second+"]}")["a"]
			found := ValidateAct(a)
			warned := slices.ContainsFunc(found, func(p schema.Problem) bool { return p.Code == CodeMayWait && p.Pointer == "/actions/1/start_ms" })
			if len(schema.Errors(found)) > 0 || warned != (c.waits > 0) {
				t.Errorf("found %v", found)
			}
			tl, _ := ActTimeline(a, nil)
			for _, l := range tl.Lanes {
				for _, b := range l.Bars {
					if b.Pointer == "/actions/1" && (b.WaitsMS != c.waits || b.StartMS != 1000+c.waits) {
						t.Errorf("drawn at %d ms, waits %d ms, want %d ms", b.StartMS, b.WaitsMS, c.waits)
					}
				}
			}
		})
	}
}

const turning = `{type: head, start_ms: 0, end_ms: 3000, yaw_rad: 0.4}`

func TestActsOfAStoryFollowOneAnother(t *testing.T) {
	acts := library(t, stroll, hello, twice)
	s := Story{ID: "s", Languages: []string{"de", "en"}, Acts: []Step{{Act: "twice", With: map[string]string{"who": "Ada"}},
		{Act: "stroll", With: map[string]string{"place": "Tür"}}, {Act: "stroll"}}}
	tl, found := StoryTimeline(s, In(acts))
	if len(found) > 0 {
		t.Fatal(found)
	}
	checkBars(t, tl)
	end := int64(0)
	for i, a := range tl.Acts {
		one, _ := ActTimeline(acts[a.Act].Resolve(s.Acts[i]), In(acts))
		if a.StartMS != end || a.EndMS != end+one.LengthMS || a.Step != i || !a.Estimated {
			t.Errorf("%+v begins at %d, expected %d and a length of %d", a, a.StartMS, end, one.LengthMS)
		}
		end = a.EndMS
	}
	if end != tl.LengthMS || len(tl.Acts) != 3 {
		t.Errorf("%d acts end at %d of %d ms", len(tl.Acts), end, tl.LengthMS)
	}
	if b := tl.Lanes[0].Bars; b[0].Text != `"Hello dear Ada"` || b[2].Text != `"Bitte zu Tür"` || b[2].Step != 1 || !b[2].StartEstimated {
		t.Errorf("speech: %+v", b)
	}
	s.Acts = append(s.Acts, Step{Act: "gone"})
	if _, found := StoryTimeline(s, In(acts)); len(found) != 1 || found[0].Code != CodeUnknownAct || found[0].Pointer != "/acts/3/act" {
		t.Errorf("a story with an unknown act: %v", found)
	}
}

func TestBarsNameTheLanguageOfTheirText(t *testing.T) {
	ms := func(n int64) *int64 { return &n }
	a := Act{ID: "a", Actions: []Action{
		{TimeoutMS: ms(1000), Do: Say{Text: Text{"de": "Guten Tag", "en": "Hello"}}},
		{StartMS: 2000, TimeoutMS: ms(1000), Do: Say{Text: Text{"fr": "Salut", "it": "Ciao"}}},
		{StartMS: 4000, TimeoutMS: ms(1000), Do: Screen{Choices: []Choice{{ID: "yes", Text: Text{"de": "Ja"}}}}},
		{StartMS: 6000, Do: Face{Face: "smile"}},
	}}
	tl, found := ActTimeline(a, nil, "de-AT")
	if len(found) > 0 {
		t.Fatal(found)
	}
	var got []string
	for _, lane := range tl.Lanes {
		for _, b := range lane.Bars {
			got = append(got, b.Text+" "+b.Lang)
		}
	}
	want := []string{`"Guten Tag" de`, `"Salut" fr`, "smile ", "[Ja] de"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
