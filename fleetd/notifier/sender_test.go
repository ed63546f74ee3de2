package notifier_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/change"
	"troupe/fleetd/notifier"
	"troupe/fleetd/notify"
	"troupe/schema"
)

func TestAddressFilter(t *testing.T) {
	interfaces := func() ([]net.Addr, error) {
		return []net.Addr{&net.IPNet{IP: net.ParseIP("192.168.1.8"), Mask: net.CIDRMask(24, 32)},
			&net.IPNet{IP: net.ParseIP("2001:db8::8"), Mask: net.CIDRMask(64, 128)}}, nil
	}
	for address, refused := range map[string]bool{
		"127.0.0.1": true, "127.9.9.9": true, "::1": true, "::ffff:127.0.0.1": true, "0.0.0.0": true, "0.1.2.3": true, "::": true,
		"169.254.169.254": true, "169.254.0.1": true, "fe80::1": true, "fe80::1%eth0": true, "::ffff:169.254.169.254": true,
		"64:ff9b::7f00:1": true, "64:ff9b::a9fe:a9fe": true, "2002:7f00:1::": true, "2002:a9fe:a9fe::1": true, "::127.0.0.1": true,
		"100.100.100.200": true, "192.0.0.192": true, "168.63.129.16": true, "fd00:ec2::254": true, "fd20:ce::254": true,
		"224.0.0.1": true, "ff02::1": true, "255.255.255.255": true, "240.0.0.1": true,
		"192.168.1.8": true, "::ffff:192.168.1.8": true, "64:ff9b::c0a8:108": true, "2001:db8::8": true,
		"64:ff9b:1::a00:5": true, "64:ff9b:1:7f00:0:100::": true, "::ffff:0:7f00:1": true, "2001:0:a00:5::1": true,
		"::ffff:0:a00:5": false, "2001:1::1": false,
		"10.0.0.5": false, "192.168.1.7": false, "172.16.0.1": false, "100.64.0.1": false, "fd00::5": false, "203.0.113.9": false,
		"2001:db8::9":    false,
		"64:ff9b::a00:5": false, "2002:a00:5::": false,
	} {
		err := notifier.AddressFilter{Interfaces: interfaces}.Check(netip.MustParseAddr(address))
		if (err != nil) != refused {
			t.Errorf("%s: %v", address, err)
		}
		if err == nil {
			continue
		}
		at := netip.MustParseAddr(address).WithZone("").Unmap()
		if err := (notifier.AddressFilter{Allow: []netip.Prefix{netip.PrefixFrom(at,
			at.BitLen())}}).Check(netip.MustParseAddr(address)); err != nil {
			t.Errorf("%s is refused although it is allowed: %v", address, err)
		}
	}
}

func TestAddressesOfInterfacesAreOfThisMachine(t *testing.T) {
	all, err := net.InterfaceAddrs()
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	for _, one := range all {
		at := netip.MustParsePrefix(one.String()).Addr()
		if err := (notifier.AddressFilter{}).Check(at); err == nil {
			t.Errorf("%s is allowed", at)
		}
	}
}

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

func sender(allow []netip.Prefix, roots *x509.CertPool, s notify.Secrets) *notifier.Sender {
	return notifier.NewSender(notifier.SenderDeps{
		Now: func() time.Time { return time.Unix(1_800_000_000, 0) }, Secrets: func(change.Receiver) (notify.Secrets, error) { return s, nil },
		Filter: notifier.AddressFilter{Allow: allow}, Roots: roots, Link: "https://fleet.example",
	})
}

var slow = notify.Notification{ID: "n1", Kind: notify.KindAlerts, Receiver: "crew", Alerts: []notify.Entry{
	{Alert: notify.Alert{Robot: "r1", Type: "device_late", Level: schema.AlertWarn, ID: "a1", Detail: "arm"}, State: notify.Firing},
}}

func TestWebhookIsSignedAndFollowsNoRedirect(t *testing.T) {
	const key, token = "0123456789abcdef", "t0ps3cret"
	var got *http.Request
	var body []byte
	status := http.StatusNoContent
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.Header().Set("Location", "http://"+r.Host+"/elsewhere")
		w.WriteHeader(status)
		fmt.Fprint(w, strings.Repeat("x", 200-len(token)/2)+token)
	}))
	defer server.Close()
	r := change.Receiver{ID: "crew", Receiver: notify.Receiver{Kind: notify.Webhook, URL: server.URL + "/hook"}}
	secrets := notify.Secrets{HMACKey: key, Token: token}
	s := sender(loopback, nil, secrets)
	if result := s.Send(context.Background(), r, slow, 2); !result.OK {
		t.Fatal(result)
	}
	at := got.Header.Get(notify.HeaderTimestamp)
	if got.Header.Get(notify.HeaderSignature) != notify.Signature(key, at,
		body) || at != "1800000000" || got.Header.Get("Authorization") != "Bearer "+token ||
		got.Header.Get(notify.HeaderID) != "n1" || got.Header.Get(notify.HeaderTry) != "2" {
		t.Errorf("the request has %v", got.Header)
	}
	for _, part := range []string{`"subject":"warning: a unit is slow: r1"`, `"state":"firing"`, `"id":"n1"`} {
		if !strings.Contains(string(body), part) {
			t.Errorf("the body lacks %s: %s", part, body)
		}
	}
	for code, final := range map[int]bool{302: true, 307: true, 400: true, 401: true, 404: true, 408: false, 429: false, 500: false,
		503: false} {
		status = code
		result := s.Send(context.Background(), r, slow, 1)
		if result.OK || result.Final != final || strings.Contains(result.Detail, token[:3]) {
			t.Errorf("%d: %+v", code, result)
		}
		if got.URL.Path != "/hook" {
			t.Fatalf("it followed a redirect to %s", got.URL)
		}
	}
	got = nil
	r.URL = strings.Replace(server.URL, "127.0.0.1", "localhost", 1) + "/hook/{token}" // a name that resolves to this machine
	result := sender(nil, nil, secrets).Send(context.Background(), r, slow, 1)
	if result.OK || !result.Final || got != nil || !strings.Contains(result.Detail, "--notify-allow") || strings.Contains(result.Detail,
		token) {
		t.Errorf("to this machine: %+v", result)
	}
	r.URL = "http://127.0.0.1:1/" + "{token}"
	if result := s.Send(context.Background(), r, slow, 1); result.OK || result.Final || strings.Contains(result.Detail, token) {
		t.Errorf("nobody listens: %+v", result)
	}
}

// mailServer takes one mail after the other, and answers one step with the refusal of a test.
type mailServer struct {
	listener net.Listener
	tls      *tls.Config
	refuse   string // the command that is refused
	with     string
	also     string // a line that is refused with 450
	starttls bool
	mails    chan string
}

func (m *mailServer) run() {
	for {
		conn, err := m.listener.Accept()
		if err != nil {
			return
		}
		m.serve(conn)
	}
}

func (m *mailServer) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	in := bufio.NewReader(conn)
	say := func(line string) { fmt.Fprintf(conn, "%s\r\n", line) }
	say("220 mail.example ESMTP")
	var seen strings.Builder
	encrypted := false
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSpace(line)
		word := strings.ToUpper(strings.SplitN(line, " ", 2)[0])
		fmt.Fprintln(&seen, line)
		switch {
		case word == m.refuse, m.refuse != "" && line == m.refuse:
			say(m.with)
		case m.also != "" && line == m.also:
			say("450 greylisted")
		case word == "EHLO":
			say("250-mail.example")
			if m.starttls && !encrypted {
				say("250-STARTTLS")
			}
			say("250 AUTH PLAIN")
		case word == "STARTTLS":
			say("220 go ahead")
			secure := tls.Server(conn, m.tls)
			conn, in, encrypted = secure, bufio.NewReader(secure), true
		case word == "DATA":
			say("354 go ahead")
			for {
				line, err := in.ReadString('\n')
				if err != nil {
					return
				}
				if line == ".\r\n" {
					break
				}
				seen.WriteString(line)
			}
			say("250 taken")
			m.mails <- seen.String()
		case word == "QUIT":
			say("221 bye")
			return
		case word == "AUTH":
			say("235 welcome")
		default:
			say("250 ok")
		}
	}
}

func TestMailOverSTARTTLS(t *testing.T) {
	web := httptest.NewUnstartedServer(nil)
	web.StartTLS() // has a certificate for 127.0.0.1 and example.com
	defer web.Close()
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &mailServer{listener: listener, tls: &tls.Config{Certificates: web.TLS.Certificates}, starttls: true, mails: make(chan string, 4)}
	over := make(chan struct{})
	go func() { m.run(); close(over) }()
	defer func() { _ = listener.Close(); <-over }()

	const password = "p4ssw0rd of the crew"
	r := change.Receiver{ID: "crew", Receiver: notify.Receiver{
		Kind: notify.Email, Server: listener.Addr().String(), User: "troupe", From: "troupe@museum.example", To: []string{"a@museum.example",
			"b@museum.example"}, Language: notify.German,
	}}
	s := sender(loopback, roots, notify.Secrets{Password: password})
	if result := s.Send(context.Background(), r, slow, 3); !result.OK {
		t.Fatal(result)
	}
	mail := <-m.mails
	for _, part := range []string{
		"STARTTLS", "AUTH PLAIN " + base64.StdEncoding.EncodeToString([]byte("\x00troupe\x00"+password)), "MAIL FROM:<troupe@museum.example>",
		"RCPT TO:<b@museum.example>",
		"Subject: Troupe: Warnung: eine Einheit ist langsam: r1\r\n", "Message-ID: <n1@museum.example>", notify.HeaderTry + ": 3",
		"https://fleet.example/events", "Auto-Submitted: auto-generated",
	} {
		if !strings.Contains(mail, part) {
			t.Errorf("the mail lacks %q:\n%s", part, mail)
		}
	}
	if strings.Index(mail, "STARTTLS") > strings.Index(mail, "AUTH") {
		t.Error("the password was sent before STARTTLS")
	}
	for _, one := range []struct {
		refuse, with string
		final        bool
	}{
		{"RCPT", "550 no such person", true}, {"AUTH", "535 wrong password " + password, true}, {"MAIL", "451 try again", false}, {"DATA",
			"452 full", false},
	} {
		m.refuse, m.with = one.refuse, one.with
		result := s.Send(context.Background(), r, slow, 1)
		if result.OK || result.Final != one.final || strings.Contains(result.Detail, password) {
			t.Errorf("%s: %+v", one.with, result)
		}
	}
	m.refuse, m.with = "RCPT TO:<a@museum.example>", "550 no such person"
	if result := s.Send(context.Background(), r, slow, 1); !result.OK || !strings.Contains(result.Detail, `but not for a@museum.example: 550 "no such person"`) {
		t.Errorf("one of two recipients is refused: %+v", result)
	} else if mail := <-m.mails; !strings.Contains(mail, "RCPT TO:<b@museum.example>") {
		t.Errorf("the other one gets nothing: %s", mail)
	}
	m.with = "452 mailbox full"
	if result := s.Send(context.Background(), r, slow, 1); !result.OK || !strings.Contains(result.Detail,
		"but not for a@museum.example: 452") {
		t.Errorf("the mailbox of one of two recipients is full: %+v", result)
	} else if mail := <-m.mails; !strings.Contains(mail, "RCPT TO:<b@museum.example>") {
		t.Errorf("the other one gets nothing: %s", mail)
	}
	m.with = "421 shutting down"
	if result := s.Send(context.Background(), r, slow, 1); result.OK || result.Final {
		t.Errorf("the server shuts down: %+v", result)
	}
	m.with, m.also = "550 no such person", "RCPT TO:<b@museum.example>"
	if result := s.Send(context.Background(), r, slow, 1); result.OK || result.Final {
		t.Errorf("one recipient is refused for good, the other for now: %+v", result)
	}
	m.also = ""
	m.refuse, m.with = "RCPT", "450 greylisted"
	if result := s.Send(context.Background(), r, slow, 1); result.OK || result.Final {
		t.Errorf("every recipient is refused for now: %+v", result)
	}
	m.refuse, m.starttls = "", false
	if result := s.Send(context.Background(), r, slow, 1); result.OK || !result.Final || !strings.Contains(result.Detail, "STARTTLS") {
		t.Errorf("without STARTTLS: %+v", result)
	}
	m.starttls = true
	if result := sender(loopback, x509.NewCertPool(), notify.Secrets{Password: password}).Send(context.Background(), r, slow, 1); result.OK {
		t.Errorf("with a certificate that nobody knows: %+v", result)
	}
	if result := sender(nil, roots, notify.Secrets{Password: password}).Send(context.Background(), r, slow,
		1); result.OK || !result.Final || !strings.Contains(result.Detail, "--notify-allow") {
		t.Errorf("to this machine: %+v", result)
	}
}
