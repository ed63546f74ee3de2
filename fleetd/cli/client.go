package cli

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"troupe/fleetd/api"
)

// ask is one request to fleetd.
type ask struct {
	method string
	path   string // below the API's prefix
	query  url.Values
	body   any           // sent as JSON, or as it is if it is bytes
	sent   func(n int)   // hears how many bytes of the body are on their way; nil = nobody
	prefer string        // how long to wait for the result
	file   string        // name of the text that is sent, for problems
	within time.Duration // until the whole answer must be there; 0 = answerWithin
	hint   string        // what to do when fleetd does not answer
}

// call asks fleetd and decodes the answer. A refusal is a failure with its
// code.
func (sh *shell) call(ctx context.Context, a ask, into any) error {
	if a.within == 0 {
		a.within = answerWithin
	}
	ctx, cancel := context.WithTimeout(ctx, a.within)
	defer cancel()
	response, text, err := sh.open(ctx, a)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return sh.unreachable(err, a.hint)
	}
	if response.StatusCode >= 400 {
		var p api.Problem
		if json.Unmarshal(body, &p) != nil || p.Type == "" {
			return fmt.Errorf("%s answered %s, which is no answer of a fleetd instance", sh.server, response.Status)
		}
		return refused(&p, a.file, text)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("read fleetd's answer: %w", err)
	}
	return nil
}

// open sends a request; text is the document that it carries, if any.
func (sh *shell) open(ctx context.Context, a ask) (response *http.Response, text []byte, err error) {
	base, err := url.Parse(sh.server)
	if err != nil || base.Host == "" {
		return nil, nil, usage("--server %s: write http://host:port", sh.server)
	}
	target := base.JoinPath(api.Prefix, a.path)
	target.RawQuery = a.query.Encode()
	var body []byte
	kind := "application/json"
	switch b := a.body.(type) {
	case nil:
	case []byte:
		body, text, kind = b, b, "application/yaml"
	case octets:
		body, kind = b, "application/octet-stream"
	default:
		if body, err = json.Marshal(b); err != nil {
			return nil, nil, fmt.Errorf("write the request: %w", err)
		}
	}
	var content io.Reader = http.NoBody
	if len(body) > 0 {
		content = &outgoing{bytes.NewReader(body), a.sent}
	}
	request, err := http.NewRequestWithContext(ctx, a.method, target.String(), content)
	if err != nil {
		return nil, nil, fmt.Errorf("write the request: %w", err)
	}
	request.ContentLength = int64(len(body))
	if a.body != nil {
		request.Header.Set("Content-Type", kind)
	}
	if a.prefer != "" {
		request.Header.Set("Prefer", a.prefer)
	}
	if token := sh.Env("TROUPE_TOKEN"); token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	trust, err := sh.trust()
	if err != nil {
		return nil, nil, err
	}
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, TLSClientConfig: trust}}
	response, err = client.Do(request)
	if err != nil {
		return nil, nil, sh.unreachable(err, a.hint)
	}
	return response, text, nil
}

// octets is a body that is no text.
type octets []byte

// outgoing is a body whose way is told.
type outgoing struct {
	body *bytes.Reader
	sent func(n int)
}

func (o *outgoing) Read(b []byte) (int, error) {
	n, err := o.body.Read(b)
	if o.sent != nil && n > 0 {
		o.sent(int(o.body.Size()) - o.body.Len())
	}
	return n, err
}

// trust is whom an https fleetd must prove itself with.
func (sh *shell) trust() (*tls.Config, error) {
	if sh.ca == "" {
		return nil, nil
	}
	text, err := os.ReadFile(sh.ca)
	if err != nil {
		return nil, usage("--server-ca: %v", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, usage("--server-ca %s holds no certificate", sh.ca)
	}
	return &tls.Config{RootCAs: pool}, nil
}

// answerWithin is how long fleetd may take for an answer that it does not
// wait for itself.
const answerWithin = 30 * time.Second

// unreachable says why there is no answer. hint is what to do about it, if that
// is not fleetd's own matter.
func (sh *shell) unreachable(err error, hint string) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &failure{exitTimeout, fmt.Errorf("fleetd does not answer; %s (asked: %s)", orElse(hint, "if robots must stop, stop them at the robots"), sh.server)}
	case errors.Is(err, context.Canceled):
		return &failure{exitTimeout, errors.New("interrupted before fleetd answered; what was asked for may have happened")}
	}
	return fmt.Errorf("cannot reach fleetd at %s: %w; %s", sh.server, err, orElse(hint, "start it with fleetd serve, or name it with --server"))
}

// follow reads the stream of fleetd until it ends. each gets the name and the
// data of every message.
func (sh *shell) follow(ctx context.Context, query url.Values, each func(event string, data []byte) error) error {
	// A stream that says nothing for a while is dead, whatever TCP believes.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dead := time.AfterFunc(streamSilence, cancel)
	defer dead.Stop()
	response, _, err := sh.open(ctx, ask{method: http.MethodGet, path: "stream", query: query})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		var p api.Problem
		if err := json.NewDecoder(response.Body).Decode(&p); err != nil || p.Type == "" {
			return fmt.Errorf("%s answered %s, which is no answer of a fleetd instance", sh.server, response.Status)
		}
		return refused(&p, "", nil)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 64<<20)
	event := ""
	for lines.Scan() {
		dead.Reset(streamSilence)
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "event: "):
			event = strings.TrimPrefix(line, "event: ")
		case strings.HasPrefix(line, "data: "):
			if err := each(event, []byte(strings.TrimPrefix(line, "data: "))); err != nil {
				return err
			}
		}
	}
	return errStreamEnded
}

const streamSilence = 10 * time.Second

var errStreamEnded = errors.New("the connection to fleetd is lost")

// show prints an answer as JSON if that was asked for, and otherwise as table
// lays it out.
func (sh *shell) show(v any, table func(w io.Writer)) error {
	if sh.output == "json" {
		e := json.NewEncoder(sh.Out)
		e.SetIndent("", "  ")
		return e.Encode(v)
	}
	table(sh.Out)
	return nil
}
