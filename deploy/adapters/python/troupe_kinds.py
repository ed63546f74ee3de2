"""Kinds of units that do not move, for troupe_unit.py. Those that move are in troupe_motion.py and troupe_head.py."""

from troupe_unit import Unit


class Speaker(Unit):
    kind, types = "speaker", ("say", "sound")


class Battery(Unit):
    kind = "battery"
    level, charging = 1.0, False  # its author sets them; level is 0 to 1

    def report(self):
        return {**super().report(), "level": self.level, "charging": self.charging}


class Display(Unit):
    """A unit that shows one thing: what was set last, or what a command holds over it.

    Authors write show(c), which shows what a command says; c is None for what it shows at first.
    """

    base = None

    def start(self, c):
        self.show(c)
        self.base = self.base if c.holds else c

    def stop(self, c):
        if not self.running:
            self.show(self.base)


class Face(Display):
    kind, types = "face", ("face",)


class LED(Display):
    kind, types = "led", ("led",)


class Screen(Display):
    kind, types = "screen", ("screen",)

    def choices(self, c):
        """Returns what a command offers: the id and the text of each choice."""
        offered = zip(c.do.get("choices", []), c.choices)
        return [{"id": o["id"], "text": text} for o, text in offered]

    def choose(self, id):
        """A person chose: the command that offers this choice is done."""
        offers = [key for key, c in self.running.items() if id in (o["id"] for o in self.choices(c))]
        self.end(offers, "done", choice=id)
