package stage

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"troupe/fleetd/api"
)

// operator signs what the stage does, so that the record tells it from what a
// person did.
const operator = "demo"

// A fleetd instance is asked over HTTP, as by any other program.
type fleetd struct {
	url    string
	client *http.Client
}

func newFleetd(url string) *fleetd { return &fleetd{url, &http.Client{Transport: &http.Transport{}}} }

func (d *fleetd) close() { d.client.CloseIdleConnections() }

// document is a text that is sent as it is, and octets are what is no text.
type (
	document []byte
	octets   []byte
)

// ask makes one request, and reads the answer into a T.
func ask[T any](ctx context.Context, d *fleetd, method, path string, query url.Values, body any) (T, error) {
	var answer T
	text, kind := []byte(nil), "application/json"
	switch b := body.(type) {
	case nil:
	case document:
		text, kind = b, "application/yaml"
	case octets:
		text, kind = b, "application/octet-stream"
	default:
		var err error
		if text, err = json.Marshal(b); err != nil {
			return answer, fmt.Errorf("ask fleetd for %s %s: %w", method, path, err)
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, d.url+api.Prefix+path+"?"+query.Encode(), bytes.NewReader(text))
	if err != nil {
		return answer, fmt.Errorf("ask fleetd for %s %s: %w", method, path, err)
	}
	request.Header.Set("Content-Type", kind)
	request.Header.Set("Prefer", "wait=20")
	response, err := d.client.Do(request)
	if err != nil {
		return answer, fmt.Errorf("ask fleetd: %w", err)
	}
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	if err != nil {
		return answer, fmt.Errorf("read fleetd's answer to %s %s: %w", method, path, err)
	}
	if response.StatusCode >= 400 {
		var p api.Problem
		if err := json.Unmarshal(said, &p); err == nil && p.Type != "" {
			return answer, fmt.Errorf("fleetd refuses %s %s: %w", method, path, &p)
		}
		return answer, fmt.Errorf("fleetd answers %s %s with %s: %.200s", method, path, response.Status, said)
	}
	if err := json.Unmarshal(said, &answer); err != nil {
		return answer, fmt.Errorf("read fleetd's answer to %s %s: %w", method, path, err)
	}
	return answer, nil
}
