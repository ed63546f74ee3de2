package score

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/language"

	"troupe/schema"
)

// Limits of one act.
const (
	MaxActions  = 500
	MaxDepth    = 8
	MaxActMS    = 3_600_000
	MaxText     = 1000 // characters of one text in one language
	MaxPlain    = 64   // characters of a short name that is not an id
	maxStoryLen = 200  // acts
)

// ValidateAct returns the errors and warnings about an act in the order of its text. In an
// act without errors, actions with fixed times never conflict (see timeline.go).
func ValidateAct(a Act) []schema.Problem { return validateAct(a, false) }

func validateAct(a Act, defers bool) []schema.Problem {
	c := checks{defers: defers}
	c.id("/act", a.ID)
	c.texts("/name", a.Name, MaxPlain)
	c.labels("/labels", a.Labels)
	for _, name := range slices.Sorted(maps.Keys(a.Parameters)) {
		p := a.Parameters[name]
		c.id(at("/parameters", name), name)
		if p.Type != "string" {
			c.add(at("/parameters", name, "type"), CodeBadValue, fmt.Sprintf("%q is not a type of parameter", p.Type), "string is the only one")
		}
		c.text(at("/parameters", name, "default"), p.Default, MaxText)
	}
	if a.Method != "" && a.Method != MethodMultiple && a.Method != MethodExclusive {
		c.add("/method", CodeBadValue, fmt.Sprintf("%q is not a method of an act", a.Method),
			nearWord(string(a.Method), []string{"multiple", "exclusive"}, "write multiple or exclusive"))
	}
	c.actions(a)
	if data, err := schema.Encode(a); err == nil && len(data) > MaxBytes {
		c.found, c.errors = append(c.found, tooBig(len(data), MaxBytes)), c.errors+1
	}
	// The times of an act that nests depend on other acts, see ValidateActWith.
	if !slices.ContainsFunc(c.found, SpoilsTimes) && !a.nests() {
		c.checkOverlaps(a)
		if c.errors == 0 {
			c.warnAboutWaits(a)
		}
	}
	return c.found
}

// SpoilsTimes reports whether p makes the times of an act, or of an act that it performs, meaningless.
func SpoilsTimes(p schema.Problem) bool {
	if p.Severity != schema.SeverityError {
		return false
	}
	switch p.Code {
	case CodeNeedsEnd, CodeWrongEnd, CodeBothEnds, CodeUnknownType, CodeTooMany, CodeTooDeep, CodeTooBig, CodeZeroLength:
		return true
	}
	switch jsontext.Pointer(p.Pointer).LastToken() {
	case "start_ms", "end_ms", "timeout_ms", "method", "unit":
		return true
	}
	return false
}

func (c *checks) actions(a Act) {
	if len(a.Actions) == 0 {
		c.add("/actions", CodeZeroLength, "the act has no action",
			"add actions: [{type: wait, start_ms: 0, end_ms: 2000}], with your own actions")
		return
	}
	count, ids, used := 0, map[string]string{}, map[string]bool{}
	a.walk(func(p string, x *Action, depth int) {
		if count++; count > MaxActions {
			if count == MaxActions+1 {
				c.add(p, CodeTooMany, fmt.Sprintf("an act has at most %d actions", MaxActions), "split it in two acts")
			}
			return
		}
		if depth == MaxDepth+1 {
			c.add(p, CodeTooDeep, fmt.Sprintf("groups nest at most %d deep", MaxDepth), "flatten them")
		}
		if x.ID != "" {
			c.id(at(p, "id"), x.ID)
			if first, twice := ids[x.ID]; twice {
				c.add(at(p, "id"), CodeDuplicateID, fmt.Sprintf("%s is also the id of %s", x.ID, first), "ids are unique within an act")
			}
			ids[x.ID] = p
		}
		c.action(p, x)
		c.references(p, x, a.Parameters, used)
	})
	for _, name := range slices.Sorted(maps.Keys(a.Parameters)) {
		if !used[name] {
			c.warn(at("/parameters", name), CodeUnusedParameter, "no text refers to ${"+name+"}", "use it or remove it")
		}
	}
}

func (c *checks) action(p string, x *Action) {
	row, ok := RowOf(x.Type())
	if !ok {
		hint := "types are " + knownTypes()
		if near := schema.Closest(string(x.Type()), strings.Split(knownTypes(), ", ")); near != "" {
			hint = "did you mean " + near + "?"
		}
		c.add(at(p, "type"), CodeUnknownType, fmt.Sprintf("%q is not a type of action", x.Type()), hint)
		return
	}
	switch x.Method {
	case "", MethodExclusive, row.Method:
	default:
		c.add(at(p, "method"), CodeBadValue, fmt.Sprintf("%q is not a method of %s", x.Method, row.Type),
			fmt.Sprintf("leave it out (%s) or write exclusive", row.Method))
	}
	switch x.OnResume {
	case "":
	case ResumeContinue, ResumeRestart, ResumeSkip:
		if row.OnResume == "" {
			c.add(at(p, "on_resume"), CodeWrongField, string(row.Type)+" has no on_resume", "what is in it resumes as each action says")
		}
	default:
		c.add(at(p, "on_resume"), CodeBadValue, fmt.Sprintf("%q is not a way to resume", x.OnResume), resumeHint(x.OnResume))
	}
	if x.StartMS < 0 || x.StartMS > MaxActMS {
		c.add(at(p, "start_ms"), CodeOutOfRange, fmt.Sprintf("%d is not between 0 and %d", x.StartMS, MaxActMS),
			"write 0 or more milliseconds from the start of the group")
	}
	c.ends(p, x, row)
	c.fields(p, x, row)
	c.warnAboutCut(p, x)
}

// warnAboutCut warns about a text that is probably cut off because it has too little time.
func (c *checks) warnAboutCut(p string, x *Action) {
	say, ok := x.Do.(Say)
	if !ok || say.Rate != nil && *say.Rate <= 0 {
		return
	}
	field, most := "timeout_ms", x.TimeoutMS
	if x.EndMS != nil {
		lasts := *x.EndMS - x.StartMS
		field, most = "end_ms", &lasts
	}
	if takes := say.estimateMS(); most != nil && *most > 0 && takes > *most {
		about := (takes + 999) / 1000 * 1000
		c.warn(at(p, field), CodeCutOff, fmt.Sprintf("is cut off after %d ms: its longest text probably takes %d ms", *most, about),
			"give it more time, or shorten the text")
	}
}

// ends checks which of end_ms and timeout_ms an action has.
func (c *checks) ends(p string, x *Action, row ActionRow) {
	switch {
	case x.EndMS != nil && x.TimeoutMS != nil:
		c.add(at(p, "timeout_ms"), CodeBothEnds, "end_ms and timeout_ms exclude each other",
			"keep end_ms for a fixed duration, or timeout_ms for until done")
	case x.EndMS != nil && !row.End:
		c.add(at(p, "end_ms"), CodeWrongEnd, string(row.Type)+" has no end_ms", "leave it out: it ends "+row.Ends)
	case x.TimeoutMS != nil && !row.Timeout:
		c.add(at(p, "timeout_ms"), CodeWrongEnd, string(row.Type)+" has no timeout_ms", "leave it out: it ends "+row.Ends)
	case x.EndMS == nil && x.TimeoutMS == nil && !row.AtOnce && (row.End || row.Timeout):
		c.add(p, CodeNeedsEnd, string(row.Type)+" says neither when it ends nor how long it may take", row.endHint(x.StartMS))
	case x.EndMS != nil && (*x.EndMS <= x.StartMS || *x.EndMS > MaxActMS):
		c.add(at(p, "end_ms"), CodeOutOfRange, fmt.Sprintf("%d is not after start_ms (%d) and at most %d", *x.EndMS, x.StartMS, MaxActMS),
			"write a time after start_ms; both count from the start of the group")
	case x.TimeoutMS != nil && (*x.TimeoutMS < 1 || *x.TimeoutMS > MaxActMS):
		c.add(at(p, "timeout_ms"), CodeOutOfRange, fmt.Sprintf("%d is not between 1 and %d", *x.TimeoutMS, MaxActMS),
			"write how many milliseconds it takes at most")
	}
}

// endHint names the field to add to an action that starts at start, with a usual value.
func (r ActionRow) endHint(start int64) string {
	if !r.Timeout {
		return fmt.Sprintf("add end_ms: %d, the time at which it ends", start+3000)
	}
	return fmt.Sprintf("add timeout_ms: %d (it ends %s, and after so many milliseconds at the latest), or end_ms for a fixed end",
		cmp.Or(r.UsualMS, 5000), r.Ends)
}

var reference = regexp.MustCompile(`\$\{([^}]*)\}?`)

// references checks every ${name} in the texts of x and records the used names.
func (c *checks) references(p string, x *Action, declared map[string]Parameter, used map[string]bool) {
	check := func(pointer, text string) {
		for _, m := range reference.FindAllStringSubmatch(text, -1) {
			name := m[1]
			used[name] = true
			switch _, ok := declared[name]; {
			case !strings.HasSuffix(m[0], "}"):
				c.add(pointer, CodeBadReference, "${ has no } after it", "write ${"+strings.TrimSpace(name)+"}")
			case !ok:
				hint := "declare it under parameters, or correct its name"
				if near := schema.Closest(name, slices.Sorted(maps.Keys(declared))); near != "" {
					hint = "did you mean ${" + near + "}?"
				}
				c.add(pointer, CodeUnknownParameter, "the act has no parameter "+name, hint)
			}
		}
	}
	with := get[map[string]string](x, "with")
	for _, name := range slices.Sorted(maps.Keys(with)) {
		c.text(at(p, "with", name), with[name], MaxText)
		check(at(p, "with", name), with[name])
	}
	x.texts(p, func(pointer string, t Text) {
		for _, lang := range slices.Sorted(maps.Keys(t)) {
			check(at(pointer, lang), t[lang])
		}
	})
}

func (c *checks) id(pointer, v string) {
	if v == "" {
		c.add(pointer, CodeMissing, "missing", "write one of a-z, 0-9 and hyphens, at most 63")
	} else if !schema.ValidID(v) {
		c.add(pointer, CodeBadID, fmt.Sprintf("%q is not an id", v), idHint(v))
	}
}

// idHint says what an id may hold, with one that is like v if there is one.
func idHint(v string) string {
	near := strings.Trim(notID.ReplaceAllString(strings.ToLower(v), "-"), "-")
	if schema.ValidID(near) {
		return "write " + near + "; ids have a-z, 0-9 and hyphens, at most 63"
	}
	return "use a-z, 0-9 and hyphens, at most 63"
}

var notID = regexp.MustCompile(`[^a-z0-9]+`)

func (c *checks) labels(pointer string, labels map[string]string) {
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		c.id(at(pointer, k), k)
		c.text(at(pointer, k), labels[k], MaxPlain)
	}
}

// texts checks an optional text in several languages.
func (c *checks) texts(pointer string, t Text, most int) {
	for _, lang := range slices.Sorted(maps.Keys(t)) {
		c.language(at(pointer, lang), lang)
		if strings.TrimSpace(t[lang]) == "" {
			c.add(at(pointer, lang), CodeMissing, "the text is empty", "write it or remove the language")
		}
		c.text(at(pointer, lang), t[lang], most)
	}
}

// language checks a language tag and its spelling, because texts are looked up by it.
func (c *checks) language(pointer, lang string) {
	tag, err := language.Parse(lang)
	switch {
	case lang == "true" || lang == "false":
		c.add(pointer, CodeBadLanguage, fmt.Sprintf("%q is not a language tag", lang), `quote it, such as "no" for Norwegian: `+truthWords)
	case err != nil:
		c.add(pointer, CodeBadLanguage, fmt.Sprintf("%q is not a language tag", lang), "write one such as en, de or pt-BR")
	case tag.String() != lang:
		c.add(pointer, CodeBadLanguage, fmt.Sprintf("%q is not how this language is spelled", lang), "write "+tag.String())
	}
}

func (c *checks) text(pointer, s string, most int) {
	if n := utf8.RuneCountInString(s); n > most {
		c.add(pointer, CodeTooLong, fmt.Sprintf("%d characters are over %d", n, most), "shorten it")
	}
	if strings.IndexFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) >= 0 {
		c.add(pointer, CodeBadText, "the text has a control character", "remove it")
	}
}
