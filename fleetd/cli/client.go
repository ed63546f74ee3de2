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

	"troupe/fleetd/accounts"
	"troupe/fleetd/api"
	"troupe/fleetd/auth"
)

// apiRequest is one request to fleetd.
type apiRequest struct {
	method    string
	path      string // below the API's prefix, or with a slash before it below the address
	query     url.Values
	body      any           // sent as JSON; []byte is sent as YAML, binaryBody as it is
	onSent    func(n int)   // called with the number of bytes of the body that are sent; may be nil
	prefer    string        // header Prefer: how long fleetd waits for the result
	match     string        // header If-Match: the draft revision that the request overwrites
	noneMatch string        // header If-None-Match: the ETag of the answer that is there already
	file      string        // file that the body was read from, for problems
	timeout   time.Duration // timeout for the whole answer; 0 = answerTimeout
	hint      string        // what to do when fleetd does not answer
}

// call sends a request to fleetd and decodes the answer, or copies it into a []byte. A problem becomes a failure
// with its exit code.
func (sh *shell) call(ctx context.Context, a apiRequest, into any) error {
	if a.timeout == 0 {
		a.timeout = answerTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	response, err := sh.open(ctx, a)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return sh.unreachable(err, a.hint)
	}
	switch into := into.(type) {
	case nil:
		return nil
	case *[]byte:
		*into = body
		return nil
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("read fleetd's answer: %w", err)
	}
	return nil
}

// open sends a request to fleetd and returns the answer, of which the caller closes the body. A problem becomes a failure.
func (sh *shell) open(ctx context.Context, a apiRequest) (*http.Response, error) {
	response, text, err := sh.send(ctx, a)
	if err != nil || response.StatusCode < 400 {
		return response, err
	}
	defer response.Body.Close()
	return nil, sh.refused(response, a, text)
}

// refused is the failure of a request that was answered with a problem.
func (sh *shell) refused(response *http.Response, a apiRequest, text []byte) error {
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return sh.unreachable(err, a.hint)
	}
	var p api.Problem
	if bytes.HasPrefix(body, []byte("Client sent an HTTP request to an HTTPS server")) { // the words of net/http
		return fmt.Errorf("%s speaks TLS: write --server https://..., and --server-ca with the root of the fleet's own CA; "+
			"fleetd login remembers both", sh.server)
	}
	if json.Unmarshal(body, &p) != nil || p.Type == "" {
		return fmt.Errorf("%s answered %s, which is not an answer of fleetd; check --server", sh.server, response.Status)
	}
	return problemError(&p, a.file, text)
}

// send sends a request. text is the act or story in its body, if any.
func (sh *shell) send(ctx context.Context, a apiRequest) (response *http.Response, text []byte, err error) {
	if sh.noServer != nil {
		return nil, nil, sh.noServer
	}
	base, err := url.Parse(sh.server)
	if err != nil || base.Host == "" {
		return nil, nil, usage("--server %s: write http://host:port", sh.server)
	}
	target := base.JoinPath(api.Prefix, a.path)
	if strings.HasPrefix(a.path, "/") {
		target = base.JoinPath(a.path)
	}
	target.RawQuery = a.query.Encode()
	var body []byte
	kind := "application/json"
	switch b := a.body.(type) {
	case nil:
	case []byte:
		body, text, kind = b, b, "application/yaml"
	case binaryBody:
		body, kind = b, "application/octet-stream"
	default:
		if body, err = json.Marshal(b); err != nil {
			return nil, nil, fmt.Errorf("write the request: %w", err)
		}
	}
	var content io.Reader = http.NoBody
	if len(body) > 0 {
		content = &progressReader{bytes.NewReader(body), a.onSent}
	}
	request, err := http.NewRequestWithContext(ctx, a.method, target.String(), content)
	if err != nil {
		return nil, nil, fmt.Errorf("write the request: %w", err)
	}
	request.ContentLength = int64(len(body))
	if a.body != nil {
		request.Header.Set("Content-Type", kind)
	}
	request.Header.Set("User-Agent", auth.CLIAgent+sh.version)
	if a.prefer != "" {
		request.Header.Set("Prefer", a.prefer)
	}
	if a.match != "" {
		request.Header.Set("If-Match", a.match)
	}
	if a.noneMatch != "" {
		request.Header.Set("If-None-Match", a.noneMatch)
	}
	if sh.token != "" {
		request.Header.Set("Authorization", "Bearer "+sh.token)
	}
	if sh.cookie != nil {
		request.AddCookie(sh.cookie)
	}
	trust, err := sh.tlsConfig()
	if err != nil {
		return nil, nil, err
	}
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, TLSClientConfig: trust}}
	response, err = client.Do(request)
	if err != nil {
		return nil, nil, sh.unreachable(err, a.hint)
	}
	for _, c := range response.Cookies() {
		if accounts.IsSessionCookie(c.Name) {
			sh.cookie = &http.Cookie{Name: c.Name, Value: c.Value}
		}
	}
	return response, text, nil
}

// binaryBody is a request body that is not text.
type binaryBody []byte

// progressReader is a request body that reports how much of it was sent.
type progressReader struct {
	body   *bytes.Reader
	onRead func(n int)
}

func (o *progressReader) Read(b []byte) (int, error) {
	n, err := o.body.Read(b)
	if o.onRead != nil && n > 0 {
		o.onRead(int(o.body.Size()) - o.body.Len())
	}
	return n, err
}

// tlsConfig trusts the certificates of --server-ca; nil means those of the system.
func (sh *shell) tlsConfig() (*tls.Config, error) {
	if sh.ca == "" {
		return nil, nil
	}
	text, err := os.ReadFile(sh.ca)
	if err != nil {
		return nil, usage("--server-ca: %v", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, usage("--server-ca %s contains no PEM certificate", sh.ca)
	}
	return &tls.Config{RootCAs: pool}, nil
}

// answerTimeout bounds an answer for which fleetd itself waits for nothing.
const answerTimeout = 30 * time.Second

// unreachable is the error of a request without an answer. hint is what to do about
// it; "" gives the usual advice.
func (sh *shell) unreachable(err error, hint string) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &failure{code: exitTimeout, err: fmt.Errorf("fleetd at %s does not answer in time; %s", sh.whichServer(),
			orElse(hint, "if robots must stop, stop them at the robots"))}
	case errors.Is(err, context.Canceled):
		return &failure{code: exitTimeout, err: errors.New("interrupted before fleetd answered; the request may have been carried out")}
	}
	if untrusted := (*tls.CertificateVerificationError)(nil); errors.As(err, &untrusted) {
		hint = "name the root certificate of the fleet with --server-ca FILE (root.pem of fleetd ca init), or the name in the certificate " +
			"with --server"
	}
	advice := "start it with fleetd serve, or name it with --server"
	if sh.usedContext != "" {
		advice += "; fleetd context list shows the contexts"
	}
	return fmt.Errorf("cannot reach fleetd at %s: %w; %s", sh.whichServer(), err, orElse(hint, advice))
}

// readStream reads fleetd's event stream until it ends. each gets the name and the
// data of every event.
func (sh *shell) readStream(ctx context.Context, query url.Values, each func(event string, data []byte) error) error {
	// fleetd sends its status every 2 s, so a silent stream is dead even if TCP has
	// not noticed.
	alive, cancel := context.WithCancel(ctx)
	defer cancel()
	dead := time.AfterFunc(streamTimeout, cancel)
	defer dead.Stop()
	response, err := sh.open(alive, apiRequest{method: http.MethodGet, path: "stream", query: query})
	switch {
	case err != nil && alive.Err() != nil && ctx.Err() == nil:
		return errStreamEnded
	case err != nil:
		return err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 64<<20)
	event := ""
	for lines.Scan() {
		dead.Reset(streamTimeout)
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

const streamTimeout = 10 * time.Second

var errStreamEnded = errors.New("the connection to fleetd is lost")
