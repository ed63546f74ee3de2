// Package download gets files from fleetd over HTTP that are too large for the
// broker. It knows a file by its digest and its size and takes nothing else: not
// another length, not other bytes, and no redirect to somebody else's server.
//
// What came of a file that did not come whole stays and is gone on with; what
// was wrong, and what the disk had no room for, is removed.
package download

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"troupe/schema"
)

// filesPath is where a fleetd instance gives files out by their digest.
const filesPath = "/api/v1/assets/sha256"

// How long a fleetd instance may do nothing.
const (
	connectWithin = 10 * time.Second
	answerWithin  = 15 * time.Second // from the request to the header of the answer
	silence       = 15 * time.Second // between two bytes
)

// tellEvery is how many bytes lie between two tellings of how far it is; a fleetd instance
// that needs longer for so many than a caller is ready to wait is too slow.
const tellEvery = 32 << 10

// File is what is wanted.
type File struct {
	SHA256 string
	Size   int64 // bytes
}

// Failure is why a file is not there. Reason is bad_digest for bytes that are not
// the file's, no_space, timeout, unavailable for a fleetd instance that does not give it now,
// or internal.
type Failure struct {
	Reason schema.Reason
	Detail string
}

func (f *Failure) Error() string { return string(f.Reason) + ": " + f.Detail }

func fail(r schema.Reason, format string, args ...any) *Failure {
	return &Failure{r, fmt.Sprintf(format, args...)}
}

// ParseFleetd reads the address of a fleetd instance: https://host:port, or http:// for one on
// this machine.
func ParseFleetd(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("%q is no address of a fleetd instance: write https://host:port", address)
	case u.Scheme == "http" && !local(u.Hostname()):
		return nil, fmt.Errorf("%q would fetch in the clear from another machine: write https://, or http:// with 127.0.0.1", address)
	}
	return u, nil
}

func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Fleetd is where files come from.
type Fleetd struct {
	url    *url.URL
	client *http.Client
}

// NewFleetd is fleetd at u, to which a robot proves itself with how.
func NewFleetd(u *url.URL, how *tls.Config) *Fleetd {
	if how != nil {
		how = how.Clone()
		how.MinVersion = tls.VersionTLS13
	}
	return &Fleetd{u, &http.Client{
		// Neither a proxy nor a connection that stays open: this happens seldom.
		Transport: &http.Transport{
			DialContext:     (&net.Dialer{Timeout: connectWithin}).DialContext,
			TLSClientConfig: how, TLSHandshakeTimeout: connectWithin, ResponseHeaderTimeout: answerWithin,
			DisableKeepAlives: true, DisableCompression: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Through makes d connect by dial, within one process, whatever its address says.
func (d *Fleetd) Through(dial func(ctx context.Context) (net.Conn, error)) {
	d.client.Transport.(*http.Transport).DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }
}

// Get brings f to path, where a part of it may lie already. When it returns nil
// the whole file is there and safe from a loss of power. tell hears now and then
// how many bytes are there. The error is a *Failure, but for an ended ctx.
func (d *Fleetd) Get(ctx context.Context, f File, path string, tell func(bytes int64)) error {
	part, err := openPart(ctx, f, path)
	if err != nil {
		return part.give(ctx, err)
	}
	if part.have < f.Size {
		err = d.fill(ctx, part, tell)
	}
	if err == nil {
		err = part.finish()
	}
	return part.give(ctx, err)
}

// fill asks for what is missing.
func (d *Fleetd) fill(ctx context.Context, p *part, tell func(int64)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url.JoinPath(filesPath, p.SHA256).String(), nil)
	if err != nil {
		return fail(schema.ReasonInternal, "ask fleetd: %v", err)
	}
	if p.have > 0 {
		tell(p.have)
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-", p.have))
	}
	answer, err := d.client.Do(r)
	if err != nil {
		return d.unheard(err)
	}
	defer answer.Body.Close()
	if err := p.suits(answer); err != nil {
		return err
	}
	late := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer late.Stop()
	buffer, told := make([]byte, tellEvery), p.have
	for {
		n, err := answer.Body.Read(buffer)
		late.Reset(silence)
		if n > 0 {
			if err := p.add(buffer[:n]); err != nil {
				return err
			}
		}
		if p.have-told >= tellEvery {
			told = p.have
			tell(told)
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF): // the length is judged at the end
			return nil
		case errors.Is(context.Cause(ctx), errSilent):
			return fail(schema.ReasonTimeout, "fleetd sent %d of %d bytes and then nothing for %s", p.have, p.Size, silence)
		default:
			return fail(schema.ReasonUnavailable, "the connection broke after %d of %d bytes: %v", p.have, p.Size, err)
		}
	}
}

var errSilent = errors.New("fleetd is silent")

// unheard is a fleetd instance that did not answer at all.
func (d *Fleetd) unheard(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return fail(schema.ReasonUnavailable, "ask fleetd at %s for a file: %v", d.url, err)
}

// part is what of a file is on the disk.
type part struct {
	File
	path string
	on   *os.File
	have int64
	sum  hash.Hash // of it
}

// openPart reads what is there of f. What cannot be a part of it is forgotten.
func openPart(ctx context.Context, f File, path string) (*part, error) {
	p := &part{File: f, path: path, sum: sha256.New()}
	var err error
	if p.on, err = os.OpenFile(filepath.Clean(path), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return p, p.refused(err)
	}
	if p.have, err = io.Copy(p.sum, &patient{ctx, io.LimitReader(p.on, f.Size+1)}); err != nil {
		return p, p.refused(err)
	}
	if p.have > f.Size || p.have == f.Size && !p.right() {
		return p, p.restart()
	}
	return p, nil
}

// patient reads until ctx ends.
type patient struct {
	ctx context.Context
	io.Reader
}

func (r *patient) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
}

func (p *part) right() bool { return hex.EncodeToString(p.sum.Sum(nil)) == p.SHA256 }

func (p *part) restart() error {
	p.have = 0
	p.sum.Reset()
	if _, err := p.on.Seek(0, io.SeekStart); err != nil {
		return p.refused(err)
	}
	if err := p.on.Truncate(0); err != nil {
		return p.refused(err)
	}
	return nil
}

// suits judges the header of an answer.
func (p *part) suits(answer *http.Response) error {
	switch code := answer.StatusCode; {
	case code == http.StatusOK:
		if answer.ContentLength >= 0 && answer.ContentLength != p.Size {
			return fail(schema.ReasonBadDigest, "fleetd has %d bytes under the digest of a file of %d", answer.ContentLength, p.Size)
		}
		if p.have > 0 {
			return p.restart() // it sends all of it
		}
		return nil
	case code == http.StatusPartialContent && p.have > 0:
		if got, want := answer.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-%d/%d", p.have, p.Size-1, p.Size); got != want {
			return fail(schema.ReasonBadDigest, "fleetd sends %q, where %q was asked for", got, want)
		}
		return nil
	case code >= 300 && code < 400:
		return fail(schema.ReasonUnavailable, "fleetd sends the robot elsewhere (%s), and the robot does not go", answer.Status)
	}
	var why struct{ Detail, Hint string }
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 4<<10))
	if json.Unmarshal(text, &why) != nil || why.Detail == "" {
		return fail(schema.ReasonUnavailable, "fleetd answers %s", answer.Status)
	}
	return fail(schema.ReasonUnavailable, "fleetd answers %s: %.300s", answer.Status, why.Detail)
}

// add writes what came.
func (p *part) add(b []byte) error {
	if p.have+int64(len(b)) > p.Size {
		return fail(schema.ReasonBadDigest, "more than %d bytes came for %s", p.Size, p.SHA256)
	}
	if _, err := p.on.Write(b); err != nil {
		return p.refused(err)
	}
	p.sum.Write(b)
	p.have += int64(len(b))
	return nil
}

// finish makes what is there the file, or says why it is not.
func (p *part) finish() error {
	switch {
	case p.have != p.Size:
		return fail(schema.ReasonBadDigest, "%d bytes came for %s, where %d were promised", p.have, p.SHA256, p.Size)
	case !p.right():
		return fail(schema.ReasonBadDigest, "other bytes came for %s", p.SHA256)
	}
	if err := p.on.Sync(); err != nil {
		return p.refused(err)
	}
	folder, err := os.Open(filepath.Dir(p.path))
	if err != nil {
		return p.refused(err)
	}
	if err := errors.Join(folder.Sync(), folder.Close()); err != nil {
		return p.refused(err)
	}
	return nil
}

// refused is a disk that did not do what it was asked.
func (p *part) refused(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	reason := schema.ReasonInternal
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		reason = schema.ReasonNoSpace
	}
	return fail(reason, "keep a file of %d bytes: %v", p.Size, err)
}

// give releases the part, and of its bytes where they are of no use.
func (p *part) give(ctx context.Context, err error) error {
	if p.on != nil {
		_ = p.on.Close() // what matters was synced
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var f *Failure
	if errors.As(err, &f) && (f.Reason == schema.ReasonBadDigest || f.Reason == schema.ReasonNoSpace) {
		_ = os.Remove(p.path) // one that stays is found wrong again
	}
	return err
}
