package notifier

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/smtp"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/change"
	"troupe/fleetd/notify"
	"troupe/schema"
)

const (
	// httpWithin bounds one request, mailWithin one mail.
	httpWithin = 10 * time.Second
	mailWithin = 30 * time.Second
	// maxAnswer bounds what is read of an answer, in bytes.
	maxAnswer = 4096
	// shownAnswer bounds what people see of it.
	shownAnswer = 200
)

// Sender delivers notifications to receivers.
type Sender struct {
	deps   SenderDeps
	client *http.Client
}

// SenderDeps is what a Sender needs.
type SenderDeps struct {
	Now     func() time.Time
	Secrets func(change.Receiver) (notify.Secrets, error)
	Filter  AddressFilter
	Link    string         // URL of the console; empty if it is not known
	Roots   *x509.CertPool // nil = those of the system
	Host    string         // that fleetd names to mail servers
}

// NewSender makes a sender. It follows no redirects and uses no proxy: either could lead where the filter forbids.
func NewSender(d SenderDeps) *Sender {
	s := &Sender{deps: d}
	s.client = &http.Client{
		Transport: &http.Transport{
			DialContext: s.dialer().DialContext, TLSClientConfig: s.tls(""), TLSHandshakeTimeout: httpWithin, ForceAttemptHTTP2: true,
			MaxIdleConnsPerHost: 1, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s
}

func (s *Sender) dialer() *net.Dialer {
	return &net.Dialer{Timeout: httpWithin, Control: s.deps.Filter.control}
}

func (s *Sender) tls(host string) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: s.deps.Roots, ServerName: host}
}

// Send delivers a notification once.
func (s *Sender) Send(ctx context.Context, r change.Receiver, n notify.Notification, try int) notify.Result {
	secrets, err := s.deps.Secrets(r)
	if err != nil {
		return notify.Result{Detail: "this instance cannot open the secrets of the receiver: write them again, or give every instance the " +
			"same --seal-key"}
	}
	var result notify.Result
	if r.Kind == notify.Email {
		result = s.mail(ctx, r.Receiver, secrets, n, try)
	} else {
		result = s.post(ctx, r.Receiver, secrets, n, try)
	}
	result.Detail = withoutSecrets(result.Detail, secrets)
	return result
}

// withoutSecrets removes secrets from a text: a server may repeat what it got.
func withoutSecrets(text string, s notify.Secrets) string {
	for _, secret := range []string{s.HMACKey, s.Password, s.Token} {
		if secret != "" {
			text = strings.NewReplacer(secret, "[secret]", url.PathEscape(secret), "[secret]", url.QueryEscape(secret), "[secret]").Replace(text)
		}
	}
	return text
}

func (s *Sender) post(ctx context.Context, r notify.Receiver, secrets notify.Secrets, n notify.Notification, try int) notify.Result {
	q, err := notify.RequestFor(r, secrets, n, s.deps.Link, try, s.deps.Now())
	if err != nil {
		return notify.Result{Final: true, Detail: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, httpWithin)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, q.URL, bytes.NewReader(q.Body))
	if err != nil {
		return notify.Result{Final: true, Detail: "the URL cannot be used"}
	}
	for k, v := range q.Header {
		request.Header.Set(k, v)
	}
	answer, err := s.client.Do(request)
	if err != nil {
		var of *url.Error // names the URL, which may have the token
		if errors.As(err, &of) {
			err = of.Err
		}
		var address *AddressRefused
		return notify.Result{Final: errors.As(err, &address), Detail: "no answer: " + err.Error()}
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(answer.Body, maxAnswer)) // only for people
	detail := fmt.Sprintf("the receiver answers %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	switch code := answer.StatusCode; {
	case code >= 200 && code < 300:
		return notify.Result{OK: true, Detail: detail}
	case code >= 300 && code < 400:
		return notify.Result{Final: true, Detail: detail + ", a redirect, which fleetd does not follow: write the URL to which it leads"}
	default:
		text := withoutSecrets(string(body), secrets) // before it is cut: a part of a secret would stay
		if text = strings.TrimSpace(schema.SanitizeText(text[:min(len(text), shownAnswer)])); text != "" {
			detail += ": " + text
		}
		final := code < 500 && code != http.StatusRequestTimeout && code != http.StatusTooManyRequests && code != http.StatusTooEarly
		return notify.Result{Final: final, Detail: detail}
	}
}

func (s *Sender) mail(ctx context.Context, r notify.Receiver, secrets notify.Secrets, n notify.Notification, try int) notify.Result {
	ctx, cancel := context.WithTimeout(ctx, mailWithin)
	defer cancel()
	refusals, step, err := s.deliverMail(ctx, r, secrets, notify.Mail(r, n, s.deps.Link, try, s.deps.Now()))
	if err == nil {
		detail := "the mail server has taken it"
		if len(refusals) > 0 {
			detail += ", but not for " + oneLine(errors.Join(refusals...))
		}
		return notify.Result{OK: true, Detail: detail}
	}
	var address *AddressRefused
	final := isPermanent(err) || errors.Is(err, errNoStartTLS) || errors.As(err, &address)
	return notify.Result{Final: final, Detail: step + ": " + oneLine(err)}
}

// mailShutdown is the code with which a mail server ends the connection, whatever it was asked.
const mailShutdown = 421

// isPermanent reports whether a mail server refused for good, and of several refusals each one.
func isPermanent(err error) bool {
	if all, several := err.(interface{ Unwrap() []error }); several {
		return !slices.ContainsFunc(all.Unwrap(), func(one error) bool { return !isPermanent(one) })
	}
	var refused *textproto.Error
	return errors.As(err, &refused) && refused.Code >= 500
}

// oneLine is the text of an error, or of several that are joined.
func oneLine(err error) string {
	return schema.SanitizeText(strings.ReplaceAll(err.Error(), "\n", "; "))
}

var errNoStartTLS = errors.New("the mail server offers no STARTTLS: write tls: tls for one that encrypts from the first byte, or tls: none")

// deliverMail sends a mail to the recipients that the server accepts, and returns why it refuses the others, for good or for now: one
// full mailbox must not keep the mail from the others, who would get it again at each further try. If something
// fails, then in which step.
func (s *Sender) deliverMail(ctx context.Context, r notify.Receiver, secrets notify.Secrets, message []byte) (
	refusals []error, step string, err error) {
	host, _, err := net.SplitHostPort(r.Server)
	if err != nil {
		return nil, "read the server", err
	}
	conn, err := s.dialer().DialContext(ctx, "tcp", r.Server)
	if err != nil {
		return nil, "connect", err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if end, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(end) // Close ends it, too
	}
	if r.TLS == "tls" {
		conn = tls.Client(conn, s.tls(host))
	}
	c, err := smtp.NewClient(conn, host)
	if err != nil {
		_ = conn.Close()
		return nil, "greet the mail server", err
	}
	defer c.Close()
	if err := c.Hello(cmp.Or(s.deps.Host, "localhost")); err != nil {
		return nil, "greet the mail server", err
	}
	if r.TLS == "" || r.TLS == "starttls" {
		if ok, _ := c.Extension("STARTTLS"); !ok {
			return nil, "STARTTLS", errNoStartTLS
		}
		if err := c.StartTLS(s.tls(host)); err != nil {
			return nil, "STARTTLS", err
		}
	}
	if r.User != "" {
		if err := c.Auth(smtp.PlainAuth("", r.User, secrets.Password, host)); err != nil {
			return nil, "sign in to the mail server", err
		}
	}
	if err := c.Mail(r.From); err != nil {
		return nil, "name the sender", err
	}
	for _, to := range r.To {
		err := c.Rcpt(to)
		var refused *textproto.Error
		switch {
		case err == nil:
		case errors.As(err, &refused) && refused.Code != mailShutdown:
			refusals = append(refusals, fmt.Errorf("%s: %w", to, err))
		default:
			return nil, "name the recipient " + to, err
		}
	}
	if len(refusals) == len(r.To) {
		return nil, "name the recipients", errors.Join(refusals...)
	}
	w, err := c.Data()
	if err == nil {
		if _, err = w.Write(message); err == nil {
			err = w.Close()
		}
	}
	if err != nil {
		return nil, "send the mail", err
	}
	_ = c.Quit() // the server has taken it
	return refusals, "", nil
}
