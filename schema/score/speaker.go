package score

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"troupe/schema"
)

// speaker is what a speaker says and plays.
var speaker = Kind{Unit: schema.UnitSpeaker, Actions: []ActionRow{
	{Do: Say{}, Class: ClassSpeech, Method: MethodNoSameType,
		End: true, Timeout: true, OnResume: ResumeRestart, UsualMS: 8000,
		Ends:    "when spoken, or at end_ms",
		Example: `{type: say, start_ms: 500, timeout_ms: 8000, text: {en: "Welcome to ${house}.", de: "Willkommen."}}`,
		Begin:   "timeout_ms: 8000, text: {}",
		Fields: []Field{
			{Name: "text", Required: true, Doc: "what is said, by language", Example: `{en: "Welcome ${guest}", de: "Willkommen"}`},
			{Name: "voice", Form: FormPlain, Doc: "a voice of the speaker", Default: "its usual one", Example: `clara`},
			{Name: "volume", Min: 0, Max: 1, Doc: "share of the volume of the speaker", Default: "1", Example: `0.8`},
			{Name: "rate", Min: 0.5, Max: 2, Doc: "speed of speech, as a multiple of the usual", Default: "1", Example: `0.9`},
			unitField,
		}},
	{Do: Sound{}, Class: ClassSound, Method: MethodMultiple,
		End: true, Timeout: true, OnResume: ResumeContinue, EstimateMS: 3000, OpenEnd: true,
		Ends:    "when played, or at end_ms",
		Example: `{type: sound, start_ms: 0, timeout_ms: 5000, sound: fanfare, volume: 0.5}`,
		Begin:   "timeout_ms: 5000, sound: ''",
		Fields: []Field{
			{Name: "sound", Required: true, Form: FormName, File: AssetSound, Names: func(u *schema.Unit) []string { return u.Sounds },
				Doc: "an asset, or a sound that the robot has", Example: `fanfare`},
			{Name: "volume", Min: 0, Max: 1, Doc: "share of the volume of the speaker", Default: "1", Example: `0.5`},
			{Name: "loop", Doc: "plays it again and again until end_ms", Default: "false", Example: `true`},
			unitField,
		}},
},
	Gentle:     func(*schema.Unit) Action { return Action{TimeoutMS: &gentleMS, Do: Say{Text: Text{"en": "one"}}} },
	Impossible: wrongForSpeaker,
}

func wrongForSpeaker(u *schema.Unit) []Action {
	all := []Action{{Do: Face{"smile"}}}
	if len(u.Sounds) > 0 {
		all = append(all, Action{TimeoutMS: &gentleMS, Do: Sound{Sound: "no-such-sound"}})
	}
	return all
}

// Say says a text.
type Say struct {
	Text   Text     `json:"text,omitempty"`
	Voice  string   `json:"voice,omitempty"`
	Volume *float64 `json:"volume,omitzero"` // 0..1
	Rate   *float64 `json:"rate,omitzero"`   // 0.5..2
}

func (Say) Type() ActionType { return TypeSay }

// Sound plays a sound.
type Sound struct {
	Volume *float64 `json:"volume,omitzero"` // 0..1
	Sound  string   `json:"sound,omitempty"` // asset name
	Loop   bool     `json:"loop,omitzero"`   // needs end_ms
}

func (Sound) Type() ActionType { return TypeSound }

func (s Say) shown(langs []string) string { return strconv.Quote(s.Text.In(langs...)) }

func (s Say) check(c *checks, p string, _ *Action, given map[string]bool) {
	if given["text"] && len(s.Text) == 0 {
		c.add(at(p, "text"), CodeMissing, "there is no text", "write it by language, such as text: {en: Hello}")
	}
	c.texts(at(p, "text"), s.Text, MaxText)
}

func (s Say) fit(c *checks, p string, _ *Action, caps schema.Caps, _ schema.Unit) {
	c.fitText(at(p, "text"), s.Text, caps)
}

// guessCharsPerSecond is the usual speed of speech.
const guessCharsPerSecond = 14

func (s Say) estimateMS() int64 {
	longest := 0
	for _, t := range s.Text {
		longest = max(longest, utf8.RuneCountInString(t))
	}
	rate := 1.0
	if s.Rate != nil {
		rate = *s.Rate
	}
	return int64(float64(longest) * 1000 / guessCharsPerSecond / rate)
}

func (s Sound) shown([]string) string { return s.Sound }

func (s Sound) check(c *checks, p string, x *Action, _ map[string]bool) {
	if s.Loop && x.EndMS == nil {
		field, hint := "end_ms", fmt.Sprintf("add end_ms: %d, the time at which it ends", x.StartMS+5000)
		if x.TimeoutMS != nil {
			field, hint = "timeout_ms", fmt.Sprintf("rename timeout_ms to end_ms, the time at which it ends: %d", x.StartMS+*x.TimeoutMS)
		}
		c.add(at(p, field), CodeNeedsEnd, "a sound that loops never ends by itself", hint)
	}
}
