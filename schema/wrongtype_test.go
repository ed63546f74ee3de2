package schema

import "testing"

func TestWrongTypeSaysWhatIsWanted(t *testing.T) {
	type message struct {
		Text   string         `json:"text"`
		On     bool           `json:"on"`
		Count  int64          `json:"count"`
		Level  *float64       `json:"level"`
		Names  []string       `json:"names"`
		ByName map[string]int `json:"by_name"`
		Reach  *Range         `json:"reach"`
	}
	for payload, want := range map[string]string{
		`{"text":[]}`:      "/text: an array does not fit here; write a string",
		`{"on":"yes"}`:     "/on: a string does not fit here; write true or false",
		`{"count":{}}`:     "/count: an object does not fit here; write a whole number",
		`{"level":true}`:   "/level: a boolean does not fit here; write a number",
		`{"names":"x"}`:    "/names: a string does not fit here; write an array",
		`{"by_name":[]}`:   "/by_name: an array does not fit here; write an object",
		`{"reach":[-1,1]}`: "/reach: an array does not fit here; write an object with min and max",
	} {
		if _, problems := DecodeStrict[message]([]byte(payload)); len(problems) != 1 || problems[0].String() != want {
			t.Errorf("%s: %v, want %s", payload, problems, want)
		}
	}
}
