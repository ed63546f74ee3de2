package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"troupe/fleetd/api"
	"troupe/fleetd/command"
	"troupe/schema"
)

// The codes with which the program ends.
const (
	exitOK         = 0
	exitError      = 1
	exitUsage      = 2
	exitPartial    = 3 // done for some robots only, or not all of it is known
	exitTimeout    = 4 // no answer in time, or expired
	exitConflict   = 5 // changed by somebody else, or needs a confirmation
	exitNotAllowed = 6
)

// failure is an error with the code to end with; without a text all was said.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string {
	if f.err == nil {
		return ""
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

func usage(format string, args ...any) error {
	return &failure{exitUsage, fmt.Errorf(format, args...)}
}

// codeOf is the code that a problem of the API ends the program with.
func codeOf(p *api.Problem) int {
	switch {
	case p.Of(api.KindConflict), p.Of(api.KindCount), p.Of(api.KindConfirm), p.Of(api.KindUnpublished), p.Of(api.KindStale), p.Of(api.KindOnline), p.Of(api.KindInUse):
		return exitConflict
	case p.Of(api.KindNotAllowed), p.Status == 401, p.Status == 403:
		return exitNotAllowed
	case p.Of(api.KindSlow), p.Of(api.KindOutcome):
		return exitTimeout
	}
	return exitError
}

// refused is a problem of the API as an error: what is wrong and, line by line,
// where. file names the text that was sent, if one was.
func refused(p *api.Problem, file string, text []byte) error {
	var b strings.Builder
	b.WriteString(p.Error())
	for _, f := range p.Errors {
		if len(p.Errors) == 1 && (f.In != "" || f.Pointer == "") && strings.HasSuffix(p.Detail, f.Detail) {
			if strings.Count(f.Pointer, "/") > 1 { // deep in what was sent
				b.WriteString(" (at " + f.Pointer + ")")
			}
			break // that was all
		}
		b.WriteString("\n" + place(f, file, text))
	}
	return &failure{codeOf(p), errors.New(b.String())}
}

// place is one finding as file:line /pointer: what; the way out.
func place(f api.Finding, file string, text []byte) string {
	if f.In != "" {
		return f.In + " " + f.Problem.String()
	}
	return located(f.Problem, file, text)
}

func located(p schema.Problem, file string, text []byte) string {
	at := file
	if line := lineOf(text, p.Pointer); line > 0 {
		at = fmt.Sprintf("%s:%d", file, line)
	}
	word := p.String()
	if p.Severity == schema.SeverityWarning {
		word = "warning: " + word
	}
	return strings.TrimSpace(at + " " + word)
}

// ended is how a batch ends the program.
func ended(b api.Batch) error {
	if len(b.NeverSeen) > 0 {
		stopped := slices.ContainsFunc(b.Commands, func(c api.Command) bool { return c.State == command.Succeeded })
		if stopped {
			return &failure{code: exitPartial}
		}
		if len(seenOf(b)) == 0 {
			return &failure{code: exitError}
		}
	}
	switch b.Outcome {
	case command.OutcomeSucceeded:
		return nil
	case command.OutcomePartial:
		return &failure{code: exitPartial}
	case command.OutcomeRunning, command.OutcomeUnanswered:
		return &failure{code: exitTimeout}
	}
	for _, c := range b.Commands {
		if c.Answer == nil || c.Answer.Reason != schema.ReasonForbidden {
			return &failure{code: exitError}
		}
	}
	return &failure{code: exitNotAllowed}
}
