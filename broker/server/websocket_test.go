package server_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"troupe/broker/brokertest"
	"troupe/broker/server"
	"troupe/schema"
)

func webSocket(c *server.Config) { c.WS = "127.0.0.1:0" }

func TestMQTTOverWebSocket(t *testing.T) {
	ca := brokertest.NewCA(t)
	b := brokertest.Start(t, webSocket, ca.Configure, func(c *server.Config) { c.WSS = "127.0.0.1:0" })
	watcher := brokertest.Connect(t, brokertest.OverWebSocket("ws://"+b.AddrOf("ws")+"/mqtt", nil),
		brokertest.ConnectPacket{Name: "obs", ClientID: "obs.ws"})
	watcher.Subscribe(r1 + "#")
	robot, code := brokertest.TryConnect(t,
		brokertest.OverWebSocket("wss://"+b.AddrOf("wss")+"/mqtt", ca.TLS(ca.IssueClient(schema.RoleRobot, "r1"))),
		brokertest.ConnectPacket{ClientID: "r1"})
	if code != 0 {
		t.Fatalf("code %d", code)
	}
	long := strings.Repeat("x", 40<<10) // more than one buffer
	robot.Retain(r1+"acts", long)
	if m := watcher.Expect(r1 + "acts"); string(m.Payload) != long {
		t.Fatalf("received %d bytes", len(m.Payload))
	}
}

func TestMQTTPacketInManyWebSocketMessages(t *testing.T) {
	b := brokertest.Start(t, webSocket)
	d := websocket.Dialer{Subprotocols: []string{"mqtt"}}
	ws, resp, err := d.Dial("ws://"+b.AddrOf("ws")+"/mqtt", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	if got := resp.Header.Get("Sec-WebSocket-Protocol"); got != "mqtt" {
		t.Errorf("subprotocol %q", got)
	}
	connect := brokertest.ConnectPacket{Name: "r1", ClientID: "r1"}.Bytes()
	for i := range connect {
		if err := ws.WriteMessage(websocket.BinaryMessage, connect[i:i+1]); err != nil {
			t.Fatal(err)
		}
	}
	_ = ws.SetReadDeadline(time.Now().Add(brokertest.Timeout))
	if kind, connack, err := ws.ReadMessage(); err != nil || kind != websocket.BinaryMessage || string(connack) != "\x20\x02\x00\x00" {
		t.Fatalf("answered % x of kind %d: %v", connack, kind, err)
	}
	if err := ws.WriteMessage(websocket.TextMessage, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ws.ReadMessage(); err == nil {
		t.Error("a text message is accepted")
	}
}

// Any web page can make the browser of its visitor connect to the visitor's machine. A
// broker there must not accept it.
func TestUnknownOriginIsRefused(t *testing.T) {
	b := brokertest.Start(t, webSocket, func(c *server.Config) { c.Origins = []string{"https://console.example"} })
	url := "ws://" + b.AddrOf("ws") + "/mqtt"
	for origin, want := range map[string]int{
		"https://console.example": http.StatusSwitchingProtocols, "HTTPS://Console.example": http.StatusSwitchingProtocols,
		"https://evil.example": http.StatusForbidden, "http://" + b.AddrOf("ws"): http.StatusForbidden, "null": http.StatusForbidden,
		"http://console.example": http.StatusForbidden,
	} {
		d := websocket.Dialer{Subprotocols: []string{"mqtt"}}
		ws, resp, err := d.Dial(url, http.Header{"Origin": {origin}})
		if ws != nil {
			ws.Close()
		}
		if resp == nil || resp.StatusCode != want {
			t.Errorf("origin %s: %v, %v, want %d", origin, resp, err, want)
		}
	}
}

func TestInvalidUpgradeRequestIsRefused(t *testing.T) {
	b := brokertest.Start(t, webSocket, func(c *server.Config) { c.ConnectTimeout = time.Hour })
	upgrade := "Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
		"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
	for request, want := range map[string]int{
		"GET /other HTTP/1.1\r\n" + upgrade + "Sec-WebSocket-Protocol: mqtt\r\n\r\n": http.StatusNotFound,
		"GET /mqtt HTTP/1.1\r\n" + upgrade + "Sec-WebSocket-Protocol: chat\r\n\r\n":  http.StatusBadRequest,
		"GET /mqtt HTTP/1.1\r\n" + upgrade + "\r\n":                                  http.StatusBadRequest,
		"GET /mqtt HTTP/1.1\r\nHost: x\r\n\r\n":                                      http.StatusBadRequest,
		"POST /mqtt HTTP/1.1\r\n" + upgrade + "Sec-WebSocket-Protocol: mqtt\r\n\r\n": http.StatusMethodNotAllowed,
		"GET /mqtt HTTP/1.1\r\n" + upgrade + "Sec-WebSocket-Protocol: mqtt\r\n\r\n":  http.StatusSwitchingProtocols,
	} {
		c, err := net.Dial("tcp", b.AddrOf("ws"))
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(brokertest.Timeout))
		if _, err := io.WriteString(c, request); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatalf("%q: %v", request, err)
		}
		if resp.StatusCode != want {
			t.Errorf("%q: %s, want %d", request, resp.Status, want)
		}
		c.Close()
	}
	// A request without an end is not read for ever.
	c, err := net.Dial("tcp", b.AddrOf("ws"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(brokertest.Timeout))
	_, err = io.WriteString(c, "GET /mqtt HTTP/1.1\r\nX: "+strings.Repeat("x", 1<<20))
	if err == nil {
		_, err = io.ReadAll(c)
	}
	if isTimeout(err) {
		t.Error("a request without an end is still being read")
	}
	if n := b.Status()["connections_without_handshake"]; n < 5 {
		t.Errorf("%d counted", n)
	}
}
