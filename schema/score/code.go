package score

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
)

// The codes of the problems of this package, in addition to those of the decoder (syntax,
// duplicate_key, unknown_field, bad_type, bad_value, ...).
const (
	CodeAlias            = "alias"
	CodeBadID            = "bad_id"
	CodeBadLanguage      = "bad_language"
	CodeBadNumber        = "bad_number"    // programs read it differently
	CodeBadReference     = "bad_reference" // ${ without }
	CodeBadText          = "bad_text"
	CodeBadValue         = "bad_value"
	CodeBeyondUnit       = "beyond_unit" // outside the limits of this robot's unit
	CodeBothEnds         = "both_ends"
	CodeCutOff           = "cut_off" // warning: its text probably takes longer than it may
	CodeCycle            = "cycle"   // an act performs itself
	CodeDuplicateID      = "duplicate_id"
	CodeDuplicateKey     = "duplicate_key"
	CodeEmpty            = "empty"
	CodeEmptyGroup       = "empty_group" // warning
	CodeMayWait          = "may_wait"    // warning: it will probably start late
	CodeMore             = "more"        // how many problems are not listed
	CodeMissing          = "missing"
	CodeMissingLanguage  = "missing_language" // warning
	CodeNeedsEnd         = "needs_end"
	CodeNoCooldown       = "no_cooldown" // warning
	CodeNoUnit           = "no_unit"
	CodeNotInCatalogue   = "not_in_catalogue"
	CodeNotObject        = "not_object"
	CodeNotSpoken        = "not_spoken" // warning: the robot lacks the language
	CodeNotUTF8          = "not_utf8"
	CodeOutOfRange       = "out_of_range"
	CodeOverlap          = "overlap"
	CodeStarvation       = "starvation" // an exclusive action that later ones may overtake
	CodeStoryEmpty       = "story_empty"
	CodeSyntax           = "syntax"
	CodeTooBig           = "too_big"
	CodeTooDeep          = "too_deep"
	CodeTooLong          = "too_long"
	CodeTooMany          = "too_many"
	CodeTrailingData     = "trailing_data"
	CodeUnknownAct       = "unknown_act"
	CodeUnknownParameter = "unknown_parameter"
	CodeUnknownType      = "unknown_type"
	CodeUnreached        = "unreached" // warning: a published act that no step performs, or a file that no action names
	CodeUnsupported      = "unsupported_version"
	CodeUnusedParameter  = "unused_parameter" // warning
	CodeWrongEnd         = "wrong_end"
	CodeWrongField       = "wrong_field"
	CodeWrongKey         = "wrong_key"
	CodeZeroLength       = "zero_length"
)

// MaxProblems is the greatest number of errors, and of warnings, in one answer.
const MaxProblems = 100

// checks collects the problems of one act or story in the order of its text. Errors and
// warnings have separate limits, so that many of one kind do not hide the other.
type checks struct {
	defers           bool // an exclusive action that has to wait is a warning
	found            []schema.Problem
	errors, warnings int
}

func (c *checks) add(pointer, code, detail, hint string) {
	if c.errors++; c.errors <= MaxProblems {
		c.found = append(c.found, schema.NewProblem(pointer, code, detail, hint))
	}
}

func (c *checks) warn(pointer, code, detail, hint string) {
	if c.warnings++; c.warnings <= MaxProblems {
		c.found = append(c.found, schema.Problem{Pointer: pointer, Severity: schema.SeverityWarning, Code: code, Detail: detail, Hint: hint})
	}
}

// addUnder adds the problems of a part, with pointer in front of their pointers.
func (c *checks) addUnder(pointer string, ps []schema.Problem) {
	for _, p := range ps {
		p.Pointer = pointer + p.Pointer
		if p.Severity == schema.SeverityError {
			c.add(p.Pointer, p.Code, p.Detail, p.Hint)
		} else {
			c.warn(p.Pointer, p.Code, p.Detail, p.Hint)
		}
	}
}

// at returns a JSON Pointer from base and the names and indexes below it.
func at(base string, parts ...any) string {
	p := jsontext.Pointer(base)
	for _, part := range parts {
		switch v := part.(type) {
		case int:
			p = p.AppendToken(strconv.Itoa(v))
		case string:
			p = p.AppendToken(v)
		}
	}
	return string(p)
}
