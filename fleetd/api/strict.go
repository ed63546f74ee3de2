package api

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"troupe/schema"
)

// maxDepth bounds the nesting of a request's body. It is more than schema.MaxDepth
// because a body holds documents that are judged by that bound themselves.
const maxDepth = 2 * schema.MaxDepth

// strictJSON reads bodies as package schema reads MQTT messages: a key that comes
// twice or in another case, or bytes that are not UTF-8, are refused. With
// encoding/json the last of two keys wins, so a proxy or a log that goes by the
// first one sees another request than the one that is carried out.
var strictJSON = huma.Format{
	Marshal: huma.DefaultJSONFormat.Marshal,
	Unmarshal: func(data []byte, v any) error {
		if ps := schema.DecodeStrictInto(data, v, maxDepth); len(ps) > 0 {
			return errors.New(ps[0].String())
		}
		return nil
	},
}

func init() { huma.ValidateStrictCasing = true } // it is one for the whole program

// strictParameters refuses addresses that two readers may read differently.
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
	query, err := url.ParseQuery(u.RawQuery) // what it cannot read is left out of query, not refused, by URL.Query
	if err != nil {
		return KindMalformed.Problem("the query cannot be read: "+err.Error(), "join name=value pairs with &, and percent-encode everything else")
	}
	for name, values := range query {
		bad := func(why, hint string) *Problem {
			f := Finding{In: "query", Problem: schema.Fault("/"+name, "bad_value", why, hint)}
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

// badText says why no database takes a text.
func badText(text string) string {
	switch {
	case !utf8.ValidString(text):
		return "is not UTF-8"
	case strings.ContainsRune(text, 0):
		return "contains a NUL"
	}
	return ""
}
