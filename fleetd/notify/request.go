package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net/url"
	"strconv"
	"strings"
	"time"

	"troupe/schema"
)

// Request is an HTTP request to a receiver.
type Request struct {
	URL    string
	Header map[string]string
	Body   []byte
}

// Headers of webhooks.
const (
	HeaderID        = "Troupe-Notification-Id"
	HeaderTry       = "Troupe-Notification-Try" // from 1; above 1 an earlier try may have arrived
	HeaderTimestamp = "Troupe-Timestamp"        // Unix seconds
	HeaderSignature = "Troupe-Signature"        // sha256=HEX of HMAC-SHA-256 over the timestamp, a dot and the body
)

// webhookBody is what a webhook gets.
type webhookBody struct {
	Version int `json:"version"`
	Notification
	Subject string `json:"subject"`
	Text    string `json:"text"`
	Link    string `json:"link,omitempty"`
	Try     int    `json:"try"`
}

// RequestFor writes a notification for a receiver that is not of mail. link is the URL of the console, if it is known.
func RequestFor(r Receiver, s Secrets, n Notification, link string, try int, now time.Time) (Request, error) {
	subject, body := n.Subject(r.Language), n.Body(r.Language, link)
	q := Request{URL: r.URL, Header: map[string]string{"Content-Type": "application/json", "User-Agent": "troupe-fleetd", HeaderID: n.ID,
		HeaderTry: strconv.Itoa(try)}}
	var v any
	switch r.Kind {
	case Webhook:
		v = webhookBody{1, n, subject, body, link, try}
	case Slack:
		v = map[string]any{"text": "*" + subject + "*\n" + body}
	case Ntfy:
		one := map[string]any{"topic": r.Topic, "title": subject, "message": body, "priority": priority(n)}
		if link != "" {
			one["click"] = strings.TrimSuffix(link, "/") + "/events"
		}
		v = one
	case Alertmanager:
		q.URL = strings.TrimSuffix(r.URL, "/") + "/api/v2/alerts"
		v = alertmanagerAlerts(r, n, link, now)
	default:
		return q, fmt.Errorf("write a notification for a receiver of kind %q: it is not sent over HTTP", r.Kind)
	}
	var err error
	if q.Body, err = schema.Encode(v); err != nil {
		return q, fmt.Errorf("write notification %s: %w", n.ID, err)
	}
	switch {
	case s.Token == "":
	case strings.Contains(q.URL, tokenPlace):
		q.URL = strings.ReplaceAll(q.URL, tokenPlace, url.PathEscape(s.Token))
	default:
		q.Header["Authorization"] = "Bearer " + s.Token
	}
	if s.HMACKey != "" {
		at := strconv.FormatInt(now.Unix(), 10)
		q.Header[HeaderTimestamp], q.Header[HeaderSignature] = at, Signature(s.HMACKey, at, q.Body)
	}
	return q, nil
}

// Signature signs the body of a webhook at a time, in Unix seconds.
func Signature(key, timestamp string, body []byte) string {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(timestamp + "."))
	h.Write(body)
	return "sha256=" + hex.EncodeToString(h.Sum(nil))
}

// priority is that of ntfy, from 1 to 5.
func priority(n Notification) int {
	switch n.Level() {
	case schema.AlertCritical:
		return 5
	case schema.AlertError:
		return 4
	case "":
		return 2
	}
	return 3
}

// endsAfter is when Alertmanager takes an alert for over of which it gets no more news. fleetd says itself when one is over.
const endsAfter = 7 * 24 * time.Hour

// alertmanagerAlert is one alert of Alertmanager's API v2.
type alertmanagerAlert struct {
	Labels       map[string]string `json:"labels"`
	Annotations  map[string]string `json:"annotations"`
	StartsAt     string            `json:"startsAt"`
	EndsAt       string            `json:"endsAt"`
	GeneratorURL string            `json:"generatorURL,omitempty"`
}

func alertmanagerAlerts(r Receiver, n Notification, link string, now time.Time) []alertmanagerAlert {
	all := []alertmanagerAlert{}
	add := func(labels, annotations map[string]string, starts, ends time.Time) {
		for _, m := range []map[string]string{labels, annotations} {
			for k, v := range m {
				if v == "" {
					delete(m, k)
				}
			}
		}
		all = append(all, alertmanagerAlert{labels, annotations, starts.UTC().Format(time.RFC3339), ends.UTC().Format(time.RFC3339), link})
	}
	for _, e := range n.Alerts {
		labels := map[string]string{
			"alertname": e.Type, "severity": string(e.Level), "robot": e.Robot, "rollout": e.Rollout, "schedule": e.Schedule, "site": e.Site,
			"source": e.Source, "alert_id": e.ID,
		}
		if n.Kind == KindEscalation {
			labels["escalated"] = "true"
		}
		ends := now.Add(endsAfter)
		if e.State == Over {
			ends = e.EndedAt.Time()
		}
		add(labels, map[string]string{"summary": Title(r.Language, e.Type) + ": " + e.Of(), "description": e.Detail, "hint": e.Hint,
			"notification": n.ID}, e.Since.Time(), ends)
	}
	for _, e := range n.Events { // an event is an alert that is over after a while
		add(map[string]string{"alertname": e.Type, "severity": string(e.Level), "robot": e.Robot, "site": e.Site, "kind": "event",
			"event_id": e.ID},
			map[string]string{"summary": EventTitle(r.Language, e.Type) + ": " + e.Robot,
				"notification": n.ID}, e.At.Time(), e.At.Time().Add(10*time.Minute))
	}
	if n.Kind == KindTest {
		add(map[string]string{"alertname": "test", "severity": "info"}, map[string]string{"summary": n.Body(r.Language, ""),
			"notification": n.ID}, n.At.Time(), n.At.Time().Add(time.Minute))
	}
	return all
}

// Mail writes a notification as a message of RFC 5322, with the line ends of SMTP.
func Mail(r Receiver, n Notification, link string, try int, now time.Time) []byte {
	w := allWords[orEnglish(r.Language)]
	_, domain, _ := strings.Cut(r.From, "@")
	body := n.Body(r.Language, link) + "\n" + fmt.Sprintf(w.id, n.ID) + "\n"
	var b strings.Builder
	for _, h := range [][2]string{
		{"From", r.From}, {"To", strings.Join(r.To, ", ")}, {"Subject", mime.QEncoding.Encode("utf-8",
			headerText("Troupe: "+n.Subject(r.Language)))},
		{"Date", now.UTC().Format(time.RFC1123Z)}, {"Message-ID", "<" + n.ID + "@" + domain + ">"}, {HeaderID, n.ID}, {HeaderTry,
			strconv.Itoa(try)},
		{"Auto-Submitted", "auto-generated"}, {"MIME-Version", "1.0"}, {"Content-Type",
			"text/plain; charset=utf-8"}, {"Content-Transfer-Encoding", "quoted-printable"},
	} {
		b.WriteString(h[0] + ": " + h[1] + "\r\n")
	}
	b.WriteString("\r\n")
	b.WriteString(quotedPrintable(body))
	return []byte(b.String())
}

// maxSubject bounds the subject of a mail, in bytes.
const maxSubject = 200

// headerText makes a text fit for a header.
func headerText(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	if len(s) > maxSubject {
		s = strings.ToValidUTF8(s[:maxSubject], "") + "..."
	}
	return s
}

func quotedPrintable(text string) string {
	var b strings.Builder
	w := quotedprintable.NewWriter(&b)
	_, _ = w.Write([]byte(text)) // a Builder takes everything
	_ = w.Close()
	return b.String()
}
