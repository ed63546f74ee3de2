package server

import (
	"reflect"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// For tests against the library without our guard.
var NewPipe = newPipe

type AcceptAll = acceptAll

// Connected is the content of /clients, for tests without HTTP.
var Connected = (*Server).clients

// QueueOf is how many messages fit into the queue of a client, which the library does not say.
func QueueOf(s any, clientID string) int {
	cl, _ := s.(*Server).mochi.Clients.Get(clientID)
	return reflect.ValueOf(cl).Elem().FieldByName("State").FieldByName("outbound").Cap()
}

// PanicsAt makes the handling of a publish on topic panic, after the guard has processed
// it. It must be called before any client connects.
func PanicsAt(s *Server, topic string) error { return s.mochi.AddHook(&panicsAt{topic: topic}, nil) }

type panicsAt struct {
	mqtt.HookBase
	topic string
}

func (*panicsAt) ID() string { return "panics" }

func (*panicsAt) Provides(b byte) bool { return b == mqtt.OnPublished }

func (p *panicsAt) OnPublished(_ *mqtt.Client, pk packets.Packet) {
	if pk.TopicName == p.topic {
		panic("as the library might")
	}
}

// TakeTurns takes all turns of routing robots' messages, so that none is routed until release is called.
func TakeTurns(s any) (release func()) {
	turns := s.(*Server).guard.turns
	for range cap(turns) {
		turns <- struct{}{}
	}
	return func() {
		for range cap(turns) {
			<-turns
		}
	}
}
