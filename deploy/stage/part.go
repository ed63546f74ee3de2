package stage

import (
	"context"
	"errors"
	"fmt"
)

// A part is one of the programs, running in a goroutine of its own.
type part struct {
	name  string
	stop  context.CancelFunc
	ended chan struct{}
	err   error // once ended
}

// start runs a part under its own context, so that the parts can be ended in an
// order. One that ends by itself fails the whole stage.
func start(name string, fail context.CancelCauseFunc, run func(context.Context) error) *part {
	ctx, stop := context.WithCancel(context.Background())
	p := &part{name: name, stop: stop, ended: make(chan struct{})}
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

// end asks the parts to end, all at once, and returns when they have.
func end(parts ...*part) error {
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
