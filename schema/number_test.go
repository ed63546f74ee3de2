package schema

import "testing"

func TestWholeNumbersWithAFractionOfZeroAreIntegers(t *testing.T) {
	type message struct {
		Count int64    `json:"count"`
		Some  []int    `json:"some"`
		Level *float64 `json:"level"`
		Text  string   `json:"text"`
	}
	got, problems := DecodeStrict[message]([]byte(`{"text":"1.0","count": 12000.0 ,"some":[1.2e4,-3.0],"level":0.5}`))
	if len(problems) > 0 || got.Count != 12000 || len(got.Some) != 2 || got.Some[0] != 12000 || got.Some[1] != -3 || *got.Level != 0.5 ||
		got.Text != "1.0" {
		t.Errorf("%+v, %v", got, problems)
	}
	for payload, want := range map[string]string{
		`{"count":1.5}`:              "/count: a number does not fit here; write a whole number",
		`{"count":1.0,"some":[2.5]}`: "/some/0: a number does not fit here; write a whole number",
		`{"count":1e300}`:            "/count: a number does not fit here; write a whole number",
	} {
		if _, problems := DecodeStrict[message]([]byte(payload)); len(problems) != 1 || problems[0].String() != want {
			t.Errorf("%s: %v, want %s", payload, problems, want)
		}
	}
}

// taken is a flag that keeps the text that it is given.
type taken struct{ text string }

func (f *taken) String() string        { return f.text }
func (f *taken) Type() string          { return "int" }
func (f *taken) Set(text string) error { f.text = text; return nil }

func TestFlagTakesNumbersAsWritten(t *testing.T) {
	for text, want := range map[string]string{"50": "50", "50.0": "50", "5e1": "50", "0.25": "0.25", "-1": "-1", "many": "many"} {
		f := &taken{}
		if err := (NumberFlag{f}).Set(text); err != nil || f.text != want {
			t.Errorf("%s is %s, %v, want %s", text, f.text, err, want)
		}
	}
	for text, want := range map[string]string{
		"010":  "010 is 10 in decimal and 8 in octal; write 10 or 8",
		"0x10": "0x10 is hexadecimal; write 16",
		"NaN":  "NaN is not a number that a robot can use; write a finite number",
	} {
		if err := (NumberFlag{&taken{}}).Set(text); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
