// Package console is fleetd's face for people: one live page with every
// robot, and a software stop for each and for all.
//
// It is a page of plain files that reads the stream of the API and posts stops
// to it, nothing else; it needs no login of its own and holds no secret. It
// decides what a person sees first, never what may be done.
package console

import (
	"embed"
	"io/fs"
	"net/http"
)

//go:embed web
var web embed.FS

// Policy is the content security policy of the page: its own files and its own
// server, nothing inline, nothing from elsewhere, in nobody's frame.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Handler serves the page at / and its files beside it.
func Handler() http.Handler {
	files, err := fs.Sub(web, "web")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	server := http.FileServerFS(files)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", Policy)
		h.Set("Cache-Control", "no-cache")
		server.ServeHTTP(w, r)
	})
}
