package pgtest_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"troupe/fleetd/store/pgtest"
	"troupe/schema/bubble"
)

func TestTimePassesInABubbleWhileTheServerOwesNothing(t *testing.T) {
	dsn := pgtest.Start(t)
	bubble.Test(t, func(t *testing.T) {
		cable := pgtest.NewCable()
		config, err := pgx.ParseConfig(dsn)
		if err != nil {
			t.Fatal(err)
		}
		config.DialFunc = cable.Dial
		conn, err := pgx.ConnectConfig(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		var n int
		if err := conn.QueryRow(t.Context(), "SELECT 7 FROM pg_sleep(0.05)").Scan(&n); err != nil || n != 7 || time.Since(began) != 0 {
			t.Errorf("a query came to %d, %v after %v", n, err, time.Since(began))
		}
		hour, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := conn.WaitForNotification(hour); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Hour {
			t.Errorf("waiting for a notification ended with %v after %v", err, time.Since(began))
		}
		if err := conn.Ping(t.Context()); err != nil {
			t.Errorf("after an hour: %v", err)
		}

		cable.Hold()
		soon, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		began = time.Now()
		if err := conn.Ping(soon); err == nil || time.Since(began) < 3*time.Second {
			t.Errorf("a held answer came after %v: %v", time.Since(began), err)
		}
		cable.Release()
		if conn, err = pgx.ConnectConfig(t.Context(), config); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Minute, cable.Cut)
		began = time.Now()
		if _, err := conn.WaitForNotification(t.Context()); err == nil || errors.Is(err, os.ErrDeadlineExceeded) ||
			time.Since(began) != time.Minute {
			t.Errorf("a connection that was cut ended with %v after %v", err, time.Since(began))
		}
		if _, err := pgx.ConnectConfig(t.Context(), config); err == nil {
			t.Error("a connection succeeds over a cable that is cut")
		}
	})
}
