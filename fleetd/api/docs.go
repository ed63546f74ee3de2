package api

import (
	"bytes"
	"embed"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

//go:embed docs
var docsFiles embed.FS

// docsPolicy lets the page load its style and nothing else.
const docsPolicy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// serveDocs serves the description of the API for people at /docs, without a script and
// without a request to anywhere else.
func serveDocs(mux *http.ServeMux, description *huma.OpenAPI) {
	render := sync.OnceValues(func() ([]byte, error) {
		page, err := template.ParseFS(docsFiles, "docs/page.html")
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		err = page.Execute(&out, docsOf(description))
		return out.Bytes(), err
	})
	mux.HandleFunc("GET /docs", func(w http.ResponseWriter, _ *http.Request) {
		body, err := render()
		if err != nil {
			Write(w, KindInternal.Problem("the page cannot be made: "+err.Error(), "/api/openapi.json has the same"))
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", docsPolicy)
		_, _ = w.Write(body) // an error means that the client is gone
	})
	mux.HandleFunc("GET /docs/style.css", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFileFS(w, r, docsFiles, "docs/style.css")
	})
}

// docs is what the page shows.
type docs struct {
	Title, Version, Description string
	Tags                        []docsTag
	Schemas                     []docsSchema
}

type docsTag struct {
	Name       string
	Operations []docsOperation
}

type docsOperation struct {
	ID, Method, Path, Summary, Description string
	Command, Robots, Rights                string
	Parameters                             []docsField
	Body                                   *docsType
	Answers                                []docsAnswer
}

type docsAnswer struct {
	Status string
	Type   docsType
}

type docsSchema struct {
	Name, Doc string
	Fields    []docsField
}

type docsField struct {
	Name, In, Doc string
	Required      bool
	Type          docsType
}

// docsType is a type in words, with the name of a schema among them or none.
type docsType struct{ Before, Schema, After string }

func docsOf(d *huma.OpenAPI) docs {
	out := docs{Title: d.Info.Title, Version: d.Info.Version, Description: d.Info.Description}
	byTag := map[string][]docsOperation{}
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		item := d.Paths[path]
		for _, o := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if o != nil {
				byTag[o.Tags[0]] = append(byTag[o.Tags[0]], docsOperationOf(o))
			}
		}
	}
	for _, tag := range slices.Sorted(maps.Keys(byTag)) {
		out.Tags = append(out.Tags, docsTag{tag, byTag[tag]})
	}
	schemas := d.Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		s := schemas[name]
		one := docsSchema{Name: name, Doc: s.Description}
		for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
			p := s.Properties[field]
			one.Fields = append(one.Fields, docsField{Name: field, Doc: p.Description, Required: slices.Contains(s.Required, field),
				Type: docsTypeOf(p)})
		}
		out.Schemas = append(out.Schemas, one)
	}
	return out
}

func docsOperationOf(o *huma.Operation) docsOperation {
	out := docsOperation{ID: o.OperationID, Method: o.Method, Path: o.Path, Summary: o.Summary, Description: o.Description,
		Robots: rowOf(o).NoLine}
	out.Command, _ = o.Extensions[commandKey].(string)
	if way, ok := o.Extensions[otherWayKey].(string); ok {
		out.Command += " (" + way + ")"
	}
	out.Rights = rowOf(o).Right.String()
	for _, p := range o.Parameters {
		out.Parameters = append(out.Parameters, docsField{Name: p.Name, In: p.In, Doc: p.Description, Required: p.Required,
			Type: docsTypeOf(p.Schema)})
	}
	if o.RequestBody != nil {
		for _, kind := range slices.Sorted(maps.Keys(o.RequestBody.Content)) {
			t := docsTypeOf(o.RequestBody.Content[kind].Schema)
			t.After += " as " + kind
			out.Body = &t
			break
		}
	}
	for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
		if status == "default" {
			continue // the problem, as everywhere
		}
		answer := docsAnswer{Status: status, Type: docsType{Before: "nothing"}}
		for _, kind := range slices.Sorted(maps.Keys(o.Responses[status].Content)) {
			answer.Type = docsTypeOf(o.Responses[status].Content[kind].Schema)
		}
		out.Answers = append(out.Answers, answer)
	}
	return out
}

func docsTypeOf(s *huma.Schema) docsType {
	switch {
	case s == nil:
		return docsType{Before: "bytes"}
	case s.Ref != "":
		return docsType{Schema: s.Ref[strings.LastIndex(s.Ref, "/")+1:]}
	case s.Type == "array" && s.Items != nil:
		t := docsTypeOf(s.Items)
		t.Before = "list of " + t.Before
		return t
	}
	t := docsType{Before: s.Type}
	if s.Format != "" {
		t.Before += " (" + s.Format + ")"
	}
	if m, ok := s.AdditionalProperties.(*huma.Schema); ok {
		t = docsTypeOf(m)
		t.Before = "map of " + t.Before
	}
	var values []string
	for _, v := range s.Enum {
		if text, ok := v.(string); ok {
			values = append(values, text)
		}
	}
	if len(values) > 0 {
		t.After = ": " + strings.Join(values, ", ")
	}
	return t
}
