package sim_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"

	"troupe/robotd/driver"
)

// withoutEdge names the environment variable that removes one transition from the unit
// table in a run of this test binary: the index of its row, and of the state in the row.
const withoutEdge = "TROUPE_WITHOUT_UNIT_EDGE"

func init() {
	var row, from int
	if n, _ := fmt.Sscan(os.Getenv(withoutEdge), &row, &from); n == 2 {
		driver.Table[row].From = slices.Delete(slices.Clone(driver.Table[row].From), from, from+1)
	}
}

// For each transition, the conformance suite runs in a process of its own without that
// transition and must fail, and with all of them it passes there. The first failure is enough,
// and need not be minimized.
func TestEveryTransitionOfUnitTableIsNeeded(t *testing.T) {
	conforms := func(without string) (string, error) {
		run := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSimulatedBodyConforms$", "-test.failfast", "-rapid.nofailfile",
			"-rapid.checks=10", "-rapid.shrinktime=0")
		run.Env = append(os.Environ(), withoutEdge+"="+without)
		out, err := run.CombinedOutput()
		return string(out), err
	}
	if out, err := conforms(""); err != nil {
		t.Fatalf("the suite fails with every transition: %v\n%s", err, out)
	}
	for i, row := range driver.Table {
		for j, from := range row.From {
			if out, err := conforms(fmt.Sprint(i, j)); err == nil {
				t.Errorf("the suite passes although %s on %s no longer leads to %s\n%s", from, row.On, row.To, out)
			}
		}
	}
}
