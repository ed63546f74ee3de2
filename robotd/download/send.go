package download

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"troupe/schema"
)

// Send sends size bytes of body to fleetd under a key that fleetd gave. If it returns nil,
// fleetd has checked and kept them. The error is a *Failure, or that of ctx if ctx has ended.
// It is not tried again: the key is valid for one transfer, also for one that broke off.
func (d *Fleetd) Send(ctx context.Context, key string, body io.Reader, size int64) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silenceTimer := time.AfterFunc(silenceLimit, func() { cancel(errSilent) })
	defer silenceTimer.Stop()
	sent := &sending{Reader: body, moved: func() { silenceTimer.Reset(silenceLimit) }}
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, d.url.JoinPath(schema.RecordsPath, key).String(), sent)
	if err != nil {
		return fail(schema.ReasonInternal, "make a request to fleetd: %v", err)
	}
	r.ContentLength = size
	r.Header.Set("Content-Type", "application/octet-stream")
	// fleetd can refuse before the body is on its way. Otherwise it closes a connection on
	// which the robot still writes, and its reason is lost.
	r.Header.Set("Expect", "100-continue")
	answer, err := d.client.Do(r)
	switch {
	case errors.Is(context.Cause(ctx), errSilent):
		return fail(schema.ReasonTimeout, "sent %d of %d bytes to fleetd, which then took nothing for %s", sent.bytes.Load(), size, silenceLimit)
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return d.noAnswer("send a flight record to", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode < 300 {
		return nil
	}
	return refusal(answer)
}

// sending is a body that says when a part of it goes out.
type sending struct {
	io.Reader
	moved func()
	bytes atomic.Int64
}

func (s *sending) Read(b []byte) (int, error) {
	s.moved()
	n, err := s.Reader.Read(b)
	s.bytes.Add(int64(n))
	return n, err
}

// refusal is the failure of a request that fleetd refuses.
func refusal(answer *http.Response) *Failure {
	var why struct{ Detail, Hint string }
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 4<<10))
	if json.Unmarshal(text, &why) != nil || why.Detail == "" {
		return fail(schema.ReasonUnavailable, "fleetd answers %s", answer.Status)
	}
	if why.Hint != "" {
		why.Hint = "; " + why.Hint
	}
	return fail(schema.ReasonUnavailable, "fleetd answers %s: %.300s%.300s", answer.Status, why.Detail, why.Hint)
}
