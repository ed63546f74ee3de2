package score

import "troupe/schema"

// speakerActions is what a speaker does.
var speakerActions = []ActionRow{
	{Type: TypeSay, Unit: schema.UnitSpeaker, Class: ClassSpeech, Method: MethodNoSameType,
		End: true, Timeout: true, OnResume: ResumeRestart, Ends: "when spoken, or at end_ms", Example: `{type: say, start_ms: 500, timeout_ms: 8000, text: {en: "Welcome to ${house}.", de: "Willkommen."}}`,
		Fields: []Field{
			{Name: "text", Required: true, Doc: "what is said, by language", Example: `{en: "Welcome ${guest}", de: "Willkommen"}`},
			{Name: "voice", Form: FormPlain, Doc: "a voice of the speaker", Default: "its usual one", Example: `clara`},
			{Name: "volume", Min: 0, Max: 1, Doc: "share of the volume of the speaker", Default: "1", Example: `0.8`},
			{Name: "rate", Min: 0.5, Max: 2, Doc: "speed of speech, as a multiple of the usual", Default: "1", Example: `0.9`},
			unitField,
		}},
	{Type: TypeSound, Unit: schema.UnitSpeaker, Class: ClassSound, Method: MethodMultiple,
		End: true, Timeout: true, OnResume: ResumeContinue, Ends: "when played, or at end_ms", Example: `{type: sound, start_ms: 0, timeout_ms: 5000, sound: fanfare, volume: 0.5}`,
		Fields: []Field{
			{Name: "sound", Required: true, Form: FormName, Doc: "an asset, or a sound that the robot has", Example: `fanfare`},
			{Name: "volume", Min: 0, Max: 1, Doc: "share of the volume of the speaker", Default: "1", Example: `0.5`},
			{Name: "loop", Doc: "plays it again and again until end_ms", Default: "false", Example: `true`},
			unitField,
		}},
}
