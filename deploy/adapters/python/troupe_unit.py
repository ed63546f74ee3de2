"""Units of a robot in Python, which robotd uses over MQTT. It needs paho-mqtt and nothing else.

    class Voice(Speaker):
        def start(self, c): self.player = subprocess.Popen(["espeak-ng", c.text])
        def poll(self, c): return self.player.poll() is not None
        def stop(self, c): self.player.kill()

    serve(Adapter("voice", "my robot", [Voice()]))

docs/write-a-driver.md explains it; topics.md has the rules ("The bus of a robot"). Units that move are in
troupe_motion.py. No two methods of units run at once, and each returns at once: one that blocks for 200 ms
puts every unit of the process into error.
"""

import argparse, collections, json, logging, os, re, signal, socket, sys, threading, time
from urllib.parse import urlsplit

try:
    import paho.mqtt.client as mqtt
except ImportError:
    sys.exit("paho-mqtt is missing: install Debian's python3-paho-mqtt and use /usr/bin/python3, or use pip")

TICK = 0.020  # s between two calls of poll
log = logging.getLogger("troupe")


class Refused(Exception):
    """Refused("sentence for people", "reason of topics.md") fails a command with these two."""


class Command:
    def __init__(self, m, assets):
        self.key, self.do, self.type = m["key"], m["do"], m["do"]["type"]  # do: the action as in a story
        self.text = m.get("text", "")  # of say and screen, in the robot's language
        self.holds = m.get("holds", False)  # False: done as soon as it has started
        self.from_s = m.get("from_ms", 0) / 1000  # skip what was done before an interruption
        self.asset = os.path.join(assets, m["asset"]) if "asset" in m else ""  # path of a sound or picture
        offered = zip(self.do.get("choices", []), m.get("choices", []))
        self.choices = [{"id": o["id"], "text": text} for o, text in offered]


class Unit:
    """A unit. Its keyword arguments are the fields that it has in caps, such as sounds=["chime"]."""

    kind, types, state, fault, moves, adapter = "", (), "idle", "", False, None
    reports = ("state", "fault")  # attributes in its state

    def __init__(self, id=None, **fields):
        self.id, self.fields, self.running = id or self.kind, fields, {}

    # What authors write.
    def start(self, c): ...  # begins a command, or raises Refused
    def poll(self, c): ...  # reports whether a command is done; called every TICK while it runs
    def stop(self, c): ...  # ends a command at once, also one that poll reported as done
    def check(self): ...  # returns what is wrong with the unit now, as a sentence, or nothing

    # What the adapter uses.
    def report(self): return {name: getattr(self, name) for name in self.reports if getattr(self, name) != ""}
    def robotd_gone(self): self.end(self.running)  # robotd has answered for what runs
    def in_stop(self, m): self.end({m["key"]} & self.running.keys())

    def refuse(self, c):  # raises Refused if the unit does not take the command
        if self.fault:
            raise Refused(self.fault)
        if c.type not in self.types:
            raise Refused(f"the {self.id} knows no {c.type}", "bad_request")
        for field, name in c.do.items():
            known = self.fields.get(field + "s")  # a face is one of its faces
            if known and name not in known and not c.asset:
                raise Refused(f"the {self.id} has no {field} {name}, but {', '.join(known)}", "out_of_range")

    def begin(self, c):
        self.refuse(c)
        if c.type != "sound":  # it plays beside speech
            old = [key for key, o in self.running.items() if o.type != "sound"]
            self.end(old, "failed", reason="superseded", detail="a newer command takes its place")
        self.start(c)
        if c.holds:
            self.running[c.key] = c
        else:
            self.adapter.event("done", key=c.key)

    def end(self, keys, kind="", **answer):
        for key in list(keys):
            self.attempt(self.stop, self.running.pop(key))
            if kind:
                self.adapter.event(kind, key=key, **answer)

    def attempt(self, method, *args, failed=lambda detail, reason: None):
        try:
            return method(*args)
        except Exception as e:
            if not isinstance(e, Refused):
                log.exception("unit %s failed", self.id)
                e = Refused(f"the {self.id} failed: {e!r}")
            failed(**dict(zip(("detail", "reason"), (*e.args, "unit_error"))))

    def tick(self, dt):
        self.set_fault(self.check() or "")
        for key, c in list(self.running.items()):
            if self.attempt(self.poll, c, failed=lambda **why: self.end([key], "failed", **why)):
                self.end([key], "done")

    def set_fault(self, fault):
        self.fault, self.state = fault, "error" if fault else "idle"
        if fault:
            self.fail("unit_error", fault)

    def fail(self, reason, detail):
        self.end(self.running, "failed", reason=reason, detail=detail)


class Display(Unit):
    """A unit that shows one thing: what was set last, or what a command holds over it. Authors write show(c),
    which shows what a command says; c is None for what the unit shows at first."""

    base = None

    def start(self, c):
        self.show(c)
        self.base = self.base if c.holds else c

    def stop(self, c):
        if not self.running:
            self.show(self.base)

    def choose(self, id):
        """A person chose: the command that offers this choice is done."""
        done = [key for key, c in self.running.items() if id in (o["id"] for o in c.choices)]
        self.end(done, "done", choice=id)


class Face(Display): kind, types = "face", ("face",)
class LED(Display): kind, types = "led", ("led",)
class Screen(Display): kind, types = "screen", ("screen",)
class Speaker(Unit): kind, types = "speaker", ("say", "sound")
class Battery(Unit):
    kind, reports = "battery", ("state", "fault", "level", "charging")
    level, charging = 1.0, False  # its author sets them; level is 0 to 1


class Adapter:
    """The units of one process. points are those of the body's map; describe may have serial and hardware."""

    def __init__(self, name, model, units, languages=(), points=(), **describe):
        self.name, self.topic, self.points = name, f"bus/{name}", list(points)
        self.units = {u.id: u for u in units}
        if not units or not all(u.kind for u in units):
            raise ValueError(f"adapter {name}: there is no unit, or one is no subclass of Speaker, Face ...")
        names = [name, *(u.id for u in units)]
        if len(self.units) < len(units) or not all(re.fullmatch("[a-z0-9-]{1,32}", n) for n in names):
            raise ValueError(f"names {names}: want 1 to 32 of a-z, 0-9 and -, and no two with one id")
        for u in units:
            u.adapter = self
        self.interval = TICK if any(u.moves for u in units) else 5 * TICK  # of states; changes come at once
        self.describe = {
            "units": [{"id": u.id, "kind": u.kind, **u.fields} for u in units], "points": self.points,
            "model": model, "languages": list(languages), "calibrates": bool(points), **describe,
            "state_ms": round(self.interval * 1000)}
        self.session, self.language, self.assets, self.health = os.urandom(4).hex(), "", "", "good"
        self.seq, self.sent, self.sent_at, self.clock = 0, None, 0.0, time.monotonic  # sent: the last state
        self.lock, self.keys = threading.RLock(), collections.deque(maxlen=1000)  # keys: of the last commands

    def call(self, f, *args):
        """Calls f while no method of a unit runs; other threads call nothing else of a unit."""
        with self.lock:
            f(*args)

    def event(self, kind, **fields):
        """Reports what a unit senses or did, as in event("sensed", signal="touch", name="head", on=True)."""
        self.publish("event", {"kind": kind, **fields}, qos=1)

    def publish(self, what, m, qos=0):
        m = json.dumps({"v": 1, "session": self.session, **m})
        self.mqtt.publish(f"{self.topic}/out/{what}", m, qos, retain=what == "presence")

    def step(self, dt):
        for u in self.units.values():
            u.attempt(u.tick, dt, failed=lambda detail, reason: u.set_fault(detail))
        units, now = {u.id: u.report() for u in self.units.values()}, self.clock()
        if units != self.sent or now - self.sent_at > self.interval - TICK / 2:
            self.seq, self.sent, self.sent_at = self.seq + 1, units, now
            self.publish("state", {"seq": self.seq, "t_ms": int(now * 1000), "units": units})

    def receive(self, topic, payload):  # the adapter or its units have a method for the end of each topic
        try:
            what, m = topic.removeprefix(self.topic + "/").replace("/", "_"), json.loads(payload)
            if m["v"] != 1:
                raise ValueError("it has another version")
            if "key" in m:
                if (what, m["key"]) in self.keys:
                    return  # it came twice
                self.keys.append((what, m["key"]))
            for each in (self, *self.units.values()):
                getattr(each, what, lambda m: None)(m)
        except Exception as e:
            log.warning("ignored a message on %s: %r", topic, e)

    def out_presence(self, m):
        if not m["present"]:  # the name is free: the adapter has just connected, or another process has gone
            self.publish("presence", {"present": True, "describe": self.describe}, qos=1)

    def bus_robotd_presence(self, m):  # robotd begins or ends, or the bus is gone (m is empty)
        self.language, self.assets = m.get("language", ""), m.get("assets", "")
        self.keys.clear()
        for u in self.units.values():
            u.robotd_gone()

    def in_health(self, m):  # whether robotd uses the adapter, and why not
        if (now := "; ".join(m[k] for k in ("health", "why", "way_out") if k in m)) != self.health:
            self.health = now
            log.warning("robotd says of this adapter: %s", now)

    def in_start(self, m):
        unit = self.units.get(m["unit"], Unit(m["unit"]))  # one without a kind knows no type of command
        failed = lambda **why: self.event("failed", key=m["key"], **why)
        unit.attempt(unit.begin, Command(m, self.assets), failed=failed)


def serve(adapter, bus=None):
    """Serves the units until the process is ended. bus is the robot's bus, by default that of --bus."""
    parser = argparse.ArgumentParser(description=f"adapter {adapter.name}: {', '.join(adapter.units)}")
    parser.add_argument("--bus", default="mqtt://127.0.0.1:1884", help="the robot's bus (%(default)s)")
    bus = bus or parser.parse_args().bus
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO)
    version = [mqtt.CallbackAPIVersion.VERSION1] if hasattr(mqtt, "CallbackAPIVersion") else []  # paho 2
    c = adapter.mqtt = mqtt.Client(*version, client_id=f"{adapter.name}.{adapter.session}")
    absent = {"v": 1, "session": adapter.session, "present": False}
    gone = f"{adapter.topic}/out/presence", json.dumps(absent), 1, True

    def on_connect(_, __, ___, code):
        if code != 0:
            return log.error("the bus refuses the adapter: %s", mqtt.connack_string(code))
        c.subscribe([(f"{adapter.topic}/in/#", 1), ("bus/robotd/presence", 1), (gone[0], 1)])
        c.publish(*gone)  # comes back once it is subscribed, so it misses nothing that robotd sends then

    c.will_set(*gone)  # the end of the process is enough
    c.on_connect, c.on_disconnect = on_connect, lambda *_: adapter.call(adapter.bus_robotd_presence, {})
    c.on_message = lambda _, __, m: adapter.call(adapter.receive, m.topic, m.payload)
    # Otherwise states wait up to 40 ms.
    c.on_socket_open = lambda _, __, s: s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    c.reconnect_delay_set(1, 1)
    try:
        at = urlsplit(bus)
        c.connect_async(at.hostname if at.scheme in ("mqtt", "tcp") else "", at.port or 1884, keepalive=10)
    except ValueError as e:
        parser.error(f"--bus {bus}: want an address such as mqtt://127.0.0.1:1884 ({e})")
    c.loop_start()
    for s in (signal.SIGINT, signal.SIGTERM):
        signal.signal(s, lambda *_: sys.exit())
    print(f"ready adapter={adapter.name} units={','.join(adapter.units)} bus={bus}", flush=True)
    last = time.monotonic()
    try:
        while True:
            time.sleep(max(0.001, last + TICK - time.monotonic()))  # also if late: messages need their turn
            dt, last = time.monotonic() - last, time.monotonic()
            adapter.call(adapter.step, min(dt, 0.1))
    finally:
        adapter.call(adapter.bus_robotd_presence, {})
