package page

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"troupe/schema"
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

// ofCode returns what a code of the contract means, which is English in the tables of package schema; the code itself, readable, if it
// has no meaning here.
func (w words) ofCode(group, code string) string {
	if text := w[group+"."+code]; text != "" {
		return text
	}
	text := ""
	switch group {
	case "reason":
		text = schema.Reason(code).Describe().Text
	case "event":
		if i := slices.IndexFunc(schema.Events, func(r schema.EventRow) bool { return r.Type == code }); i >= 0 {
			text = schema.Events[i].Text
		}
	}
	return w.named(strings.NewReplacer("`", "", "[[", "", "]]", "").Replace(cmp.Or(text, strings.ReplaceAll(code, "_", " "))))
}

// said is a reason in words. The robot's own sentence, which is English, says more than those of the English page.
func (w words) said(reason schema.Reason, detail string) string {
	if detail != "" && (reason == "" || w["lang"] == "en") {
		return w.named(detail)
	}
	if reason == "" {
		return ""
	}
	return w.ofCode("reason", string(reason))
}

// own is the robot's own sentence where said is in another language.
func (w words) own(reason schema.Reason, detail string) string {
	if own := w.named(detail); own != w.said(reason, detail) {
		return own
	}
	return ""
}

// holder is who or what holds a pause.
func (w words) holder(p schema.Pause) string {
	kind, _, _ := strings.Cut(p.Token, ":")
	return cmp.Or(p.By, w["token."+kind], p.Token)
}

// why is why a pause is held: a reason in words, or what a person wrote.
func (w words) why(code string) string {
	if slices.ContainsFunc(schema.Reasons, func(r schema.ReasonText) bool { return string(r.Reason) == code }) {
		return w.ofCode("reason", code)
	}
	return code
}

// about is what an event is about, beside its type: from where to where, why, or else its data.
func (w words) about(e schema.Event) string {
	var data struct {
		From   string        `json:"from"`
		To     string        `json:"to"`
		Reason schema.Reason `json:"reason"`
		Detail string        `json:"detail"`
	}
	_ = json.Unmarshal(e.Data, &data) // data of another form is shown as it is
	switch {
	case data.From != "" && data.To != "":
		return w.word(e.Source, data.From) + " → " + w.word(e.Source, data.To)
	case data.Reason != "":
		return w.said(data.Reason, data.Detail)
	}
	text := strings.NewReplacer(`"`, "", "{", "", "}", "", ",", ", ", ":", ": ").Replace(string(e.Data))
	return strings.TrimSpace(e.Cause + " " + text)
}

// modeSet is the verb that switches to a mode.
var modeSet = regexp.MustCompile(`\bmode/set (\w+)`)

// named replaces the verbs in a text of the robot by the page's buttons for them, and words of the contract by those of the page.
func (w words) named(text string) string {
	text = modeSet.ReplaceAllStringFunc(text, func(verb string) string { return w["mode"] + ": " + w.word("mode", verb[len("mode/set "):]) })
	return strings.NewReplacer("safety/reset", w["reset"], "safety/enable", w["enable"], "auto/continue", w["continue"],
		"the safety core is in HALT or E_STOP", "the robot is "+w["safety.E_STOP"], "the safety core is ", "the robot is ",
		"in E_STOP", w["safety.E_STOP"], "E_STOP", w["safety.E_STOP"], "in DISABLED", w["safety.DISABLED"], "DISABLED", w["safety.DISABLED"],
		"in ENABLED", w["safety.ENABLED"], "ENABLED", w["safety.ENABLED"], "latched stop", "stop").Replace(text)
}

// texts are in the same order in each language. Words of the contract are those of the console.
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
		"stop":          "Stop", "release": "Release the stop", "reset": "Reset", "enable": "Let it move", "continue": "Continue the story",
		"mode": "Mode", "volume": "Volume", "face": "Face", "set": "Set", "show": "Show",
		"safety": "Motion", "link": "Operators", "events": "Last events", "identity": "This robot", "alerts": "Alerts",
		"latched": "Held by", "since": "since", "by": "by", "what-to-do": "What to do",
		"not-latched":      "nothing keeps it stopped",
		"not-at-robot":     "only on the robot's own computer, or in the fleet's console",
		"nothing-to-reset": "nothing is left to reset",
		"button-on-body":   "after a stop input, press the button reset on the robot's body",
		"release-first":    "release the stop first",
		"reset-first":      "reset it first",
		"enable-first":     "let it move first",
		"enable-continues": "not needed: “Let it move” lets the story go on",
		"story-goes-on":    "the story goes on at once, and the robot moves",
		"fleet-holds":      "the fleet holds it; release it in the fleet's console, or with",
		"needs-reset":      "its fault is gone; it needs a reset",
		"because":          "Cause", "paused-by": "Paused by",
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
		"auto.halt": "not in automatic", "auto.idle": "playing", "auto.paused": "paused", "auto.stopped": "not playing",
		"lang":         "en",
		"token.safety": "a stop", "token.safeguard": "a safeguard", "token.link": "a lost link", "token.operator": "a person",
		"token.interrupt": "an interrupt", "token.activity": "an activity",
		"level.info": "note", "level.warn": "warning", "level.error": "error", "level.critical": "critical",
		"unit.error": "in error", "unit.halt": "slows down",
		"safety.ENABLED": "free to move", "safety.DISABLED": "kept stopped", "safety.SOFT_STOP": "is stopping after its shutdown act",
		"safety.STOP": "is stopping", "safety.HALT": "is halting", "safety.E_STOP": "stopped until it is reset", "safety.RESET": "is being reset",
		"link.never": "no heartbeat yet", "link.up": "heartbeats arrive", "link.degraded": "heartbeats arrive irregularly",
		"link.lost": "no heartbeats arrive",
		"mode.str":  "start-up", "mode.mnl": "manual", "mode.ato": "automatic", "mode.safe": "safe mode", "mode.follow": "follow",
		"phase.running": "running", "phase.switching": "is changing", "phase.stopping": "is ending", "phase.failed": "failed",
		"status.SUCCEEDED": "done", "status.ACCEPTED": "accepted", "status.IN_PROGRESS": "in progress", "status.REJECTED": "refused",
		"status.FAILED": "failed", "status.CANCELLED": "cancelled", "status.SUPERSEDED": "replaced by a newer one", "status.EXPIRED": "too late",

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
		"stop":          "Stopp", "release": "Stopp aufheben", "reset": "Zurücksetzen", "enable": "Bewegung freigeben",
		"continue": "Geschichte fortsetzen",
		"mode":     "Modus", "volume": "Lautstärke", "face": "Gesicht", "set": "Setzen", "show": "Zeigen",
		"safety": "Bewegung", "link": "Bediener", "events": "Letzte Ereignisse", "identity": "Dieser Roboter", "alerts": "Alarme",
		"latched": "Gehalten von", "since": "seit", "by": "von", "what-to-do": "Was zu tun ist",
		"not-latched":      "kein Stopp hält ihn an",
		"not-at-robot":     "nur am Rechner des Roboters oder in der Konsole der Flotte",
		"nothing-to-reset": "es ist nichts zurückzusetzen",
		"button-on-body":   "nach einem Stopp-Eingang die Taste reset am Roboter selbst drücken",
		"release-first":    "zuerst den Stopp aufheben",
		"reset-first":      "zuerst zurücksetzen",
		"enable-first":     "zuerst die Bewegung freigeben",
		"enable-continues": "nicht nötig: mit „Bewegung freigeben“ geht die Geschichte weiter",
		"story-goes-on":    "die Geschichte geht sofort weiter, und der Roboter bewegt sich",
		"fleet-holds":      "die Flotte hält ihn; heben Sie ihn in der Konsole der Flotte auf, oder mit",
		"needs-reset":      "die Störung ist vorbei; es fehlt das Zurücksetzen",
		"because":          "Ursache", "paused-by": "Pausiert von",
		"enabled":   "er darf sich schon bewegen",
		"stopping":  "er hält gerade an",
		"resetting": "er wird gerade zurückgesetzt",
		"in-charge": "führt", "switch": "Wechseln", "why-not": "Jetzt nicht",
		"no-events": "Noch ist nichts geschehen.", "no-face": "noch kein Gesicht gezeigt", "no-alerts": "Keine Alarme.",
		"name": "Name", "model": "Modell", "serial": "Seriennummer", "driver": "Treiber", "software": "robotd", "broker": "Broker",
		"battery": "Batterie", "story": "Geschichte",
		"connected": "verbunden", "not-connected": "nicht verbunden",
		"operator":      "Solange diese Seite offen ist, sind Sie Bediener dieses Roboters.",
		"when-closed":   "Ohne Bediener endet der Modus nach",
		"stops-moving":  "Ohne Bediener hält der Roboter an nach",
		"then-continue": ", braucht dann Geschichte fortsetzen", "mode-ends": "; der Modus endet nach",
		"seconds":       "s",
		"goes-on":       "Ohne Bediener läuft der Modus weiter.",
		"not-persisted": "Das steht nicht auf dem Datenträger: Ein Neustart würde es vergessen.",
		"unanswered":    "keine Antwort", "input-pressed": "Ein Stopp-Eingang am Roboter ist gedrückt.",

		"failing": "Jeder Akt der Geschichte schlägt fehl; der Alarm nennt den Grund.", "failed-rounds": "Runden in Folge",
		"auto.halt": "nicht in der Automatik", "auto.idle": "spielt", "auto.paused": "pausiert", "auto.stopped": "spielt nicht",
		"lang":         "de",
		"token.safety": "ein Stopp", "token.safeguard": "eine Schutzfunktion", "token.link": "eine verlorene Verbindung",
		"token.operator": "eine Person", "token.interrupt": "eine Unterbrechung", "token.activity": "eine Aktivität",
		"level.info": "Hinweis", "level.warn": "Warnung", "level.error": "Fehler", "level.critical": "kritisch",
		"unit.error": "im Fehler", "unit.halt": "bremst",
		"safety.ENABLED": "darf sich bewegen", "safety.DISABLED": "bleibt stehen", "safety.SOFT_STOP": "hält nach dem Schlussakt an",
		"safety.STOP": "hält an", "safety.HALT": "hält sofort an", "safety.E_STOP": "gestoppt, bis er zurückgesetzt wird",
		"safety.RESET": "wird zurückgesetzt",
		"link.never":   "noch kein Lebenszeichen", "link.up": "Lebenszeichen kommen an",
		"link.degraded": "Lebenszeichen kommen unregelmäßig an", "link.lost": "kein Lebenszeichen kommt an",
		"mode.str": "Hochfahren", "mode.mnl": "Handbetrieb", "mode.ato": "Automatik", "mode.safe": "sicherer Modus", "mode.follow": "Folgen",
		"phase.running": "läuft", "phase.switching": "wechselt", "phase.stopping": "endet", "phase.failed": "ausgefallen",
		"status.SUCCEEDED": "getan", "status.ACCEPTED": "angenommen", "status.IN_PROGRESS": "läuft", "status.REJECTED": "abgelehnt",
		"status.FAILED": "fehlgeschlagen", "status.CANCELLED": "abgebrochen", "status.SUPERSEDED": "durch einen neueren ersetzt",
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
	"fr": {
		"robot": "Robot", "sign-in": "Se connecter", "sign-out": "Se déconnecter", "password": "Mot de passe",
		"password-where": "Il est dans le fichier page.password du dossier de données du robot.",
		"wrong-password": "Ce n’est pas le mot de passe de ce robot.",
		"too-many":       "Trop d’essais. Attendez quelques secondes, puis essayez de nouveau.",
		"no-password":    "Le fichier du mot de passe ne peut pas être lu ; le journal de robotd dit pourquoi.",
		"silent":         "Le robot ne répond pas",
		"silent-why": "Sa boucle de commande est bloquée ou finie. Ce qui bouge s’arrête de soi-même. S’il doit être immobile à coup sûr, " +
			"appuyez sur son entrée d’arrêt ou éteignez-le.",
		"waiting":     "Le robot attend son corps",
		"waiting-for": "Il attend depuis", "on": "à",
		"waiting-why": "Jusque-là rien ne bouge, et Arrêt est le seul bouton. Si le corps ne vient pas, robotd se termine " +
			"et est redémarré ; un arrêt reste en vigueur.",
		"lost-page": "Pas de contact avec le robot. Ce que vous voyez est ancien.",
		"sending":   "en cours d’envoi …",
		"not-sent": "PAS ENVOYÉ, ou sans réponse. Si le robot ne le fait pas, appuyez de nouveau ; s’il doit être immobile à coup sûr, " +
			"appuyez sur son entrée d’arrêt ou éteignez-le.",
		"not-signed-in": "pas envoyé au robot, parce que vous n’êtes plus connecté. Connectez-vous, puis appuyez de nouveau.",
		"software-stop": "Un arrêt par logiciel, pas un arrêt d’urgence.",
		"stop":          "Arrêt", "release": "Lever l’arrêt", "reset": "Réinitialiser", "enable": "Autoriser le mouvement",
		"continue": "Continuer l’histoire",
		"mode":     "Mode", "volume": "Volume", "face": "Visage", "set": "Régler", "show": "Montrer",
		"safety": "Mouvement", "link": "Opérateurs", "events": "Derniers événements", "identity": "Ce robot", "alerts": "Alertes",
		"latched": "Arrêté par", "since": "depuis", "by": "par", "what-to-do": "Que faire",
		"not-latched":      "rien ne le maintient à l’arrêt",
		"not-at-robot":     "seulement sur l’ordinateur du robot, ou dans la console de la flotte",
		"nothing-to-reset": "il n’y a rien à réinitialiser",
		"button-on-body":   "après une entrée d’arrêt, appuyez sur le bouton reset du corps du robot",
		"release-first":    "levez d’abord l’arrêt",
		"reset-first":      "réinitialisez-le d’abord",
		"enable-first":     "autorisez d’abord le mouvement",
		"enable-continues": "inutile : « Autoriser le mouvement » fait continuer l’histoire",
		"story-goes-on":    "l’histoire continue aussitôt, et le robot bouge",
		"fleet-holds":      "la flotte le tient ; levez-le dans la console de la flotte, ou avec",
		"needs-reset":      "la panne est finie ; il faut le réinitialiser",
		"because":          "Cause", "paused-by": "Mis en pause par",
		"enabled":   "il peut déjà bouger",
		"stopping":  "il est en train de s’arrêter",
		"resetting": "il est en cours de réinitialisation",
		"in-charge": "en charge", "switch": "Passer", "why-not": "Pas maintenant",
		"no-events": "Il ne s’est encore rien passé.", "no-face": "pas encore de visage", "no-alerts": "Pas d’alertes.",
		"name": "Nom", "model": "Modèle", "serial": "Numéro de série", "driver": "Pilote", "software": "robotd", "broker": "Broker",
		"battery": "Batterie", "story": "Histoire",
		"connected": "connecté", "not-connected": "non connecté",
		"operator":      "Tant que cette page est ouverte, vous êtes un opérateur de ce robot.",
		"when-closed":   "Sans opérateur, le mode en charge finit après",
		"stops-moving":  "Sans opérateur, le robot cesse de bouger après",
		"then-continue": ", puis il faut Continuer l’histoire", "mode-ends": " ; le mode en charge finit après",
		"seconds":       "s",
		"goes-on":       "Sans opérateur, le mode en charge continue.",
		"not-persisted": "Ceci n’est pas sur le disque : un redémarrage l’oublierait.",
		"unanswered":    "pas de réponse", "input-pressed": "Une entrée d’arrêt est enfoncée sur le robot.",

		"failing": "Chaque acte de l’histoire échoue ; l’alerte dit pourquoi.", "failed-rounds": "tours de suite",
		"auto.halt": "pas en automatique", "auto.idle": "joue", "auto.paused": "en pause", "auto.stopped": "ne joue pas",
		"lang":         "fr",
		"token.safety": "un arrêt", "token.safeguard": "une protection", "token.link": "une liaison perdue",
		"token.operator": "une personne", "token.interrupt": "une interruption", "token.activity": "une activité",
		"level.info": "note", "level.warn": "avertissement", "level.error": "erreur", "level.critical": "critique",
		"unit.error": "en erreur", "unit.halt": "ralentit",
		"safety.ENABLED": "libre de bouger", "safety.DISABLED": "maintenu à l’arrêt", "safety.SOFT_STOP": "s’arrête après son acte de fin",
		"safety.STOP": "s’arrête", "safety.HALT": "s’arrête net", "safety.E_STOP": "arrêté jusqu’à une réinitialisation",
		"safety.RESET": "en cours de réinitialisation",
		"link.never":   "pas encore de signe de vie", "link.up": "les signes de vie arrivent",
		"link.degraded": "les signes de vie arrivent irrégulièrement", "link.lost": "aucun signe de vie n’arrive",
		"mode.str": "démarrage", "mode.mnl": "manuel", "mode.ato": "automatique", "mode.safe": "mode sûr", "mode.follow": "suivre",
		"phase.running": "en marche", "phase.switching": "change", "phase.stopping": "se termine", "phase.failed": "a échoué",
		"status.SUCCEEDED": "faite", "status.ACCEPTED": "acceptée", "status.IN_PROGRESS": "en cours", "status.REJECTED": "refusée",
		"status.FAILED": "échouée", "status.CANCELLED": "annulée", "status.SUPERSEDED": "remplacée par une plus récente",
		"status.EXPIRED": "trop tard",

		"drawn.stopped": "arrêté", "drawn.attention": "demande un regard", "drawn.paused": "en pause",
		"drawn.driven": "une personne le conduit",
		"drawn.light":  "lumière %s", "drawn.": "", "drawn.solid": "", "drawn.blink": "clignote", "drawn.breathe": "respire",
		"drawn.rainbow": "de toutes les couleurs",
		"drawn.left":    "tête à %v° vers sa gauche", "drawn.right": "tête à %v° vers sa droite",
		"drawn.up": "regarde à %v° vers le haut", "drawn.down": "regarde à %v° vers le bas",
		"drawn.forward": "avance", "drawn.back": "recule",
		"drawn.turns-left": "tourne vers sa gauche", "drawn.turns-right": "tourne vers sa droite",
		"drawn.says": "dit « %s »", "drawn.sound": "joue le son %s", "drawn.charging": "se charge", "drawn.muted": "muet",
		"face.neutral": "neutre", "face.smile": "sourit", "face.laugh": "rit", "face.sad": "triste", "face.sleepy": "fatigué",
		"face.surprised": "surpris", "face.thinking": "réfléchit", "face.wink": "cligne de l’œil",
	},
}
