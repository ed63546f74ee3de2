package schema

import "fmt"

// Severity ranks a problem. A message with an error is refused; one with warnings is
// accepted.
type Severity string

const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Problem is one finding about a message or file: where, what, and how to correct it.
type Problem struct {
	Pointer  string   `json:"pointer"` // JSON Pointer (RFC 6901) into the message or file
	Severity Severity `json:"severity"`
	Code     string   `json:"code"` // stable, snake_case
	Detail   string   `json:"detail"`
	Hint     string   `json:"hint,omitempty"` // how to correct it

	// Line and Column are where it is in the text of a file, counted from 1; zero if
	// unknown, as in messages.
	Line   int `json:"line,omitzero"`
	Column int `json:"column,omitzero"`
}

func (p Problem) String() string {
	at := p.Pointer
	if at == "" {
		at = "/"
	}
	s := fmt.Sprintf("%s: %s", at, p.Detail)
	if p.Hint != "" {
		s += "; " + p.Hint
	}
	return s
}

// Errors returns the problems of severity error.
func Errors(ps []Problem) []Problem {
	var out []Problem
	for _, p := range ps {
		if p.Severity == SeverityError {
			out = append(out, p)
		}
	}
	return out
}

// NewProblem returns a problem of severity error.
func NewProblem(pointer, code, detail, hint string) Problem {
	return Problem{Pointer: pointer, Severity: SeverityError, Code: code, Detail: detail, Hint: hint}
}
