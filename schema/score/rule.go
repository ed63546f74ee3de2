package score

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
)

// Repeat is how often a story is performed: for ever or Times rounds. In files it is
// written as once, loop or {times: 3}. The zero value means that it is missing, which is
// an error in a story.
type Repeat struct {
	Loop  bool
	Times int64
}

// Again reports whether another round follows after done rounds.
func (r Repeat) Again(done int64) bool { return r.Loop || done < r.Times }

// MarshalJSON returns the rule as written in files.
func (r Repeat) MarshalJSON() ([]byte, error) {
	switch {
	case r.Loop:
		return []byte(`"loop"`), nil
	case r.Times == 1:
		return []byte(`"once"`), nil
	case r.Times > 1:
		return fmt.Appendf(nil, `{"times":%d}`, r.Times), nil
	}
	return []byte("null"), nil
}

// UnmarshalJSON parses once, loop or {"times": n}.
func (r *Repeat) UnmarshalJSON(data []byte) error {
	word, n, err := wordOr(data, "times")
	switch {
	case err == nil && word == "null":
		*r = Repeat{}
	case err == nil && word == "once":
		*r = Repeat{Times: 1}
	case err == nil && word == "loop":
		*r = Repeat{Loop: true}
	case err == nil && word == "" && n >= 1 && n <= MaxRounds:
		*r = Repeat{Times: n}
	default:
		return fmt.Errorf("a story is performed once, in a loop or {times: n} with n from 1 to %d", MaxRounds)
	}
	return nil
}

// ActError is what a story does if an act fails: skip to the next act (the zero value),
// stop, or retry up to Retries times and then skip. In files it is written as skip, stop
// or {retry: 2}.
type ActError struct {
	Stop    bool
	Retries int64
}

// MarshalJSON returns the rule as written in files.
func (e ActError) MarshalJSON() ([]byte, error) {
	switch {
	case e.Stop:
		return []byte(`"stop"`), nil
	case e.Retries > 0:
		return fmt.Appendf(nil, `{"retry":%d}`, e.Retries), nil
	}
	return []byte(`"skip"`), nil
}

// UnmarshalJSON parses skip, stop or {"retry": n}.
func (e *ActError) UnmarshalJSON(data []byte) error {
	word, n, err := wordOr(data, "retry")
	switch {
	case err == nil && (word == "skip" || word == "null"):
		*e = ActError{}
	case err == nil && word == "stop":
		*e = ActError{Stop: true}
	case err == nil && word == "" && n >= 1 && n <= MaxRetries:
		*e = ActError{Retries: n}
	default:
		return fmt.Errorf("a failed act is skipped, stops the story or is tried again {retry: n} with n from 1 to %d", MaxRetries)
	}
	return nil
}

// MaxRounds and MaxRetries are the limits of these rules.
const (
	MaxRounds  = 10_000
	MaxRetries = 10
)

// wordOr parses a JSON string into word, or an object with the only member name into n.
func wordOr(data []byte, name string) (word string, n int64, err error) {
	if string(data) == "null" {
		return "null", 0, nil
	}
	if err := json.Unmarshal(data, &word); err == nil {
		if word == "" || word == "null" {
			return "", 0, errors.New("not a rule")
		}
		return word, 0, nil
	}
	var members map[string]int64
	if err := json.Unmarshal(data, &members); err != nil {
		return "", 0, err
	}
	n, ok := members[name]
	if !ok || len(members) != 1 {
		return "", 0, errors.New("not a rule")
	}
	return "", n, nil
}
