package safety

import (
	"testing"

	"troupe/schema"
)

// TestAnEnableWithoutAModeThatMovesMayBeSentAgain holds that its refusal, which
// names a way out, does not say never.
func TestAnEnableWithoutAModeThatMovesMayBeSentAgain(t *testing.T) {
	for _, m := range []Mode{{}, {Active: true}} {
		s := Boot(0)
		d := Step(&s, time1s, Defaults(), Facts{Mode: m}, Request{Verb: Enable})
		if a := d.Answer; a.Taken || a.Reason.Describe().Retry != schema.RetryAfterFix {
			t.Errorf("%+v: %+v says to retry %s", m, a, a.Reason.Describe().Retry)
		}
	}
}
