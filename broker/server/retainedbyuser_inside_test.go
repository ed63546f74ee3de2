package server

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"troupe/broker/access"
	"troupe/schema"
)

// onDeleted is a log that calls a function for each document that is reported as deleted.
type onDeleted func(topic string)

func (f onDeleted) Enabled(context.Context, slog.Level) bool { return true }
func (f onDeleted) WithAttrs([]slog.Attr) slog.Handler       { return f }
func (f onDeleted) WithGroup(string) slog.Handler            { return f }
func (f onDeleted) Handle(_ context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, "document deleted") {
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == "topic" {
				f(a.Value.String())
			}
			return true
		})
	}
	return nil
}

func TestReplacedDocumentIsNeitherDeletedNorLoggedAsDeleted(t *testing.T) {
	users, err := access.ParseUsers(strings.NewReader("ben admin\n"))
	if err != nil {
		t.Fatal(err)
	}
	files := &fileWatcher{}
	files.current.Store(&credentials{users: users})
	cfg, err := Config{Dev: true}.complete()
	if err != nil {
		t.Fatal(err)
	}
	var deleted []string
	replaceAll := func() {}
	cfg.Logger = slog.New(onDeleted(func(topic string) {
		deleted = append(deleted, topic)
		replaceAll() // while the other document has still to be deleted
	}))
	srv := mqtt.New(&mqtt.Options{Capabilities: capabilities(cfg), InlineClient: true, Logger: slog.New(slog.DiscardHandler)})
	var n counters
	g := newGuard(cfg, files, srv, &n)
	if err := srv.AddHook(g, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Close() })
	topics := []string{"troupe/v1/robots/r1/desired/mode", "troupe/v1/robots/r1/desired/config"}
	retain := func(name string) {
		for _, topic := range topics {
			pk := packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Publish, Retain: true}, TopicName: topic, Payload: []byte(name)}
			srv.Topics.RetainMessage(pk)
			g.recordWriter(&client{Identity: access.Identity{Role: schema.RoleAdmin}, user: access.User{Name: name, Role: schema.RoleAdmin}}, &pk)
		}
	}
	retain("ann") // who is not in the users file any more
	replaceAll = func() { retain("ben") }
	g.deleteDocumentsOfFormerUsers()
	if len(deleted) != 1 {
		t.Errorf("logged as deleted: %v, want only the one that ann published last", deleted)
	}
	for _, topic := range topics {
		if pk, _ := srv.Topics.Retained.Get(topic); string(pk.Payload) != "ben" {
			t.Errorf("%s: %q is retained, want the document of ben", topic, pk.Payload)
		}
	}
}
