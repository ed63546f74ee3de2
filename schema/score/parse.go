package score

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

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

// ParseBlob parses a published revision, which is always JSON. It does not validate it.
func ParseBlob(data []byte) (Blob, []schema.Problem) {
	return published[Blob](data, "stories", BlobSchema)
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
	return schema.Fault("/schema", CodeUnsupported, fmt.Sprintf("version %d of published %s is not understood", version, what), fmt.Sprintf("this program reads version %d", reads))
}

// EncodeBlob encodes a story with the acts that it uses and their files. Equal values give
// equal bytes; sum is their SHA-256 in hexadecimal, which identifies the revision.
func EncodeBlob(story Story, acts map[string]Act, rev int64, files ...Asset) (data []byte, sum string, err error) {
	b := Blob{Schema: BlobSchema, Rev: rev, Story: story, Acts: map[string]Act{}, Assets: files}
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

func parse[T any](data []byte) (T, []schema.Problem) {
	var none T
	if len(data) > MaxBytes {
		return none, []schema.Problem{tooBig(len(data))}
	}
	text := data
	if !jsontext.Value(data).IsValid() {
		converted, p, bad := fromYAML(data)
		if bad {
			return none, []schema.Problem{p}
		}
		if converted[0] != '{' {
			return none, []schema.Problem{schema.Fault("", CodeNotObject, "the file holds no fields", "begin it with act:, story: or activity: and a name")}
		}
		if text = converted; len(text) > MaxBytes {
			return none, []schema.Problem{tooBig(len(text))}
		}
	}
	v, problems := schema.DecodeStrictWithin[T](text, maxNesting)
	for i := range problems {
		if problems[i].Hint == "" {
			problems[i].Hint = typeHint(problems[i].Pointer)
		}
	}
	return v, problems
}

// typeHint returns a hint for a value of the wrong type at pointer.
func typeHint(pointer string) string {
	i := strings.LastIndexByte(pointer, '/')
	list, name := pointer[:max(i, 0)], pointer[i+1:]
	switch {
	case name == "text" || name == "name":
		return "texts are by language: {en: Hello, de: Hallo}"
	case strings.HasSuffix(name, "_ms"):
		return "a whole number of milliseconds, such as 1500"
	case strings.HasSuffix(name, "_rad") || strings.HasSuffix(name, "_m") || strings.HasSuffix(name, "_mps") || strings.HasSuffix(name, "_radps"):
		return "a number, such as 0.4"
	case list == "/acts":
		return "an entry names an act: {act: welcome}"
	case strings.HasSuffix(list, "/actions"):
		return "an action has a type and a start: {type: face, start_ms: 0, face: smile}"
	}
	return ""
}

func tooBig(n int) schema.Problem {
	return schema.Fault("", CodeTooBig, fmt.Sprintf("%d bytes are over the %d that one file may have", n, MaxBytes), "split it in two")
}

func fromYAML(data []byte) ([]byte, schema.Problem, bool) {
	if p, bad := oneDocument(data); bad {
		return nil, p, true
	}
	text, err := yaml.YAMLToJSONStrict(data)
	if err == nil {
		return text, schema.Problem{}, false
	}
	message := strings.TrimPrefix(errorText(err), "unmarshal errors: ")
	if strings.Contains(message, "already set in map") {
		return nil, schema.Fault("", CodeDuplicateKey, message, "keep one of the two"), true
	}
	return nil, notYAML(err), true
}

// oneDocument refuses two things that the conversion would accept: a second document,
// which it would ignore, and aliases, with which a small file can fill the memory.
func oneDocument(data []byte) (schema.Problem, bool) {
	reader := yamlv3.NewDecoder(bytes.NewReader(data))
	var first, second yamlv3.Node
	if err := reader.Decode(&first); err != nil && !errors.Is(err, io.EOF) {
		return notYAML(err), true
	}
	if line := aliasIn(&first); line > 0 {
		return schema.Fault("", CodeAlias, fmt.Sprintf("line %d refers to another part of the file by *", line), "write it out, or quote a text that begins with *"), true
	}
	switch err := reader.Decode(&second); {
	case err == nil:
		return schema.Fault("", CodeTrailingData, fmt.Sprintf("a second document starts in line %d", second.Line), "one act, story or activity a file"), true
	case !errors.Is(err, io.EOF):
		return notYAML(err), true
	}
	return schema.Problem{}, false
}

// aliasIn returns the line of the first alias below n, or 0.
func aliasIn(n *yamlv3.Node) int {
	if n.Kind == yamlv3.AliasNode {
		return n.Line
	}
	for _, child := range n.Content {
		if line := aliasIn(child); line > 0 {
			return line
		}
	}
	return 0
}

func notYAML(err error) schema.Problem {
	return schema.Fault("", CodeSyntax, errorText(err), "check the indentation and quote texts that hold : or #")
}

func errorText(err error) string {
	return strings.TrimPrefix(strings.Join(strings.Fields(err.Error()), " "), "yaml: ")
}
