package schema_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"troupe/schema"
)

// A heartbeat that brokers refuse would make every robot stop.
func TestLargestHeartbeatOfFleetdFits(t *testing.T) {
	h := schema.FleetHeartbeat{
		TS: schema.TimeOf(time.Date(2099, 12, 31, 23, 59, 59, 999e6, time.UTC)), Session: uuid.NewString(), Seq: math.MaxInt32,
		Instance: schema.FleetInstance{Version: strings.Repeat("v", schema.MaxInstanceVersion),
			StartedAt: schema.TimeOf(time.Date(2099, 12, 31, 23, 59, 59, 999e6, time.UTC)), Leads: true, Database: true},
		MaxHeartbeatMS: schema.RestHeartbeatMS,
	}
	text, err := schema.Encode(h)
	if most := schema.TopicOf(schema.TopicFleetHeartbeat).MaxBytes; err != nil || len(text) > most {
		t.Errorf("%d bytes, at most %d: %s, %v", len(text), most, text, err)
	}
}
