package mosquittotest

import (
	"bufio"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func dial(broker string) error {
	at, err := url.Parse(broker)
	if err != nil {
		return err
	}
	conn, err := net.DialTimeout("tcp", at.Host, time.Second)
	if err != nil {
		return err
	}
	return conn.Close()
}

func TestRetainedMessageIsReadBack(t *testing.T) {
	broker := Start(t, Options{})
	if r := Pub(t, broker, "-i", "writer", "-t", "a/b", "-q", "1", "-r", "-m", "hello"); r.Code != 0 {
		t.Fatalf("mosquitto_pub: %+v", r)
	}
	if r := Sub(t, broker, "-i", "reader", "-v", "-t", "a/#", "-C", "1", "-W", "10"); r.Stdout != "a/b hello\n" || r.Code != 0 {
		t.Fatalf("mosquitto_sub: %+v", r)
	}
}

func TestRequestIsAnswered(t *testing.T) {
	broker := Start(t, Options{})
	// mosquitto_rr subscribes before it publishes, so it receives a retained answer.
	Pub(t, broker, "-t", "answer", "-r", "-m", "yes")
	if r := RR(t, broker, "-V", "mqttv311", "-t", "question", "-e", "answer", "-m", "well?", "-W", "10"); r.Stdout != "yes\n" {
		t.Fatalf("mosquitto_rr: %+v", r)
	}
}

func TestExitCodeOfAClientIsAResult(t *testing.T) {
	broker := Start(t, Options{})
	if r := Sub(t, broker, "-t", "no/publisher", "-C", "1", "-W", "1"); r.Code == 0 || r.Stdout != "" {
		t.Fatalf("mosquitto_sub: %+v, want its time-out's exit code", r)
	}
}

func TestHangingClientIsEnded(t *testing.T) {
	broker := Start(t, Options{})
	began := time.Now()
	program := findProgram(t, "mosquitto_sub", "mosquitto-clients")
	_, err := run(program, broker, []string{"-t", "no/publisher"}, 200*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "did not end") || time.Since(began) > clientTimeout {
		t.Fatalf("got %v after %v", err, time.Since(began))
	}
}

func TestLargePacketIsRefused(t *testing.T) {
	broker := Start(t, Options{MaxPacketBytes: 1000})
	Pub(t, broker, "-t", "a", "-q", "1", "-r", "-m", strings.Repeat("x", 100))
	Pub(t, broker, "-t", "b", "-q", "1", "-r", "-m", strings.Repeat("x", 2000))
	r := Sub(t, broker, "-F", "%t", "-t", "#", "-W", "1")
	if r.Stdout != "a\n" {
		t.Fatalf("%+v, want the small message alone", r)
	}
}

func TestBrokerEndsWithItsTest(t *testing.T) {
	var broker string
	t.Run("a test with a broker", func(t *testing.T) {
		broker = Start(t, Options{})
		if err := dial(broker); err != nil {
			t.Fatal(err)
		}
	})
	if dial(broker) == nil {
		t.Fatalf("%s still answers after its test", broker)
	}
}

func TestBrokerEndsWithKilledTestBinary(t *testing.T) {
	if os.Getenv("MOSQUITTOTEST_CHILD") != "" {
		fmt.Printf("child %s\n", Start(t, Options{}))
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestBrokerEndsWithKilledTestBinary$")
	cmd.Env = append(os.Environ(), "MOSQUITTOTEST_CHILD=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	broker, ok := strings.CutPrefix(strings.TrimSpace(line), "child ")
	if !ok || dial(broker) != nil {
		t.Errorf("the child printed %q (%v)", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it reports the kill
	timeout := time.After(startTimeout)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for dial(broker) == nil {
		select {
		case <-timeout:
			t.Fatalf("%s still answers %v after its test binary was killed", broker, startTimeout)
		case <-tick.C:
		}
	}
}

func TestBrokerThatCannotStartSaysWhy(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	path := t.TempDir() + "/mosquitto.conf"
	if err := os.WriteFile(path, config(l.Addr().(*net.TCPAddr).Port, Options{}), 0o600); err != nil {
		t.Fatal(err)
	}
	b, output := launch(t, findProgram(t, "mosquitto", "mosquitto"), path)
	if b != nil || !strings.Contains(output, "Address already in use") {
		t.Fatalf("mosquitto started on a taken port; its log: %q", output)
	}
}

func TestMissingMosquittoIsNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if path, err := lookPath("mosquitto", t.TempDir()); err == nil || !strings.Contains(err.Error(), "mosquitto is neither in PATH") {
		t.Fatalf("got %q, %v", path, err)
	}
}
