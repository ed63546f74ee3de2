package records

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/schema"
)

var noon = time.Date(2026, 5, 17, 12, 0, 0, 0, time.UTC)

func says(t *testing.T, what string, no *Refused, why RefusalKind, text string) {
	t.Helper()
	switch {
	case text == "" && no != nil:
		t.Errorf("%s is refused: %s", what, no.Detail)
	case text != "" && (no == nil || no.Why != why || !strings.Contains(no.Detail, text)):
		t.Errorf("%s: %+v, want %q", what, no, text)
	}
}

func TestKeyAndSizeOfAnUploadAreChecked(t *testing.T) {
	asked := Record{Robot: "r1", State: Asked}
	in := func(s State) Record { r := asked; r.State = s; return r }
	for what, c := range map[string]struct {
		r     Record
		known bool
		robot string
		size  int64
		why   RefusalKind
		says  string // empty = it may
	}{
		"the robot":                 {asked, true, "r1", 1000, 0, ""},
		"without a certificate":     {asked, true, "", 1000, 0, ""},
		"the largest":               {asked, true, "r1", schema.MaxRecordBytes, 0, ""},
		"one byte more":             {asked, true, "r1", schema.MaxRecordBytes + 1, TooLarge, "at most 67108864"},
		"of unknown size":           {asked, true, "r1", -1, TooLarge, "not known"},
		"an unknown key":            {Record{}, false, "r1", 1000, UnknownKey, "under this key"},
		"another robot":             {asked, true, "r2", 1000, OtherRobot, "another robot than r2"},
		"a second time at once":     {in(Sending), true, "r1", 1000, UnknownKey, "on its way already"},
		"again":                     {in(Done), true, "r1", 1000, UnknownKey, "was used, or has expired"},
		"after it has expired":      {in(Failed), true, "r1", 1000, UnknownKey, "was used, or has expired"},
		"another robot, and a used": {in(Done), true, "r2", 1000, OtherRobot, "another robot"},
	} {
		says(t, what, refuseSend(c.r, c.known, c.robot, c.size), c.why, c.says)
	}
}

func TestWhenARecordMayBeAskedFor(t *testing.T) {
	of := func(robot string, s State) Record { return Record{Robot: robot, State: s, By: "ann"} }
	many := make([]Record, openMost)
	for i := range many {
		many[i] = of("r"+string(rune('a'+i)), Sending)
	}
	for what, c := range map[string]struct {
		all  []Record
		says string
	}{
		"the first":               {nil, ""},
		"after others":            {[]Record{of("r1", Done), of("r1", Failed)}, ""},
		"beside another robot":    {many[1:], ""},
		"while it is asked":       {[]Record{of("r1", Asked)}, "on its way already, for ann"},
		"while it sends":          {[]Record{of("r1", Sending)}, "on its way already, for ann"},
		"while many others do so": {many, "8 flight records are on their way"},
	} {
		says(t, what, refuseAsk(c.all, "r1"), Busy, c.says)
	}
}

func TestRecordThatDoesNotComeEnds(t *testing.T) {
	for what, c := range map[string]struct {
		state State
		age   time.Duration
		says  string
	}{
		"collected":  {Asked, askedFor - 1, ""},
		"not sent":   {Asked, askedFor, "r1 sent nothing within 2m0s"},
		"on its way": {Sending, sendFor - 1, ""},
		"slow":       {Sending, sendFor, "only 5 of 10 bytes"},
		"done":       {Done, 100 * time.Hour, ""},
		"failed":     {Failed, 100 * time.Hour, ""},
	} {
		r := Record{Robot: "r1", State: c.state, Asked: schema.TimeOf(noon), Bytes: 5, Size: 10}
		if got := r.overdue(noon.Add(c.age)); (got == "") != (c.says == "") || !strings.Contains(got, c.says) {
			t.Errorf("%s: %q", what, got)
		}
	}
}

func TestOldRecordsMakeRoom(t *testing.T) {
	of := func(id string, s State, size int64, expires time.Duration) Record {
		return Record{ID: id, State: s, Size: size, Expires: schema.TimeOf(noon.Add(expires))}
	}
	crowd := make([]Record, flightRecordsMost)
	for i := range crowd {
		crowd[i] = of("f", Failed, 0, time.Hour)
	}
	crowd[0].ID = "oldest"
	for what, c := range map[string]struct {
		all  []Record
		more int64
		want []string
	}{
		"enough":     {[]Record{of("a", Done, 1<<20, time.Hour), of("b", Failed, 1<<20, time.Hour)}, 1 << 20, nil},
		"expired":    {[]Record{of("a", Done, 1, 0), of("b", Failed, 0, -1), of("c", Done, 1, time.Second)}, 0, []string{"a", "b"}},
		"full":       {[]Record{of("a", Done, keepBytes/2, time.Hour), of("b", Done, keepBytes/2, time.Hour)}, 1, []string{"a"}},
		"on its way": {[]Record{of("a", Sending, keepBytes/2, 0), of("b", Done, keepBytes/2, time.Hour)}, 1, []string{"b"}},
		"crowd":      {crowd, 0, []string{"oldest"}},
	} {
		if got := toRemove(c.all, noon, c.more); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", what, got)
		}
	}
}

func TestOnlyReadableFilesOfTheRobotAreAccepted(t *testing.T) {
	whole := contents{records: 3, from: noon, to: noon.Add(time.Minute), robot: "r1"}
	other, empty := whole, whole
	other.robot, empty.records = "r2", 0
	for what, c := range map[string]struct {
		c    contents
		err  error
		why  RefusalKind
		says string
	}{
		"whole":            {whole, nil, 0, ""},
		"unreadable":       {contents{}, errors.New("bad magic"), Unreadable, "bad magic"},
		"of another robot": {other, nil, OtherRobot, "robot r2, not by r1"},
		"empty":            {empty, nil, Unreadable, "no messages"},
	} {
		r := Record{Robot: "r1"}
		says(t, what, accept(&r, c.c, c.err), c.why, c.says)
	}
}
