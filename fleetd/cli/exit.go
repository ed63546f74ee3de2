package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"troupe/fleetd/api"
	"troupe/fleetd/command"
	"troupe/schema"
	"troupe/schema/score"
)

// Exit codes.
const (
	exitOK         = 0
	exitError      = 1
	exitUsage      = 2
	exitPartial    = 3 // done for some robots only, or the answer is incomplete
	exitTimeout    = 4 // no answer in time, or expired
	exitConflict   = 5 // changed by another request, or a confirmation is needed
	exitNotAllowed = 6
	exitDiffers    = 8 // a diff found differences
)

// failure is an error with an exit code. It may have no text, when the output has
// shown everything.
type failure struct {
	code    int
	err     error
	unknown bool // something that the command line names does not exist

	problem *api.Problem // of the API; nil without one
}

// isTemporary reports whether fleetd may answer otherwise when it is asked again.
func (f *failure) isTemporary() bool { return f.problem != nil && f.problem.Status >= 500 }

func (f *failure) Error() string {
	if f.err == nil {
		return ""
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

func usage(format string, args ...any) error {
	return &failure{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// codeOf returns the exit code for a problem of the API.
func codeOf(p *api.Problem) int {
	switch {
	case p.Of(api.KindConflict), p.Of(api.KindCount), p.Of(api.KindConfirm), p.Of(api.KindUnpublished), p.Of(api.KindPreconditionFailed),
		p.Of(api.KindOnline), p.Of(api.KindInUse), p.Of(api.KindState):
		return exitConflict
	case p.Of(api.KindNotAllowed), p.Status == 401, p.Status == 403:
		return exitNotAllowed
	case p.Of(api.KindSlow), p.Of(api.KindOutcome), p.Of(api.KindNoAnswer):
		return exitTimeout
	}
	return exitError
}

// problemError turns a problem of the API into an error: what is wrong and, line by
// line, where. file names the text that was sent, if any.
func problemError(p *api.Problem, file string, text []byte) error {
	var b strings.Builder
	b.WriteString(p.Error())
	unknown := p.Of(api.KindNotFound)
	for _, f := range p.Errors {
		unknown = unknown || f.Code == string(schema.ReasonUnknownRobot)
		if len(p.Errors) == 1 && f.File == "" && (f.In != "" || f.Pointer == "") && strings.HasSuffix(p.Detail, f.Detail) {
			if at := placeOf(f.Pointer); strings.Contains(at, "/") { // an argument itself is clear from the text
				b.WriteString(" (at " + at + ")")
			}
			break // p.Error() said it already
		}
		b.WriteString("\n" + formatFinding(f, file, text))
	}
	return &failure{code: codeOf(p), err: errors.New(b.String()), unknown: unknown, problem: p}
}

// placeOf returns where in what people gave something is, from its place in the request.
// Where it is among the selected robots tells them nothing.
func placeOf(pointer string) string {
	for _, given := range []string{"/args/", "/config/set/", "/places/body/"} {
		if at, ok := strings.CutPrefix(pointer, given); ok {
			return at
		}
	}
	return ""
}

// formatFinding formats one finding as "file:line:column: /pointer: what; what to do".
func formatFinding(f api.Finding, file string, text []byte) string {
	if f.In == "" {
		return formatProblem(f.Problem, orElse(f.File, file), text)
	}
	out := strings.TrimSuffix(f.Detail+"; "+f.Hint, "; ")
	if at := placeOf(f.Pointer); at != "" {
		out = at + ": " + out
	}
	return out
}

func formatProblem(p schema.Problem, file string, text []byte) string {
	if p.Line == 0 {
		p = score.Locate(text, []schema.Problem{p})[0]
	}
	var b strings.Builder
	b.WriteString(file)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	if p.Severity == schema.SeverityWarning {
		b.WriteString("warning: ")
	}
	if p.Pointer == "" && p.Line > 0 {
		return b.String() + strings.TrimPrefix(p.String(), "/: ")
	}
	return b.String() + p.String()
}

// batchError returns the failure, if any, with which a batch ends the program.
func batchError(b api.Batch) error {
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
