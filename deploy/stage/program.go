package stage

import (
	"context"
	"errors"
	"fmt"
)

// A part is one of the programs, running in a goroutine of its own.
type program struct {
	name  string
	stop  context.CancelFunc
	ended chan struct{}
	err   error // once ended
}

// startProgram runs a part under its own context, so that the parts can be ended in an
// order. One that ends by itself fails the whole stage.
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
			err = errors.New("it ended unasked")
		}
		p.err = fmt.Errorf("%s: %w", name, err)
		fail(p.err)
	}()
	return p
}

// endPrograms asks the parts to end, all at once, and returns when they have.
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
