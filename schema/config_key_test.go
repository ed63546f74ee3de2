package schema

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestConfigValuesAreChecked(t *testing.T) {
	for _, row := range []struct {
		key       string
		good, bad []string
	}{
		{"labels", []string{`{}`, `{"site":"museum"}`}, []string{`[]`, `{"Site":"x"}`, `{"site":""}`, `{"site":1}`, `null`, `{`}},
		{"time_zone", []string{`"Europe/Berlin"`, `"UTC"`}, []string{`""`, `"Local"`, `"Berlin"`, `"+02:00"`, `2`}},
		{"languages", []string{`["en"]`, `["de-AT","en"]`}, []string{`[]`, `"en"`, `[1]`, `[""]`}},
		{"boot_mode", []string{`"mnl"`, `"ato"`}, []string{`"safe"`, `"ATO"`, `1`}},
		{"link_loss.ato", []string{`"safe"`, `"continue"`}, []string{`"stop"`, `true`}},
		{"default_mode", []string{`"mnl"`, `"quiet"`}, []string{`""`, `"Mnl"`, `1`, `null`}},
		{"link_timeout_ms.ato", []string{`5000`, `600000`}, []string{`4999`, `600001`, `"60s"`}},
		{"require_sight", []string{`true`, `false`}, []string{`"true"`, `1`, `null`}},
		{"clients", []string{`{"op1":"admin"}`}, []string{`{"op1":"boss"}`, `{"Op 1":"admin"}`}},
		{"probation_ms", []string{`1000`, `600000`}, []string{`999`, `600001`, `10.5`, `"10s"`}},
		{"low_battery", []string{`0`, `0.2`, `1`}, []string{`1.1`, `-0.1`, `"0.2"`}},
		{"interrupts.rules", []string{`[]`, `[{}]`}, []string{`{}`, `null`, `[1]`, `[` + strings.Repeat(`{},`, 5000) + `{}]`}},
		{"diagnosis.severity", []string{`{}`, `{"head":"critical","face":"negligible"}`}, []string{`{"head":"bad"}`, `{"Head 1":"critical"}`, `[]`, `null`}},
		{"diagnosis.temperatures", []string{`{}`, `{"head":{"warm_c":20,"hot_c":30.5,"critical_c":150}}`}, []string{`{"head":{"warm_c":60,"hot_c":60,"critical_c":80}}`, `{"head":{"warm_c":60,"hot_c":80}}`, `{"head":{"warm_c":19,"hot_c":30,"critical_c":80}}`, `{"head":{"warm_c":60,"hot_c":70,"critical_c":151}}`, `{"head":60}`}},
		{"safeguards", []string{`{}`, `{"pushed":false,"fell":true}`}, []string{`{"kicked":false}`, `{"pushed":"off"}`, `true`}},
		{"event_rate", []string{`1`, `20`}, []string{`0`, `21`}},
	} {
		k, ok := ConfigKeyOf(row.key)
		if !ok {
			t.Fatalf("there is no key %s", row.key)
		}
		for _, v := range row.good {
			if why := k.Check(jsontext.Value(v)); why != "" {
				t.Errorf("%s %s: %s", row.key, v, why)
			}
		}
		for _, v := range row.bad {
			if k.Check(jsontext.Value(v)) == "" {
				t.Errorf("%s %s is accepted", row.key, v)
			}
		}
	}
	if _, ok := ConfigKeyOf("password"); ok {
		t.Error("a key that is not in the table is known")
	}
}

func TestRefusedTextsSayWhichAreAccepted(t *testing.T) {
	for _, row := range []struct{ key, value, want string }{
		{"estop_text", `{"en":""}`, `texts of 1 to 64 bytes, under names of a-z, 0-9 and hyphens, such as {"en": `},
		{"labels", `{"site":""}`, `texts of 1 to 64 bytes, under names of a-z, 0-9 and hyphens, such as {"site": `},
		{"languages", `[""]`, "texts of 1 to 64 bytes"},
	} {
		if k, _ := ConfigKeyOf(row.key); !strings.Contains(k.Check(jsontext.Value(row.value)), row.want) {
			t.Errorf("%s %s: %s", row.key, row.value, k.Check(jsontext.Value(row.value)))
		}
	}
}

func TestConfigKeysAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range ConfigKeys {
		if k.Purpose == "" || seen[k.Name] || k.Check(jsontext.Value(`"\u0000 nothing"`)) == "" {
			t.Errorf("%+v", k)
		}
		seen[k.Name] = true
	}
}
