package server_test

import (
	"fmt"
	"sync"
	"testing"

	"troupe/broker/brokertest"
	"troupe/schema/argon2id"
)

// One address may be the NAT of a whole building, with one guesser in it. A client with
// the right password is accepted even while others guess at its name.
func TestRightPasswordIsAcceptedWhileOthersGuess(t *testing.T) {
	const names, guesses, free, address = 8, 7, 5, "127.0.0.2" // free of delay
	cheap := argon2id.Cost{MemoryKiB: 8, Passes: 1, Lanes: 1}  // no queue for hashes: this is about the delays
	var users string
	password := func(i int) string { return fmt.Sprint("secret ", i) }
	for i := range names {
		users += fmt.Sprintf("op%d operator %s\n", i, cheap.Hash(password(i), [16]byte{1}))
	}
	b := start(t, brokertest.Users(t, users))
	var guessers sync.WaitGroup
	defer guessers.Wait()
	for i := range names {
		name := fmt.Sprint("op", i)
		for n := range guesses {
			guessers.Go(func() {
				if c, code := brokertest.TryConnect(t, from(b, address),
					brokertest.ConnectPacket{Name: name, ClientID: name, Password: fmt.Sprint("guess ", n)}); c != nil || code != 4 {
					t.Errorf("%s: wrong password answered with code %d", name, code)
				}
			})
		}
	}
	brokertest.Eventually(t, "all but the delayed guesses were answered", func() bool { return b.Status()["passwords_wrong"] >= names*free })
	for i := range names {
		name := fmt.Sprint("op", i)
		c, code := brokertest.TryConnect(t, from(b, address), brokertest.ConnectPacket{Name: name, ClientID: name, Password: password(i)})
		if code != 0 {
			t.Errorf("%s: right password refused with code %d", name, code)
			continue
		}
		c.Close()
	}
	guessers.Wait()
	if n := b.Status()["passwords_wrong"]; n != names*guesses {
		t.Errorf("%d guesses were counted, want %d", n, names*guesses)
	}
}
