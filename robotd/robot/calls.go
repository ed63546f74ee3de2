package robot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/interrupts"
)

// calls makes the HTTP calls of handlers, each in a goroutine of its own.
type calls struct {
	ctx    context.Context
	loop   *loop
	client *http.Client

	work    sync.WaitGroup
	running map[string]context.CancelFunc // owned by the loop
}

// maxRedirects bounds how often a server may send a call to another of its addresses.
const maxRedirects = 3

func newCalls(ctx context.Context, l *loop) *calls {
	return &calls{ctx: ctx, loop: l, running: map[string]context.CancelFunc{}, client: &http.Client{
		// No proxy and no idle connections, because calls are rare.
		Transport: &http.Transport{
			DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext, TLSHandshakeTimeout: 5 * time.Second,
			DisableKeepAlives: true,
		},
		CheckRedirect: func(to *http.Request, from []*http.Request) error {
			if len(from) > maxRedirects || to.URL.Host != from[0].URL.Host || to.URL.Scheme != from[0].URL.Scheme {
				return errRedirect
			}
			return nil
		},
	}}
}

var errRedirect = errors.New("the redirect goes to another server, or there were more than 3")

// begin makes a call. end releases it once it has ended, or ends it.
func (c *calls) begin(e effect.Call) {
	ctx, cancel := context.WithTimeout(c.ctx, e.Timeout)
	c.running[e.ID] = cancel
	c.work.Go(func() {
		ev := c.make(ctx, e)
		ev.ID = e.ID
		if !errors.Is(ctx.Err(), context.Canceled) {
			c.loop.send(c.ctx, ev)
		}
	})
}

func (c *calls) end(id string) {
	if cancel := c.running[id]; cancel != nil {
		cancel()
		delete(c.running, id)
	}
}

// close ends all calls and waits for them.
func (c *calls) close() {
	for _, cancel := range c.running {
		cancel()
	}
	c.work.Wait()
}

func (c *calls) make(ctx context.Context, e effect.Call) event.Called {
	failed := func(why schema.Reason, format string, args ...any) event.Called {
		return event.Called{Reason: why, Detail: "call " + e.URL + ": " + fmt.Sprintf(format, args...)}
	}
	noAnswer := func(err error) event.Called {
		if errors.Is(err, context.DeadlineExceeded) {
			return failed(schema.ReasonTimeout, "no answer within %v", e.Timeout)
		}
		return failed(schema.ReasonUnavailable, "%v", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(e.Body))
	if err != nil {
		return failed(schema.ReasonInternal, "%v", err)
	}
	req.Header.Set("Content-Type", "application/json")
	answer, err := c.client.Do(req)
	if err != nil {
		return noAnswer(errors.Unwrap(err)) // the address is said already
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		return failed(schema.ReasonUnavailable, "the server answers %s", answer.Status)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, interrupts.MaxAnswer+1))
	switch {
	case err != nil:
		return noAnswer(err)
	case len(body) > interrupts.MaxAnswer:
		return failed(schema.ReasonTooBig, "the answer has more than %d bytes", interrupts.MaxAnswer)
	}
	return event.Called{Body: bytes.TrimSpace(body)}
}
