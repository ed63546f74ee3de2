"""Heads, for troupe_unit.py and troupe_motion.py: subclass Head."""

from troupe_motion import Mover, ramp


class Head(Mover):
    """A head. apply(yaw_rad, pitch_rad, roll_rad) sets its servos: 50 times a second, on the way to the angles and while
    it holds them, and never before the head was allowed to move for the first time."""

    kind, types, axes = "head", ("head",), ("yaw_rad", "pitch_rad", "roll_rad")
    now = None  # the set-points; None until they are known: then nothing is commanded
    seen = None  # where it is, or where it was sent if it cannot measure; None if neither is known

    def __init__(self, id=None, speed_radps=1.0, motions=None, **fields):
        """motions: by name, the directions through which the head goes, as lists of three angles."""
        if motions:
            self.types, fields["motions"] = ("head", "motion"), sorted(motions)
        super().__init__(id, **fields)
        self.speed, self.motions, self.path = speed_radps, motions, []

    def measured(self):
        """Returns where the head is, as three angles; None if it does not know. It is asked 50 times a second."""

    def enter(self, state):
        if state == "run" and not self.now and (angles := self.measured()):
            self.now = list(angles)
        super().enter(state)

    def brake(self):  # the servos hold where they were sent last
        self.path = []

    def at_rest(self):
        return not self.path

    def limits(self, c):
        fixed = {"min": 0, "max": 0}
        return {a: tuple(self.fields.get(a, fixed)[end] for end in ("min", "max")) for a in self.axes}

    def start(self, c):
        self.now = self.now or [0.0] * 3  # one that does not know where it is begins in the middle
        look = [now if c.do.get(a) is None else float(c.do[a]) for a, now in zip(self.axes, self.now)]
        self.path = [list(p) for p in self.motions[c.do["motion"]]] if c.type == "motion" else [look]
        self.pace = self.speed * max(0.05, c.do.get("speed", 1.0))

    def poll(self, c):
        return not self.path

    def stop(self, c):
        self.path = []

    def move(self, dt, may):
        self.path = self.path if may else []
        if self.path:
            self.now = [ramp(a, to, self.pace * dt, self.pace * dt) for a, to in zip(self.now, self.path[0])]
            if self.now == self.path[0]:
                self.path.pop(0)
        if self.now:
            self.apply(*self.now)
        self.seen = self.measured() or self.now

    def report(self):
        angles = zip(self.axes, self.seen or ())
        return {**super().report(), **{a: angle for a, angle in angles if a in self.fields}}
