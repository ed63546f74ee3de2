package enrol

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"troupe/schema"
	"troupe/schema/golden"
)

var morning = time.Date(2026, 5, 17, 9, 30, 0, 0, time.UTC)

// fleet stands in for the database.
type fleet struct {
	tokens map[string]Token
	held   map[string][]Certificate
	names  []RevokedName
	serial int
	rev    int64
}

func (f *fleet) issue(robot string, how How, now time.Time) string {
	f.serial++
	serial := fmt.Sprintf("%02x", f.serial)
	f.held[robot] = append(f.held[robot], Certificate{Serial: serial, Robot: robot, How: how, IssuedAt: now, NotBefore: now,
		NotAfter: now.Add(90 * 24 * time.Hour)})
	return serial
}

func (f *fleet) list(now time.Time) string {
	var all []Certificate
	for _, held := range f.held {
		all = append(all, held...)
	}
	f.rev++
	l := RevokedDocument(f.names, all, "a", f.rev, now)
	return fmt.Sprintf("  brokers refuse names %v and certificates %v\n", l.Names, l.Serials)
}

// TestTraces plays each script of testdata: a line is a time and a request, the indented
// lines below it are the decision.
func TestTraces(t *testing.T) {
	golden.PlayTraces(t, func(t *testing.T) func(string) string {
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
		ask := Request{Robot: words[1], Key: words[2]}
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
		for i, b := range f.names {
			if b.Robot == ask.Robot {
				f.names = append(f.names[:i:i], f.names[i+1:]...)
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
		f.names = append(f.names, r.Name)
		return f.list(now)
	case "list":
		return f.list(now)
	}
	t.Fatalf("unknown request %q", word)
	return ""
}

func TestRevokedListFitsItsTopicAndKeepsNames(t *testing.T) {
	now := morning.Add(time.Hour)
	var names []RevokedName
	var revoked []Certificate
	for i := range 9000 {
		if i >= 3000 {
			revoked = append(revoked, Certificate{Serial: fmt.Sprintf("%040x", i), NotAfter: now.Add(time.Hour), RevokedAt: morning})
			continue
		}
		names = append(names, RevokedName{Robot: fmt.Sprintf("r%d", i), At: morning})
		revoked = append(revoked, Certificate{Serial: fmt.Sprintf("%040x", i), NotAfter: now.Add(time.Hour), RevokedAt: morning})
	}
	limit := schema.TopicOf(schema.TopicRevoked).MaxBytes
	payload, left, err := EncodeRevoked(names, revoked, "a", 1, now, limit)
	if err != nil || left > 0 || len(payload) > limit {
		t.Fatalf("%d bytes, %d names left out, %v", len(payload), left, err)
	}
	l, problems := schema.Decode[schema.Revoked](payload)
	if len(problems) > 0 || len(l.Names) != 3000 || len(l.Serials) < 3000 || len(l.Serials) == 9000 {
		t.Errorf("%d names and %d certificates: %v", len(l.Names), len(l.Serials), problems)
	}
	// A robot may also have a password, which does not expire.
	if late := RevokedDocument(names, revoked, "a", 2, now.Add(101*24*time.Hour)); len(late.Names) != 3000 || len(late.Serials) != 0 {
		t.Errorf("after everything expired: %d names, %d certificates", len(late.Names), len(late.Serials))
	}
	if whole, _, _ := EncodeRevoked(names[:2], revoked[:2], "a", 3, now, limit); !strings.Contains(string(whole), revoked[1].Serial) {
		t.Errorf("a short list is shortened: %s", whole)
	}
}

// A broker refuses a list that is too long and keeps the one before, so it would admit the
// robots that were revoked last.
func TestTooLongRevokedListKeepsNewestNames(t *testing.T) {
	long := func(i int) string { return fmt.Sprintf("r%062d", i) } // the longest possible names
	limit := schema.TopicOf(schema.TopicRevoked).MaxBytes
	var names []RevokedName
	for i := range 10_000 {
		names = append(names, RevokedName{Robot: long(i), At: morning.Add(time.Duration(i) * time.Second)})
	}
	for n, want := range map[int]int{1000: 1000, 3000: 3000, 10_000: 3000} {
		payload, left, err := EncodeRevoked(names[:n], nil, "a", 1, morning, limit)
		if err != nil || len(payload) > limit {
			t.Fatalf("%d names: %d bytes, %v", n, len(payload), err)
		}
		l, problems := schema.Decode[schema.Revoked](payload)
		if len(problems) > 0 || len(l.Names) < want || len(l.Names)+left != n || !slices.IsSorted(l.Names) ||
			!slices.Contains(l.Names, long(n-1)) || n > len(l.Names) && slices.Contains(l.Names, long(0)) {
			t.Errorf("of %d names %d are on the list: %v", n, len(l.Names), problems)
		}
	}
}

// For any requests in any order: a token gives at most one key a certificate, and only for
// its robot.
func TestTokenGivesOneCertificateToItsRobot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := Token{Digest: "d", Robot: "r7", CreatedAt: morning, ExpiresAt: morning.Add(time.Hour)}
		given := map[string]bool{}
		for range rapid.IntRange(1, 20).Draw(t, "asks") {
			now := morning.Add(time.Duration(rapid.IntRange(0, 120).Draw(t, "minute")) * time.Minute)
			ask := Request{Robot: rapid.SampledFrom([]string{"r7", "r8"}).Draw(t, "robot"), Key: rapid.SampledFrom([]string{"k1", "k2"}).
				Draw(t, "key")}
			grant, no := Redeem(one, rapid.Bool().Draw(t, "known"), ask, now)
			if (no == nil) != (grant != "") {
				t.Fatalf("%q and %v", grant, no)
			}
			if no != nil {
				continue
			}
			if ask.Robot != "r7" || !now.Before(one.ExpiresAt) {
				t.Fatalf("%s may use the token at %v", ask.Robot, now)
			}
			given[ask.Key] = true
			if grant == First {
				one.UsedAt, one.Key = now, ask.Key
			}
		}
		if len(given) > 1 {
			t.Fatalf("certificates were issued for the keys %v", given)
		}
	})
}
