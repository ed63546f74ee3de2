"""Units of a robot in Python, which robotd uses over MQTT.

Subclass Speaker, Face, LED, Screen, Head, Drive or Battery, and serve them:

    class Voice(Speaker):
        def start(self, c): self.player = subprocess.Popen(["espeak-ng", c.text])
        def poll(self, c): return self.player.poll() is not None
        def stop(self, c): self.player.kill()

    serve(Adapter("voice", "my robot", [Voice()]))

The library sends the state 50 times a second, checks every command against what the unit
lists, knows when a unit may move, ramps speeds, and brakes by itself when robotd is gone.
topics.md has the messages and the rules ("The bus of a robot").

All methods of units are called by one thread and return at once: one that blocks for 200 ms
puts every unit of the process into error. If it does so while a unit moves, brake is called
by another thread.

It needs Debian's python3-paho-mqtt and nothing else.
"""

import argparse
import json
import logging
import math
import os
import queue
import re
import signal
import socket
import sys
import threading
import time
import uuid
from urllib.parse import urlsplit

import paho.mqtt.client as mqtt

TICK = 0.020  # s between two states
DEAD_MAN = 0.200  # s without robotd's tick after which a unit that moves brakes by itself
HOLD = 0.100  # s that a halted unit stands still before it is in error
SETTLE = 0.200  # s that a unit in error stands still before it is reset
VELOCITY_TTL = 0.400  # s; the longest time for which a velocity is valid
ORDERS = ("idle", "run", "stop", "halt", "error", "reset")

log = logging.getLogger("troupe")


class Refused(Exception):
    """Raised by a unit's start: the command fails, with a sentence for people and a reason of
    topics.md."""

    def __init__(self, detail, reason="unit_error"):
        super().__init__(detail)
        self.reason, self.detail = reason, detail


class Command:
    """One action for one unit."""

    def __init__(self, m, assets=""):
        self.key, self.unit, self.do = field(m, "key", int), field(m, "unit", str), field(m, "do", dict)  # do: the action as in a story
        self.type = field(self.do, "type", str)
        self.text = field(m, "text", str, "")  # of say and screen, in the robot's language
        texts, ids = field(m, "choices", list, []), field(self.do, "choices", list, [])
        self.choices = [{"id": c["id"], "text": t} for c, t in zip(ids, texts)]  # of a screen
        self.asset = os.path.join(assets, a) if (a := field(m, "asset", str, "")) else ""  # path of the sound or picture that the story brings
        self.from_s = field(m, "from_ms", int, 0) / 1000  # skip what was done before an interruption
        self.holds = field(m, "holds", bool, False)  # False: done as soon as the unit has applied it


def field(m, name, kind, default=None):
    """Returns a field of a message, or raises ValueError."""
    v = m.get(name, default)
    if kind is float and isinstance(v, int):
        v = float(v)
    if not isinstance(v, kind) or kind is not bool and isinstance(v, bool) or kind is float and not math.isfinite(v):
        raise ValueError(f"{name} is {v!r}, want {kind.__name__}")
    return v


class Unit:
    """A unit. Its keyword arguments are the fields that it has in caps, such as sounds=["chime"]."""

    kind, types = "", ()
    state, fault, adapter = "idle", "", None
    lists = {"face": "faces", "sound": "sounds", "view": "views", "image": "images", "motion": "motions"}

    def __init__(self, id=None, **fields):
        self.id, self.fields, self.running = id or self.kind, fields, {}

    # What authors write.

    def start(self, c):
        """Begins a command, or raises Refused."""

    def poll(self, c):
        """Reports whether a command is done. Called every TICK while it runs."""
        return False

    def stop(self, c):
        """Ends a command at once, also one that poll reported as done."""

    def check(self):
        """Returns what is wrong with the unit now, as a sentence, or an empty text."""
        return ""

    # What the adapter uses.

    def report(self):
        return {"state": self.state, **({"fault": self.fault} if self.fault else {})}

    def refusal(self, c):
        """Returns (sentence, reason) if the unit does not take the command."""
        if self.fault:
            return self.fault, "unit_error"
        if c.type not in self.types and not (c.type == "motion" and "motions" in self.fields):
            return f"the {self.id} knows no {c.type}", "bad_request"
        for one, all in self.lists.items():
            name, known = c.do.get(one), self.fields.get(all)
            if name and known and name not in known and not c.asset:
                return f"there is no {one} {name}; the {self.id} has {', '.join(known)}", "out_of_range"

    def supersedes(self, new, old):
        return True

    def begin(self, c):
        if no := self.refusal(c):
            return self.adapter.failed(c, *no)
        for old in [o for o in self.running.values() if self.supersedes(c, o)]:
            self.end(old, "a newer command takes its place", "superseded")
        self.running[c.key] = c
        if no := self.guarded(self.start, c):
            self.end(c, *no)

    def end(self, c, detail="", reason="stopped"):
        """Ends a running command; robotd gets an answer if there is a detail."""
        if self.running.pop(c.key, None):
            self.guarded(self.stop, c)
            if detail:
                self.adapter.failed(c, detail, reason)

    def done(self, c, choice=""):
        """Ends a running command that is done; choice is what a person chose."""
        if self.running.pop(c.key, None):
            self.guarded(self.stop, c)
            self.adapter.event("done", key=c.key, **({"choice": choice} if choice else {}))

    def guarded(self, method, *args):
        """Calls a method of the author. Returns (sentence, reason) if it raised an exception."""
        try:
            method(*args)
        except Refused as no:
            return no.detail, no.reason
        except Exception as e:
            log.exception("%s of unit %s failed", method.__name__, self.id)
            return f"{method.__name__} of the {self.id} failed: {e!r}", "unit_error"

    def tick(self, dt):
        try:
            self.set_fault(self.check())
            for c in list(self.running.values()):
                if self.poll(c):
                    self.done(c)
        except Exception as e:
            log.exception("unit %s failed", self.id)
            self.set_fault(f"the adapter's code for the {self.id} failed: {e!r}")

    def set_fault(self, fault):
        self.fault, self.state = fault, "error" if fault else "idle"
        if fault:
            self.abort(fault, "unit_error")

    def abort(self, detail, reason):
        for c in list(self.running.values()):
            self.end(c, detail, reason)


class Speaker(Unit):
    kind, types = "speaker", ("say", "sound")

    def supersedes(self, new, old):
        return new.type == old.type == "say"


class Battery(Unit):
    """A battery; its author sets level (0..1) and charging."""

    kind, level, charging = "battery", 1.0, False

    def report(self):
        return {**super().report(), "level": self.level, "charging": self.charging}


class Display(Unit):
    """A unit that shows one thing: what was set last, or what a command holds over it."""

    base = None

    def show(self, c):
        """Shows what a command says; None is what the unit shows at first."""
        raise NotImplementedError

    def start(self, c):
        self.show(c)
        if not c.holds:
            self.base = c

    def poll(self, c):
        return not c.holds

    def stop(self, c):
        if c.holds and not self.running:
            self.show(self.base)

    def choose(self, id):
        """A person chose: the command that offers this choice is done."""
        for c in list(self.running.values()):
            if any(choice["id"] == id for choice in c.choices):
                self.done(c, id)


class Face(Display):
    kind, types = "face", ("face",)


class LED(Display):
    kind, types = "led", ("led",)


class Screen(Display):
    kind, types = "screen", ("screen",)


class Mover(Unit):
    """A unit that moves. It is idle, in run, in halt or in error, and moves in run only."""

    rested, unfed = 0.0, False  # rested: how long it has stood still in this state, in s

    def brake(self):
        """Stops the motors at once. Another thread calls it when this one hangs."""
        raise NotImplementedError

    def at_rest(self):
        raise NotImplementedError

    def move(self, dt, may):
        """Takes one step of the motion. Without permission it brakes to standstill."""
        raise NotImplementedError

    def enabled(self):
        return self.state == "run" and self.adapter.order == "run"

    def refusal(self, c):
        if no := super().refusal(c):
            return no
        if not self.enabled():
            return f"the {self.id} is not enabled", "safety_disabled"

    def go(self, state, detail="ordered to stand still", reason="safety_disabled"):
        self.state, self.rested = state, 0.0
        if state != "run":
            self.abort(detail, reason)
        if state == "error":
            self.guarded(self.brake)

    def obey(self, order):
        if order == "run" and self.state == "idle" and not self.fault:
            self.go("run")
        elif order in ("idle", "stop") and self.state == "run":
            self.abort("ordered to stand still", "safety_disabled")
        elif order == "halt" and self.state == "run":
            self.go("halt")
        elif (order == "error" or order not in ORDERS) and self.state != "error":
            self.go("error")

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
        if not self.at_rest() and not self.adapter.fed():
            self.lost()
        elif self.unfed and self.at_rest() and self.rested >= SETTLE:
            self.unfed = False
        super().tick(dt)
        if no := self.guarded(self.move, dt, self.enabled()):
            self.set_fault(no[0])
        self.rested = self.rested + dt if self.at_rest() else 0.0
        order = self.adapter.order
        if self.state == "run" and order in ("idle", "stop") and self.at_rest():
            self.go("idle")
        elif self.state == "halt" and self.rested >= HOLD:
            self.go("error")
        elif self.state == "error" and order == "reset" and not self.fault and self.rested >= SETTLE:
            self.go("idle")


def ramp(v, want, up, down):
    """Returns the speed after one step, in which it grows by at most up or shrinks by at most down."""
    most = down if abs(want) < abs(v) or v * want < 0 else up
    return want if abs(want - v) <= most else v + math.copysign(most, want - v)


class Drive(Mover):
    """A drive. apply gets its set-points 50 times a second, ramped and within the limits."""

    kind, types = "drive", ("drive",)
    vx = wz = 0.0  # set-points
    velocity = None  # (vx, wz, valid until), of a person who drives

    def __init__(self, id=None, max_speed_mps=0.3, max_turn_radps=0.5, braking_mps2=1.0, accel_mps2=0.5, **fields):
        super().__init__(id, max_speed_mps=max_speed_mps, max_turn_radps=max_turn_radps, braking_mps2=braking_mps2, **fields)
        self.accel = accel_mps2

    def apply(self, vx_mps, wz_radps):
        """Sets the motors: m/s forward, rad/s to the left."""
        raise NotImplementedError

    def measured(self):
        """Returns the measured speeds."""
        return self.vx, self.wz

    def position(self):
        """Returns x and y in m and theta in rad on the map; None if the drive does not know."""

    def steer(self, c):
        """Returns the speeds of the next step of a goto, or None when it has arrived; raises
        Refused if there is no way. A drive that has this also has the type goto."""
        raise NotImplementedError

    def brake(self):
        self.vx = self.wz = 0.0
        self.apply(0.0, 0.0)

    def at_rest(self):
        vx, wz = self.measured()
        return self.vx == 0 and self.wz == 0 and abs(vx) < 0.01 and abs(wz) < 0.02

    def refusal(self, c):
        if no := super().refusal(c):
            return no
        if c.type == "goto":
            point, points = c.do.get("point"), self.adapter.points
            if point and point not in points:
                return f"there is no point {point}; the map has {', '.join(points) or 'none'}", "out_of_range"
            if not point and ("x_m" not in c.do or "y_m" not in c.do):
                return "neither a point nor a place was given", "bad_request"
        if c.type == "drive":
            for axis, most in (("vx_mps", self.fields["max_speed_mps"]), ("vy_mps", 0), ("wz_radps", self.fields["max_turn_radps"])):
                if not abs(c.do.get(axis, 0)) <= most:
                    return f"{axis} is {c.do[axis]}; the {self.id} does at most {most}", "out_of_range"

    def drive(self, vx, wz, ttl):
        """A person drives."""
        if not self.enabled() or self.fault:
            return
        self.abort("a person drives", "superseded")
        v, w = self.fields["max_speed_mps"], self.fields["max_turn_radps"]
        self.velocity = max(-v, min(v, vx)), max(-w, min(w, wz)), self.adapter.clock() + min(ttl, VELOCITY_TTL)

    def begin(self, c):
        self.velocity = None if self.enabled() else self.velocity
        super().begin(c)

    def abort(self, detail, reason):
        self.velocity = None
        super().abort(detail, reason)

    def move(self, dt, may):
        want = 0.0, 0.0
        if self.velocity and self.adapter.clock() >= self.velocity[2]:
            self.velocity = None
        if may and self.velocity:
            want = self.velocity[:2]
        elif may:
            for c in list(self.running.values()):
                if c.type == "drive":
                    want = c.do.get("vx_mps", 0.0), c.do.get("wz_radps", 0.0)
                elif c.type == "goto":
                    want = self.next_step(c) or want
        if self.state == "error":
            return self.brake()
        brake = self.fields["braking_mps2"]
        self.vx = ramp(self.vx, want[0], self.accel * dt, brake * dt)
        self.wz = ramp(self.wz, want[1], 6 * self.accel * dt, 6 * brake * dt)
        self.apply(self.vx, self.wz)

    def next_step(self, c):
        try:
            if step := self.steer(c):
                return step
            self.done(c)
        except Refused as no:
            self.end(c, no.detail, no.reason)

    def report(self):
        vx, wz = self.measured()
        at = dict(zip(("x_m", "y_m", "theta_rad"), self.position() or ()))
        return {**super().report(), "vx_mps": vx, "wz_radps": wz, "set_vx_mps": self.vx, "set_wz_radps": self.wz, **at}


class Head(Mover):
    """A head. apply gets its angles 50 times a second, on the way to the wanted ones."""

    kind, types, axes = "head", ("head",), ("yaw_rad", "pitch_rad", "roll_rad")

    def __init__(self, id=None, speed_radps=1.0, motions=None, **fields):
        """motions: by name, the directions through which the head goes, as lists of three angles."""
        super().__init__(id, **fields, **({"motions": sorted(motions)} if motions else {}))
        self.speed, self.motions, self.now, self.path = speed_radps, motions or {}, [0.0] * 3, []

    def apply(self, yaw_rad, pitch_rad, roll_rad):
        """Sets the servos."""
        raise NotImplementedError

    def brake(self):
        self.path = []
        self.apply(*self.now)

    def at_rest(self):
        return not self.path

    def refusal(self, c):
        if no := super().refusal(c):
            return no
        for axis in self.axes:
            want, reach = c.do.get(axis), self.fields.get(axis, {"min": 0, "max": 0})
            if want is not None and not reach["min"] <= want <= reach["max"]:
                return f"{axis} is {want}; the {self.id} reaches {reach['min']} to {reach['max']}", "out_of_range"

    def start(self, c):
        looks = [[self.now[i] if c.do.get(a) is None else float(c.do[a]) for i, a in enumerate(self.axes)]]
        self.path = [list(p) for p in self.motions[c.do["motion"]]] if c.type == "motion" else looks
        self.pace = self.speed * max(0.05, c.do.get("speed", 1.0))

    def poll(self, c):
        return not self.path

    def stop(self, c):
        self.path = []

    def move(self, dt, may):
        if not may:
            self.path = []
        if self.path:
            self.now = [ramp(a, to, self.pace * dt, self.pace * dt) for a, to in zip(self.now, self.path[0])]
            if self.now == self.path[0]:
                self.path.pop(0)
        self.apply(*self.now)


class Adapter:
    """The units of one process. It runs in one thread; that of the network only fills its inbox."""

    def __init__(self, name, model, units, languages=(), points=(), **describe):
        """points are those of the body's own map. describe may have serial and hardware."""
        kinds = [f"unit {u.id!r}: {type(u).__name__} is not a subclass of Speaker, Face, LED, Screen, Head, Drive or Battery" for u in units if not u.kind]
        names = [f"the name {n!r}: want 1 to 32 of a-z, 0-9 and -" for n in (name, *(u.id for u in units)) if not re.fullmatch(r"[a-z0-9-]{1,32}", n)]
        twice = ["two units have one id"] if len({u.id for u in units}) < len(units) else []
        if wrong := kinds + names + twice + ([] if units else ["there is no unit"]):
            raise ValueError(f"adapter {name}: {wrong[0]}")
        self.name, self.units, self.points = name, {u.id: u for u in units}, list(points)
        self.movers = [u for u in units if isinstance(u, Mover)]
        for u in units:
            u.adapter = self
        # Without a unit that moves nothing is urgent but a change, which is sent at once.
        self.state_every = TICK if self.movers else 5 * TICK
        self.describe = {"model": model, "state_ms": round(self.state_every * 1000), "calibrates": bool(self.points), "units": [{"id": u.id, "kind": u.kind, **u.fields} for u in units],
                         "points": self.points, "languages": list(languages), **describe}
        self.session, self.robotd, self.language, self.assets = uuid.uuid4().hex[:8], "", "", ""
        self.clock = time.monotonic
        self.order, self.heard, self.seq, self.passed = "idle", -math.inf, 0, self.clock()
        self.inbox, self.keys, self.warned = queue.SimpleQueue(), {}, set()
        self.sent, self.sent_at = None, -math.inf  # the last state and its time
        self.ending = self.connected = False

    def run(self, host="127.0.0.1", port=1884):
        """Serves the units until end() is called."""
        version = {"callback_api_version": mqtt.CallbackAPIVersion.VERSION1} if hasattr(mqtt, "CallbackAPIVersion") else {}
        c = self.mqtt = mqtt.Client(client_id=f"{self.name}.{self.session}", **version)
        c.will_set(self.topic("presence"), self.presence(False), qos=1, retain=True)
        c.on_connect, c.on_subscribe = self.on_connect, self.on_subscribe
        c.on_disconnect = lambda *_: self.call(lambda: self.set_connected(False))
        c.on_message = lambda _, __, m: self.inbox.put((m.topic, m.payload))
        # Otherwise a state waits for the acknowledgement of the one before, up to 40 ms.
        c.on_socket_open = lambda _, __, s: s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        c.reconnect_delay_set(1, 1)
        c.connect_async(host, port, keepalive=10)
        c.loop_start()
        threading.Thread(target=self.guard, daemon=True).start()
        due = last = time.monotonic()
        while not self.ending:
            self.passed = now = time.monotonic()
            if now >= due:
                self.step(min(now - last, 0.1))
                due, last = max(due + TICK, now), now
            try:
                topic, payload = self.inbox.get(timeout=max(0, due - time.monotonic()))
            except queue.Empty:
                continue
            self.receive(topic, payload)
        for u in self.units.values():
            u.abort("the adapter ends", "unit_error")
        for u in self.movers:
            u.guarded(u.brake)
        c.publish(self.topic("presence"), self.presence(False), qos=1, retain=True)
        c.disconnect()
        c.loop_stop()

    def end(self, *_):
        self.ending = True

    def call(self, f):
        """Calls f in the thread of the units. Other threads call nothing else of a unit."""
        self.inbox.put(("", f))

    def guard(self):
        """Stops the motors when a method of a unit hangs."""
        while not self.ending:
            time.sleep(DEAD_MAN / 4)
            if self.clock() - self.passed > DEAD_MAN and any(not u.at_rest() for u in self.movers):
                log.error("the adapter hangs while a unit moves; a method of a unit has to return at once")
                for u in self.movers:
                    u.guarded(u.brake)

    def on_connect(self, client, _, __, code):
        if code != 0:
            return log.error("the bus refuses the adapter: %s", mqtt.connack_string(code))
        client.subscribe([(f"bus/{self.name}/in/#", 1), ("bus/robotd/presence", 1)])

    def on_subscribe(self, client, *_):
        """Now nothing that robotd sends is missed."""
        client.publish(self.topic("presence"), self.presence(True), qos=1, retain=True)
        self.call(lambda: self.set_connected(True))

    def topic(self, what):
        return f"bus/{self.name}/out/{what}"

    def presence(self, present):
        return json.dumps({"v": 1, "present": present, "session": self.session, **({"describe": self.describe} if present else {})})

    def publish(self, what, m, qos=0):
        self.mqtt.publish(self.topic(what), json.dumps(m), qos=qos)

    def event(self, kind, **fields):
        """Reports what a unit senses or has done, such as event("sensed", signal="touch", name="head", on=True)."""
        self.publish("event", {"v": 1, "session": self.session, "kind": kind, **fields}, qos=1)

    def failed(self, c, detail, reason):
        self.event("failed", key=c.key, reason=reason, detail=detail)

    def fed(self):
        return self.clock() - self.heard <= DEAD_MAN

    def step(self, dt):
        for u in self.units.values():
            u.tick(dt)
        self.publish_state()

    def publish_state(self):
        units, now = {u.id: u.report() for u in self.units.values()}, self.clock()
        if self.connected and (units != self.sent or now - self.sent_at > self.state_every - TICK / 2):
            self.seq, self.sent, self.sent_at = self.seq + 1, units, now
            self.publish("state", {"v": 1, "session": self.session, "seq": self.seq, "t_ms": int(now * 1000), "units": units})

    def receive(self, topic, payload):
        if not topic:
            return payload()
        try:
            m = json.loads(payload)
            if not isinstance(m, dict) or m.get("v") != 1:
                raise ValueError("it is not an object with v 1")
            {"presence": self.take_presence, "tick": self.take_tick, "start": self.take_start, "stop": self.take_stop,
             "velocity": self.take_velocity, "calibrate": self.take_calibrate}.get(topic.rsplit("/", 1)[-1], lambda m: None)(m)
        except (ValueError, TypeError, KeyError) as e:
            if (why := f"{topic}: {e}") not in self.warned and len(self.warned) < 100:
                self.warned.add(why)
                log.warning("ignored a message on %s", why)

    def set_connected(self, connected):
        self.connected = connected
        if not connected:
            self.lost()

    def lost(self):
        """robotd is gone, or the bus."""
        self.heard = -math.inf
        for u in self.movers:
            u.lost()
        self.publish_state()

    def take_presence(self, m):
        present, session = field(m, "present", bool), field(m, "session", str)
        if session != self.robotd:
            self.keys.clear()
        if not present or self.robotd not in ("", session):
            self.lost()
        self.robotd, self.language, self.assets = session, field(m, "language", str, ""), field(m, "assets", str, "")

    def take_tick(self, m):
        order, self.heard = field(m, "order", str), self.clock()
        changed, self.order = order != self.order, order
        before = [u.state for u in self.movers]
        for u in self.movers:
            u.obey(order)
        if changed or before != [u.state for u in self.movers]:
            self.step(0.0)

    def take_start(self, m):
        key = field(m, "key", int)
        if key in self.keys:  # QoS 1 may deliver twice
            return
        self.keys[key] = True
        if len(self.keys) > 1000:
            del self.keys[next(iter(self.keys))]
        try:
            c = Command(m, self.assets)
            u = self.units.get(c.unit)
            if not u:
                raise ValueError(f"the adapter {self.name} has no unit {c.unit}")
            u.begin(c)
        except (ValueError, TypeError, KeyError) as e:
            self.event("failed", key=key, reason="bad_request", detail=str(e))

    def take_calibrate(self, m):
        """The body has its own map and no other; its units need no homing."""
        faulty = {u.id: {"reason": "unit_error", "detail": u.fault} for u in self.units.values() if u.fault}
        other = {"points": [], "reason": "bad_map", "detail": f"map {m['map'].get('name')}: this body has only its own"} if m.get("map") else {"points": self.points}
        self.event("calibrated", key=field(m, "key", int), units=[{"unit": id, **faulty.get(id, {})} for id in self.units], map=other)

    def take_stop(self, m):
        key = field(m, "key", int)
        for u in self.units.values():
            if c := u.running.get(key):
                u.end(c)

    def take_velocity(self, m):
        u = self.units.get(field(m, "unit", str))
        if isinstance(u, Drive):
            u.drive(field(m, "vx_mps", float), field(m, "wz_radps", float), field(m, "ttl_ms", int) / 1000)


def serve(adapter, options=None, begin=None):
    """Serves the units from the command line: --bus says where the robot's bus is. options
    adds flags to the parser, and begin gets their values before the units are served."""
    p = argparse.ArgumentParser(description=f"serves the units {', '.join(adapter.units)} of a robot as the adapter {adapter.name}")
    p.add_argument("--bus", default="mqtt://127.0.0.1:1884", help="the robot's bus (%(default)s)")
    if options:
        options(p)
    args = p.parse_args()
    bus = urlsplit(args.bus)
    if bus.scheme not in ("mqtt", "tcp") or not bus.hostname:
        p.error("--bus wants an address such as mqtt://127.0.0.1:1884")
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr, level=logging.INFO)
    for s in (signal.SIGINT, signal.SIGTERM):
        signal.signal(s, adapter.end)
    if begin:
        begin(args)
    print(f"ready adapter={adapter.name} units={','.join(adapter.units)} bus={bus.geturl()}", flush=True)
    adapter.run(bus.hostname, bus.port or 1884)
