"""Units that move, for troupe_unit.py: subclass Drive, or Head of troupe_head.py.

They move only while robotd's safety core says run, ramp their speeds, and brake by themselves when robotd is
gone, when it sends no tick while they move, or when a method of the adapter hangs.
"""

import math, threading, time

from troupe_unit import Refused, Unit, log

WATCHDOG = 0.200  # s without robotd's tick after which a unit that moves brakes by itself
HOLD, SETTLE = 0.100, 0.200  # s at standstill after which a halted unit is in error, and one in error may be reset
VELOCITY_TTL = 0.400  # s; the longest time for which a velocity is valid


class Mover(Unit):
    """A unit that moves. It is idle, in run, in halt or in error, and moves in run only. Subclasses have brake(), which
    stops the motors at once, at_rest(), move(dt, may), which takes one step of the motion, and limits(c), the range of
    each number of a command."""

    moves, order, fed_at, ticked_at, watcher = True, "idle", -math.inf, math.inf, None
    rested, unfed = 0.0, False  # how long it has stood still in this state, in s; robotd or the bus was gone while it moved

    def enabled(self):
        return self.state == "run" and self.order == "run"

    def refuse(self, c):
        super().refuse(c)
        if not self.enabled():
            raise Refused(f"the {self.id} is not enabled; safety/enable lets it move", "safety_disabled")
        for axis, (least, most) in self.limits(c).items():
            if (v := c.do.get(axis)) is not None and not least <= v <= most:
                raise Refused(f"{axis} is {v}; the {self.id} does {least} to {most}", "out_of_range")

    def in_tick(self, m):  # robotd feeds the unit, and repeats its order
        if not isinstance(m["order"], str):
            raise ValueError(f"the order is {m['order']!r}")
        before, self.order, self.fed_at = (self.order, self.state), m["order"], self.adapter.clock()
        self.follow()
        if before != (self.order, self.state):
            self.adapter.step(0.0)  # a change is reported at once

    def follow(self):  # takes the state that follows from the order, as the table in topics.md has it
        stopped = "idle" if self.at_rest() else "run"
        state = {
            ("idle", "run"): "run", ("run", "idle"): stopped, ("run", "stop"): stopped, ("run", "halt"): "halt",
            ("error", "reset"): "error" if self.fault or self.rested < SETTLE else "idle",
        }.get((self.state, self.order), self.state)
        if self.order not in ("idle", "stop", "run", "halt", "reset") or state == "halt" and self.rested >= HOLD:
            state = "error"  # also when the order is unknown
        if state != self.state:
            self.enter(state)
        if self.order != "run":
            self.end(self.running, "failed", reason="safety_disabled", detail="ordered to stand still")

    def enter(self, state):
        self.state, self.rested = state, 0.0
        if state == "error":
            self.attempt(self.brake)
        if state == "run" and not self.watcher:
            self.watcher = threading.Thread(target=self.watch, daemon=True)
            self.watcher.start()

    def watch(self, sleep=time.sleep):  # stops the motors from a thread of its own when a method of the adapter hangs
        while True:
            sleep(WATCHDOG / 4)
            if self.adapter.clock() - self.ticked_at > WATCHDOG and not self.at_rest():
                log.error("the adapter hangs while the %s moves; a method of a unit has to return at once", self.id)
                self.attempt(self.brake)

    def set_fault(self, fault):
        self.fault = fault or ("robotd or the bus was gone while it moved" if self.unfed else "")
        if self.fault and self.state != "error":
            log.warning("the %s is in error: %s", self.id, self.fault)
            self.enter("error")
            self.end(self.running, "failed", reason="unit_error", detail=self.fault)

    def bus_robotd_presence(self, m):
        if self.state in ("run", "halt"):
            self.unfed = True
            self.set_fault(self.fault)

    def tick(self, dt):
        self.ticked_at = self.adapter.clock()
        if not self.at_rest() and self.ticked_at - self.fed_at > WATCHDOG:
            self.unfed = True
        elif self.rested >= SETTLE:
            self.unfed = False
        self.move(dt, self.enabled())
        self.rested = self.rested + dt if self.at_rest() else 0.0
        self.follow()
        super().tick(dt)


def ramp(v, want, up, down):
    """Returns v after one step, in which it grows by at most up or shrinks by at most down."""
    most = down if abs(want) < abs(v) or v * want < 0 else up
    return want if abs(want - v) <= most else v + math.copysign(most, want - v)


class Drive(Mover):
    """A drive. Authors write apply(vx_mps, wz_radps), which gets the set-points 50 times a second, ramped and within
    the limits. A drive with the type goto has steer(c): it returns the speeds of the next step, or None when it has
    arrived, and raises Refused if there is no way."""

    kind, types, vx, wz = "drive", ("drive",), 0.0, 0.0  # vx, wz: the set-points
    velocity = way = None  # of a person who drives: vx, wz, valid until; of a goto: the speeds of the next step

    def __init__(self, id=None, max_speed_mps=0.3, max_turn_radps=0.5, braking_mps2=1.0, accel_mps2=0.5, **fields):
        fields.update(max_speed_mps=max_speed_mps, max_turn_radps=max_turn_radps, braking_mps2=braking_mps2)
        super().__init__(id, **fields)
        self.most, self.down, self.up = (max_speed_mps, max_turn_radps), braking_mps2, accel_mps2

    def measured(self):
        """Returns the measured speeds."""
        return self.vx, self.wz

    def position(self):
        """Returns x and y in m and theta in rad on the map; None if the drive does not know."""

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
        points = self.adapter.describe.get("points", [])
        if c.type == "goto" and (point := c.do.get("point")) not in (None, *points):
            raise Refused(f"there is no point {point}; the map has {', '.join(points) or 'none'}", "out_of_range")

    def begin(self, c):
        self.velocity = self.way = None
        super().begin(c)

    def poll(self, c):
        self.way = self.steer(c) if c.type == "goto" else None
        if not all(map(math.isfinite, self.way or ())):  # min and max would make full speed of NaN
            raise Refused(f"the speeds on the way are no numbers: {self.way}")
        return c.type == "goto" and not self.way

    def in_velocity(self, m):  # a person drives
        wanted, until = (m["vx_mps"], m["wz_radps"]), self.adapter.clock() + min(m["ttl_ms"] / 1000, VELOCITY_TTL)
        if m["unit"] == self.id and self.enabled() and all(map(math.isfinite, wanted)):
            self.end(self.running, "failed", reason="superseded", detail="a person drives")
            self.velocity = *(max(-most, min(most, v)) for v, most in zip(wanted, self.most)), until

    def in_calibrate(self, m):  # the body has its own map and no other, and its units need no homing
        if self is next(u for u in self.adapter.units.values() if u.kind == "drive"):  # one drive answers
            result = {"points": self.adapter.describe.get("points", [])}
            if m.get("map"):
                detail = f"map {m['map']['name']}: this body has only its own"
                result = {"points": [], "reason": "bad_map", "detail": detail}
            units = [{"unit": id} for id in self.adapter.units]
            self.adapter.event("calibrated", key=m["key"], units=units, map=result)

    def move(self, dt, may):
        if self.state == "error":
            return self.brake()
        if not may or self.velocity and self.adapter.clock() >= self.velocity[2]:
            self.velocity = None
        want = self.velocity[:2] if self.velocity else (0.0, 0.0)
        for c in self.running.values():
            want = self.way or (c.do.get("vx_mps", 0.0), c.do.get("wz_radps", 0.0))
        want = tuple(max(-most, min(most, v)) for v, most in zip(want, self.most))
        self.vx = ramp(self.vx, want[0], self.up * dt, self.down * dt)
        self.wz = ramp(self.wz, want[1], 6 * self.up * dt, 6 * self.down * dt)  # 6 rad/s² for each m/s²
        self.apply(self.vx, self.wz)

    def report(self):
        at = dict(zip(("x_m", "y_m", "theta_rad"), self.position() or ()))
        speeds = dict(zip(("vx_mps", "wz_radps", "set_vx_mps", "set_wz_radps"), (*self.measured(), self.vx, self.wz)))
        return {**super().report(), **speeds, **at}
