package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"regexp"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"troupe/broker/brokertest"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"broker": main}) }

func TestCommandLine(t *testing.T) { testscript.Run(t, testscript.Params{Dir: "testdata"}) }

// start runs the broker with these arguments and returns its ready line; stop ends it.
func start(t *testing.T, args ...string) (line string, stop func()) {
	t.Setenv("TROUPE_BROKER_DEV", "true")
	t.Setenv("TROUPE_BROKER_MQTT", "127.0.0.1:0")
	t.Setenv("TROUPE_BROKER_LOG_LEVEL", "error")
	ctx, cancel := context.WithCancel(t.Context())
	cmd := command()
	out, in := io.Pipe()
	cmd.SetOut(in)
	cmd.SetErr(&bytes.Buffer{})
	cmd.SetArgs(args)
	ended := make(chan error, 1)
	go func() {
		ended <- cmd.ExecuteContext(ctx)
		in.Close()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		cancel()
		t.Fatalf("%v, %v", err, <-ended)
	}
	return line, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func TestReadyLineAndEnvironment(t *testing.T) {
	line, stop := start(t, "--http", "")
	defer stop()
	found := regexp.MustCompile(`^ready mqtt=(127\.0\.0\.1:[1-9][0-9]*) http=\n$`).FindStringSubmatch(line)
	if found == nil {
		t.Fatalf("ready line %q", line)
	}
	brokertest.Connect(t, brokertest.TCP(found[1]), brokertest.ConnectPacket{Name: "r1", ClientID: "r1"}).Ping()
}

func TestListsInTheEnvironmentAreSeparatedByCommas(t *testing.T) {
	t.Setenv("TROUPE_BROKER_WS_ORIGIN", "https://console.example,https://panel.example")
	t.Setenv("TROUPE_BROKER_HTTP_HOST", "scraper.example")
	line, stop := start(t, "--http", "127.0.0.1:0", "--ws", "127.0.0.1:0")
	defer stop()
	found := regexp.MustCompile(`http=(http://\S+) ws=(\S+)`).FindStringSubmatch(line)
	if found == nil {
		t.Fatalf("ready line %q", line)
	}
	status := func(url, host string, header http.Header) int {
		r, err := http.NewRequest("GET", url, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host, r.Header, r.Close = host, header, true
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	for host, want := range map[string]int{"scraper.example": 200, "evil.example": 403} {
		if got := status(found[1]+"/healthz", host, nil); got != want {
			t.Errorf("host %s: status %d, want %d", host, got, want)
		}
	}
	for origin, want := range map[string]int{"https://console.example": 101, "https://panel.example": 101, "https://evil.example": 403} {
		upgrade := http.Header{"Origin": {origin}, "Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"},
			"Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="}, "Sec-Websocket-Protocol": {"mqtt"}}
		if got := status("http://"+found[2]+"/mqtt", "", upgrade); got != want {
			t.Errorf("origin %s: status %d, want %d", origin, got, want)
		}
	}
}
