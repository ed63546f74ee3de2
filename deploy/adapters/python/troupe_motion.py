"""Units that move, for troupe_unit.py: subclass Drive or Head.

They move only while robotd's safety core says run, ramp their speeds, and brake by themselves when robotd is
gone, when it sends no tick while they move, or when a method of the adapter hangs.
"""

import math
import time

from troupe_unit import Refused, Unit, log

DEAD_MAN = 0.200  # s without robotd's tick after which a unit that moves brakes by itself
HOLD, SETTLE = 0.100, 0.200  # s at standstill after which a halted unit is in error, and one in error may be reset
VELOCITY_TTL = 0.400  # s; the longest time for which a velocity is valid


class Mover(Unit):
    """A unit that moves. It is idle, in run, in halt or in error, and moves in run only."""

    moves, rested, unfed = True, 0.0, False  # rested: how long it has stood still in this state, in s; unfed: robotd was gone while it moved

    # Subclasses have brake(), which stops the motors at once, at_rest(), move(dt, may), which takes one step of the motion, and
    # limits(c), the range of each number of a command.

    def guard(self):
        """Stops the motors from a thread of its own when a method of the adapter hangs."""
        while not self.adapter.ending:
            time.sleep(DEAD_MAN / 4)
            if self.adapter.clock() - self.adapter.passed > DEAD_MAN and not self.at_rest():
                log.error("the adapter hangs while the %s moves; a method of a unit has to return at once", self.id)
                self.guarded(self.brake)

    def enabled(self):
        return self.state == "run" and self.adapter.order == "run"

    def refuse(self, c):
        super().refuse(c)
        if not self.enabled():
            raise Refused(f"the {self.id} is not enabled", "safety_disabled")
        for axis, (least, most) in self.limits(c).items():
            if (v := c.do.get(axis)) is not None and not least <= v <= most:
                raise Refused(f"{axis} is {v}; the {self.id} does {least} to {most}", "out_of_range")

    def go(self, state, detail="ordered to stand still", reason="safety_disabled"):
        self.state, self.rested = state, 0.0
        if state != "run":
            self.abort(detail, reason)
        if state == "error":
            self.guarded(self.brake)

    def obey(self, order):
        if order in ("idle", "stop") and self.state == "run":
            self.abort("ordered to stand still", "safety_disabled")
        elif order == "run" and self.state == "idle" and not self.fault:
            self.go("run")
        elif order == "halt" and self.state == "run":
            self.go("halt")
        elif order not in ("idle", "stop", "run", "halt", "reset") and self.state != "error":
            self.go("error")  # also when the order is unknown

    def set_fault(self, fault):
        self.fault = fault or ("robotd was gone while it moved" if self.unfed else "")
        if self.fault and self.state != "error":
            self.go("error", self.fault, "unit_error")

    def lost(self):
        """robotd is gone."""
        if self.state in ("run", "halt"):
            self.unfed = True
            self.set_fault(self.fault)

    def tick(self, dt):
        if not self.at_rest() and self.adapter.clock() - self.adapter.fed_at > DEAD_MAN:
            self.lost()
        elif self.at_rest() and self.rested >= SETTLE:
            self.unfed = False
        super().tick(dt)
        if no := self.guarded(self.move, dt, self.enabled()):
            self.set_fault(no["detail"])
        self.rested = self.rested + dt if self.at_rest() else 0.0
        order = self.adapter.order
        if self.state == "run" and order in ("idle", "stop") and self.at_rest():
            self.go("idle")
        elif self.state == "halt" and self.rested >= HOLD:
            self.go("error")
        elif self.state == "error" and order == "reset" and not self.fault and self.rested >= SETTLE:
            self.go("idle")


def ramp(v, want, up, down):
    """Returns v after one step, in which it grows by at most up or shrinks by at most down."""
    most = down if abs(want) < abs(v) or v * want < 0 else up
    return want if abs(want - v) <= most else v + math.copysign(most, want - v)


class Drive(Mover):
    """A drive. apply(vx_mps, wz_radps) gets its set-points 50 times a second, ramped and within the limits."""

    kind, types, vx, wz, velocity = "drive", ("drive",), 0.0, 0.0, None  # vx, wz: set-points; velocity: (vx, wz, valid until)

    def __init__(self, id=None, max_speed_mps=0.3, max_turn_radps=0.5, braking_mps2=1.0, accel_mps2=0.5, **fields):
        super().__init__(id, max_speed_mps=max_speed_mps, max_turn_radps=max_turn_radps, braking_mps2=braking_mps2, **fields)
        self.most, self.down, self.up = (max_speed_mps, max_turn_radps), braking_mps2, accel_mps2

    # What authors write, beside apply. A drive with the type goto has steer(c): it returns the speeds of the next step,
    # or None when it has arrived, and raises Refused if there is no way.

    def measured(self):
        """Returns the measured speeds."""
        return self.vx, self.wz

    def position(self):
        """Returns x and y in m and theta in rad on the map; None if the drive does not know."""

    # What the adapter uses.

    def brake(self):
        self.vx = self.wz = 0.0
        self.apply(0.0, 0.0)

    def at_rest(self):
        vx, wz = self.measured()
        return self.vx == 0 and self.wz == 0 and abs(vx) < 0.01 and abs(wz) < 0.02

    def limits(self, c):
        v, w = self.most
        return {"vx_mps": (-v, v), "vy_mps": (0, 0), "wz_radps": (-w, w)} if c.type == "drive" else {}

    def refuse(self, c):
        super().refuse(c)
        if c.type == "goto" and (point := c.do.get("point")) not in (None, *self.adapter.points):
            raise Refused(f"there is no point {point}; the map has {', '.join(self.adapter.points) or 'none'}", "out_of_range")

    def drive(self, vx, wz, ttl):
        """A person drives."""
        if self.enabled() and not self.fault:
            self.abort("a person drives", "superseded")
            v, w = self.most
            self.velocity = max(-v, min(v, vx)), max(-w, min(w, wz)), self.adapter.clock() + min(ttl, VELOCITY_TTL)

    def begin(self, c):
        self.velocity = None if self.enabled() else self.velocity
        super().begin(c)

    def abort(self, detail, reason):
        self.velocity = None
        super().abort(detail, reason)

    def move(self, dt, may):
        if self.state == "error":
            return self.brake()
        if self.velocity and self.adapter.clock() >= self.velocity[2]:
            self.velocity = None
        want = self.velocity[:2] if self.velocity and may else (0.0, 0.0)
        for c in list(self.running.values()) if may else ():
            want = self.next_step(c) if c.type == "goto" else (c.do.get("vx_mps", 0.0), c.do.get("wz_radps", 0.0))
        self.vx = ramp(self.vx, want[0], self.up * dt, self.down * dt)
        self.wz = ramp(self.wz, want[1], 6 * self.up * dt, 6 * self.down * dt)
        self.apply(self.vx, self.wz)

    def next_step(self, c):
        try:
            if step := self.steer(c):
                return step
            self.end(c, "done")
        except Refused as no:
            self.end(c, "failed", reason=no.reason, detail=no.detail)
        return 0.0, 0.0

    def report(self):
        at = dict(zip(("x_m", "y_m", "theta_rad"), self.position() or ()))
        return {**super().report(), **dict(zip(("vx_mps", "wz_radps"), self.measured())), "set_vx_mps": self.vx, "set_wz_radps": self.wz, **at}


class Head(Mover):
    """A head. apply(yaw_rad, pitch_rad, roll_rad) sets its servos, 50 times a second on the way to the wanted angles."""

    kind, types, axes = "head", ("head",), ("yaw_rad", "pitch_rad", "roll_rad")

    def __init__(self, id=None, speed_radps=1.0, motions=None, **fields):
        """motions: by name, the directions through which the head goes, as lists of three angles."""
        super().__init__(id, **fields, **({"motions": sorted(motions)} if motions else {}))
        self.speed, self.motions, self.now, self.path = speed_radps, motions or {}, [0.0] * 3, []

    def brake(self):
        self.path = []
        self.apply(*self.now)

    def at_rest(self):
        return not self.path

    def limits(self, c):
        reach = {a: self.fields.get(a, {"min": 0, "max": 0}) for a in self.axes}
        return {a: (r["min"], r["max"]) for a, r in reach.items()}

    def start(self, c):
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
        self.apply(*self.now)
