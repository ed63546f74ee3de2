package sign

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
	"troupe/schema/golden"
)

func keyOf(b byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{b}, ed25519.SeedSize))
}

var digestA = strings.Repeat("a1", 32)

func story() *schema.DesiredStory {
	return &schema.DesiredStory{Rev: 12, FleetID: "0193-aa", Apply: schema.ApplyNextAct, Counter: 40,
		Story: &schema.ContentPin{ID: "museum", Rev: 4, SHA256: digestA, Size: 5120}}
}

func subjectOf(t *testing.T, kind Kind, robot string, document any) Subject {
	t.Helper()
	text, err := schema.Encode(document)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := Digest(text)
	if err != nil {
		t.Fatal(err)
	}
	return Subject{Kind: kind, Robot: robot, Document: sum}
}

func TestPAEMatchesExampleOfDSSE(t *testing.T) {
	got := string(pae("http://example.com/HelloWorld", []byte("hello world")))
	if want := "DSSEv1 29 http://example.com/HelloWorld 11 hello world"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Old signatures have to verify for ever, so the signed texts and the signatures of known
// keys are fixed here.
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
	config := &schema.DesiredConfig{Rev: 3, FleetID: "0193-aa", Counter: 41, Values: map[string]jsontext.Value{"languages": jsontext.Value(`["de", "en"]`), "link_loss.ato": jsontext.Value(`"continue"`)}}
	d := story()
	for _, c := range []struct {
		kind     Kind
		robot    string
		document any
	}{
		{Story, "r1", d},
		{Story, "r1", &schema.DesiredStory{Rev: 13, FleetID: "0193-aa", Apply: schema.ApplyNow, Counter: 42}},
		{Places, "r1", &schema.DesiredSet{Rev: 2, FleetID: "0193-aa", Counter: 43, Set: d.Story}},
		{Mode, "r1", &schema.DesiredMode{Rev: 1, FleetID: "0193-aa", Counter: 44, Mode: schema.ModeAto, Apply: schema.ApplyModeBoot}},
		{Config, "r1", config},
		{Stop, "r1", &schema.DesiredStop{Rev: 4, FleetID: "0193-aa", Counter: 45,
			Stops: []schema.StopLatch{{ID: "a", Level: schema.StopHalt, By: "ann", Why: "smoke"}}}},
		{FleetStop, "", &schema.FleetStop{Rev: 5, FleetID: "0193-aa", Counter: 46}},
	} {
		w := subjectOf(t, c.kind, c.robot, c.document)
		show(w.Text())
		sealed(w.Sign(keyOf(1)))
	}
	r := ReleaseOf(Story, *d.Story)
	show(r.Text())
	sealed(r.Sign(keyOf(2)))
	golden.Compare(t, "testdata/texts.golden", b.String())
}

func TestSignatureVerifiesOnlyItsDocument(t *testing.T) {
	ring := Ring{PublicKey(SignsDesired, keyOf(1)), PublicKey(SignsReleases, keyOf(2))}
	w := subjectOf(t, Story, "r1", story())
	sig, err := w.Sign(keyOf(1))
	if err != nil {
		t.Fatal(err)
	}
	if err := ring.Verify(w, sig); err != nil {
		t.Fatalf("the signature of the document is refused: %v", err)
	}
	for name, change := range map[string]func(*Subject){
		"another robot":    func(w *Subject) { w.Robot = "r2" },
		"all robots":       func(w *Subject) { w.Robot = "" },
		"another kind":     func(w *Subject) { w.Kind = Places },
		"another document": func(w *Subject) { w.Document = strings.Repeat("b2", 32) },
		"no document":      func(w *Subject) { w.Document = "" },
		"a line smuggled":  func(w *Subject) { w.Kind = "story\nrobot r2" },
	} {
		other := w
		change(&other)
		if ring.Verify(other, sig) == nil {
			t.Errorf("%s: the signature is accepted", name)
		}
	}
	release := ReleaseOf(Story, *story().Story)
	bySecond, err := release.Sign(keyOf(2))
	if err != nil {
		t.Fatal(err)
	}
	if err := ring.VerifyRelease(release, bySecond); err != nil {
		t.Errorf("the release is refused: %v", err)
	}
	byFirst, err := release.Sign(keyOf(1))
	if err != nil {
		t.Fatal(err)
	}
	if ring.VerifyRelease(release, byFirst) == nil {
		t.Error("a key for desired documents is accepted for a release")
	}
	if ring.Verify(w, bySecond) == nil {
		t.Error("a signature of a release is accepted for a document")
	}
	if err := ring.Verify(w, nil); !errors.Is(err, ErrUnsigned) {
		t.Errorf("without a signature: %v", err)
	}
	if err := (Ring{}).Verify(w, sig); err == nil || !strings.Contains(err.Error(), "not trusted") {
		t.Errorf("an empty ring returns %v", err)
	}
	if ring.Verify(w, &schema.Signature{Key: sig.Key, Value: "!"}) == nil {
		t.Error("a signature that is not base64 is accepted")
	}
}

// signed lists all messages for which a robot requires a signature.
var signed = map[string]any{
	"DesiredStory":  &schema.DesiredStory{},
	"DesiredSet":    &schema.DesiredSet{},
	"DesiredConfig": &schema.DesiredConfig{},
	"DesiredMode":   &schema.DesiredMode{},
	"DesiredStop":   &schema.DesiredStop{},
	"FleetStop":     &schema.FleetStop{},
}

func TestEveryDesiredTopicIsSigned(t *testing.T) {
	for _, row := range schema.Topics {
		if _, ok := signed[row.Message]; !ok && (strings.Contains(row.Pattern, "/desired/") || row.Kind == schema.TopicFleetStop) {
			t.Errorf("%s is not among the signed messages", row.Pattern)
		}
	}
}

// The test fills in, changes and removes every field by reflection, so it covers new
// fields too.
func TestSignatureCoversEveryField(t *testing.T) {
	ring := Ring{PublicKey(SignsDesired, keyOf(1))}
	for name, message := range signed {
		t.Run(name, func(t *testing.T) {
			v := reflect.ValueOf(message).Elem()
			fill(v, 1)
			v.FieldByName("Sig").SetZero()
			sig, err := (&Signer{Key: keyOf(1)}).Sign(Story, "r1", message)
			if err != nil {
				t.Fatal(err)
			}
			verifies := func(document []byte) bool {
				sum, err := Digest(document)
				return err == nil && ring.Verify(Subject{Kind: Story, Robot: "r1", Document: sum}, sig) == nil
			}
			v.FieldByName("Sig").Set(reflect.ValueOf(sig))
			whole, err := schema.Encode(message)
			if err != nil {
				t.Fatal(err)
			}
			if !verifies(whole) {
				t.Fatalf("the signature does not verify for its document %s", whole)
			}
			leaves := 0
			for _, changed := range variants(t, whole) {
				if leaves++; verifies(changed) {
					t.Errorf("the signature verifies for %s", changed)
				}
			}
			for i := range v.NumField() {
				f := v.Type().Field(i)
				if f.Name == "Sig" {
					continue
				}
				was := reflect.New(f.Type).Elem()
				was.Set(v.Field(i))
				v.Field(i).SetZero()
				fill(v.Field(i), 2)
				changed, err := schema.Encode(message)
				if err != nil {
					t.Fatal(err)
				}
				if leaves++; verifies(changed) {
					t.Errorf("%s can be changed under the signature", f.Name)
				}
				v.Field(i).Set(was)
			}
			if leaves < 2*v.NumField() {
				t.Errorf("only %d changes were tried", leaves)
			}
		})
	}
}

// fill sets every field to a value that depends on n.
func fill(v reflect.Value, n int) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[jsontext.Value]() {
			v.SetBytes([]byte{'0' + byte(n)})
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(v.Index(i), n+i)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, 1)
		fill(value, n)
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("x" + strconv.Itoa(n))
	case reflect.Bool:
		v.SetBool(n == 1)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(n))
	default:
		panic("fill: " + v.Kind().String())
	}
}

// variants returns copies of the document in which one field, at any depth, is removed or
// changed, or another one is added. The signature itself stays.
func variants(t *testing.T, document []byte) (out [][]byte) {
	t.Helper()
	var whole map[string]any
	if err := json.Unmarshal(document, &whole); err != nil {
		t.Fatal(err)
	}
	again := func() {
		text, err := json.Marshal(whole, json.Deterministic(true))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, text)
	}
	var walk func(fields map[string]any)
	walk = func(fields map[string]any) {
		fields["added"] = true
		again()
		delete(fields, "added")
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			was := fields[name]
			if name == "sig" {
				continue
			}
			delete(fields, name)
			again()
			fields[name] = []any{was}
			again()
			fields[name] = was
			switch was := was.(type) {
			case map[string]any:
				walk(was)
			case []any:
				for _, e := range was {
					if inner, ok := e.(map[string]any); ok {
						walk(inner)
					}
				}
			}
		}
	}
	walk(whole)
	return out
}

func TestDigestIgnoresWhiteSpaceAndOrder(t *testing.T) {
	a, err := Digest([]byte(`{"x":{"b":1,  "a":[1.0, 2]}, "y":"é", "sig":{"key":"k"}}`))
	if err != nil {
		t.Fatal(err)
	}
	b, err := Digest([]byte(`{"y":"\u00e9","x":{"a":[1,2],"b":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Digest([]byte(`{"y":"e","x":{"a":[1,2],"b":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	if a != b || a == c {
		t.Errorf("digests %s, %s and of something else %s", a, b, c)
	}
	for _, bad := range []string{"", "{", "[]", "null", `{"a":1,"a":2}`, `{"x":{"a":1,"a":2}}`, `{} {}`} {
		if sum, err := Digest([]byte(bad)); err == nil {
			t.Errorf("%q has the digest %s", bad, sum)
		}
	}
}

func TestKeysSurviveEncoding(t *testing.T) {
	for _, role := range []Role{SignsDesired, SignsReleases} {
		k := PublicKey(role, keyOf(3))
		back, err := ParseKey(k.String())
		if err != nil || back.Role != role || !back.Public.Equal(k.Public) {
			t.Errorf("%s came back as %v, %v", k, back, err)
		}
	}
	for _, bad := range []string{"", "desired:", "desired:AAAA", "root:" + PublicKey(SignsDesired, keyOf(3)).String()[5:], "desired:!" +
		strings.Repeat("A", 43)} {
		if _, err := ParseKey(bad); err == nil {
			t.Errorf("%q is accepted as a key", bad)
		}
	}
	text, err := EncodePrivate(keyOf(3))
	if err != nil {
		t.Fatal(err)
	}
	if back, err := DecodePrivate(text); err != nil || !back.Equal(keyOf(3)) {
		t.Errorf("the private key came back as %v", err)
	}
	for _, bad := range []string{"", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", strings.ReplaceAll(string(text),
		"PRIVATE", "PUBLIC")} {
		if _, err := DecodePrivate([]byte(bad)); err == nil {
			t.Errorf("%q is accepted as a private key", bad)
		}
	}
}

func TestPoliciesAreOrdered(t *testing.T) {
	if !Require.Stricter(Warn) || !Warn.Stricter(Off) || Off.Stricter(Off) || Off.Stricter(Require) || !Off.Stricter("nonsense") {
		t.Error("the order of the policies is wrong")
	}
}
