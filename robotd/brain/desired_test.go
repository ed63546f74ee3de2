package brain

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/sign"
)

// Words of traces for what the fleet desires beside a story:
//
//	desired-places REV NAME|none                                 one of the sets below
//	desired-activities REV NAME|none
//	desired-config REV KEY=JSON...
//	desired-mode REV MODE boot|now
//	sign fleetd|unknown client|nobody [release]    who signs the desired state from now on
//	config trust signing=POLICY            before boot: whom the robot believes
//
// Each desired state takes fleet id=NAME and counter=N; without one the counter is the
// revision.

var (
	fleetdKey   = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))
	unknownKey  = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{2}, ed25519.SeedSize))
	releaserKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{3}, ed25519.SeedSize))
)

// sets are the fleet's places and activities, by name.
var sets = map[string]schema.ContentPin{}

func publishSet(name string, data []byte, sum string, err error) {
	if err != nil {
		panic(err)
	}
	sets[name] = schema.ContentPin{ID: name, Rev: 1, SHA256: sum, Size: int64(len(data))}
	published[sum] = data
}

// company are activities of each nature, that talk, move, fail and go on for ever.
var company = []score.Activity{
	living("greet-all", score.NatureInteractive, score.Launch{When: "people > 0", Cooldown: "5s"}, 1, "wave", "chat"),
	living("talk", score.NatureInteractive, score.Launch{}, 0, "chat"),
	living("look", score.NatureSolitary, score.Launch{When: "people == 0", For: "1s"}, 2, "nod"),
	living("answer", score.NatureSolitary, score.Launch{When: "touch"}, 1, "wave"),
	living("dream", score.NatureSolitary, score.Launch{When: `charging && since_s("push") > 2.0`}, 0, "nod", "wave"),
	living("fail", score.NatureSolitary, score.Launch{When: "people > 2"}, 1, "jump"),
}

func living(id string, n score.Nature, l score.Launch, times int64, acts ...string) score.Activity {
	a := score.Activity{ID: id, Name: score.Text{"en": id}, Nature: n, Launch: l, Repeat: score.Repeat{Times: times, Loop: times == 0},
		Permissions: map[string]bool{"while_charging": id == "dream"}}
	for _, act := range acts {
		a.Acts = append(a.Acts, score.Step{Act: act})
	}
	return a
}

func publishSets() {
	hall := map[string]score.Point{"stage": {XM: 4, YM: 1, ThetaRad: ptr(1.5)}, "entrance": {XM: 2, YM: 2}}
	data, sum, err := score.EncodePlaces(nil, hall)
	publishSet("hall", data, sum, err)
	data, sum, err = score.EncodePlaces(nil, map[string]score.Point{"yard": {XM: 9, YM: 9}})
	publishSet("outside", data, sum, err)
	data, sum, err = score.EncodePlaces(nil, map[string]score.Point{"moon": {XM: 384e6}})
	publishSet("beyond", data, sum, err)
	data, sum, err = score.EncodePlaces(nil, map[string]score.Point{"dock": {XM: 1}})
	publishSet("dock", data, sum, err)
	file := []byte("a map")
	digest := sha256.Sum256(file)
	chart := score.Asset{Name: "hall-map", Kind: score.AssetMap, SHA256: hex.EncodeToString(digest[:]), Size: int64(len(file))}
	published[chart.SHA256] = file
	data, sum, err = score.EncodePlaces(&chart, map[string]score.Point{"stage": {XM: 5, YM: 5}, "corner": {XM: 7}})
	publishSet("charted", data, sum, err)
	wave := score.Act{ID: "wave", Actions: []score.Action{{Do: score.Face{Face: "smile"}}, {EndMS: ptr[int64](900), Do: score.Wait{}}}}
	data, sum, err = score.EncodeActivities([]score.Activity{{ID: "greeting", Name: score.Text{"en": "Greeting"},
		Repeat: score.Repeat{Times: 1}, Nature: score.NatureInteractive, Acts: []score.Step{{Act: "wave"}}}}, map[string]score.Act{"wave": wave})
	publishSet("visitors", data, sum, err)
	data, sum, err = score.EncodeActivities(company, map[string]score.Act{
		"wave": wave,
		"nod":  {ID: "nod", Actions: []score.Action{{TimeoutMS: ptr[int64](2000), Do: score.Head{Axes: score.Axes{YawRad: ptr(0.3)}}}}},
		"chat": {ID: "chat", Actions: []score.Action{{TimeoutMS: ptr[int64](4000), Do: score.Say{Text: score.Text{"en": "How are you?"}}}}},
		"jump": {ID: "jump", Actions: []score.Action{{TimeoutMS: ptr[int64](1), Do: score.Motion{Motion: "nod"}}}}, // takes longer
	})
	publishSet("company", data, sum, err)
	reassure, chat := living("reassure", score.NatureInteractive, score.Launch{}, 0, "calm", "nod"), living("chat", score.NatureInteractive,
		score.Launch{}, 0, "calm")
	reassure.Permissions["in_safeguard"] = true
	data, sum, err = score.EncodeActivities([]score.Activity{reassure, chat}, map[string]score.Act{
		"calm": {ID: "calm", Actions: []score.Action{{TimeoutMS: ptr[int64](4000), Do: score.Say{Text: score.Text{"en": "Please put me down"}}},
			{TimeoutMS: ptr[int64](2000), Do: score.Head{Axes: score.Axes{YawRad: ptr(0.3)}}}}},
		"nod": {ID: "nod", Actions: []score.Action{{TimeoutMS: ptr[int64](2000), Do: score.Head{Axes: score.Axes{YawRad: ptr(0.3)}}}}},
	})
	publishSet("lifted", data, sum, err)
	data, sum, err = score.EncodeActivities([]score.Activity{
		living("greeting", score.NatureInteractive, score.Launch{}, 1, "wave"),
		living("dance", score.NatureInteractive, score.Launch{}, 1, "spin"),
		living("show-yard", score.NatureInteractive, score.Launch{}, 1, "walk-out"),
	}, map[string]score.Act{
		"wave":     wave,
		"spin":     {ID: "spin", Actions: []score.Action{{TimeoutMS: ptr[int64](1000), Do: score.Motion{Motion: "unknown"}}}},
		"walk-out": {ID: "walk-out", Actions: []score.Action{{TimeoutMS: ptr[int64](60000), Do: score.Goto{Point: "yard"}}}},
	})
	publishSet("guides", data, sum, err)
	once, nod := living("gong-now", score.NatureInteractive, score.Launch{}, 1, "strike"), living("gong-nod", score.NatureInteractive,
		score.Launch{}, 1, "nod", "strike")
	data, sum, err = score.EncodeActivities([]score.Activity{once, nod}, map[string]score.Act{
		"strike": strike,
		"nod":    {ID: "nod", Actions: []score.Action{{TimeoutMS: ptr[int64](2000), Do: score.Head{Axes: score.Axes{YawRad: ptr(0.3)}}}}},
	}, gong, portrait)
	publishSet("gonging", data, sum, err)
}

// seal signs a document for this robot as the script says.
func (p *player) seal(k sign.Kind, document any) *schema.Signature {
	key := map[string]ed25519.PrivateKey{"fleetd": fleetdKey, "fleetd+release": fleetdKey, "unknown": unknownKey}[p.signing]
	sig, err := (&sign.Signer{Key: key}).Sign(k, map[bool]string{false: "r1"}[k == sign.FleetStop], document)
	if err != nil {
		p.rig.t.Fatal(err)
	}
	return sig
}

// digestOf is what a document is, that has its signature.
func digestOf(t rapid.TB, document any) string {
	text, err := schema.Encode(document)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := sign.Digest(text)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func (p *player) release(k sign.Kind, pin *schema.ContentPin) *schema.Signature {
	if p.signing != "fleetd+release" || pin == nil {
		return nil
	}
	sig, err := sign.ReleaseOf(k, *pin).Sign(releaserKey)
	if err != nil {
		p.rig.t.Fatal(err)
	}
	return sig
}

func (p *player) desireOther(kind string, args []string) {
	rev, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil {
		p.rig.t.Fatalf("%v: want a revision", args)
	}
	fleetID, counter := "fleetd", rev
	var rest []string
	retained := false
	for _, a := range args[1:] {
		switch k, v, _ := strings.Cut(a, "="); k {
		case "fleet_id":
			fleetID = v
		case "counter":
			counter, _ = strconv.ParseInt(v, 10, 64)
		case "retained":
			retained = true
		default:
			rest = append(rest, a)
		}
	}
	switch kind {
	case "mode":
		d := schema.DesiredMode{Rev: rev, FleetID: fleetID, Counter: counter, Mode: schema.ModeID(rest[0]), Apply: schema.ApplyMode(rest[1]),
			TS: epoch}
		d.Sig = p.seal(sign.Mode, d)
		p.rig.give(event.DesiredMode{Document: d, Digest: digestOf(p.rig.t, d), Retained: retained})
	case "config":
		d := schema.DesiredConfig{Rev: rev, FleetID: fleetID, Counter: counter, Values: map[string]jsontext.Value{}, TS: epoch}
		for _, a := range rest {
			k, v, _ := strings.Cut(a, "=")
			d.Values[k] = jsontext.Value(v)
		}
		d.Sig = p.seal(sign.Config, d)
		p.rig.give(event.DesiredConfig{Document: d, Digest: digestOf(p.rig.t, d)})
	default:
		d := schema.DesiredSet{Rev: rev, FleetID: fleetID, Counter: counter, TS: epoch}
		if pin, ok := sets[rest[0]]; ok {
			d.Set = &pin
		}
		d.Released = p.release(sign.Kind(kind), d.Set)
		d.Sig = p.seal(sign.Kind(kind), d)
		p.rig.give(event.DesiredSet{Kind: sign.Kind(kind), Document: d, Digest: digestOf(p.rig.t, d)})
	}
}
