package brain

import (
	"testing"

	"troupe/robotd/event"
	"troupe/robotd/report"
	"troupe/schema"
)

func TestUnrenewedCertificateRaisesAlertUntilRenewal(t *testing.T) {
	r := newRig(t)
	r.boot()
	alerts := func() (out []schema.Alert) {
		for _, a := range r.s.report.Alerts() {
			if a.Type == report.CertificateAlert {
				out = append(out, a)
			}
		}
		return out
	}
	r.give(event.CertificateState{})
	if len(alerts()) != 0 {
		t.Fatalf("a good certificate raises %+v", alerts())
	}
	warn := event.CertificateState{Level: schema.AlertWarn, Detail: "fleetd does not answer", Hint: "renew it"}
	r.give(warn)
	r.give(warn)
	if a := alerts(); len(a) != 1 || a[0].Level != schema.AlertWarn || a[0].Detail != warn.Detail || a[0].Hint != warn.Hint ||
		a[0].Source != "identity" {
		t.Errorf("the alert is %+v", a)
	}
	first := alerts()[0].ID
	r.give(event.CertificateState{Level: schema.AlertError, Detail: "it ends tomorrow"})
	if a := alerts(); len(a) != 1 || a[0].Level != schema.AlertError || a[0].ID == first {
		t.Errorf("when it gets worse the alert is %+v", a)
	}
	r.give(event.CertificateState{})
	if len(alerts()) != 0 {
		t.Errorf("after it was renewed there is %+v", alerts())
	}
}
