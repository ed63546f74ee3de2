package enrol

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"troupe/schema/golden"
)

var morning = time.Date(2026, 5, 17, 9, 30, 0, 0, time.UTC)

// fleet is what a desk would keep, in memory.
type fleet struct {
	tokens map[string]Token
	held   map[string][]Certificate
	barred []Barred
	serial int
	rev    int64
}

func (f *fleet) issue(robot string, how How, now time.Time) string {
	f.serial++
	serial := fmt.Sprintf("%02x", f.serial)
	f.held[robot] = append(f.held[robot], Certificate{Serial: serial, Robot: robot, How: how, IssuedAt: now, NotBefore: now, NotAfter: now.Add(90 * 24 * time.Hour)})
	return serial
}

func (f *fleet) list(now time.Time) string {
	var all []Certificate
	for _, held := range f.held {
		all = append(all, held...)
	}
	f.rev++
	l := List(f.barred, all, "a", f.rev, now)
	return fmt.Sprintf("  brokers refuse names %v and certificates %v\n", l.Names, l.Serials)
}

// TestTraces plays each script of testdata: a line is a time and what somebody
// asks, the indented lines below it are what the desk decides.
func TestTraces(t *testing.T) {
	golden.Traces(t, func(t *testing.T) func(string) string {
		f := &fleet{tokens: map[string]Token{}, held: map[string][]Certificate{}}
		return func(line string) string {
			after, word, words := golden.Timed(t, line)
			return f.play(t, morning.Add(after), word, words)
		}
	})
}

func (f *fleet) play(t *testing.T, now time.Time, word string, words []string) string {
	t.Helper()
	switch word {
	case "token": // NAME ROBOT [SERIAL]
		one := Token{Digest: words[0], Robot: words[1], CreatedAt: now, ExpiresAt: now.Add(DefaultValid)}
		if len(words) > 2 {
			one.Serial = words[2]
		}
		f.tokens[words[0]] = one
		return ""
	case "redeem": // NAME ROBOT KEY [SERIAL]
		one, known := f.tokens[words[0]]
		ask := Ask{Robot: words[1], Key: words[2]}
		if len(words) > 3 {
			ask.Serial = words[3]
		}
		grant, no := Redeem(one, known, ask, now)
		switch {
		case no != nil:
			return fmt.Sprintf("  refused %s: %s; %s\n", no.Code, no.Detail, no.Hint)
		case grant == Again:
			return fmt.Sprintf("  again certificate %s\n", one.Certificate)
		}
		one.UsedAt, one.Key, one.Certificate = now, ask.Key, f.issue(ask.Robot, ByToken, now)
		f.tokens[words[0]] = one
		for i, b := range f.barred {
			if b.Robot == ask.Robot {
				f.barred = append(f.barred[:i:i], f.barred[i+1:]...)
				break
			}
		}
		return fmt.Sprintf("  certificate %s\n", one.Certificate)
	case "renew": // ROBOT SERIAL
		if no := Renew(f.held[words[0]], words[1], now); no != nil {
			return fmt.Sprintf("  refused %s: %s; %s\n", no.Code, no.Detail, no.Hint)
		}
		return fmt.Sprintf("  certificate %s\n", f.issue(words[0], ByRenewal, now))
	case "revoke": // ROBOT WHY
		r := Revoke(f.held[words[0]], words[0], "anna", strings.Join(words[1:], " "), now)
		for _, c := range r.Certificates {
			for i := range f.held[words[0]] {
				if f.held[words[0]][i].Serial == c.Serial {
					f.held[words[0]][i] = c
				}
			}
		}
		f.barred = append(f.barred, r.Barred)
		return f.list(now)
	case "list":
		return f.list(now)
	}
	t.Fatalf("nobody asks %q", word)
	return ""
}

// Whatever is asked in whatever order: a token gives at most one certificate, and
// only the robot that it is for; a certificate that was revoked is never renewed.
func TestATokenGivesOneCertificateToItsRobotAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := Token{Digest: "d", Robot: "r7", CreatedAt: morning, ExpiresAt: morning.Add(time.Hour)}
		given := map[string]bool{}
		for range rapid.IntRange(1, 20).Draw(t, "asks") {
			now := morning.Add(time.Duration(rapid.IntRange(0, 120).Draw(t, "minute")) * time.Minute)
			ask := Ask{Robot: rapid.SampledFrom([]string{"r7", "r8"}).Draw(t, "robot"), Key: rapid.SampledFrom([]string{"k1", "k2"}).Draw(t, "key")}
			grant, no := Redeem(one, rapid.Bool().Draw(t, "known"), ask, now)
			if (no == nil) != (grant != "") {
				t.Fatalf("%q and %v", grant, no)
			}
			if no != nil {
				continue
			}
			if ask.Robot != "r7" || !now.Before(one.ExpiresAt) {
				t.Fatalf("%s may use it at %v", ask.Robot, now)
			}
			given[ask.Key] = true
			if grant == First {
				one.UsedAt, one.Key = now, ask.Key
			}
		}
		if len(given) > 1 {
			t.Fatalf("it was given to the keys %v", given)
		}
	})
}
