package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	fleetapi "troupe/fleetd/api"
)

// api sends requests to a fleetd that lets everybody in.
type api struct {
	url    string
	client *http.Client
}

func newAPI(url string) *api { return &api{url, &http.Client{Transport: &http.Transport{}}} }

// everyRobot selects all robots.
var everyRobot = map[string]any{"all": true}

// do sends one request and decodes the answer into out, which may be nil. It returns the size of the answer.
func (a *api) do(ctx context.Context, method, path string, body, out any) (bytesRead int, err error) {
	var payload []byte
	if body != nil {
		if payload, err = json.Marshal(body); err != nil {
			return 0, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, a.url+fleetapi.Prefix+path, bytes.NewReader(payload))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Prefer", "wait=60")
	response, err := a.client.Do(request)
	if err != nil {
		return 0, fmt.Errorf("ask fleetd: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, fmt.Errorf("read fleetd's answer to %s %s: %w", method, path, err)
	}
	if response.StatusCode >= 400 {
		return len(text), fmt.Errorf("fleetd answers %s %s with %s: %.300s", method, path, response.Status, text)
	}
	if out != nil {
		if err := json.Unmarshal(text, out); err != nil {
			return len(text), fmt.Errorf("read fleetd's answer to %s %s: %w", method, path, err)
		}
	}
	return len(text), nil
}

// robotRow is what benches read of a robot.
type robotRow struct {
	ID         string
	Presence   struct{ Status string }
	Adopted    bool
	Calibrated bool
	Mode       string
	ModePhase  string `json:"mode_phase"`
}

// robots lists all robots.
func (a *api) robots(ctx context.Context) ([]robotRow, error) {
	var list struct{ Robots []robotRow }
	_, err := a.do(ctx, "GET", "/robots", nil, &list)
	return list.Robots, err
}

// awaitRobots waits until so many robots are online, adopted and calibrated.
func (a *api) awaitRobots(ctx context.Context, count int, limit time.Duration, say func(string)) error {
	for end, next := time.Now().Add(limit), time.Now().Add(5*time.Second); ; {
		asked := time.Now()
		list, err := a.robots(ctx)
		if err != nil {
			return err
		}
		there := 0
		for _, one := range list {
			if one.Presence.Status == "online" && one.Adopted && one.Calibrated {
				there++
			}
		}
		switch {
		case there >= count:
			return nil
		case time.Now().After(end):
			return fmt.Errorf("%w: %d of %d are online, adopted and calibrated after %v", errLost, there, count, limit)
		case time.Now().After(next):
			say(fmt.Sprintf("%d of %d robots are there", there, count))
			next = time.Now().Add(5 * time.Second)
		}
		// The answer has a megabyte for each two thousand robots: asking must not be most of fleetd's work.
		if err := sleep(ctx, max(200*time.Millisecond, 4*time.Since(asked))); err != nil {
			return err
		}
	}
}

// stream opens the stream of all robots, uncompressed.
func (a *api) stream(ctx context.Context) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, "GET", a.url+fleetapi.Prefix+"/stream", nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept-Encoding", "identity")
	response, err := a.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask fleetd for the stream: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		return nil, fmt.Errorf("fleetd answers the stream with %s", response.Status)
	}
	return response.Body, nil
}
