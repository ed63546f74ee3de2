package api

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
)

// maxDepth bounds the nesting of a request's body. It is more than schema.MaxDepth
// because a body contains documents to which that bound applies.
const maxDepth = 2 * schema.MaxDepth

// strictJSON decodes bodies as package schema decodes MQTT messages: it refuses duplicate
// keys, keys in another case, and bytes that are not UTF-8. encoding/json takes the last
// of two equal keys, so a proxy or log that takes the first would see another request than
// the one that is carried out.
var strictJSON = huma.Format{
	Marshal: huma.DefaultJSONFormat.Marshal,
	Unmarshal: func(data []byte, v any) error {
		if hasLongList(data) {
			return fmt.Errorf("a list has over %d entries", maxListed)
		}
		if ps := schema.DecodeStrictInto(data, v, maxDepth); len(ps) > 0 {
			return errors.New(ps[0].String())
		}
		return nil
	},
}

// maxListed is the greatest length of a list in a body. huma reports each wrong entry, so a body of
// them would take hundreds of times its size.
const maxListed = 20_000

// hasLongList reports whether a list of a body is longer than maxListed.
func hasLongList(data []byte) bool {
	d := jsontext.NewDecoder(bytes.NewReader(data))
	for {
		if _, err := d.ReadToken(); err != nil || d.StackDepth() > maxDepth {
			return false // DecodeStrictInto says why
		}
		if kind, n := d.StackIndex(d.StackDepth()); kind == '[' && n > maxListed {
			return true
		}
	}
}

func init() { huma.ValidateStrictCasing = true } // a global setting of huma

// strictParameters refuses URLs that two parsers may read differently.
func strictParameters(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	if p := badAddress(r.URL, ctx.Operation()); p != nil {
		Write(w, p)
		return
	}
	next(ctx)
}

func badAddress(u *url.URL, op *huma.Operation) *Problem {
	if why := badText(u.Path); why != "" {
		return KindMalformed.Problem("the path "+why, "write names of a to z, 0 to 9 and -")
	}
	query, err := url.ParseQuery(u.RawQuery) // URL.Query would drop what it cannot parse
	if err != nil {
		return KindMalformed.Problem("the query cannot be read: "+err.Error(), "join name=value pairs with &, and percent-encode everything else")
	}
	for name, values := range query {
		bad := func(why, hint string) *Problem {
			f := Finding{In: "query", Problem: schema.NewProblem("/"+name, "bad_value", why, hint)}
			return KindMalformed.Problem("query "+f.Pointer+": "+why, hint, f)
		}
		if len(values) > 1 && !slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool {
			return p.In == "query" && p.Name == name && p.Schema.Type == huma.TypeArray
		}) {
			return bad(fmt.Sprintf("given %d times", len(values)), "write it once")
		}
		for _, text := range append(values, name) {
			if why := badText(text); why != "" {
				return bad(why, "percent-encode UTF-8 text")
			}
		}
	}
	return nil
}

// badText says why the database cannot store a text.
func badText(text string) string {
	switch {
	case !utf8.ValidString(text):
		return "is not UTF-8"
	case strings.ContainsRune(text, 0):
		return "contains a NUL"
	}
	return ""
}
