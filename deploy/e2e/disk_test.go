package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"troupe/deploy/shard"
	"troupe/robotd/command"
	"troupe/robotd/delivery"
	"troupe/robotd/disk"
	"troupe/robotd/disk/disktest"
	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/sign"
)

// makeUsedData makes the data directory of a robot that has worked for a while.
func makeUsedData(t testing.TB, dir string, events int) {
	t.Helper()
	d, _, err := disk.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	batch := []effect.Save{effect.SaveValue{Name: "volume", Value: "0.5"}, effect.SaveContent{Save: delivery.Save{Kind: sign.Places}}}
	for n := range int64(events) {
		batch = append(batch, effect.SaveEvent{Payload: fmt.Appendf(nil, `{"seq":%d,"type":%q}`, n, strings.Repeat("x", 400))})
	}
	for n := range int64(100) {
		r := command.Record{N: n + 1, Client: "op9", ID: fmt.Sprint("k", n), Verb: "sys/ping", At: 1_800_000_000_000,
			Answer: command.Answer{Verdict: schema.Verdict{Status: schema.StatusSucceeded, Result: schema.ResultOK}}, Delivered: true}
		batch = append(batch, effect.SaveRequests{Put: []command.Record{r}})
	}
	if err := errors.Join(d.Apply(batch...), d.Apply(effect.SaveValue{Name: "volume", Value: "0.6"}), d.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestRobotOnDamagedDataRefusesOrRuns starts robotd on damaged files: each start
// ends with the refusal that says what to do, or the robot runs and ends normally.
// TROUPE_DAMAGED is the number of starts; without it the shards share forty.
func TestRobotOnDamagedDataRefusesOrRuns(t *testing.T) {
	t.Parallel()
	mine, err := shard.Current()
	if err != nil {
		t.Fatal(err)
	}
	first, count := mine.Seeds(40)
	if text := os.Getenv("TROUPE_DAMAGED"); text != "" {
		first = 1
		if count, err = strconv.ParseUint(text, 10, 32); err != nil {
			t.Fatalf("TROUPE_DAMAGED=%s: want a count", text)
		}
	}
	robotd, intact := program(t, "robotd"), t.TempDir()
	makeUsedData(t, intact, 300)
	file, err := os.ReadFile(filepath.Join(intact, "robot.db"))
	if err != nil {
		t.Fatal(err)
	}
	latches, err := os.ReadFile(filepath.Join(intact, "robot.latches"))
	if err != nil {
		t.Fatal(err)
	}
	var refused, ran, largest, slowest atomic.Int64
	t.Run("starts", func(t *testing.T) {
		for seed := first; seed < first+count; seed++ {
			t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
				t.Parallel()
				what, damaged := disktest.Damage(seed, file) // not earlier: this test's memory counts in the maximum of a child process
				dir := t.TempDir()
				if err := errors.Join(os.WriteFile(filepath.Join(dir, "robot.db"), damaged, 0o600),
					os.WriteFile(filepath.Join(dir, "robot.latches"), latches, 0o600)); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				output, code, kilobytes := startOnce(t, robotd, dir)
				slowest.Store(max(slowest.Load(), time.Since(began).Milliseconds()))
				largest.Store(max(largest.Load(), kilobytes))
				switch {
				case code == 0 && strings.Contains(output, "ready robot=r1"):
					ran.Add(1)
				case code == 1 && strings.Contains(output, "move the file away"):
					refused.Add(1)
				default:
					t.Errorf("%s: ended with status %d:\n%s", what, code, output)
				}
				// The peak of a program counts that of the process that forked it, and this one is large
				// with the race detector; make damage runs without.
				if !raceEnabled && kilobytes > 256<<10 {
					t.Errorf("it took %d KiB", kilobytes)
				}
			})
		}
	})
	t.Logf("%d starts: %d refused, %d ran; at most %d ms and %d KiB", count, refused.Load(), ran.Load(), slowest.Load(), largest.Load())
}

// startOnce runs robotd without a broker until it ends or has been ready for a
// moment, at most 10 s.
func startOnce(t *testing.T, robotd, dir string) (output string, code int, kilobytes int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, robotd, "--id", "r1", "--broker", "mqtt://127.0.0.1:1", "--data", dir)
	cmd.SysProcAttr, cmd.Env = killWithParent(), processEnv()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = onStarterThread(cmd.Start)
	}
	if err != nil {
		t.Fatal(err)
	}
	var ready string
	readLines(stdout, func(line string) {
		ready = line
		time.Sleep(300 * time.Millisecond) // so that it writes its first events
		_ = cmd.Process.Signal(syscall.SIGTERM)
	})
	_ = cmd.Wait() // the caller looks at the status
	return ready + "\n" + stderr.String(), cmd.ProcessState.ExitCode(), cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
}

// limitFileSize bounds the size of the files that a process writes, which acts
// like a full disk.
func limitFileSize(t testing.TB, p *process, bytes string) {
	t.Helper()
	if out, err := exec.Command("prlimit", "--pid", strconv.Itoa(p.cmd.Process.Pid),
		"--fsize="+bytes+":unlimited").CombinedOutput(); err != nil {
		t.Fatalf("prlimit (Debian: util-linux): %v\n%s", err, out)
	}
}

const latchFileBytes = "262144" // the size of robot.latches, which is allocated in advance

// sendLiveStop publishes a live stop and returns the robot's answer.
func (w *world) sendLiveStop(rid, id string) (ack schema.Ack) {
	w.t.Helper()
	mark := w.observer.mark()
	w.publish("op1", schema.DefaultNamespace.Topic(schema.TopicFleetStopCmd, "op1"), fmt.Sprintf(`{"id":%q,"robots":[%q]}`, id, rid))
	return awaitDocumentAfter(w, mark, robotTopic(rid, "ack/op1"), rid+" to answer the stop",
		func(a schema.Ack) bool { return a.ID != nil && *a.ID == id })
}

func TestLatchedStopOutlastsAFullDiskAndAKill(t *testing.T) {
	runIn(t, []variant{ownBroker}, func(w *world) {
		makeUsedData(t, filepath.Join(w.folder, "r1"), 700)
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		limitFileSize(t, w.robots["r1"], latchFileBytes)
		hasDiskAlert := func(s schema.State) bool {
			for _, a := range s.Alerts {
				if a.Type == "disk_refuses" {
					return true
				}
			}
			return false
		}
		n := 0
		w.until("the disk to be full", func() bool { // with journal records, which robotd must keep
			for range 5 {
				n++
				w.publish("op1", robotTopic("r1", "cmd/op1/auto/pause"), fmt.Sprintf(`{"id":"fill-%d","by":%q}`, n, strings.Repeat("x", 200)))
			}
			return strings.Contains(w.robots["r1"].log.String(), "write to disk refused")
		})
		w.awaitState("r1", "on a full disk", hasDiskAlert)
		if ack := w.sendLiveStop("r1", "gate-7"); ack.Status != schema.StatusSucceeded || ack.Reason != "" {
			t.Errorf("the stop was answered %s", jsonText(ack))
		}
		w.robots["r1"].kill()
		w.awaitPresence("r1", schema.PresenceLost)
		mark := w.observer.mark()
		w.runRobot("r1", "")
		awaitDocumentAfter(w, mark, robotTopic("r1", "state"), "r1 to be back",
			func(s schema.State) bool { return s.Mode.Active == schema.ModeMnl && s.Mode.Calibrated })
		w.awaitLatches("r1", "gate-7")
		w.expectEnableRefused("r1", "gate-7")
	})
}

// TestDiskThatRefusesWritesIsReported has a disk that refuses even writes to
// reserved space, as a broken disk does, and restarts the robot on it.
func TestDiskThatRefusesWritesIsReported(t *testing.T) {
	runIn(t, []variant{ownBroker}, func(w *world) {
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		limitFileSize(t, w.robots["r1"], "0")
		if ack := w.sendLiveStop("r1", "gate-7"); ack.Status != schema.StatusSucceeded || ack.Reason != schema.ReasonNotPersisted {
			t.Errorf("the stop was answered %s", jsonText(ack))
		}
		w.awaitState("r1", "stopped, with a latch that a restart would lose",
			func(s schema.State) bool { return s.Safety.NotPersisted && len(s.Safety.Latches) == 1 })
		w.robots["r1"].kill()
		w.awaitPresence("r1", schema.PresenceLost)
		mark := w.observer.mark()
		w.robots["r1"] = launch(t, "r1", "prlimit",
			[]string{"--fsize=0:unlimited", program(t, "robotd"), "--id", "r1", "--broker", w.robotProxies["r1"].url(), "--data",
				filepath.Join(w.folder, "r1")}, nil)
		awaitDocumentAfter(w, mark, robotTopic("r1", "state"), "r1 to be back",
			func(s schema.State) bool { return s.Mode.Active == schema.ModeMnl && s.Mode.Calibrated })
		w.awaitLatches("r1", "unwritable-disk")
		limitFileSize(t, w.robots["r1"], "unlimited")
		w.awaitState("r1", "stopped, with a latch that survives a restart", func(s schema.State) bool { return !s.Safety.NotPersisted })
		w.expectEnableRefused("r1", "unwritable-disk", "refused to write")
	})
}
