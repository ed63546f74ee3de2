package schema

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// scanTopics is the reference for Namespace.Match: it compares the topic with the
// pattern of each row in the order of the table.
func scanTopics(n Namespace, topic string) (Topic, TopicParams, bool) {
	rest, ok := strings.CutPrefix(topic, n.Root())
	if !ok || len(topic) > MaxTopicBytes {
		return Topic{}, TopicParams{}, false
	}
	for i := range Topics {
		if p, ok := scanPattern(Topics[i].Pattern, rest); ok {
			return Topics[i], p, true
		}
	}
	return Topic{}, TopicParams{}, false
}

func scanPattern(pattern, topic string) (p TopicParams, ok bool) {
	for {
		pl, prest, pmore := strings.Cut(pattern, "/")
		tl, trest, tmore := strings.Cut(topic, "/")
		if pl[0] == '{' {
			switch name := pl[1 : len(pl)-1]; {
			case name == "sha256":
				if !ValidSHA256(tl) {
					return p, false
				}
				p.SHA256 = tl
			case !ValidID(tl):
				return p, false
			case name == "rid":
				p.RID = tl
			case name == "cid":
				p.CID = tl
			case name == "group":
				p.Group = tl
			case name == "verb":
				p.Verb = tl
			case name == "name":
				p.Name = tl
			}
		} else if pl != tl {
			return TopicParams{}, false
		}
		if pmore != tmore {
			return p, false
		}
		if !pmore {
			return p, true
		}
		pattern, topic = prest, trest
	}
}

// anyTopic draws topics of the table, topics that differ from one of them in some
// levels, and topics of random levels. Literals of the table occur as parameters, too.
var anyTopic = rapid.Custom(func(t *rapid.T) string {
	words := []string{"", "r1", "op1", "R1", "+", "a b", "-x", "x-", strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("f", 64),
		strings.Repeat("F", 64)}
	for _, row := range Topics {
		words = append(words, strings.Split(row.Pattern, "/")...)
	}
	word := rapid.SampledFrom(words)
	levels := rapid.SliceOfN(word, 0, MaxTopicLevels).Draw(t, "levels")
	if rapid.IntRange(0, 9).Draw(t, "random levels") < 8 {
		levels = strings.Split(rapid.SampledFrom(Topics).Draw(t, "row").Pattern, "/")
		good := map[string]string{"{sha256}": strings.Repeat("f", 64)}
		for i, l := range levels {
			switch {
			case rapid.IntRange(0, 9).Draw(t, "other level") == 9:
				levels[i] = word.Draw(t, "level")
			case good[l] != "":
				levels[i] = good[l]
			case l[0] == '{':
				levels[i] = rapid.SampledFrom([]string{"r1", "op1", "manual", "velocity", "stop", "cmd"}).Draw(t, l)
			}
		}
		levels = append(levels, rapid.SliceOfN(word, 0, 1).Draw(t, "more")...)
		levels = levels[:len(levels)-rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "fewer")]
	}
	root := rapid.SampledFrom([]string{"troupe/v1/", "troupe/v1/", "troupe/v1/", "troupe/v1/", "troupe/v2/", "other/v1/", "troupe/v1", ""}).
		Draw(t, "root")
	return root + strings.Join(levels, "/")
})

func checkMatch(t interface{ Fatalf(string, ...any) }, topic string) TopicKind {
	row, p, ok := DefaultNamespace.Match(topic)
	wantRow, wantP, wantOK := scanTopics(DefaultNamespace, topic)
	if ok != wantOK || row.Kind != wantRow.Kind || row.Pattern != wantRow.Pattern || p != wantP {
		t.Fatalf("%q: %s %+v %v, want %s %+v %v", topic, row.Kind, p, ok, wantRow.Kind, wantP, wantOK)
	}
	return row.Kind
}

func TestMatchEqualsScanOfTheTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkMatch(t, anyTopic.Draw(t, "topic")) })
}

// Each row, with each of its levels replaced by each level of any row.
func TestMatchEqualsScanNearEachRow(t *testing.T) {
	values := strings.NewReplacer("{rid}", "r1", "{cid}", "op1", "{group}", "mode", "{verb}", "set", "{name}", "drive", "{sha256}",
		strings.Repeat("f", 64))
	words := map[string]bool{"": true, "R1": true}
	for _, row := range Topics {
		for _, level := range strings.Split(values.Replace(row.Pattern), "/") {
			words[level] = true
		}
	}
	found := map[TopicKind]bool{}
	for _, row := range Topics {
		levels := strings.Split(values.Replace(row.Pattern), "/")
		for i, level := range levels {
			for word := range words {
				levels[i] = word
				found[checkMatch(t, DefaultNamespace.Root()+strings.Join(levels, "/"))] = true
			}
			levels[i] = level
		}
	}
	if delete(found, ""); len(found) != len(Topics) {
		t.Errorf("found %d of %d rows", len(found), len(Topics))
	}
}

func TestMatchDoesNotAllocate(t *testing.T) {
	for _, topic := range benchmarkTopics {
		if n := testing.AllocsPerRun(100, func() { DefaultNamespace.Match(topic) }); n != 0 {
			t.Errorf("%s: %v allocations", topic, n)
		}
	}
}

var benchmarkTopics = map[string]string{
	"presence": "troupe/v1/robots/r1/presence",
	"state":    "troupe/v1/robots/r1/state",
	"command":  "troupe/v1/robots/r1/cmd/op1/mode/set",
	"stop":     "troupe/v1/fleet/cmd/op1/stop",
	"notice":   "troupe/v1/clients/op1/notice",
	"unknown":  "troupe/v1/robots/r1/mood",
}

func BenchmarkMatch(b *testing.B) {
	for what, topic := range benchmarkTopics {
		b.Run(what+"/tree", func(b *testing.B) {
			for b.Loop() {
				DefaultNamespace.Match(topic)
			}
		})
		b.Run(what+"/scan", func(b *testing.B) {
			for b.Loop() {
				scanTopics(DefaultNamespace, topic)
			}
		})
	}
}
