package change_test

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"troupe/fleetd/change"
	"troupe/fleetd/desired"
	"troupe/fleetd/selector"
	"troupe/fleetd/store/storetest"
	"troupe/schema/score"
)

// A transaction that conflicts with others while it reads the places of a request runs again, with
// the request as it was.
func TestPlacesByTheirDigestSurviveAConflict(t *testing.T) {
	w, address, ctx := newWorld(t), storetest.Postgres(t), t.Context()
	w.db = storetest.Open(t, address)
	for _, robot := range []string{"r1", "r2"} {
		w.check(w.db.AddRobot(ctx, robot, storetest.Start))
	}
	body, _, err := score.EncodePlaces(nil, map[string]score.Point{"dock": {XM: 1}})
	w.check(nil, err)
	sum := sha256.Sum256(body)
	digest := hex.EncodeToString(sum[:])
	d := &change.Desired{Deps: w.deps}
	if _, _, found, err := d.Set(ctx, anna, selector.IDs("r1"), desired.Request{Places: &desired.Set{ID: "hall", Body: body}}, false,
		who); err != nil || len(found) > 0 {
		t.Fatal(found, err)
	}

	conflict := sync.OnceFunc(func() { // with the transaction of Set, which has begun
		exec := func(c *pgx.Conn, statements ...string) {
			for _, s := range statements {
				_, err := c.Exec(ctx, s)
				w.check(nil, err)
			}
		}
		var conns [2]*pgx.Conn
		for i := range conns {
			c, err := pgx.Connect(ctx, address)
			w.check(nil, err)
			defer c.Close(ctx)
			conns[i] = c
		}
		pivot, other := conns[0], conns[1]
		exec(pivot, "BEGIN ISOLATION LEVEL SERIALIZABLE", "SELECT * FROM published_blobs")
		exec(other, "BEGIN ISOLATION LEVEL SERIALIZABLE", "INSERT INTO published_blobs (sha256, unused_at) VALUES ('another', 0)", "COMMIT")
		exec(pivot, "UPDATE blobs SET created_at = created_at + 1 WHERE sha256 = '"+digest+"'", "COMMIT")
	})
	attempts := 0
	d.Now = func() time.Time {
		attempts++
		conflict()
		return storetest.Start
	}
	c, _, found, err := d.Set(ctx, anna, selector.IDs("r2"), desired.Request{Places: &desired.Set{ID: "hall", SHA256: digest}}, false, who)
	if err != nil || len(found) > 0 || !slices.Equal(c.Updated, []string{"r2"}) {
		t.Errorf("updated %q: %v %v", c.Updated, found, err)
	}
	if attempts < 2 {
		t.Error("the transaction did not conflict")
	}
}
