"""Units of a robot in Python, which robotd uses over MQTT. It needs paho-mqtt and nothing else.

    class Voice(Speaker):
        def start(self, c): self.player = subprocess.Popen(["espeak-ng", c.text])
        def poll(self, c): return self.player.poll() is not None
        def stop(self, c): self.player.kill()

    serve(Adapter("voice", "my robot", [Voice()]))

docs/write-a-driver.md explains it; topics.md has the messages and the rules ("The bus of a robot"). Units that
move are in troupe_motion.py. One thread calls all methods of units, and they return at once: one that blocks
for 200 ms puts every unit of the process into error.
"""

import argparse, collections, contextlib, json, logging, math, os, queue, re, signal, socket, sys, threading, time
from urllib.parse import urlsplit

try:
    import paho.mqtt.client as mqtt
except ImportError:
    sys.exit("paho-mqtt is missing: install Debian's python3-paho-mqtt and run this with /usr/bin/python3, or pip install paho-mqtt")

TICK = 0.020  # s between two states
LISTS = (("face", "faces"), ("sound", "sounds"), ("view", "views"), ("image", "images"), ("motion", "motions"))
log = logging.getLogger("troupe")


class Refused(Exception):
    """Raised by start: the command fails, with a sentence for people and a reason of topics.md."""

    def __init__(self, detail, reason="unit_error"):
        super().__init__(detail)
        self.detail, self.reason = detail, reason


def field(m, name, kind, default=None):
    """Returns a field of a message, or raises ValueError."""
    v = float(m[name]) if kind is float and type(m.get(name)) is int else m.get(name, default)
    if type(v) is not kind or kind is float and not math.isfinite(v):
        raise ValueError(f"{name} is {v!r}, want {kind.__name__}")
    return v


class Command:
    """One action for one unit."""

    def __init__(self, m, assets=""):
        self.key, self.unit, self.do = field(m, "key", int), field(m, "unit", str), field(m, "do", dict)  # do: the action as in a story
        self.type, self.text = field(self.do, "type", str), field(m, "text", str, "")  # text: of say and screen, in the robot's language
        self.choices = [{"id": c["id"], "text": t} for c, t in zip(field(self.do, "choices", list, []), field(m, "choices", list, []))]
        self.asset = os.path.join(assets, a) if (a := field(m, "asset", str, "")) else ""  # path of the sound or picture that the story brings
        self.from_s = field(m, "from_ms", int, 0) / 1000  # skip what was done before an interruption
        self.holds = field(m, "holds", bool, False)  # False: done as soon as the unit has applied it


class Unit:
    """A unit. Its keyword arguments are the fields that it has in caps, such as sounds=["chime"]."""

    kind, types, state, fault, adapter, moves = "", (), "idle", "", None, False

    def __init__(self, id=None, **fields):
        self.id, self.fields, self.running = id or self.kind, fields, {}

    # What authors write.
    def start(self, c): ...  # begins a command, or raises Refused
    def poll(self, c): ...  # reports whether a command is done; called every TICK while it runs
    def stop(self, c): ...  # ends a command at once, also one that poll reported as done
    def check(self): ...  # returns what is wrong with the unit now, as a sentence, or nothing

    # What the adapter uses.
    def report(self):
        return {"state": self.state, **({"fault": self.fault} if self.fault else {})}

    def refuse(self, c):
        """Raises Refused if the unit does not take the command."""
        if self.fault:
            raise Refused(self.fault)
        if c.type not in self.types and not (c.type == "motion" and "motions" in self.fields):
            raise Refused(f"the {self.id} knows no {c.type}", "bad_request")
        for one, all in LISTS:
            if (name := c.do.get(one)) and (known := self.fields.get(all)) and name not in known and not c.asset:
                raise Refused(f"there is no {one} {name}; the {self.id} has {', '.join(known)}", "out_of_range")

    def supersedes(self, new, old): return True

    def begin(self, c):
        if no := self.guarded(self.refuse, c):
            return self.adapter.event("failed", key=c.key, **no)
        for old in [o for o in self.running.values() if self.supersedes(c, o)]:
            self.end(old, "failed", reason="superseded", detail="a newer command takes its place")
        self.running[c.key] = c
        if no := self.guarded(self.start, c):
            self.end(c, "failed", **no)

    def end(self, c, kind="", **answer):  # ends a running command; kind is that of the answer, if robotd gets one
        if self.running.pop(c.key, None):
            self.guarded(self.stop, c)
            if kind:
                self.adapter.event(kind, key=c.key, **answer)

    def abort(self, detail, reason):
        for c in list(self.running.values()):
            self.end(c, "failed", reason=reason, detail=detail)

    def guarded(self, method, *args):
        """Calls a method of the author. Returns reason and detail if it raised an exception."""
        try:
            method(*args)
        except Refused as no:
            return {"reason": no.reason, "detail": no.detail}
        except Exception as e:
            log.exception("%s of unit %s failed", method.__name__, self.id)
            return {"reason": "unit_error", "detail": f"{method.__name__} of the {self.id} failed: {e!r}"}

    def tick(self, dt):
        if no := self.guarded(self.look):
            self.set_fault(no["detail"])

    def look(self):
        self.set_fault(self.check() or "")
        for c in [c for c in self.running.values() if self.poll(c)]:
            self.end(c, "done")

    def set_fault(self, fault):
        self.fault, self.state = fault, "error" if fault else "idle"
        if fault:
            self.abort(fault, "unit_error")


class Speaker(Unit):
    kind, types = "speaker", ("say", "sound")

    def supersedes(self, new, old):
        return new.type == old.type == "say"


class Battery(Unit):
    kind, level, charging = "battery", 1.0, False  # its author sets level (0..1) and charging

    def report(self):
        return {**super().report(), "level": self.level, "charging": self.charging}


class Display(Unit):
    """A unit that shows one thing: what was set last, or what a command holds over it. Authors write show(c),
    which shows what a command says; c is None for what the unit shows at first."""

    base = None

    def start(self, c):
        self.show(c)
        self.base = self.base if c.holds else c

    def poll(self, c):
        return not c.holds

    def stop(self, c):
        if c.holds and not self.running:
            self.show(self.base)

    def choose(self, id):
        """A person chose: the command that offers this choice is done."""
        for c in list(self.running.values()):
            if any(choice["id"] == id for choice in c.choices):
                self.end(c, "done", choice=id)


class Face(Display): kind, types = "face", ("face",)
class LED(Display): kind, types = "led", ("led",)
class Screen(Display): kind, types = "screen", ("screen",)


class Adapter:
    """The units of one process. It runs in one thread; that of the network only fills its inbox. points are
    those of the body's own map; describe may have serial and hardware."""

    def __init__(self, name, model, units, languages=(), points=(), **describe):
        wrong = [f"unit {u.id!r}: {type(u).__name__} is no subclass of Speaker, Face, LED, Screen, Battery, Head or Drive" for u in units if not u.kind]
        wrong += [f"the name {n!r}: want 1 to 32 of a-z, 0-9 and -" for n in (name, *(u.id for u in units)) if not re.fullmatch(r"[a-z0-9-]{1,32}", n)]
        wrong += ["two units have one id"] * (len({u.id for u in units}) < len(units)) + ["there is no unit"] * (not units)
        if wrong:
            raise ValueError(f"adapter {name}: {wrong[0]}")
        self.name, self.topic, self.units, self.points = name, f"bus/{name}", {u.id: u for u in units}, list(points)
        self.movers = [u for u in units if u.moves]
        for u in units:
            u.adapter = self
        self.state_every = TICK if self.movers else 5 * TICK  # a change is sent at once
        self.describe = {"model": model, "state_ms": round(self.state_every * 1000), "calibrates": bool(points), "points": self.points, "languages": list(languages),
                         "units": [{"id": u.id, "kind": u.kind, **u.fields} for u in units], **describe}
        self.session, self.robotd, self.language, self.assets, self.clock = os.urandom(4).hex(), "", "", "", time.monotonic
        self.order, self.fed_at, self.seq, self.passed = "idle", -math.inf, 0, self.clock()
        self.inbox, self.keys, self.warned = queue.SimpleQueue(), collections.deque(maxlen=1000), set()
        self.sent, self.sent_at, self.ending, self.connected = None, -math.inf, False, False  # sent: the last state

    def run(self, host="127.0.0.1", port=1884):  # serves the units until end() is called
        version = {"callback_api_version": mqtt.CallbackAPIVersion.VERSION1} if hasattr(mqtt, "CallbackAPIVersion") else {}
        c = self.mqtt = mqtt.Client(client_id=f"{self.name}.{self.session}", **version)
        c.will_set(f"{self.topic}/out/presence", json.dumps(self.presence(False)), qos=1, retain=True)
        c.on_connect, c.on_subscribe = self.on_connect, lambda *_: self.call(lambda: self.set_connected(True))
        c.on_disconnect = lambda *_: self.call(lambda: self.set_connected(False))
        c.on_message = lambda _, __, m: self.inbox.put((m.topic, m.payload))
        # Otherwise a state waits for the acknowledgement of the one before, up to 40 ms.
        c.on_socket_open = lambda _, __, s: s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        c.reconnect_delay_set(1, 1)
        c.connect_async(host, port, keepalive=10)
        c.loop_start()
        for u in self.movers:
            threading.Thread(target=u.guard, daemon=True).start()
        due = last = time.monotonic()
        while not self.ending:
            self.passed = now = time.monotonic()
            if now >= due:
                self.step(min(now - last, 0.1))
                due, last = max(due + TICK, now), now
            with contextlib.suppress(queue.Empty):
                self.receive(*self.inbox.get(timeout=max(0, due - time.monotonic())))
        for u in self.units.values():
            u.abort("the adapter ends", "unit_error")
            u.moves and u.guarded(u.brake)
        self.announce(False)
        c.disconnect()
        c.loop_stop()

    def end(self, *_): self.ending = True

    def call(self, f):  # calls f in the thread of the units; other threads call nothing else of a unit
        self.inbox.put(("", f))

    def on_connect(self, client, _, __, code):
        if code != 0:
            return log.error("the bus refuses the adapter: %s", mqtt.connack_string(code))
        client.subscribe([(f"{self.topic}/in/#", 1), (f"{self.topic}/out/presence", 1), ("bus/robotd/presence", 1)])

    def presence(self, present):
        return {"v": 1, "present": present, "session": self.session, **({"describe": self.describe} if present else {})}

    def announce(self, present=True):
        self.publish("presence", self.presence(present), qos=1, retain=True)

    def publish(self, what, m, qos=0, retain=False):
        self.mqtt.publish(f"{self.topic}/out/{what}", json.dumps(m), qos, retain)

    def event(self, kind, **fields):
        """Reports what a unit senses or has done, such as event("sensed", signal="touch", name="head", on=True)."""
        self.publish("event", {"v": 1, "session": self.session, "kind": kind, **fields}, qos=1)

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
        what = topic.removeprefix(f"{self.topic}/").replace("/", "_")
        try:
            m = json.loads(payload)
            if not isinstance(m, dict) or m.get("v") != 1:
                raise ValueError("it is not an object with v 1")
            getattr(self, what, lambda m: None)(m)
        except (ValueError, TypeError, KeyError) as e:
            if (why := f"{topic}: {e}") not in self.warned and len(self.warned) < 100:
                self.warned.add(why)
                log.warning("ignored a message on %s", why)

    def set_connected(self, connected):  # only once it is subscribed, so that it misses nothing that robotd sends
        self.connected = connected
        self.announce() if connected else self.lost()

    def lost(self):  # robotd is gone, or the bus
        self.fed_at = -math.inf
        for u in self.movers:
            u.lost()
        self.publish_state()

    # The messages, by the end of their topic.
    def out_presence(self, m):
        """Another process that had the name of this adapter has gone: it is this one's again."""
        if m.get("present") is False:
            self.announce()

    def bus_robotd_presence(self, m):
        present, session = field(m, "present", bool), field(m, "session", str)
        if session != self.robotd:
            self.keys.clear()
        if not present or self.robotd not in ("", session):
            self.lost()
        self.robotd, self.language, self.assets = session, field(m, "language", str, ""), field(m, "assets", str, "")

    def in_tick(self, m):
        order, before = field(m, "order", str), [self.order] + [u.state for u in self.movers]
        self.order, self.fed_at = order, self.clock()
        for u in self.movers:
            u.obey(order)
        if before != [order] + [u.state for u in self.movers]:
            self.step(0.0)

    def in_start(self, m):
        key = field(m, "key", int)
        if key in self.keys:  # QoS 1 may deliver twice
            return
        self.keys.append(key)
        try:
            c = Command(m, self.assets)
            if c.unit not in self.units:
                raise ValueError(f"the adapter {self.name} has no unit {c.unit}")
            self.units[c.unit].begin(c)
        except (ValueError, TypeError, KeyError) as e:
            self.event("failed", key=key, reason="bad_request", detail=str(e))

    def in_stop(self, m):
        for u in self.units.values():
            if c := u.running.get(field(m, "key", int)):
                u.end(c)

    def in_velocity(self, m):
        vx, wz, ttl = field(m, "vx_mps", float), field(m, "wz_radps", float), field(m, "ttl_ms", int)
        if (u := self.units.get(m.get("unit"))) and u.kind == "drive":
            u.drive(vx, wz, ttl / 1000)

    def in_calibrate(self, m):
        """The body has its own map and no other; its units need no homing."""
        no = {"points": [], "reason": "bad_map", "detail": f"map {m['map'].get('name')}: this body has only its own"} if m.get("map") else None
        units = [{"unit": u.id, **({"reason": "unit_error", "detail": u.fault} if u.fault else {})} for u in self.units.values()]
        self.event("calibrated", key=field(m, "key", int), units=units, map=no or {"points": self.points})


def serve(adapter, options=None, begin=None):
    """Serves the units from the command line: --bus says where the robot's bus is. options adds flags to the
    parser, and begin gets their values before the units are served."""
    p = argparse.ArgumentParser(description=f"serves the units {', '.join(adapter.units)} of a robot as the adapter {adapter.name}")
    p.add_argument("--bus", default="mqtt://127.0.0.1:1884", help="the robot's bus (%(default)s)")
    options and options(p)
    args = p.parse_args()
    bus = urlsplit(args.bus)
    if bus.scheme not in ("mqtt", "tcp") or not bus.hostname:
        p.error("--bus wants an address such as mqtt://127.0.0.1:1884")
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr, level=logging.INFO)
    for s in (signal.SIGINT, signal.SIGTERM):
        signal.signal(s, adapter.end)
    begin and begin(args)
    print(f"ready adapter={adapter.name} units={','.join(adapter.units)} bus={bus.geturl()}", flush=True)
    adapter.run(bus.hostname, bus.port or 1884)
