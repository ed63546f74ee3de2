package main

import (
	"fmt"
	"strings"
	"time"

	"troupe/broker/link"
	"troupe/schema"
	"troupe/schema/cond"
	"troupe/schema/enums"
	"troupe/schema/interrupts"
	"troupe/schema/verb"
)

// fill replaces the text between <!-- gen:NAME --> and <!-- /gen:NAME -->.
func fill(page string, blocks map[string]string) (string, error) {
	for name, text := range blocks {
		open, end := "<!-- gen:"+name+" -->", "<!-- /gen:"+name+" -->"
		before, rest, ok := strings.Cut(page, open)
		_, after, ok2 := strings.Cut(rest, end)
		if !ok || !ok2 {
			return "", fmt.Errorf("the page has no markers %s ... %s", open, end)
		}
		page = before + open + "\n" + text + end + after
	}
	return page, nil
}

func topicTable() string {
	var b strings.Builder
	b.WriteString("| topic under `troupe/v1/` | QoS | retained | limit | written by | read by | payload | rate |\n" +
		"|---|---|---|---|---|---|---|---|\n")
	for _, t := range schema.Topics {
		payload := "bytes"
		if t.Message != "" {
			payload = fmt.Sprintf("[%s](schema/json/%s)", t.Message, schemaFile(t.Message))
		}
		retain := "no"
		if t.Retain {
			retain = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %d | %s | %s | %s | %s | %s: %s | %s |\n", t.Pattern, t.QoS, retain, size(t.MaxBytes), grants(t.Publish),
			grants(t.Read), payload, t.Purpose, t.Rate)
	}
	return b.String()
}

func verbTable() string {
	var b strings.Builder
	b.WriteString("| verb | arguments (the first is the bare word) | what it does | class | who, beside fleetd and admin | time to live | " +
		"written to disk |\n|---|---|---|---|---|---|---|\n")
	for _, v := range verb.All {
		args := make([]string, len(v.Args()))
		for i, a := range v.Args() {
			args[i] = "`" + a.Name + "` " + string(a.Type)
			if a.Type == verb.TypeText {
				args[i] += " of at most " + a.Type.Bound()
			}
			if a.Required {
				args[i] += ", required"
			}
			args[i] += ": " + a.Purpose
		}
		who := make([]string, len(v.Roles))
		for i, r := range v.Roles {
			who[i] = string(r)
		}
		ttl := "none"
		if v.TTL != verb.NoTTL {
			ttl = fmt.Sprintf("%d s", v.TTL/time.Second)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s |\n", v.ID(), dash(strings.Join(args, "; ")), v.Purpose, v.Class,
			dash(strings.Join(who, ", ")), ttl, v.Journal)
	}
	return b.String()
}

func configTable() string {
	var b strings.Builder
	b.WriteString("| key | value | in force | what it is for |\n|---|---|---|---|\n")
	for _, k := range schema.ConfigKeys {
		value := string(k.Type)
		switch {
		case len(k.OneOf) > 0:
			value += ": " + strings.Join(k.OneOf, ", ")
		case k.Min != k.Max:
			value += fmt.Sprintf(": %v to %v", k.Min, k.Max)
		}
		force := "at once"
		if k.Restart {
			force = "after the next start"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.Name, value, force, k.Purpose)
	}
	return b.String()
}

func eventTable() string {
	var b strings.Builder
	b.WriteString("| type | level | data | meaning |\n|---|---|---|---|\n")
	for _, e := range schema.Events {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", e.Type, e.Level, dash(e.Data), e.Text+e.Note)
	}
	return b.String()
}

func alertTable() string {
	var b strings.Builder
	b.WriteString("| type | meaning |\n|---|---|\n")
	for _, a := range schema.Alerts {
		fmt.Fprintf(&b, "| `%s` | %s |\n", a.Type, a.Text+a.Note)
	}
	return b.String()
}

func simTable() string {
	var b strings.Builder
	b.WriteString("| name | what happens | fields | example |\n|---|---|---|---|\n")
	for _, row := range schema.SimInputs {
		fields := make([]string, len(row.Fields))
		for i, f := range row.Fields {
			fields[i] = "`" + f.Name + "` " + f.Type
			if f.Required {
				fields[i] += ", required"
			}
			fields[i] += ": " + f.Purpose
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | `%s` |\n", row.Name, row.Purpose, strings.Join(fields, "; "), row.Example)
	}
	return b.String()
}

func signalTable() string {
	var b strings.Builder
	b.WriteString("| signal | what it says | name | level | counts after | ends after |\n|---|---|---|---|---|---|\n")
	for _, r := range interrupts.Signals {
		level, ends := "", dash("")
		if r.Level {
			level = "yes"
		}
		if !r.Pulse {
			ends = r.Off.String()
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", r.Signal, r.Doc, dash(r.Named), dash(level), r.On, ends)
	}
	return b.String()
}

// keyTable lists the keys of conditions.
func keyTable() string {
	var b strings.Builder
	b.WriteString("| key | type | what it says |\n|---|---|---|\n")
	for _, k := range cond.Keys {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.Name, k.Type, k.Doc)
	}
	b.WriteString("| `since_s(\"name\")` | double | seconds since the robot's event or signal of that name, or since the end of the " +
		"activity NAME if it is activity:NAME; missing if there was none since robotd started |\n")
	return b.String()
}

// engineTable lists what differs between the MQTT servers that a fleet can use.
func engineTable() string {
	var b strings.Builder
	b.WriteString("| | Troupe's broker | Mosquitto | NATS |\n|---|---|---|---|\n")
	for _, d := range link.Differences {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", d.What, d.Troupe, d.Mosquitto, d.NATS)
	}
	return b.String()
}

func reasonTable() string {
	var b strings.Builder
	b.WriteString("| reason | asking again | meaning |\n|---|---|---|\n")
	for _, r := range schema.Reasons {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.Reason, r.Retry, r.Text+r.Note)
	}
	return b.String()
}

// wordTable lists the values of every enum with their remarks.
func wordTable(all []enums.Enum) string {
	var b strings.Builder
	b.WriteString("| field type | values |\n|---|---|\n")
	for _, e := range all {
		values := make([]string, len(e.Values))
		for i, v := range e.Values {
			values[i] = "`" + v.Text + "`"
			if v.Remark != "" {
				values[i] += " (" + v.Remark + ")"
			}
		}
		fmt.Fprintf(&b, "| %s | %s |\n", e.Type, strings.Join(values, ", "))
	}
	return b.String()
}

func grants(gs []schema.Grant) string {
	words := make([]string, len(gs))
	for i, g := range gs {
		words[i] = string(g.Role)
		switch {
		case g.Role == schema.RoleRobot && g.Own != "":
			words[i] = "the robot"
		case g.Own == "cid":
			words[i] += " itself"
		}
	}
	return strings.Join(words, ", ")
}

func size(n int) string {
	if n >= 1<<10 {
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
