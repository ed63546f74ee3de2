package brain

import (
	"troupe/robotd/effect"
	"troupe/robotd/signal"
	"troupe/schema"
)

// stepSignals lets the rules about signals request handlers.
func (t *step) stepSignals() {
	b := t.body.Battery()
	k := signal.Known{
		Mode: string(t.modes.Mode().Active), Safety: string(t.safety.At), Act: t.perform.ActName(),
		Intent: t.intent.Newest(),
		Labels: t.cfg.Labels, Battery: b.Share, Charging: b.Charging, HasBattery: b.Known,
		MakesSound: t.lanes.Uses(schema.UnitSpeaker), Zone: t.cfg.Zone,
	}
	if story := t.perform.Auto().Story; t.perform.Auto().Status != schema.AutoNotActive {
		k.Story = story.ID
	}
	for _, ask := range t.signals.Step(t.now, t.cfg.Rules, k) {
		t.perform.Request(ask.Handler, ask.Interrupter)
	}
	if t.signals.Changed() {
		t.changed(effect.FlushSoon)
	}
}
