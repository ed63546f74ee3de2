package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
)

// takesContexts is the annotation of commands that --context may send to several fleets at once. All others go to one: a person
// who reads an answer has to know whose it is.
const takesContexts = "takes several contexts"

func takeContexts(c *cobra.Command) { c.Annotations = map[string]string{takesContexts: "yes"} }

// chooseContexts takes the servers of several contexts. One that cannot be used is a lack that its answer names, so that it
// keeps a stop from no other fleet.
func (sh *shell) chooseContexts(all contexts, names []string) {
	for _, name := range names {
		one := *sh
		one.several, one.cookie, one.context, one.usedContext = nil, nil, name, name
		if c, ok := all.Contexts[name]; ok {
			one.server, one.ca, one.token = c.Server, orElse(c.CA, sh.ca), c.Token
		} else {
			one.server, one.noServer = "", usage("there is no context of this name; fleetd context list shows them")
		}
		sh.several = append(sh.several, &one)
	}
}

// contextNamesIn reads --context a,b. A context with a comma in its name, which earlier releases made, is one.
func contextNamesIn(all contexts, flag string) []string {
	if _, one := all.Contexts[flag]; one || !strings.Contains(flag, ",") {
		return nil
	}
	var names []string
	for _, name := range strings.Split(flag, ",") {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// contextAnswer is how a command ended in one of several contexts.
type contextAnswer struct {
	Name   string `json:"name"`
	Server string `json:"server,omitempty"`
	Code   int    `json:"code"` // the exit code of the command, had it been sent there alone
	Error  string `json:"error,omitempty"`
	Answer any    `json:"answer,omitempty"`
}

// inContexts sends a command to several fleets at the same time and shows each answer when it is there: a fleet that
// does not answer delays no other. print prints an answer for people; outcome is the failure, if any, with which it ends.
func inContexts[T any](ctx context.Context, sh *shell, send func(context.Context, *shell) (T, error), print func(io.Writer, *shell, T),
	outcome func(T) error) error {
	came := make(chan contextAnswer, len(sh.several))
	for _, one := range sh.several {
		go func() {
			a := contextAnswer{Name: one.usedContext, Server: one.server}
			got, err := send(ctx, one)
			if err == nil {
				a.Answer, err = got, outcome(got)
			}
			a.Code, a.Error = endOf(err)
			came <- a
		}()
	}
	var all []contextAnswer
	for range sh.several {
		a := <-came
		all = append(all, a)
		if !sh.forPeople() {
			continue
		}
		fmt.Fprintf(sh.Out, "%s: %s\n", a.Name, outcomeText(a))
		if got, answered := a.Answer.(T); answered {
			at := sh.several[slices.IndexFunc(sh.several, func(one *shell) bool { return one.usedContext == a.Name })]
			print(sh.Out, at, got)
		}
	}
	if !sh.forPeople() {
		slices.SortFunc(all, func(a, b contextAnswer) int { return strings.Compare(a.Name, b.Name) })
		if err := sh.show(all, nil); err != nil {
			return err
		}
	}
	return contextsError(all)
}

func outcomeText(a contextAnswer) string {
	switch {
	case a.Code == exitOK:
		return "done at " + a.Server
	case a.Answer == nil:
		return "NOT DONE: " + a.Error
	}
	return strings.TrimSuffix("not done for all robots at "+a.Server+"; "+a.Error, "; ")
}

// endOf returns the exit code and the text of an error.
func endOf(err error) (code int, text string) {
	var f *failure
	switch {
	case err == nil:
		return exitOK, ""
	case errors.As(err, &f):
		return f.code, f.Error()
	}
	return exitError, err.Error()
}

// contextsError is the failure with which several answers end the program: their own if all ended alike.
func contextsError(all []contextAnswer) error {
	lacking := slices.DeleteFunc(slices.Clone(all), func(a contextAnswer) bool { return a.Code == exitOK })
	if len(lacking) == 0 {
		return nil
	}
	f := &failure{code: lacking[0].Code}
	names := make([]string, len(lacking))
	for i, a := range lacking {
		if names[i] = a.Name; a.Code != f.code {
			f.code = exitError
		}
	}
	if len(lacking) < len(all) || slices.ContainsFunc(all, func(a contextAnswer) bool { return a.Code == exitPartial }) {
		f.code = exitPartial
	}
	slices.Sort(names)
	f.err = fmt.Errorf("not done, or not for all robots, in %d of %d contexts: %s", len(lacking), len(all), strings.Join(names, ", "))
	return f
}

// stopInContexts stops robots of several fleets.
func stopInContexts(ctx context.Context, sh *shell, r apiRequest, waits bool) error {
	return inContexts(ctx, sh, func(ctx context.Context, one *shell) (b api.Batch, err error) {
		err = one.call(ctx, r, &b)
		return b, err
	}, func(w io.Writer, one *shell, b api.Batch) { stopText(w, b, " --context "+one.usedContext) }, func(b api.Batch) error {
		if !waits || b.Total == 0 {
			return nil
		}
		return batchError(b)
	})
}

// releaseInContexts releases each of the stops in the fleet in which it is latched. Ids are those of one fleet.
func releaseInContexts(ctx context.Context, sh *shell, ids []string, why any) error {
	released := make(chan []string, len(sh.several))
	err := inContexts(ctx, sh, func(ctx context.Context, one *shell) (done api.Released, err error) {
		var latched api.LatchedList
		if err = one.do(ctx, "list-stops", nil, &latched); err != nil {
			return done, err
		}
		var here []string
		for _, stop := range latched.Stops {
			if slices.Contains(ids, stop.ID) {
				here = append(here, stop.ID)
			}
		}
		if len(here) == 0 {
			return api.Released{StillLatched: latched.Stops}, nil
		}
		if err = one.do(ctx, "release-stops", given{"ids": here, "why": why}, &done); err == nil {
			released <- here
		}
		return done, err
	}, func(w io.Writer, _ *shell, got api.Released) {
		if len(got.IDs) == 0 {
			fmt.Fprintln(w, "none of these stops is latched here")
			return
		}
		releasedText(nil, w, got)
	}, func(api.Released) error { return nil })
	close(released)
	left := slices.Clone(ids)
	for here := range released {
		left = slices.DeleteFunc(left, func(id string) bool { return slices.Contains(here, id) })
	}
	if len(left) == 0 || err != nil {
		return err
	}
	f := &failure{code: exitError, err: fmt.Errorf("no fleet has latched %s; fleetd stop list --context shows those of each",
		strings.Join(left, " ")), unknown: true}
	if len(left) < len(ids) {
		f.code = exitPartial
	}
	return f
}
