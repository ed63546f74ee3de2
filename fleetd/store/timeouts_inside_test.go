package store

import (
	"testing"

	"troupe/fleetd/store/pgtest"
)

// The server must end a statement that hangs before the caller times out, since that costs
// the pool the connection.
func TestPostgresTimeoutsAreShorterThanTheCallers(t *testing.T) {
	p, err := openPostgres(t.Context(), pgtest.Start(t), nil)
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
