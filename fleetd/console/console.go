// Package console serves the web console: a program of static files, which runs in the
// browser and does everything through the API. The API decides what is allowed.
//
// Its sources are in web, their build in web/dist. With the build tag noweb there is a
// notice instead.
package console

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
)

// nonceMark stands in the built page wherever each request gets a nonce of its own.
const nonceMark = "CSP_NONCE"

// ownFile begins each address of a file of the build in the built page, which is served for every path of a screen.
const ownFile = `="./`

// policy is the content security policy of a page with this nonce: files and requests of
// its own origin only, no inline script, no framing. The nonce is for the style elements
// that the console makes.
func policy(nonce string) string {
	return "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-" + nonce + "'; connect-src 'self'; " +
		"img-src 'self' data: blob:; media-src 'self' blob:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// file is one file of the console in memory.
type file struct {
	kind  string
	plain []byte
	small func() []byte // compressed with gzip when a browser first asks for it; nil if that does not help
}

// screens are the paths of the console's page by their first part, with how many parts may follow: which screen a path
// means is decided in the browser. They are those of web/src/screens/table.tsx.
var screens = map[string]int{
	"": 0, "robots": 2, "stories": 1, "acts": 1, "activities": 1, "places": 0, "assets": 0, "assign": 0, "rollouts": 1, "policies": 1,
	"schedules": 1, "commands": 0,
	"events": 0, "notifications": 0, "audit": 0, "admin": 0, "account": 0, "command-line": 0, signInScreen: 0,
}

const signInScreen = "sign-in"

// Handler serves the files of the console, and its page for the paths of screens. For any other path it answers 404: to a
// browser with the page, which says that there is no such screen, and to programs in one line. Somebody who is not signed in goes to the
// sign-in at once: the page would ask for much that they may not have. signedIn reports whether the sender of a request is. base is the
// path below which a proxy shows the console, such as /troupe; empty if it is at the top.
func Handler(base string, signedIn func(*http.Request) bool) http.Handler {
	built := built()
	page := built["index.html"]
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			http.Error(w, "the console has nothing to change here", http.StatusMethodNotAllowed)
			return
		}
		name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
		f, found := built[name]
		switch {
		case found && name != "index.html":
			cache := "no-cache"
			if strings.HasPrefix(name, "assets/") { // the names of these contain a hash of their contents
				cache = "public, max-age=31536000, immutable"
			}
			serve(w, r, f, cache, http.StatusOK)
		case strings.HasPrefix(name, "assets/"):
			http.NotFound(w, r) // a page of another release asks for its own files
		default:
			first, rest, _ := strings.Cut(name, "/")
			more := 0
			if rest != "" {
				more = 1 + strings.Count(rest, "/")
			}
			most, isScreen := screens[first]
			isScreen = isScreen && more <= most
			if isScreen && first != signInScreen && !signedIn(r) {
				w.Header().Set("Cache-Control", "no-store")
				http.Redirect(w, r, base+"/"+signInScreen+"?"+url.Values{"next": {r.URL.RequestURI()}}.Encode(), http.StatusSeeOther)
				return
			}
			status := http.StatusOK
			if !isScreen {
				if !strings.Contains(r.Header.Get("Accept"), "text/html") {
					http.Error(w, "there is no "+r.URL.Path+"; /api/openapi.json describes the API", http.StatusNotFound)
					return
				}
				status = http.StatusNotFound
			}
			nonce := rand.Text()
			w.Header().Set("Content-Security-Policy", policy(nonce))
			page := file{kind: page.kind, small: uncompressed, plain: pageOf(page.plain, base, nonce)}
			serve(w, r, page, "no-store", status)
		}
	})
}

// pageOf is the built page below a path, with a nonce.
func pageOf(built []byte, base, nonce string) []byte {
	own := bytes.ReplaceAll(built, []byte(ownFile), []byte(`="`+base+"/"))
	return bytes.ReplaceAll(own, []byte(nonceMark), []byte(nonce))
}

func serve(w http.ResponseWriter, r *http.Request, f file, cache string, status int) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", cache)
	h.Set("Vary", "Accept-Encoding")
	body := f.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		if small := f.small(); small != nil {
			h.Set("Content-Encoding", "gzip")
			body = small
		}
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // an error means that the client is gone; net/http drops the body of HEAD
}

// built is what is embedded, read once. Nothing is compressed here: it takes longer than
// everything else that a start of fleetd does.
var built = sync.OnceValue(func() map[string]file {
	out := map[string]file{}
	err := fs.WalkDir(files, folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		plain, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		out[strings.TrimPrefix(name, folder+"/")] = file{
			kind:  mime.TypeByExtension(path.Ext(name)),
			plain: plain,
			small: sync.OnceValue(func() []byte { return compressed(plain) }),
		}
		return nil
	})
	if err != nil {
		panic(err) // the folder is embedded
	}
	return out
})

// compressed is nil if plain does not become smaller.
func compressed(plain []byte) []byte {
	var small bytes.Buffer
	zip := gzip.NewWriter(&small)
	_, _ = zip.Write(plain) // neither fails: a buffer takes everything
	_ = zip.Close()
	if small.Len() >= len(plain) {
		return nil
	}
	return small.Bytes()
}

// uncompressed is for the page, which is another one with each nonce.
func uncompressed() []byte { return nil }
