package sign

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"troupe/schema"
	"troupe/schema/golden"
)

func keyOf(b byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{b}, ed25519.SeedSize))
}

var digestA = strings.Repeat("a1", 32)

func story() *schema.DesiredStory {
	return &schema.DesiredStory{Rev: 12, Authority: "0193-aa", Apply: schema.ApplyNextAct, Counter: 40,
		Story: &schema.StoryPin{ID: "museum", Rev: 4, SHA256: digestA, Size: 5120}}
}

func TestTheWrappingIsThatOfTheProtocolsExample(t *testing.T) {
	got := string(pae("http://example.com/HelloWorld", []byte("hello world")))
	if want := "DSSEv1 29 http://example.com/HelloWorld 11 hello world"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What was signed once has to verify for ever: the texts and the signatures of
// known keys are written down.
func TestTextsAndSignaturesNeverChange(t *testing.T) {
	var b strings.Builder
	show := func(text []byte, err error) {
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
	}
	sealed := func(s *schema.Signature, err error) {
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString("= " + s.Key + " " + s.Value + "\n\n")
	}
	d := story()
	config := &schema.DesiredConfig{Rev: 3, Authority: "0193-aa", Counter: 41, Values: map[string]jsontext.Value{"languages": jsontext.Value(`["de", "en"]`), "link_loss.ato": jsontext.Value(`"continue"`)}}
	ofConfig, err := WishOfConfig("r1", config)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []Wish{
		WishOfStory("r1", d),
		WishOfStory("r1", &schema.DesiredStory{Rev: 13, Authority: "0193-aa", Apply: schema.ApplyNow, Counter: 42}),
		WishOfSet("r1", Places, &schema.DesiredSet{Rev: 2, Authority: "0193-aa", Counter: 43, Set: d.Story}),
		WishOfMode("r1", &schema.DesiredMode{Rev: 1, Authority: "0193-aa", Counter: 44, Mode: schema.ModeAto, Apply: schema.ApplyModeBoot}),
		ofConfig,
	} {
		show(w.Text())
		sealed(w.Sign(keyOf(1)))
	}
	r := ReleaseOf(Story, *d.Story)
	show(r.Text())
	sealed(r.Sign(keyOf(2)))
	golden.Compare(t, "testdata/texts.golden", b.String())
}

func TestASignatureIsBelievedForWhatItWasMadeForAndNothingElse(t *testing.T) {
	ring := Ring{PublicKey(SignsWishes, keyOf(1)), PublicKey(SignsReleases, keyOf(2))}
	w := WishOfStory("r1", story())
	sig, err := w.Sign(keyOf(1))
	if err != nil {
		t.Fatal(err)
	}
	if err := ring.Wish(w, sig); err != nil {
		t.Fatalf("its own signature is refused: %v", err)
	}
	for name, change := range map[string]func(*Wish){
		"another fleet":   func(w *Wish) { w.Authority = "0193-bb" },
		"another robot":   func(w *Wish) { w.Robot = "r2" },
		"another kind":    func(w *Wish) { w.Kind = Places },
		"another rev":     func(w *Wish) { w.Rev++ },
		"another counter": func(w *Wish) { w.Counter++ },
		"another content": func(w *Wish) { w.SHA256 = strings.Repeat("b2", 32) },
		"withdrawn":       func(w *Wish) { w.SHA256 = "" },
		"another moment":  func(w *Wish) { w.Apply = "now" },
		"a line smuggled": func(w *Wish) { w.Authority = "0193-aa\nrobot r2" },
	} {
		other := w
		change(&other)
		if ring.Wish(other, sig) == nil {
			t.Errorf("%s: the signature is believed", name)
		}
	}
	release := ReleaseOf(Story, *story().Story)
	bySecond, err := release.Sign(keyOf(2))
	if err != nil {
		t.Fatal(err)
	}
	if err := ring.Release(release, bySecond); err != nil {
		t.Errorf("the release is refused: %v", err)
	}
	byFirst, err := release.Sign(keyOf(1))
	if err != nil {
		t.Fatal(err)
	}
	if ring.Release(release, byFirst) == nil {
		t.Error("a key for wishes released something")
	}
	if ring.Wish(w, bySecond) == nil {
		t.Error("a release is taken for a wish")
	}
	if err := ring.Wish(w, nil); !errors.Is(err, ErrUnsigned) {
		t.Errorf("without a signature: %v", err)
	}
	if err := (Ring{}).Wish(w, sig); err == nil || !strings.Contains(err.Error(), "not trusted") {
		t.Errorf("an empty ring says %v", err)
	}
	if ring.Wish(w, &schema.Signature{Key: sig.Key, Value: "!"}) == nil {
		t.Error("what is no base64 is believed")
	}
}

func TestWhiteSpaceAndOrderOfValuesDoNotMatter(t *testing.T) {
	a, err := ValuesDigest(map[string]jsontext.Value{"x": jsontext.Value(`{"b":1,  "a":[1.0, 2]}`), "y": jsontext.Value(`"é"`)})
	if err != nil {
		t.Fatal(err)
	}
	b, err := ValuesDigest(map[string]jsontext.Value{"y": jsontext.Value(`"\u00e9"`), "x": jsontext.Value(`{"a":[1,2],"b":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	c, err := ValuesDigest(map[string]jsontext.Value{"y": jsontext.Value(`"e"`), "x": jsontext.Value(`{"a":[1,2],"b":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	if a != b || a == c {
		t.Errorf("digests %s, %s and of something else %s", a, b, c)
	}
	if _, err := ValuesDigest(map[string]jsontext.Value{"x": jsontext.Value(`{`)}); err == nil {
		t.Error("what is no JSON has a digest")
	}
}

func TestKeysAreReadAsTheyAreWritten(t *testing.T) {
	for _, role := range []Role{SignsWishes, SignsReleases} {
		k := PublicKey(role, keyOf(3))
		back, err := ParseKey(k.String())
		if err != nil || back.Role != role || !back.Public.Equal(k.Public) {
			t.Errorf("%s came back as %v, %v", k, back, err)
		}
	}
	for _, bad := range []string{"", "wish:", "wish:AAAA", "root:" + PublicKey(SignsWishes, keyOf(3)).String()[5:], "wish:!" + strings.Repeat("A", 43)} {
		if _, err := ParseKey(bad); err == nil {
			t.Errorf("%q is read as a key", bad)
		}
	}
	text, err := EncodePrivate(keyOf(3))
	if err != nil {
		t.Fatal(err)
	}
	if back, err := DecodePrivate(text); err != nil || !back.Equal(keyOf(3)) {
		t.Errorf("the private key came back as %v", err)
	}
	for _, bad := range []string{"", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", strings.ReplaceAll(string(text), "PRIVATE", "PUBLIC")} {
		if _, err := DecodePrivate([]byte(bad)); err == nil {
			t.Errorf("%q is read as a private key", bad)
		}
	}
}

func TestACounterNeverGoesDownAndStandsForOneContent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Marks{}
		highest := map[string]Mark{}
		for range rapid.IntRange(1, 40).Draw(t, "wishes") {
			w := Wish{
				Authority: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "authority"),
				Kind:      rapid.SampledFrom([]Kind{Story, Places}).Draw(t, "kind"),
				Counter:   rapid.Int64Range(1, 5).Draw(t, "counter"),
				SHA256:    rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "content"),
			}
			top, seen := highest[MarkOf(w)]
			clash, _ := m.Judge(w)
			want := Fresh
			switch {
			case seen && w.Counter < top.Counter:
				want = PlayedBack
			case seen && w.Counter == top.Counter && w.SHA256 != top.SHA256:
				want = Equivocation
			}
			if clash != want {
				t.Fatalf("%+v after %+v: %q, want %q", w, top, clash, want)
			}
			if clash == Fresh {
				m.Note(w)
				highest[MarkOf(w)] = Mark{w.Counter, w.SHA256}
			}
		}
	})
}

func TestPoliciesAreOrdered(t *testing.T) {
	if !Require.Stricter(Warn) || !Warn.Stricter(Off) || Off.Stricter(Off) || Off.Stricter(Require) || !Off.Stricter("nonsense") {
		t.Error("the order of the policies is wrong")
	}
}
