package api

import (
	"compress/gzip"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// compressed has the answers of an operation compressed if the client accepts gzip: pages ask for them every few seconds.
func compressed(o *huma.Operation) {
	o.Middlewares = append(o.Middlewares, func(ctx huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(ctx)
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			next(ctx)
			return
		}
		zip := &gzipWriter{ResponseWriter: w}
		next(humago.NewContext(ctx.Operation(), r.WithContext(ctx.Context()), zip))
		zip.close()
	})
}

// gzipWriter compresses the body of an answer that is no refusal.
type gzipWriter struct {
	http.ResponseWriter
	body *gzip.Writer // nil: it is not compressed
}

func (w *gzipWriter) WriteHeader(status int) {
	w.Header().Add("Vary", "Accept-Encoding")
	if status == http.StatusOK {
		w.Header().Set("Content-Encoding", "gzip")
		w.body = gzip.NewWriter(w.ResponseWriter)
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *gzipWriter) Write(b []byte) (int, error) {
	if w.body == nil {
		return w.ResponseWriter.Write(b)
	}
	return w.body.Write(b)
}

// close ends the body. An error means that the client is gone.
func (w *gzipWriter) close() {
	if w.body != nil {
		_ = w.body.Close()
	}
}
