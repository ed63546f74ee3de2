package score

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
)

// MaxBytes is the greatest size of the file of one act, story or activity, as written and as JSON.
const MaxBytes = 64 << 10

// maxNesting is the nesting depth of a blob with acts of the greatest depth.
const maxNesting = 24

// ParseAct parses an act from JSON, or from YAML if the text is not JSON. It reports
// problems of the syntax; ValidateAct checks the content.
func ParseAct(data []byte) (Act, []schema.Problem) { return parse[Act](data) }

// ParseStory parses a story as ParseAct parses an act.
func ParseStory(data []byte) (Story, []schema.Problem) { return parse[Story](data) }

// ParsePublishedStory parses a published revision, which is always JSON. It does not validate it.
func ParsePublishedStory(data []byte) (PublishedStory, []schema.Problem) {
	return published[PublishedStory](data, "stories", StorySchema)
}

// published parses a file that another release may have written. If its version is newer,
// the only problem is the version.
func published[T any](data []byte, what string, reads int64) (T, []schema.Problem) {
	v, problems := schema.DecodeStrictWithin[T](data, maxNesting)
	if len(problems) > 0 {
		type versioned struct {
			Schema int64 `json:"schema"`
		}
		if f, unread := schema.Decode[versioned](data); len(unread) == 0 && f.Schema > reads {
			return v, []schema.Problem{unsupported(what, f.Schema, reads)}
		}
	}
	return v, problems
}

func unsupported(what string, version, reads int64) schema.Problem {
	return schema.NewProblem("/schema", CodeUnsupported, fmt.Sprintf("version %d of published %s is not understood", version, what),
		fmt.Sprintf("this program reads version %d", reads))
}

// EncodePublishedStory encodes a story with the acts that it uses and their files. Equal values give
// equal bytes; sum is their SHA-256 in hexadecimal, which identifies the revision.
func EncodePublishedStory(story Story, acts map[string]Act, rev int64, files ...Asset) (data []byte, sum string, err error) {
	b := PublishedStory{Schema: StorySchema, Rev: rev, Story: story, Acts: map[string]Act{}, Assets: files}
	for _, id := range Reached(story.ActIDs(), In(acts)) {
		b.Acts[id] = acts[id].Sorted()
	}
	return encodeWithDigest(b)
}

func encodeWithDigest(v any) (data []byte, sum string, err error) {
	if data, err = schema.Encode(v); err != nil {
		return nil, "", err
	}
	digest := sha256.Sum256(data)
	return data, hex.EncodeToString(digest[:]), nil
}

// parse reads the file of one act or story as far as it can be read. The problems are all
// of those that keep it from being read; the value has the rest of the file.
func parse[T any](data []byte) (T, []schema.Problem) {
	var none T
	if found := unreadable(data, MaxBytes); len(found) > 0 {
		return none, found
	}
	text := data
	if !jsontext.Value(data).IsValid() {
		converted, found := fromYAML(data)
		if len(found) > 0 {
			return none, found
		}
		if text = converted; len(text) > MaxBytes {
			return none, []schema.Problem{tooBig(len(text), MaxBytes)}
		}
	}
	if text[0] != '{' && bytes.TrimLeft(text, " \t\r\n")[0] != '{' {
		return none, []schema.Problem{schema.NewProblem("", CodeNotObject, "the file holds no fields",
			"begin it with act:, story: or activity: and an id, such as act: welcome")}
	}
	if p, over := overEntries(text); over {
		return none, Locate(data, []schema.Problem{p})
	}
	v, found := decodeAll[T](text)
	return v, Locate(data, found)
}

// maxEntries is the greatest number of entries of one list, and of fields of one group, that are read.
const maxEntries = 1000

// overEntries finds the first list or group with more entries: decoded, it takes many times the room of
// its text.
func overEntries(text []byte) (schema.Problem, bool) {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	for {
		if _, err := d.ReadToken(); err != nil { // the end, or an error that the decoder reports
			return schema.Problem{}, false
		}
		depth := d.StackDepth()
		if depth == 0 {
			continue
		}
		kind, n := d.StackIndex(depth)
		what := "a list has %d entries at most"
		if kind == '{' {
			n, what = n/2, "a group has %d fields at most"
		}
		if n > maxEntries {
			return schema.NewProblem(string(d.StackPointer().Parent()), CodeTooMany, fmt.Sprintf(what, maxEntries), "split it in two"), true
		}
	}
}

func tooBig(n, limit int) schema.Problem {
	return schema.NewProblem("", CodeTooBig, fmt.Sprintf("%d bytes are over the %d that one file may have", n, limit), "split it in two")
}
