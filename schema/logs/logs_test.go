package logs

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
)

func TestLinesHaveTheIDsOfTheirContext(t *testing.T) {
	ctx := With(With(context.Background(), slog.String("request", "q1")), slog.String("command", "c1"))
	var text, lines bytes.Buffer
	for format, to := range map[string]*bytes.Buffer{"text": &text, "json": &lines} {
		log, err := New(to, format, "info")
		if err != nil {
			t.Fatal(err)
		}
		log.With("robot", "r1").InfoContext(ctx, "command sent", "verb", "mode/set")
		log.DebugContext(ctx, "too much")
	}
	if got := text.String(); !strings.HasSuffix(got, `level=INFO msg="command sent" robot=r1 verb=mode/set request=q1 command=c1`+"\n") {
		t.Errorf("text: %q", got)
	}
	var line map[string]string
	if err := json.Unmarshal(lines.Bytes(), &line); err != nil || line["msg"] != "command sent" || line["request"] != "q1" ||
		line["command"] != "c1" || line["robot"] != "r1" {
		t.Errorf("json: %q: %v", lines.String(), err)
	}
}

func TestUnknownFormatOrLevelIsRefused(t *testing.T) {
	for _, c := range [][2]string{{"xml", "info"}, {"json", "loud"}} {
		if _, err := New(&bytes.Buffer{}, c[0], c[1]); err == nil {
			t.Errorf("%q is accepted", c)
		}
	}
}
