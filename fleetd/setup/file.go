package setup

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"troupe/schema"
	"troupe/schema/score"
)

// maxAnswers is the greatest size of a file of answers.
const maxAnswers = 64 << 10

// Read reads a file of answers, YAML or JSON. It returns complete answers, and every problem with its line; the
// answers are of use only if there is none.
func Read(text []byte) (Answers, []schema.Problem) { return ReadWith(text, nil) }

// ReadWith is Read with answers by key that take precedence over the file, as a person writes them on a command line.
// Without a text there is no file.
func ReadWith(text []byte, set map[string]string) (Answers, []schema.Problem) {
	var a Answers
	if text == nil {
		text = []byte("{}")
	}
	data, found := score.ReadYAML(text, maxAnswers)
	var tree any
	if len(found) == 0 {
		if err := json.Unmarshal(data, &tree); err != nil {
			found = append(found, schema.NewProblem("", "bad_type", "the file has no answers",
				"write KEY: ANSWER lines; fleetd setup --example prints a file"))
		}
	}
	if len(found) > 0 {
		return a, score.Locate(text, found)
	}
	top, ok := tree.(map[string]any)
	if !ok {
		return a, score.Locate(text, []schema.Problem{schema.NewProblem("", "bad_type", "the file has no answers by name",
			"write KEY: ANSWER lines; fleetd setup --example prints a file")})
	}
	unread := map[string]bool{} // answers of the wrong type, of which nothing else is said
	r := answerReader{a: &a, unread: unread}
	r.group("", top)
	for _, q := range Questions {
		if value, is := set[q.Key]; is {
			q.Set(&a, value)
		}
	}
	a = a.Complete()
	found = r.found
	for _, p := range a.Problems() {
		if !slices.ContainsFunc(found, func(known schema.Problem) bool { return known.Pointer == p.Pointer }) && !unread[p.Pointer] {
			found = append(found, p)
		}
	}
	return a, score.Locate(text, found)
}

// answerReader reads a tree of answers.
type answerReader struct {
	a      *Answers
	found  []schema.Problem
	unread map[string]bool
}

// keys are the keys directly below a prefix, such as listen below "http.".
func keys(prefix string) (list []string) {
	for _, q := range Questions {
		if rest, ok := strings.CutPrefix(q.Key, prefix); ok {
			first, _, _ := strings.Cut(rest, ".")
			if !slices.Contains(list, first) {
				list = append(list, first)
			}
		}
	}
	return list
}

func (r *answerReader) group(prefix string, members map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(members)) {
		full, value := prefix+key, members[key]
		pointer := "/" + strings.ReplaceAll(full, ".", "/")
		i := slices.IndexFunc(Questions, func(q Question) bool { return q.Key == full })
		below, isGroup := value.(map[string]any)
		switch known := keys(full + "."); {
		case i >= 0:
			r.answer(Questions[i], value)
		case len(known) > 0 && isGroup:
			r.group(full+".", below)
		case len(known) > 0 && value == nil: // a group without members
		case len(known) > 0:
			r.add(pointer, "bad_type", key+" has answers below it", "write one of "+strings.Join(known, ", ")+" below it, with its answer")
		default:
			hint := "write one of " + strings.Join(keys(prefix), ", ")
			if near := schema.Closest(key, keys(prefix)); near != "" {
				hint = "did you mean " + near + "?"
			}
			r.add(pointer, "unknown_field", fmt.Sprintf("%s is not a question of the set-up", full), hint)
		}
	}
}

func (r *answerReader) add(pointer, code, detail, hint string) {
	r.found = append(r.found, schema.NewProblem(pointer, code, detail, hint))
	r.unread[pointer] = true
}

func (r *answerReader) answer(q Question, value any) {
	switch value := value.(type) {
	case nil:
	case string:
		if q.List {
			r.add(q.Pointer(), "bad_type", q.Key+" is a list", "write ["+value+"]")
			return
		}
		*q.text(r.a) = value
	case []any:
		if !q.List {
			r.add(q.Pointer(), "bad_type", q.Key+" has one answer", "write it without brackets and dashes")
			return
		}
		for i, one := range value {
			text, ok := one.(string)
			if !ok {
				r.add(fmt.Sprintf("%s/%d", q.Pointer(), i), "bad_type", fmt.Sprintf("%v is not a text", one),
					fmt.Sprintf("write \"%v\", in quotes", one))
				r.unread[q.Pointer()] = true
				continue
			}
			*q.list(r.a) = append(*q.list(r.a), text)
		}
	default:
		r.add(q.Pointer(), "bad_type", fmt.Sprintf("%v is not a text", value), fmt.Sprintf("write \"%v\", in quotes, if you mean this", value))
	}
}

// plainText can be written in YAML without quotes, and is read as the same text.
var plainText = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9_./:@+-]*$`)

// notPlain are words that YAML reads as something else.
var notPlain = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}

func quoted(value string) string {
	if plainText.MatchString(value) && !slices.Contains(notPlain, strings.ToLower(value)) && !strings.HasSuffix(value, ":") {
		return value
	}
	return strconv.Quote(value)
}

// Write writes a file of answers, with what each means above it. Read reads the same answers from it.
func (a Answers) Write() string {
	var b strings.Builder
	b.WriteString("# Answers of fleetd setup. fleetd setup --file THIS asks nothing; it may run again, and keeps what exists.\n")
	group := ""
	for _, q := range Questions {
		if !q.Asked(a) {
			continue
		}
		key, indent := q.Key, ""
		if above, below, ok := strings.Cut(q.Key, "."); ok {
			if above != group {
				fmt.Fprintf(&b, "\n%s:\n", above)
			}
			key, indent, group = below, "  ", above
		} else {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s# %s\n", indent, q.Help)
		value := quoted(q.Value(a))
		if q.List {
			list := []string{}
			for _, one := range *q.list(&a) {
				list = append(list, quoted(one))
			}
			value = "[" + strings.Join(list, ", ") + "]"
		}
		fmt.Fprintf(&b, "%s%s: %s\n", indent, key, value)
	}
	return b.String()
}
