package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"regexp"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"troupe/broker/brokertest"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"broker": main}) }

func TestCommandLine(t *testing.T) { testscript.Run(t, testscript.Params{Dir: "testdata"}) }

func TestReadyLineAndEnvironment(t *testing.T) {
	t.Setenv("TROUPE_BROKER_DEV", "true")
	t.Setenv("TROUPE_BROKER_MQTT", "127.0.0.1:0")
	t.Setenv("TROUPE_BROKER_LOG_LEVEL", "error")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := command()
	out, in := io.Pipe()
	cmd.SetOut(in)
	cmd.SetErr(&bytes.Buffer{})
	cmd.SetArgs([]string{"--http", ""})
	ended := make(chan error, 1)
	go func() {
		ended <- cmd.ExecuteContext(ctx)
		in.Close()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%v, %v", err, <-ended)
	}
	found := regexp.MustCompile(`^ready mqtt=(127\.0\.0\.1:[1-9][0-9]*) http=\n$`).FindStringSubmatch(line)
	if found == nil {
		t.Fatalf("ready line %q", line)
	}
	brokertest.Connect(t, brokertest.TCP(found[1]), brokertest.Hello{Name: "r1", ClientID: "r1"}).Ping()
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}
