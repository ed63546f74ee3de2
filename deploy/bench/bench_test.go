package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestEveryBenchIsComplete(t *testing.T) {
	seen := map[string]bool{}
	quick := 0
	for _, b := range all() {
		if !regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`).MatchString(b.Name) || seen[b.Name] {
			t.Errorf("bench %q: its name has other characters than --only takes, or another bench has it", b.Name)
		}
		seen[b.Name] = true
		if b.What == "" || b.Floor == "" || b.Run == nil {
			t.Errorf("bench %s lacks what it measures, its floor, or its function", b.Name)
		}
		if b.Quick {
			quick++
		}
		if o, err := parse([]string{"--only", b.Name}, io.Discard); err != nil || len(o.selected()) != 1 || o.out != "" {
			t.Errorf("--only %s: %+v, %v", b.Name, o, err)
		}
	}
	o, err := parse([]string{"--quick"}, io.Discard)
	if err != nil || len(o.selected()) != quick || quick == 0 || o.out == "" {
		t.Errorf("--quick selects %d benches of %d: %v", len(o.selected()), quick, err)
	}
	if _, err := parse([]string{"--only", "rtt,nothing"}, io.Discard); err == nil {
		t.Error("an unknown bench is accepted")
	}
}

// growing is a bench whose duration follows a function of its size.
func growing(took func(size int) time.Duration) bench {
	return bench{Name: "growing", What: "a test", Floor: "none", Run: func(_ context.Context, r *run) error {
		for _, size := range []int{1000, 10_000, 3000} {
			r.step("walk", size, took(size), time.Hour, 0) // the median counts
		}
		return nil
	}}
}

func TestGrowthBeyondTheSizeFails(t *testing.T) {
	linear := func(size int) time.Duration { return time.Duration(size) * 100 * time.Microsecond }
	quadratic := func(size int) time.Duration { return time.Duration(size) * time.Duration(size) * 100 * time.Nanosecond }
	steep := func(size int) time.Duration { // 15 times as long for ten times as many
		return time.Duration(math.Pow(float64(size), math.Log10(15)) * float64(20*time.Microsecond))
	}
	short := func(size int) time.Duration { return time.Duration(size) * time.Duration(size) * time.Nanosecond }
	runs := 0
	for _, c := range []struct {
		name  string
		bench bench
		runs  int
		fails bool
		quick bool
	}{
		{"linear", growing(linear), 1, false, false},
		{"quadratic", growing(quadratic), 2, true, false},
		{"quadratic in a quick run", growing(quadratic), 2, true, true},
		{"steeper than linear", growing(steep), 2, true, false},
		{"steeper than linear in a quick run", growing(steep), 1, false, true},
		{"quadratic, but too short to tell", growing(short), 1, false, false},
		{"quadratic the first time only, as on a busy machine", growing(func(size int) time.Duration {
			if runs == 1 {
				return quadratic(size)
			}
			return linear(size)
		}), 2, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			runs = 0
			b := c.bench
			b.Run = func(ctx context.Context, r *run) error { runs++; return c.bench.Run(ctx, r) }
			report, err := runAll(t.Context(), options{quick: c.quick, say: func(string) {}}, []bench{b}, t.TempDir())
			if (err != nil) != c.fails || runs != c.runs || len(report.Results) != 1 {
				t.Errorf("after %d runs: %v", runs, err)
			}
			if c.name == "quadratic" && !strings.Contains(err.Error(), "walk: 100 ms for 1000, 10.0 s for 10000: 100.0 times as long, at most 12") {
				t.Errorf("the error does not say what grew how: %v", err)
			}
		})
	}
}

func TestBenchThatFailsIsAnErrorAndTheOthersRun(t *testing.T) {
	broken := growing(nil)
	broken.Run = func(context.Context, *run) error { return errors.New("connection refused") }
	fine := growing(func(int) time.Duration { return time.Second })
	fine.Name = "fine"
	report, err := runAll(t.Context(), options{say: func(string) {}}, []bench{broken, fine}, t.TempDir())
	if err == nil || err.Error() != "growing: connection refused" || len(report.Results) != 2 || len(report.Results[1].Steps) != 3 {
		t.Errorf("%v, %+v", err, report.Results)
	}
}

func TestReportIsReadAsItWasWritten(t *testing.T) {
	var wrote Report
	next := 0
	fill(t, reflect.ValueOf(&wrote).Elem(), &next)
	text, err := encodeReport(wrote)
	if err != nil {
		t.Fatal(err)
	}
	read, err := decodeReport(text)
	if err != nil || !reflect.DeepEqual(*read, wrote) {
		t.Fatalf("%v: wrote\n%s\nread\n%+v", err, text, read)
	}
	if _, err := decodeReport([]byte(`{"benches":[]}`)); err == nil {
		t.Error("a report of another form is accepted")
	}
}

// fill sets every field below v to a value of its own, and lists to two of them.
func fill(t *testing.T, v reflect.Value, next *int) {
	*next++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), next)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), next)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0), next)
		fill(t, v.Index(1), next)
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *next))
	case reflect.Int:
		v.SetInt(int64(*next))
	case reflect.Float64:
		v.SetFloat(float64(*next) / 8)
	case reflect.Bool:
		v.SetBool(true)
	default:
		t.Fatalf("fill knows no %s", v.Kind())
	}
}

func TestTableShowsEachFigureBesideTheCommittedOne(t *testing.T) {
	result := func(p50, rows float64) Report {
		return Report{Machine: Machine{Commit: "abc"}, Results: []Result{{Bench: "rtt", Arms: []Arm{
			{Name: "echo", Latency: &Latency{Samples: 3, P50: p50, P99: 400, Max: 500}, Lost: 1, Doubled: 2},
			{Name: "ping", Latency: &Latency{Samples: 3, P50: 300, P99: 400, Max: 500}, Of: "echo", Ratio: 3, RatioP99: 1, Goal: 1.5,
				Uses: []Use{{Program: "broker", CPUSeconds: 1.5, RSSBytes: 2 << 20, WrittenBytes: 4096}}},
			{Name: "rows", Values: []Value{{Name: "stored", Unit: "1/s", Is: rows}}},
		}, Notes: []string{"noted"}}}}
	}
	now, was := result(150, 90), result(100, 100)
	var out strings.Builder
	writeReport(&out, &now, &was)
	for _, want := range []string{"p50 150 µs [+50%]", "p99 400 µs [+0%]", "lost 1", "doubled 2", "3.00 x echo (MISSES 1.5), p99 1.00 x",
		"stored 90 1/s [-10%]",
		"ping: broker 1.50 s CPU, 2.0 MiB, wrote 4.0 KiB", "noted", "commit abc"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
	out.Reset()
	writeReport(&out, &now, nil)
	if strings.Contains(out.String(), "[") {
		t.Errorf("changes without an earlier run:\n%s", out.String())
	}
}

func TestPercentileIsTheNearestRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		durations := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.Int64Range(0, 1000).Draw(t, "ns"))
		}), 1, 300).Draw(t, "durations")
		hundredths := rapid.IntRange(1, 100).Draw(t, "hundredths")
		sorted := slices.Sorted(slices.Values(durations))
		got := percentile(sorted, float64(hundredths)/100)
		upTo, below := 0, 0
		for _, d := range durations {
			if d <= got {
				upTo++
			}
			if d < got {
				below++
			}
		}
		// At least the share is not longer, and of the next shorter duration this is not so. A share such as 0.29 has
		// no exact float, so one rank more is right, too.
		if n := len(durations); 100*upTo < hundredths*n || 100*(below-1) >= hundredths*n {
			t.Fatalf("p%d of %v is %v", hundredths, sorted, got)
		}
	})
	if l := latencyOf([]time.Duration{3000, 1000, 2000}); l == nil || *l != (Latency{Samples: 3, P50: 2, P99: 3, Max: 3}) {
		t.Errorf("p50, p99 and max of 1, 2 and 3 µs: %+v", l)
	}
	if latencyOf(nil) != nil || median(nil) != 0 {
		t.Error("no durations have figures")
	}
}

func TestArmsAlternateAndTheirAnswersAreCounted(t *testing.T) {
	var order []string
	fake := func(name, of string, samples ...sample) arm {
		return arm{name: name, of: of, sample: func(context.Context) (sample, error) {
			order = append(order, name)
			s := samples[0]
			samples = append(samples[1:], s)
			return s, nil
		}}
	}
	r := &run{say: func(string) {}}
	err := r.alternate(t.Context(), turns{warm: 1, rounds: 2, samples: 2},
		fake("floor", "", sample{took: time.Second}, sample{took: time.Millisecond}, sample{took: time.Millisecond},
			sample{took: time.Millisecond}),
		fake("real", "floor", sample{took: time.Second}, sample{took: 3 * time.Millisecond, doubled: 2}, sample{lost: 1}))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(order, " "); got != "floor real floor floor real real floor floor real real" {
		t.Errorf("the order of samples is %s", got)
	}
	floor, real := r.found.Arms[0], r.found.Arms[1]
	if floor.Samples != 4 || floor.P99 != 1e6 || floor.P50 != 1000 || floor.Ratio != 0 {
		t.Errorf("floor: %+v %+v", floor, floor.Latency)
	}
	if real.Samples != 3 || real.Lost != 1 || real.Doubled != 4 || real.Ratio != 3 || real.Of != "floor" {
		t.Errorf("real: %+v %+v", real, real.Latency)
	}
}

func TestAnswersAreMatchedToTheirCommands(t *testing.T) {
	q := &requester{answered: map[string]bool{}}
	var s sample
	answer := func(id, status string) (bool, error) {
		return q.take(received{payload: []byte(`{"id":"` + id + `","status":"` + status + `"}`)}, id[:1], &s)
	}
	for _, step := range []struct {
		id, status string
		final      bool
		want       sample
	}{
		{"a", "ACCEPTED", false, sample{}},
		{"a", "SUCCEEDED", true, sample{}},
		{"a", "SUCCEEDED", false, sample{doubled: 1}},
		{"late", "SUCCEEDED", false, sample{doubled: 1}}, // of an earlier command
		{"b", "SUCCEEDED", true, sample{doubled: 1}},
	} {
		if final, err := answer(step.id, step.status); err != nil || final != step.final || !reflect.DeepEqual(s, step.want) {
			t.Errorf("after %s %s: final %v, %+v, %v", step.id, step.status, final, s, err)
		}
	}
	if _, err := answer("c", "REJECTED"); !errors.Is(err, errRefused) {
		t.Errorf("a refusal is %v", err)
	}
}

func TestProcessorTimeIsReadBehindAnyProgramName(t *testing.T) {
	const stat = "42 (a ) b) S 7 42 42 0 -1 4194560 1 2 3 4 100 20 3 4 20 0 1 0 1 1 1 1"
	if ticks, parent := parseStat(stat); ticks != 127 || parent != 7 {
		t.Errorf("%d ticks, parent %d", ticks, parent)
	}
	if got := field("Name:\tx\nVmRSS:\t  2048 kB\n", "VmRSS:"); got != 2048 {
		t.Errorf("VmRSS is %v", got)
	}
}
