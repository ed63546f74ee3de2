package library

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"troupe/schema"
	"troupe/schema/score"
)

// TestListIsReadAsItWasWritten writes everything of the shipped library as lists, and reads them
// again.
func TestListIsReadAsItWasWritten(t *testing.T) {
	for kind, folder := range map[Kind]string{KindAct: "acts", KindStory: "stories", KindActivity: "activities"} {
		files, err := filepath.Glob("../../deploy/library/" + folder + "/*.yaml")
		if err != nil || len(files) == 0 {
			t.Fatalf("%v: %v", files, err)
		}
		var texts [][]byte
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, text)
		}
		sameAgain(t, kind, texts)
	}
}

// TestEveryDraftSurvivesAList does the same with texts that a spreadsheet may take for something else.
func TestEveryDraftSurvivesAList(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "=1+1", "-5", "@x", `"quoted"`, " a ", "a\nb", "a;b,c\td", "{", "[1]", "1", "true", "\ufeff"}))
	rapid.Check(t, func(t *rapid.T) {
		say := func() score.Action {
			return score.Action{Do: score.Say{Text: score.Text{"en": text.Draw(t, "text")}, Voice: text.Draw(t, "voice")}}
		}
		volume := rapid.Float64Range(0, 1).Draw(t, "volume")
		a := score.Act{ID: "a", Name: score.Text{"de": text.Draw(t, "name")}, Method: score.MethodExclusive,
			Labels:     map[string]string{"site.x": text.Draw(t, "label")},
			Parameters: map[string]score.Parameter{"p": {Type: "string", Default: text.Draw(t, "default")}, "q": {Type: "number"}},
			Actions: []score.Action{say(),
				{Method: score.MethodExclusive, Do: score.PerformAct{Act: "b", With: map[string]string{"x": text.Draw(t, "with")}}},
				{StartMS: 5, Do: score.Group{Actions: []score.Action{say(), {Do: score.Group{Actions: []score.Action{say()}}}}}},
				{Do: score.Sound{Sound: "s", Volume: &volume, Loop: true}},
				{Do: score.Screen{Choices: []score.Choice{{ID: "c", Text: score.Text{"en": text.Draw(t, "choice")}}}}}}}
		s := score.Story{ID: "s", Name: score.Text{"en": "S"}, Languages: []string{"en", "de"}, Repeat: score.Repeat{Times: 3},
			OnActError: score.ActError{Retries: 2},
			Acts: []score.Step{{Act: "a", With: map[string]string{"p": text.Draw(t, "with")}, FinishBeforePause: true},
				{Act: "b", OnResume: "skip"}}}
		v := score.Activity{ID: "v", Name: score.Text{"en": "V"}, Repeat: score.Repeat{Times: 1}, Nature: score.NatureSolitary,
			Launch:      score.Launch{When: text.Draw(t, "when"), For: "3s"},
			Permissions: map[string]bool{"while_charging": true, "while_moving": false}, Acts: []score.Step{{Act: "a"}}}
		sameAgain(t, KindAct, [][]byte{encode(a), encode(score.Act{ID: "empty"})})
		sameAgain(t, KindStory, [][]byte{encode(s)})
		sameAgain(t, KindActivity, [][]byte{encode(v)})
	})
}

func sameAgain(t fatal, kind Kind, texts [][]byte) {
	t.Helper()
	list, err := WriteCSV(kind, texts)
	if err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	sheet, found := ReadCSV(list, nil)
	if len(found) > 0 || sheet.Kind != kind || len(sheet.Entries) != len(texts) {
		t.Fatalf("%s: %d of %d entries: %v\n%s", kind, len(sheet.Entries), len(texts), found, list)
	}
	for i, text := range texts {
		want, _ := Content(kind, text)
		got, problems := Content(kind, sheet.Entries[i].Text)
		if string(got) != string(want) {
			t.Fatalf("%s reads back as\n%s\nwant\n%s\n%v\n%s", kind, got, want, problems, list)
		}
	}
}

// TestProblemsOfAListHaveTheirCell reads lists with mistakes.
func TestProblemsOfAListHaveTheirCell(t *testing.T) {
	for _, c := range []struct {
		name, list string
		mapped     map[string]string
		want       []string
	}{
		{"unknown column", "story,Akt,ordre\ns,a,1\n", nil, []string{"1 Akt: ", "1 ordre: "}},
		{"mapped columns", "Geschichte;Akt;Notiz;order\ns;a;x;1\n", map[string]string{"Geschichte": "story", "Akt": "act", "Notiz": ""}, nil},
		{"no kind", "a,b\n1,2\n", nil, []string{"1 : the header names no kind of list"}},
		{"no header", "", nil, []string{"1 : the list has no header"}},
		{"cells", "act,type,start_ms,end_ms,loop\nx,wait,zero,5,maybe\n,wait,1,2.5,no\n", nil, []string{`2 start_ms: "zero" is not a number`, `2 loop: "maybe" is neither`}},
		{"a number as no JSON has it", "act,type,start_ms\nx,wait,0500\n", nil, []string{`2 start_ms: 0500 is 500 in decimal and 320 in octal; write 500 or 320`}},
		{"order", "act,order,type,end_ms\nx,1,wait,5\nx,1,wait,5\nx,3.1,wait,5\nx,last,wait,5\n", nil, []string{`5 order: "last"`, "3 order: row 2", "4 order: there is no group"}},
		{"two names", "story,name.en,act\ns,A,a\ns,B,b\n", nil, []string{"3 name.en: name.en differs"}},
		{"begins again", "story,act\ns,a\nt,a\ns,b\n", nil, []string{"4 story: s begins again"}},
		{"no id", "story,act\n,a\n", nil, []string{"2 story: the first row"}},
		{"a quote", "story,act\n\"s,a\n", nil, []string{"2 : "}},
		{"empty lines", "act,type,end_ms\n\nx,wait,5\n\n\n,wait,zero\n", nil, []string{`6 end_ms: "zero"`}},
		{"lines in a cell", "act,type,text.en,end_ms\nx,say,\"a\n\nb\",5\n,wait,,zero\n", nil, []string{`3 end_ms: "zero"`}},
		{"a quote after an empty line", "story,act\n\ns,a\n\"s,a\n", nil, []string{"4 : "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, found := ReadCSV([]byte(c.list), c.mapped)
			if len(found) != len(c.want) {
				t.Fatalf("found %v, want %v", found, c.want)
			}
			for i, p := range found {
				if got := fmt.Sprintf("%d %s: %s", p.Row, p.Header, p.Detail); !strings.HasPrefix(got, c.want[i]) {
					t.Errorf("problem %d is %s, want %s", i, got, c.want[i])
				}
			}
		})
	}
}

// TestImportSavesAllOrNothing imports a list with one wrong row, then the corrected one, then
// the same again.
func TestImportSavesAllOrNothing(t *testing.T) {
	w := newWorld()
	list := "act,order,type,start_ms,end_ms\nx,1,wait,0,500\nx,2,wait,500,NN\n"
	read := func(end string) (Sheet, []Source) {
		sheet, found := ReadCSV([]byte(strings.Replace(list, "NN", end, 1)), nil)
		if len(found) > 0 {
			t.Fatal(found)
		}
		var texts []Source
		for _, e := range sheet.Entries {
			texts = append(texts, Source{sheet.Kind, e.Text})
		}
		return sheet, texts
	}
	sheet, texts := read("100")
	done, problems := Import(w.rows(), texts, nil, false, w.by(""))
	if problems != nil || len(schema.Errors(done.Checked[0].Problems)) != 1 || !done.Changes.Empty() {
		t.Fatalf("a wrong row: %+v %v", done, problems)
	}
	if c := sheet.At(sheet.Entries[0], schema.Errors(done.Checked[0].Problems)[0]); c != (Cell{3, "end_ms"}) {
		t.Errorf("the wrong cell is %+v", c)
	}
	_, texts = read("900")
	if done, _ = Import(w.rows(), texts, nil, false, w.by("")); len(done.Saved) != 1 || done.Saved[0].Unchanged {
		t.Fatalf("a right list: %+v", done)
	}
	w.apply(t, done.Changes)
	// A story is right, though its act is only a draft: both were imported to be published.
	story := []Source{{KindStory, []byte("story: s\nname: {en: S}\nrepeat: loop\nacts: [{act: x}]\n")}}
	if done, _ = Import(w.rows(), story, nil, false, w.by("")); len(schema.Errors(done.Checked[0].Problems)) > 0 || len(done.Saved) != 1 {
		t.Errorf("a story of a draft: %+v", done)
	}
	// What performs an act that is left out is left out, too.
	some := []Source{{KindAct, []byte(`{"act":"bad"}`)}, {KindAct, actText("good", "smile")}, {KindStory, storyText("of-bad", []string{"good", "bad"})}}
	if done, _ = Import(w.rows(), some, nil, true, w.by("")); len(done.Saved) != 3 || done.Saved[0].Entry.ID != "" ||
		done.Saved[1].Entry.ID != "good" || done.Saved[2].Entry.ID != "" {
		t.Errorf("without what is wrong: %+v", done)
	}
	if done, _ = Import(w.rows(), some[:1], nil, true, w.by("")); done.Saved != nil {
		t.Errorf("with nothing right: %+v", done)
	}
	if done, _ = Import(w.rows(), texts, nil, false, w.by("")); len(done.Saved) != 1 || !done.Saved[0].Unchanged || !done.Changes.Empty() {
		t.Errorf("the same list again: %+v", done)
	}
	if !slices.Equal(w.entries[Ref{KindAct, "x"}].Draft, done.Saved[0].Entry.Draft) {
		t.Error("the draft is not the one that was imported")
	}
}

// A cell that is missing has a place too: that of the column in which it belongs.
func TestProblemOfMissingCellNamesItsColumn(t *testing.T) {
	for list, want := range map[string]string{
		"act,type,start_ms,text.en,end_ms,timeout_ms\nx,say,0,Hello,,\n":      "3 timeout_ms",
		"act,type,start_ms,text.en,end_ms\nx,say,0,Hello,\n":                  "3 end_ms",
		"act,type,start_ms,name.en,text.de,text.en,end_ms\nx,say,0,X,,,500\n": "3 text.de",
		"act,type,start_ms,end_ms\nx,say,0,500\n":                             "3 ",
	} {
		sheet, found := ReadCSV([]byte(strings.Replace(list, "\n", "\n\n", 1)), nil)
		if len(found) > 0 {
			t.Fatal(found)
		}
		checked, _ := Validate(newWorld().rows(), []Source{{sheet.Kind, sheet.Entries[0].Text}}, nil)
		errs := schema.Errors(checked[0].Problems)
		if len(errs) != 1 {
			t.Fatalf("%q: %v", list, errs)
		}
		if at := sheet.At(sheet.Entries[0], errs[0]); fmt.Sprint(at.Row, " ", at.Header) != want {
			t.Errorf("%q: the place of %s is row %d, %s; want %s", list, errs[0], at.Row, at.Header, want)
		}
	}
}
