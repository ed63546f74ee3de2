package page

import (
	"fmt"
	"strings"
)

// words are the texts of the page in one language.
type words map[string]string

// of returns a text. Templates are executed by tests in all their forms, so a missing one is
// found there.
func (w words) of(key string) string {
	text, ok := w[key]
	if !ok {
		panic("page: no text " + key)
	}
	return text
}

// word returns the text of a term of the contract, or the term itself if it has none.
func (w words) word(group string, term any) string {
	if text, ok := w[group+"."+fmt.Sprint(term)]; ok {
		return text
	}
	return fmt.Sprint(term)
}

// named replaces the verbs in a text of the robot by the page's buttons for them.
func (w words) named(text string) string {
	return strings.NewReplacer("safety/reset", w["reset"], "safety/enable", w["enable"], "auto/continue", w["continue"]).Replace(text)
}

// texts are in the same order in both languages.
var texts = map[string]words{
	"en": {
		"robot": "Robot", "sign-in": "Sign in", "sign-out": "Sign out", "password": "Password",
		"password-where": "It is in the file page.password in the robot's data directory.",
		"wrong-password": "This is not the password of this robot.",
		"too-many":       "Too many attempts. Wait a few seconds, then try again.",
		"no-password":    "The file with the password cannot be read; robotd's log says why.",
		"silent":         "The robot does not answer",
		"silent-why": "Its control loop hangs or has ended. Units that move stop by themselves. If it must stand still for certain, " +
			"press its stop input or switch it off.",
		"waiting":     "The robot waits for its body",
		"waiting-for": "It has waited for", "on": "on",
		"waiting-why": "Until then nothing moves, and Stop is the only button. If the body does not come, robotd ends, " +
			"and its service manager starts it again; a stop stays in force.",
		"lost-page": "No contact with the robot. What you see is old.",
		"sending":   "being sent …",
		"not-sent": "NOT SENT, or not answered. If the robot does not do it, press the button again; if it must stand still for certain, " +
			"press its stop input or switch it off.",
		"not-signed-in": "not sent to the robot, because you are no longer signed in. Sign in, then press it again.",
		"software-stop": "A stop in software, not an emergency stop.",
		"stop":          "Stop", "release": "Release the stop", "reset": "Reset", "enable": "Enable", "continue": "Continue the story",
		"mode": "Mode", "volume": "Volume", "face": "Face", "set": "Set", "show": "Show",
		"safety": "Motion", "link": "Operators", "events": "Last events", "identity": "This robot", "alerts": "Alerts",
		"latched": "Held by", "since": "since", "by": "by", "what-to-do": "What to do",
		"not-latched":      "no stop is latched",
		"not-at-robot":     "only on the robot's own computer, or in the fleet's console",
		"nothing-to-reset": "nothing is left to reset",
		"button-on-body":   "after a stop input, press the button reset on the robot's body",
		"release-first":    "release the stop first",
		"reset-first":      "reset it first",
		"enable-first":     "enable it first",
		"enable-continues": "not needed: Enable lets the story go on",
		"story-goes-on":    "the story goes on at once, and the robot moves",
		"fleet-holds":      "the fleet holds it; release it in the fleet's console, or with",
		"needs-reset":      "its fault is gone; it needs a reset",
		"because":          "Because of", "paused-by": "Paused by",
		"enabled":   "it may move already",
		"stopping":  "it is stopping",
		"resetting": "it is being reset",
		"in-charge": "in charge", "switch": "Switch", "why-not": "Not now",
		"no-events": "Nothing has happened yet.", "no-face": "no face shown yet", "no-alerts": "No alerts.",
		"name": "Name", "model": "Model", "serial": "Serial number", "driver": "Driver", "software": "robotd", "broker": "Broker",
		"battery": "Battery", "story": "Story",
		"connected": "connected", "not-connected": "not connected",
		"operator":      "While this page is open you are an operator of this robot.",
		"when-closed":   "Without one, the mode in charge ends after",
		"stops-moving":  "Without one, the robot stops moving after",
		"then-continue": ", then needs Continue the story", "mode-ends": "; the mode in charge ends after",
		"seconds":       "s",
		"goes-on":       "Without one, the mode in charge goes on.",
		"not-persisted": "The disk does not have this: a restart would lose it.",
		"unanswered":    "no answer", "input-pressed": "A stop input at the robot is pressed.",

		"failing": "Every act of the story fails; the alert says why.", "failed-rounds": "rounds in a row",
		"auto.halt": "waits for automatic", "auto.idle": "performs", "auto.paused": "paused", "auto.stopped": "stopped",
		"pause.needs_reset": "the robot is stopped", "pause.needs_continue": "its cause is over",
		"safety.ENABLED": "may move", "safety.DISABLED": "stands still", "safety.SOFT_STOP": "is stopping softly", "safety.STOP": "is stopping",
		"safety.HALT": "is halting", "safety.E_STOP": "stopped until it is reset", "safety.RESET": "is resetting",
		"link.never": "none since the start", "link.up": "there", "link.degraded": "heartbeats are late", "link.lost": "nobody reaches the robot",
		"mode.str": "Start-up", "mode.mnl": "Manual", "mode.ato": "Automatic", "mode.safe": "Safe", "mode.follow": "Follow",
		"status.SUCCEEDED": "done", "status.ACCEPTED": "accepted", "status.IN_PROGRESS": "in progress", "status.REJECTED": "refused",
		"status.FAILED": "failed", "status.CANCELLED": "cancelled", "status.SUPERSEDED": "replaced by a later one", "status.EXPIRED": "too late",

		"drawn.stopped": "stopped", "drawn.attention": "needs attention", "drawn.paused": "paused", "drawn.driven": "a person drives it",
		"drawn.light": "light %s", "drawn.": "", "drawn.solid": "", "drawn.blink": "blinking", "drawn.breathe": "breathing",
		"drawn.rainbow": "in all colors",
		"drawn.left":    "head %v° to its left", "drawn.right": "head %v° to its right",
		"drawn.up": "looking %v° up", "drawn.down": "looking %v° down",
		"drawn.forward": "drives forward", "drawn.back": "drives back",
		"drawn.turns-left": "turns to its left", "drawn.turns-right": "turns to its right",
		"drawn.says": "says “%s”", "drawn.sound": "plays the sound %s", "drawn.charging": "charging", "drawn.muted": "muted",
		"face.neutral": "neutral", "face.smile": "smiling", "face.laugh": "laughing", "face.sad": "sad", "face.sleepy": "sleepy",
		"face.surprised": "surprised", "face.thinking": "thinking", "face.wink": "winking",
	},
	"de": {
		"robot": "Roboter", "sign-in": "Anmelden", "sign-out": "Abmelden", "password": "Passwort",
		"password-where": "Es steht in der Datei page.password im Datenverzeichnis des Roboters.",
		"wrong-password": "Das ist nicht das Passwort dieses Roboters.",
		"too-many":       "Zu viele Versuche. Warten Sie einige Sekunden und versuchen Sie es dann noch einmal.",
		"no-password":    "Die Datei mit dem Passwort lässt sich nicht lesen; das Protokoll von robotd nennt den Grund.",
		"silent":         "Der Roboter antwortet nicht",
		"silent-why": "Seine Steuerschleife hängt oder ist beendet. Was sich bewegt, hält von selbst an. Wenn er sicher stillstehen muss, " +
			"drücken Sie seinen Stopp-Eingang oder schalten Sie ihn aus.",
		"waiting":     "Der Roboter wartet auf seinen Körper",
		"waiting-for": "Er wartet seit", "on": "auf",
		"waiting-why": "Bis dahin bewegt sich nichts, und Stopp ist der einzige Knopf. Kommt der Körper nicht, " +
			"endet robotd und wird wieder gestartet; ein Stopp bleibt in Kraft.",
		"lost-page": "Keine Verbindung zum Roboter. Was Sie sehen, ist veraltet.",
		"sending":   "wird gesendet …",
		"not-sent": "NICHT GESENDET oder nicht beantwortet. Tut der Roboter es nicht, drücken Sie den Knopf noch einmal; " +
			"muss er sicher stillstehen, drücken Sie seinen Stopp-Eingang oder schalten Sie ihn aus.",
		"not-signed-in": "nicht an den Roboter gesendet, weil Sie nicht mehr angemeldet sind. " +
			"Melden Sie sich an und drücken Sie dann noch einmal.",
		"software-stop": "Ein Stopp per Software, kein Not-Halt.",
		"stop":          "Stopp", "release": "Stopp aufheben", "reset": "Zurücksetzen", "enable": "Freigeben",
		"continue": "Geschichte fortsetzen",
		"mode":     "Betriebsart", "volume": "Lautstärke", "face": "Gesicht", "set": "Setzen", "show": "Zeigen",
		"safety": "Bewegung", "link": "Bediener", "events": "Letzte Ereignisse", "identity": "Dieser Roboter", "alerts": "Meldungen",
		"latched": "Gehalten von", "since": "seit", "by": "von", "what-to-do": "Was zu tun ist",
		"not-latched":      "kein Stopp ist verriegelt",
		"not-at-robot":     "nur am Rechner des Roboters oder in der Konsole der Flotte",
		"nothing-to-reset": "es ist nichts zurückzusetzen",
		"button-on-body":   "nach einem Stoppeingang die Taste reset am Roboter selbst drücken",
		"release-first":    "zuerst den Stopp aufheben",
		"reset-first":      "zuerst zurücksetzen",
		"enable-first":     "zuerst freigeben",
		"enable-continues": "nicht nötig: mit Freigeben geht die Geschichte weiter",
		"story-goes-on":    "die Geschichte geht sofort weiter, und der Roboter bewegt sich",
		"fleet-holds":      "die Flotte hält ihn; heben Sie ihn in der Konsole der Flotte auf, oder mit",
		"needs-reset":      "die Störung ist vorbei; es fehlt das Zurücksetzen",
		"because":          "Wegen", "paused-by": "Pausiert von",
		"enabled":   "er darf sich schon bewegen",
		"stopping":  "er hält gerade an",
		"resetting": "er wird gerade zurückgesetzt",
		"in-charge": "führt", "switch": "Wechseln", "why-not": "Jetzt nicht",
		"no-events": "Noch ist nichts geschehen.", "no-face": "noch kein Gesicht gezeigt", "no-alerts": "Keine Meldungen.",
		"name": "Name", "model": "Modell", "serial": "Seriennummer", "driver": "Treiber", "software": "robotd", "broker": "Broker",
		"battery": "Akku", "story": "Geschichte",
		"connected": "verbunden", "not-connected": "nicht verbunden",
		"operator":      "Solange diese Seite offen ist, sind Sie Bediener dieses Roboters.",
		"when-closed":   "Ohne Bediener endet die Betriebsart nach",
		"stops-moving":  "Ohne Bediener hält der Roboter an nach",
		"then-continue": ", braucht dann Geschichte fortsetzen", "mode-ends": "; die Betriebsart endet nach",
		"seconds":       "s",
		"goes-on":       "Ohne Bediener läuft die Betriebsart weiter.",
		"not-persisted": "Das steht nicht auf dem Datenträger: Ein Neustart würde es vergessen.",
		"unanswered":    "keine Antwort", "input-pressed": "Ein Stopp-Eingang am Roboter ist gedrückt.",

		"failing": "Jeder Akt der Geschichte schlägt fehl; die Meldung nennt den Grund.", "failed-rounds": "Runden in Folge",
		"auto.halt": "wartet auf die Automatik", "auto.idle": "spielt", "auto.paused": "pausiert", "auto.stopped": "beendet",
		"pause.needs_reset": "der Roboter ist gestoppt", "pause.needs_continue": "die Ursache ist vorbei",
		"safety.ENABLED": "darf sich bewegen", "safety.DISABLED": "steht still", "safety.SOFT_STOP": "hält sanft an", "safety.STOP": "hält an",
		"safety.HALT": "hält sofort an", "safety.E_STOP": "gestoppt, bis er zurückgesetzt wird", "safety.RESET": "setzt zurück",
		"link.never": "keiner seit dem Start", "link.up": "da", "link.degraded": "Lebenszeichen kommen spät",
		"link.lost": "niemand erreicht den Roboter",
		"mode.str":  "Start", "mode.mnl": "Von Hand", "mode.ato": "Automatik", "mode.safe": "Sicher", "mode.follow": "Folgen",
		"status.SUCCEEDED": "erledigt", "status.ACCEPTED": "angenommen", "status.IN_PROGRESS": "läuft", "status.REJECTED": "abgelehnt",
		"status.FAILED": "fehlgeschlagen", "status.CANCELLED": "abgebrochen", "status.SUPERSEDED": "durch einen späteren ersetzt",
		"status.EXPIRED": "zu spät",

		"drawn.stopped": "gestoppt", "drawn.attention": "braucht Aufmerksamkeit", "drawn.paused": "pausiert",
		"drawn.driven": "eine Person fährt ihn",
		"drawn.light":  "Licht %s", "drawn.": "", "drawn.solid": "", "drawn.blink": "blinkt", "drawn.breathe": "atmet",
		"drawn.rainbow": "in allen Farben",
		"drawn.left":    "Kopf %v° nach links", "drawn.right": "Kopf %v° nach rechts",
		"drawn.up": "blickt %v° nach oben", "drawn.down": "blickt %v° nach unten",
		"drawn.forward": "fährt vorwärts", "drawn.back": "fährt rückwärts",
		"drawn.turns-left": "dreht nach links", "drawn.turns-right": "dreht nach rechts",
		"drawn.says": "sagt „%s“", "drawn.sound": "spielt den Ton %s", "drawn.charging": "lädt", "drawn.muted": "stumm",
		"face.neutral": "neutral", "face.smile": "lächelt", "face.laugh": "lacht", "face.sad": "traurig", "face.sleepy": "müde",
		"face.surprised": "überrascht", "face.thinking": "denkt nach", "face.wink": "zwinkert",
	},
}
