package stage

import (
	"context"
	"errors"
	"fmt"
)

// A program is broker, fleetd or a robotd, running in a goroutine of its own.
type program struct {
	name  string
	stop  context.CancelFunc
	ended chan struct{}
	err   error // set before ended is closed
}

// startProgram runs a program under its own context, so that the programs can be
// ended in order. A program that ends by itself ends the whole stage with an
// error.
func startProgram(name string, fail context.CancelCauseFunc, run func(context.Context) error) *program {
	ctx, stop := context.WithCancel(context.Background())
	p := &program{name: name, stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		err := run(ctx)
		switch {
		case ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled)):
			return
		case err == nil:
			err = errors.New("the program ended by itself")
		}
		p.err = fmt.Errorf("%s: %w", name, err)
		fail(p.err)
	}()
	return p
}

// endPrograms ends the programs, all at once, and returns when they have ended.
func endPrograms(parts ...*program) error {
	for _, p := range parts {
		p.stop()
	}
	var errs []error
	for _, p := range parts {
		<-p.ended
		errs = append(errs, p.err)
	}
	return errors.Join(errs...)
}
