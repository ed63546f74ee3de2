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

// operator is the name under which the stage sends requests, so that they differ in the
// audit from those of people.
const operator = "demo"

// A fleetdClient sends requests to fleetd's HTTP API.
type fleetdClient struct {
	url    string
	client *http.Client
}

func newFleetdClient(url string) *fleetdClient {
	return &fleetdClient{url, &http.Client{Transport: &http.Transport{}}}
}

func (d *fleetdClient) close() { d.client.CloseIdleConnections() }

// A yamlBody is sent as YAML, a binaryBody as bytes; other bodies are sent as JSON.
type (
	yamlBody   []byte
	binaryBody []byte
)

// request sends one request and decodes the reply into a T.
func request[T any](ctx context.Context, d *fleetdClient, method, path string, query url.Values, body any) (T, error) {
	var result T
	payload, contentType := []byte(nil), "application/json"
	switch b := body.(type) {
	case nil:
	case yamlBody:
		payload, contentType = b, "application/yaml"
	case binaryBody:
		payload, contentType = b, "application/octet-stream"
	default:
		var err error
		if payload, err = json.Marshal(b); err != nil {
			return result, fmt.Errorf("ask fleetd for %s %s: %w", method, path, err)
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, d.url+api.Prefix+path+"?"+query.Encode(), bytes.NewReader(payload))
	if err != nil {
		return result, fmt.Errorf("ask fleetd for %s %s: %w", method, path, err)
	}
	request.Header.Set("Content-Type", contentType)
	request.Header.Set("Prefer", "wait=20")
	if _, draft := body.(yamlBody); draft {
		request.Header.Set("If-Match", "*") // publishDocuments leaves out what others have changed
	}
	response, err := d.client.Do(request)
	if err != nil {
		return result, fmt.Errorf("ask fleetd: %w", err)
	}
	defer response.Body.Close()
	reply, err := io.ReadAll(response.Body)
	if err != nil {
		return result, fmt.Errorf("read fleetd's answer to %s %s: %w", method, path, err)
	}
	if response.StatusCode >= 400 {
		var p api.Problem
		if err := json.Unmarshal(reply, &p); err == nil && p.Type != "" {
			return result, fmt.Errorf("fleetd refuses %s %s: %w", method, path, &p)
		}
		return result, fmt.Errorf("fleetd answers %s %s with %s: %.200s", method, path, response.Status, reply)
	}
	if err := json.Unmarshal(reply, &result); err != nil {
		return result, fmt.Errorf("read fleetd's answer to %s %s: %w", method, path, err)
	}
	return result, nil
}
