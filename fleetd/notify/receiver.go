package notify

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"troupe/schema"
)

// Kind is the protocol of a receiver.
type Kind string

// The kinds of receivers.
const (
	Webhook      Kind = "webhook"
	Email        Kind = "email"
	Alertmanager Kind = "alertmanager"
	Ntfy         Kind = "ntfy"
	Slack        Kind = "slack"
)

// Kinds are all kinds of receivers.
var Kinds = []Kind{Webhook, Email, Alertmanager, Ntfy, Slack}

// Receiver is where notifications go. Its secrets are kept apart, see Secrets.
type Receiver struct {
	Kind     Kind     `json:"kind" enum:"webhook,email,alertmanager,ntfy,slack" doc:"its protocol: a signed POST of JSON, mail, the API v2 of Alertmanager, or the JSON of ntfy or of Slack and what is compatible" cli:"-"`
	URL      string   `json:"url,omitempty" maxLength:"1024" doc:"of every kind but email; {token} stands for the secret token" example:"https://ntfy.example" cli:"-"`
	Topic    string   `json:"topic,omitempty" maxLength:"64" doc:"the topic of ntfy" cli:"-"`
	Server   string   `json:"server,omitempty" maxLength:"260" doc:"of email: HOST:PORT of the SMTP server" example:"mail.example:587" cli:"-"`
	TLS      string   `json:"tls,omitempty" enum:"starttls,tls,none" doc:"of email: STARTTLS (default), TLS from the first byte, or none, which sends no password" cli:"-"`
	User     string   `json:"user,omitempty" maxLength:"254" doc:"of email: the account; left out if the server wants none" cli:"-"`
	From     string   `json:"from,omitempty" maxLength:"254" doc:"of email: the sender" example:"troupe@museum.example" cli:"-"`
	To       []string `json:"to,omitempty" doc:"of email: the recipients, at most 20" cli:"-"`
	Language Language `json:"language,omitempty" enum:"en,de,fr" doc:"of the texts; default en" cli:"-"`
}

// Secrets are what only fleetd may know of a receiver. They are stored sealed, and never shown.
type Secrets struct {
	HMACKey  string `json:"hmac_key,omitempty" maxLength:"256" doc:"of a webhook: with it fleetd signs each request; at least 16 characters" cli:"-"`
	Password string `json:"password,omitempty" maxLength:"256" doc:"of email" cli:"-"`
	Token    string `json:"token,omitempty" maxLength:"1024" doc:"of every kind but email: sent as Authorization: Bearer, or in the place of {token} in url" cli:"-"`
}

// Names lists which secrets are set.
func (s Secrets) Names() []string {
	names := []string{}
	for _, one := range []struct{ name, value string }{{"hmac_key", s.HMACKey}, {"password", s.Password}, {"token", s.Token}} {
		if one.value != "" {
			names = append(names, one.name)
		}
	}
	return names
}

// Over returns s with the secrets of was where s has none and the receiver can use them.
func (s Secrets) Over(was Secrets, kind Kind) Secrets {
	keep := func(into *string, old string, used bool) {
		if *into == "" && used {
			*into = old
		}
	}
	keep(&s.HMACKey, was.HMACKey, kind == Webhook)
	keep(&s.Password, was.Password, kind == Email)
	keep(&s.Token, was.Token, kind != Email)
	return s
}

// tokenPlace is where the secret token goes in a URL.
const tokenPlace = "{token}"

const maxRecipients = 20

var (
	mailAddress = regexp.MustCompile(`^[^\s@<>()\[\],;:\\"]{1,64}@[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)
	ntfyTopic   = regexp.MustCompile(`^[-_A-Za-z0-9]{1,64}$`)
	hostPort    = regexp.MustCompile(`^(\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?):[0-9]{1,5}$`)
	printable   = regexp.MustCompile(`^[\x21-\x7e]+$`)
)

// Problems reports everything that is wrong with a receiver and its secrets.
func (r Receiver) Problems(s Secrets) (found []schema.Problem) {
	add := func(pointer, code, detail, hint string) {
		found = append(found, schema.NewProblem(pointer, code, detail, hint))
	}
	if !slices.Contains(Kinds, r.Kind) {
		add("/kind", "bad_kind", fmt.Sprintf("%q is no kind of receiver", r.Kind), "write webhook, email, alertmanager, ntfy or slack")
		return found
	}
	if r.Language != "" && !slices.Contains(Languages, r.Language) {
		add("/language", "bad_language", fmt.Sprintf("there are no texts in %q", r.Language), "write en, de or fr")
	}
	if r.Kind == Email {
		found = append(found, r.mailProblems(s)...)
	} else {
		found = append(found, r.urlProblems(s)...)
	}
	for _, one := range []struct {
		at    string
		given bool
		kinds []Kind
	}{
		{"/url", r.URL != "", []Kind{Webhook, Alertmanager, Ntfy, Slack}},
		{"/topic", r.Topic != "", []Kind{Ntfy}},
		{"/server", r.Server != "", []Kind{Email}},
		{"/tls", r.TLS != "", []Kind{Email}},
		{"/user", r.User != "", []Kind{Email}},
		{"/from", r.From != "", []Kind{Email}},
		{"/to", len(r.To) > 0, []Kind{Email}},
		{"/hmac_key", s.HMACKey != "", []Kind{Webhook}},
		{"/password", s.Password != "", []Kind{Email}},
		{"/token", s.Token != "", []Kind{Webhook, Alertmanager, Ntfy, Slack}},
	} {
		if one.given && !slices.Contains(one.kinds, r.Kind) {
			add(one.at, "not_for_kind", fmt.Sprintf("a receiver of kind %s has no %s", r.Kind, one.at[1:]), "leave it out")
		}
	}
	return found
}

func (r Receiver) urlProblems(s Secrets) (found []schema.Problem) {
	add := func(pointer, code, detail, hint string) {
		found = append(found, schema.NewProblem(pointer, code, detail, hint))
	}
	const hint = "write a URL such as https://hooks.example/troupe"
	switch u, err := url.Parse(strings.ReplaceAll(r.URL, tokenPlace, "token")); {
	case r.URL == "":
		add("/url", "missing", "there is no URL", hint)
	case err != nil || u.Host == "" || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		add("/url", "bad_url", fmt.Sprintf("%q is no URL of http or https", schema.PrintableURL(r.URL)), hint)
	case u.User != nil:
		add("/url", "secret_in_url", "the URL has a user or a password, which everybody would see who may see receivers",
			"leave it out, and write the secret as token")
	case u.Fragment != "":
		add("/url", "bad_url", "the URL has a fragment, which no server gets", "leave out # and what follows")
	case strings.Contains(r.URL, tokenPlace) && strings.Contains(strings.SplitAfterN(r.URL, "/", 4)[2], tokenPlace):
		add("/url", "bad_url", "{token} is in the host of the URL", "put it into the path or the query")
	case strings.Contains(r.URL, tokenPlace) && s.Token == "":
		add("/token", "missing", "the URL has {token}, and there is no token", "write the token")
	}
	if s.HMACKey != "" && len(s.HMACKey) < 16 {
		add("/hmac_key", "too_short", fmt.Sprintf("the key has %d characters", len(s.HMACKey)), "write at least 16, such as 32 random ones")
	}
	if s.Token != "" && !printable.MatchString(s.Token) {
		add("/token", "bad_token", "the token has a space, or a character that no header may have", "write it as its service shows it")
	}
	switch {
	case r.Kind != Ntfy:
	case r.Topic == "":
		add("/topic", "missing", "there is no topic", "write the topic to which phones subscribe")
	case !ntfyTopic.MatchString(r.Topic):
		add("/topic", "bad_topic", fmt.Sprintf("%q is no topic of ntfy", r.Topic), "write at most 64 of a-z, A-Z, 0-9, _ and -")
	}
	return found
}

func (r Receiver) mailProblems(s Secrets) (found []schema.Problem) {
	add := func(pointer, code, detail, hint string) {
		found = append(found, schema.NewProblem(pointer, code, detail, hint))
	}
	port, _ := strconv.Atoi(r.Server[strings.LastIndexByte(r.Server, ':')+1:])
	switch {
	case r.Server == "":
		add("/server", "missing", "there is no SMTP server", "write HOST:PORT, such as mail.example:587")
	case !hostPort.MatchString(r.Server) || port < 1 || port > 65535:
		add("/server", "bad_server", fmt.Sprintf("%q is no server", r.Server), "write HOST:PORT, such as mail.example:587")
	}
	switch r.TLS {
	case "", "starttls", "tls", "none":
	default:
		add("/tls", "bad_tls", fmt.Sprintf("%q is no way to encrypt", r.TLS), "write starttls, tls or none")
	}
	switch {
	case r.User == "" && s.Password != "":
		add("/user", "missing", "there is a password and no user", "write the account")
	case r.User != "" && s.Password == "":
		add("/password", "missing", "there is a user and no password", "write the password")
	case r.User != "" && r.TLS == "none":
		add("/tls", "password_in_clear", "without TLS others on the network could read the password",
			"write starttls or tls, or leave out user and password")
	}
	if strings.ContainsAny(r.User+s.Password, "\r\n\x00") {
		add("/user", "bad_user", "the user or the password has a line break", "write it in one line")
	}
	const hint = "write an address such as crew@museum.example"
	switch {
	case r.From == "":
		add("/from", "missing", "there is no sender", hint)
	case !mailAddress.MatchString(r.From):
		add("/from", "bad_address", fmt.Sprintf("%q is no mail address", r.From), hint)
	}
	if len(r.To) == 0 {
		add("/to", "missing", "there is no recipient", hint)
	}
	if len(r.To) > maxRecipients {
		add("/to", "too_many", fmt.Sprintf("there are %d recipients, at most %d are allowed", len(r.To), maxRecipients),
			"use a list of the mail server")
	}
	for i, to := range r.To {
		if !mailAddress.MatchString(to) {
			add(fmt.Sprintf("/to/%d", i), "bad_address", fmt.Sprintf("%q is no mail address", to), hint)
		}
	}
	return found
}

// Place is the server to which a receiver's secrets go: if it changes, the secrets have to be given again. Otherwise an
// administrator could have them sent to a server of their own.
func (r Receiver) Place() string {
	if r.Kind == Email {
		return strings.ToLower(r.Server) + " " + r.TLS + " " + r.User
	}
	u, err := url.Parse(strings.ReplaceAll(r.URL, tokenPlace, "token"))
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}

// Where says for people where a receiver's notifications go.
func (r Receiver) Where() string {
	switch r.Kind {
	case Email:
		return strings.Join(r.To, ", ")
	case Ntfy:
		return strings.TrimSuffix(r.URL, "/") + "/" + r.Topic
	}
	return r.URL
}
