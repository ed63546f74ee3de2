package websocket

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// closedPeer is a connection whose peer has sent everything and closed its side.
type closedPeer struct {
	in  *bytes.Reader
	out bytes.Buffer
}

func (s *closedPeer) Read(b []byte) (int, error)       { return s.in.Read(b) }
func (s *closedPeer) Write(b []byte) (int, error)      { return s.out.Write(b) }
func (*closedPeer) Close() error                       { return nil }
func (*closedPeer) LocalAddr() net.Addr                { return &net.TCPAddr{} }
func (*closedPeer) RemoteAddr() net.Addr               { return &net.TCPAddr{} }
func (*closedPeer) SetDeadline(time.Time) error        { return nil }
func (*closedPeer) SetReadDeadline(time.Time) error    { return nil }
func (*closedPeer) SetWriteDeadline(t time.Time) error { return nil }

const request = "GET /mqtt HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
	"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: mqtt\r\n\r\n"

// frame is a WebSocket frame of a client, masked with zeros.
func frame(first byte, payload string) string {
	return string([]byte{first, 0x80 | byte(len(payload)), 0, 0, 0, 0}) + payload
}

func TestFramesFormOneStream(t *testing.T) {
	const (
		text, binary, more, ping, end = 0x81, 0x82, 0x02, 0x89, 0x88
	)
	for what, c := range map[string]struct {
		frames, want string
		clean        bool
	}{
		"one message":                    {frame(binary, "abc") + frame(end, ""), "abc", true},
		"several messages, empty ones":   {frame(binary, "a") + frame(binary, "") + frame(binary, "bc") + frame(end, ""), "abc", true},
		"a message in parts, and a ping": {frame(more, "ab") + frame(ping, "x") + frame(0x80, "c") + frame(end, ""), "abc", true},
		"a text message":                 {frame(binary, "a") + frame(text, "b"), "a", false},
		"an end without a close frame":   {frame(binary, "a"), "a", true}, // as with a socket
		"a frame without a mask":         {"\x82\x01a", "", false},
	} {
		// The frames come after the response: one that comes with the request is refused.
		ws, err := Accept(&sequence{closedPeer: &closedPeer{}, readers: []io.Reader{strings.NewReader(request), strings.NewReader(c.frames)}},
			nil)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		got, err := io.ReadAll(ws)
		if string(got) != c.want || (err == nil) != c.clean {
			t.Errorf("%s: %q, %v", what, got, err)
		}
	}
}

// sequence reads from one reader after another, each Read from one of them.
type sequence struct {
	*closedPeer
	readers []io.Reader
}

func (s *sequence) Read(b []byte) (int, error) {
	for len(s.readers) > 0 {
		n, err := s.readers[0].Read(b)
		if n > 0 {
			return n, nil
		}
		if err != nil {
			s.readers = s.readers[1:]
		}
	}
	return 0, io.EOF
}

func FuzzAccept(f *testing.F) {
	f.Add([]byte(request))
	f.Add([]byte(strings.Replace(request, "\r\n", "\r\nOrigin: https://evil.example\r\n", 1)))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		conn := &closedPeer{in: bytes.NewReader(text)}
		ws, err := Accept(conn, []string{"https://console.example"})
		upgraded := strings.HasPrefix(conn.out.String(), "HTTP/1.1 101 ")
		if (err == nil) != upgraded {
			t.Fatalf("%q: %v, answered %q", text, err, conn.out.String())
		}
		if err == nil {
			_, _ = io.Copy(io.Discard, ws)
			if strings.Contains(strings.ToLower(string(text)), "\norigin: https://evil") {
				t.Fatalf("%q was accepted", text)
			}
		} else if out := conn.out.String(); out != "" {
			if _, err := http.ReadResponse(bufio.NewReader(strings.NewReader(out)), nil); err != nil {
				t.Fatalf("%q is answered with %q: %v", text, out, err)
			}
		}
	})
}
