package cli_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"troupe/fleetd/api"
	"troupe/fleetd/cli"
)

// answers of operations from which a command needs more than nothing to go on.
var fakeAnswers = map[string]string{
	"list-robot-activities": `{"activities":[]}`,
	"get-asset":             `{"name":"gong","size":2,"sha256":"ab"}`,
	"validate-texts":        `{"results":[{"id":"welcome","valid":true}]}`,
	"decommission":          `{"step":"archived"}`,
	"publish-act":           `{"revision":{"sha256":"0123456789abcdef"}}`,
	"publish-story":         `{"revision":{"sha256":"0123456789abcdef"}}`,
	"publish-activity":      `{"revision":{"sha256":"0123456789abcdef"}}`,
	"put-asset":             `{"asset":{"sha256":"0123456789abcdef"}}`,
	"get-record":            `{"id":"20261123t053012-1f0c9a3b","robot":"r1","state":"done"}`,
	"command":               `{"commands":[{"answer":{"status":"SUCCEEDED","lease":{"id":"a"}}}]}`,
}

// refusedFirst are the operations that refuse a command before it calls another one.
var refusedFirst = map[string]string{"get-command": "get-batch"}

// files for the command lines that read one.
var fakeFiles = map[string]string{
	"act.yaml":      "act: welcome\nactions:\n  - {type: wait, start_ms: 0, end_ms: 500}\n",
	"story.yaml":    "story: museum\nacts:\n  - act: welcome\n",
	"activity.yaml": "activity: greet\nacts:\n  - act: welcome\n",
	"gong.wav":      "RIFF",
	"berlin.yaml":   "site: berlin\nzone: Europe/Berlin\n",
	"map.yaml":      "image: map.pgm\nresolution: 0.05\norigin: [0, 0, 0]\n",
	"map.pgm":       "P5 1 1 255\n0",
	"morning.yaml":  "schedule: morning\ncron: 0 9 * * *\n",
	"phones.yaml":   "receiver: phones\nkind: ntfy\n",
	"night.yaml":    "route: night\nreceiver: phones\n",

	"museum/fleet.yaml": "folder: museum\n",
	"password":          "a long password\n",
	"passwords":         "a long password\nanother password\n",
}

// operationsServer answers every operation of the API, and keeps which were called.
type operationsServer struct {
	mux    *http.ServeMux
	mu     sync.Mutex
	called map[string]bool
	wanted string
	over   context.CancelFunc // ends the command once it called what is wanted
}

func (s *operationsServer) serve(operation, method, path string) {
	s.mux.HandleFunc(method+" "+path, func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.called[operation] = true; operation == s.wanted {
			s.over()
		}
		if refusedFirst[s.wanted] == operation {
			api.Write(w, api.KindNotFound.Problem("there is no such thing", ""))
			return
		}
		answer := fakeAnswers[operation]
		if answer == "" {
			answer = "{}"
		}
		_, _ = w.Write([]byte(answer)) // the command may be gone
	})
}

// Every operation of the API has a command line, and that command calls the operation.
func TestEveryOperationIsCalledByItsCommand(t *testing.T) {
	folder := t.TempDir()
	for name, text := range fakeFiles {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder)
	fake := &operationsServer{mux: http.NewServeMux()}
	var described []*huma.Operation
	for path, item := range api.Register(http.NewServeMux(), api.Deps{}).Paths {
		for method, o := range map[string]*huma.Operation{"GET": item.Get, "PUT": item.Put, "POST": item.Post, "PATCH": item.Patch,
			"DELETE": item.Delete} {
			if o != nil {
				described = append(described, o)
				fake.serve(o.OperationID, method, path)
			}
		}
	}
	server := httptest.NewServer(fake.mux)
	defer server.Close()
	if len(described) < 60 {
		t.Fatalf("only %d operations are described", len(described))
	}
	for _, o := range described {
		line, _ := o.Extensions["x-cli"].(string)
		if line == "" {
			continue // it has no command line: NoLine of its row says who calls it
		}
		words := strings.Fields(line)
		if words[0] != "fleetd" {
			t.Errorf("%s: %q is no command line of fleetd", o.OperationID, line)
			continue
		}
		ctx, cancel := context.WithCancel(t.Context())
		fake.mu.Lock()
		fake.called, fake.wanted, fake.over = map[string]bool{}, o.OperationID, cancel
		fake.mu.Unlock()
		var out strings.Builder
		code := cli.Main(ctx, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out}, "v0-test",
			append(words[1:], "--server", server.URL)...)
		cancel()
		fake.mu.Lock()
		called := fake.called[o.OperationID]
		fake.mu.Unlock()
		switch way := o.Extensions["x-cli-calls"]; {
		case way != nil && (called || code != 0):
			t.Errorf("%s: %s ends with %d; it should be done %v, called %v\n%s", o.OperationID, line, code, way, called, out.String())
		case way == nil && !called:
			t.Errorf("%s: %s does not call it, and ends with %d\n%s", o.OperationID, line, code, out.String())
		}
	}
}
