// Package console is the live page: it shows every robot, and has a software stop for
// each robot and for all.
//
// The page consists of static files. It reads the API's event stream, and posts stops and
// releases; it has no login and holds no secret. The API decides what is allowed.
package console

import (
	"embed"
	"io/fs"
	"net/http"
)

//go:embed web
var web embed.FS

// Policy is the content security policy of the page: only files and requests of its own
// origin, nothing inline, no framing.
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
