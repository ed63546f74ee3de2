// Package download fetches files from fleetd over HTTP that are too large for MQTT, and sends
// flight records there. A file to fetch is identified by its digest and its size; the package
// rejects any other length or content, and follows no redirect.
//
// A partial file stays on the disk and a later download continues it. A file with wrong
// content, or for which the disk has no space, is removed.
package download

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"troupe/schema"
)

// filesPath is the path below which fleetd serves files by their digest.
const filesPath = "/api/v1/assets/sha256"

// The time limits of a request.
const (
	connectTimeout = 10 * time.Second
	answerTimeout  = 15 * time.Second // from the request to the header of the answer
	silenceLimit   = 15 * time.Second // between two bytes
)

// progressStep is how many bytes lie between two reports of progress. A caller may treat
// fleetd as too slow if the next report takes too long.
const progressStep = 32 << 10

// File identifies a file to fetch.
type File struct {
	SHA256 string
	Size   int64 // bytes
}

// Failure is why a download failed. Reason is bad_digest if the content is not that of
// the file, no_space, timeout, unavailable if fleetd does not serve the file now, also if what
// answers is something else, such as a captive portal, or internal.
type Failure struct {
	Reason schema.Reason
	Detail string
}

func (f *Failure) Error() string { return string(f.Reason) + ": " + f.Detail }

func fail(r schema.Reason, format string, args ...any) *Failure {
	return &Failure{r, fmt.Sprintf(format, args...)}
}

// ParseFleetd parses the address of fleetd: https://host:port, or http:// for one on the
// same machine.
func ParseFleetd(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("%q is not an address of fleetd: write https://host:port", schema.PrintableURL(address))
	case u.Scheme == "http" && !isLocal(u.Hostname()):
		return nil, fmt.Errorf("%q would fetch unencrypted from another machine: write https://, or http:// with 127.0.0.1", address)
	}
	return u, nil
}

func isLocal(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Fleetd is the server that files come from.
type Fleetd struct {
	url    *url.URL
	client *http.Client
}

// NewFleetd returns fleetd at the address u. config contains the robot's certificate.
func NewFleetd(u *url.URL, config *tls.Config) *Fleetd {
	if config != nil {
		config = config.Clone()
		config.MinVersion = tls.VersionTLS13
	}
	return &Fleetd{u, &http.Client{
		// No proxy and no idle connections, because downloads are rare.
		Transport: &http.Transport{
			DialContext:     (&net.Dialer{Timeout: connectTimeout}).DialContext,
			TLSClientConfig: config, TLSHandshakeTimeout: connectTimeout, ResponseHeaderTimeout: answerTimeout,
			ExpectContinueTimeout: connectTimeout, // see Send
			DisableKeepAlives:     true, DisableCompression: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// UseDialer makes d connect with dial instead of the address, for servers in the same
// process.
func (d *Fleetd) UseDialer(dial func(ctx context.Context) (net.Conn, error)) {
	d.client.Transport.(*http.Transport).DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }
}

// Get fetches f to path, where a part of it may already be. If it returns nil, the
// complete file is at path and survives a loss of power. progress is called from time
// to time with the number of bytes at path. The error is a *Failure, or that of ctx if
// ctx has ended.
func (d *Fleetd) Get(ctx context.Context, f File, path string, progress func(bytes int64)) error {
	part, err := openPart(ctx, f, path)
	if err != nil {
		return part.finish(ctx, err)
	}
	if part.have < f.Size {
		err = d.fetchRest(ctx, part, progress)
	}
	if err == nil {
		err = part.verify()
	}
	return part.finish(ctx, err)
}

// fetchRest requests the missing bytes and appends them.
func (d *Fleetd) fetchRest(ctx context.Context, p *part, progress func(int64)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url.JoinPath(filesPath, p.SHA256).String(), nil)
	if err != nil {
		return fail(schema.ReasonInternal, "make a request to fleetd: %v", err)
	}
	if p.have > 0 {
		progress(p.have)
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-", p.have))
	}
	answer, err := d.client.Do(r)
	if err != nil {
		return d.noAnswer("request a file from", err)
	}
	defer answer.Body.Close()
	if err := p.checkHeader(answer); err != nil {
		return err
	}
	silenceTimer := time.AfterFunc(silenceLimit, func() { cancel(errSilent) })
	defer silenceTimer.Stop()
	buffer, reported := make([]byte, progressStep), p.have
	for {
		n, err := answer.Body.Read(buffer)
		silenceTimer.Reset(silenceLimit)
		if n > 0 {
			if err := p.add(buffer[:n]); err != nil {
				return err
			}
		}
		if p.have-reported >= progressStep {
			reported = p.have
			progress(reported)
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF): // verify checks the length
			return nil
		case errors.Is(context.Cause(ctx), errSilent):
			return fail(schema.ReasonTimeout, "fleetd sent %d of %d bytes and then nothing for %s", p.have, p.Size, silenceLimit)
		default:
			return fail(schema.ReasonUnavailable, "the connection broke after %d of %d bytes: %v", p.have, p.Size, err)
		}
	}
}

var errSilent = errors.New("fleetd is silent")

// noAnswer returns the failure if fleetd did not answer at all. what is what was asked of it.
func (d *Fleetd) noAnswer(what string, err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return fail(schema.ReasonUnavailable, "%s fleetd at %s: %v", what, d.url, err)
}

// part is the part of a file that is on the disk.
type part struct {
	File
	path string
	file *os.File
	have int64
	sum  hash.Hash // of the first have bytes
	drop bool      // what is on the disk is not of this file
}

// openPart opens the part of f on the disk and computes its digest. It empties a part
// that cannot belong to f.
func openPart(ctx context.Context, f File, path string) (*part, error) {
	p := &part{File: f, path: path, sum: sha256.New()}
	var err error
	if p.file, err = os.OpenFile(filepath.Clean(path), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return p, p.diskFailure(err)
	}
	if p.have, err = io.Copy(p.sum, &ctxReader{ctx, io.LimitReader(p.file, f.Size+1)}); err != nil {
		return p, p.diskFailure(err)
	}
	if p.have > f.Size || p.have == f.Size && !p.digestMatches() {
		return p, p.restart()
	}
	return p, nil
}

// ctxReader reads until ctx ends.
type ctxReader struct {
	ctx context.Context
	io.Reader
}

func (r *ctxReader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
}

func (p *part) digestMatches() bool { return hex.EncodeToString(p.sum.Sum(nil)) == p.SHA256 }

func (p *part) restart() error {
	p.have = 0
	p.sum.Reset()
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		return p.diskFailure(err)
	}
	if err := p.file.Truncate(0); err != nil {
		return p.diskFailure(err)
	}
	return nil
}

// checkHeader checks the header of an answer.
func (p *part) checkHeader(answer *http.Response) error {
	switch code := answer.StatusCode; {
	case code == http.StatusOK:
		if answer.ContentLength >= 0 && answer.ContentLength != p.Size {
			return p.useless("%d bytes were sent instead of a file of %d", answer.ContentLength, p.Size)
		}
		if media, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); media == "text/html" {
			return p.useless("a web page was sent instead of the file, as a captive portal does")
		}
		if p.have > 0 {
			return p.restart() // fleetd sends the whole file
		}
		return nil
	case code == http.StatusPartialContent && p.have > 0:
		if got, want := answer.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-%d/%d", p.have, p.Size-1, p.Size); got != want {
			return p.useless("the range %q was sent instead of %q", got, want)
		}
		return nil
	case code >= 300 && code < 400:
		return fail(schema.ReasonUnavailable, "fleetd redirects the robot elsewhere (%s); the robot follows no redirects", answer.Status)
	}
	return refusal(answer)
}

// useless returns the failure if something else than the file was sent: fleetd may send the file later.
func (p *part) useless(format string, args ...any) error {
	p.drop = true
	return fail(schema.ReasonUnavailable, format, args...)
}

// add appends received bytes.
func (p *part) add(b []byte) error {
	if p.have+int64(len(b)) > p.Size {
		return p.useless("received more than %d bytes for %s", p.Size, p.SHA256)
	}
	if _, err := p.file.Write(b); err != nil {
		return p.diskFailure(err)
	}
	p.sum.Write(b)
	p.have += int64(len(b))
	return nil
}

// verify checks that the file is complete and correct, and syncs it.
func (p *part) verify() error {
	switch {
	case p.have != p.Size:
		return p.useless("received %d bytes for %s, which has %d", p.have, p.SHA256, p.Size)
	case !p.digestMatches():
		p.drop = true
		return fail(schema.ReasonBadDigest, "the received content does not have the digest %s", p.SHA256)
	}
	if err := p.file.Sync(); err != nil {
		return p.diskFailure(err)
	}
	folder, err := os.Open(filepath.Dir(p.path))
	if err != nil {
		return p.diskFailure(err)
	}
	if err := errors.Join(folder.Sync(), folder.Close()); err != nil {
		return p.diskFailure(err)
	}
	return nil
}

// diskFailure returns the failure for an error of the disk.
func (p *part) diskFailure(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	reason := schema.ReasonInternal
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		reason = schema.ReasonNoSpace
	}
	return fail(reason, "store a file of %d bytes: %v", p.Size, err)
}

// finish closes the part, and removes it if its content is useless.
func (p *part) finish(ctx context.Context, err error) error {
	if p.file != nil {
		_ = p.file.Close() // a complete file was synced
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var f *Failure
	if p.drop || errors.As(err, &f) && f.Reason == schema.ReasonNoSpace {
		_ = os.Remove(p.path) // if this fails, the next Get detects the wrong content again
	}
	return err
}
