package store

import (
	"testing"

	"troupe/fleetd/store/pgtest"
)

// A statement that hangs is ended by the server: a caller who gives up before that
// costs the pool the connection, and a caller who never does waits for ever.
func TestPostgresEndsWhatHangsBeforeItsCallerGivesUp(t *testing.T) {
	p, err := openPostgres(t.Context(), pgtest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.close(); err != nil {
			t.Error(err)
		}
	}()
	for _, limit := range []string{"statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"} {
		var ms int64
		if err := p.write.QueryRowContext(t.Context(), "SELECT setting::bigint FROM pg_settings WHERE name = $1", limit).Scan(&ms); err != nil {
			t.Fatal(err)
		}
		if ms <= 0 || ms > 30_000 {
			t.Errorf("%s is %d ms", limit, ms)
		}
	}
}
