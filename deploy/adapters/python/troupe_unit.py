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

import argparse, collections, contextlib, json, logging, os, queue, re, signal, socket, sys, time
from urllib.parse import urlsplit

try:
    import paho.mqtt.client as mqtt
except ImportError:
    sys.exit("paho-mqtt is missing: install Debian's python3-paho-mqtt and run this with /usr/bin/python3, or use pip")

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
        self.asset = os.path.join(assets, m["asset"]) if "asset" in m else ""  # path of the story's sound or picture
        offered = zip(self.do.get("choices", []), m.get("choices", []))
        self.choices = [{"id": choice["id"], "text": text} for choice, text in offered]


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
    def report(self):
        return {name: getattr(self, name) for name in self.reports if getattr(self, name) != ""}

    def refuse(self, c):  # raises Refused if the unit does not take the command
        if self.fault:
            raise Refused(self.fault)
        if c.type not in self.types:
            raise Refused(f"the {self.id} knows no {c.type}", "bad_request")
        for field, name in c.do.items():
            known = self.fields.get(field + "s")  # a face is one of its faces
            if known and name not in known and not c.asset:
                raise Refused(f"there is no {field} {name}; the {self.id} has {', '.join(known)}", "out_of_range")

    def begin(self, c):
        self.refuse(c)
        old = [o for o in self.running.values() if "sound" not in (o.type, c.type)]  # a sound plays beside speech
        self.end(old, "failed", reason="superseded", detail="a newer command takes its place")
        self.start(c)
        if c.holds:
            self.running[c.key] = c
        else:
            self.adapter.event("done", key=c.key)

    def end(self, commands, kind="", **answer):  # robotd gets no answer to what it has stopped itself
        for c in list(commands):
            del self.running[c.key]
            self.attempt(self.stop, c)
            if kind:
                self.adapter.event(kind, key=c.key, **answer)

    def attempt(self, method, *args):  # returns what an exception of the author's code means for a command
        try:
            method(*args)
        except Refused as no:
            return dict(zip(("detail", "reason"), (*no.args, "unit_error")))
        except Exception as e:
            log.exception("unit %s failed", self.id)
            return {"detail": f"the {self.id} failed: {e!r}", "reason": "unit_error"}

    def tick(self, dt):
        self.set_fault(self.check() or "")
        for c in list(self.running.values()):
            if no := self.attempt(self.go_on, c):
                self.end([c], "failed", **no)

    def go_on(self, c):
        if self.poll(c):
            self.end([c], "done")

    def set_fault(self, fault):
        self.fault, self.state = fault, "error" if fault else "idle"
        if fault:
            self.fail("unit_error", fault)

    def fail(self, reason, detail):
        self.end(self.running.values(), "failed", reason=reason, detail=detail)

    def robotd_gone(self):  # which has answered for what runs
        self.end(self.running.values())

    def in_stop(self, m):
        self.end([c for c in self.running.values() if c.key == m["key"]])


class Speaker(Unit):
    kind, types = "speaker", ("say", "sound")


class Battery(Unit):
    kind, reports = "battery", ("state", "fault", "level", "charging")
    level, charging = 1.0, False  # its author sets them; level is 0 to 1


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
        self.end([c for c in self.running.values() if id in [choice["id"] for choice in c.choices]], "done", choice=id)


class Face(Display):
    kind, types = "face", ("face",)


class LED(Display):
    kind, types = "led", ("led",)


class Screen(Display):
    kind, types = "screen", ("screen",)


class Adapter:
    """The units of one process. points are those of the body's own map; describe may have serial and hardware."""

    def __init__(self, name, model, units, languages=(), points=(), **describe):
        self.name, self.topic, self.units, self.points = name, f"bus/{name}", {u.id: u for u in units}, list(points)
        if not units or not all(u.kind for u in units):
            raise ValueError(f"adapter {name}: there is no unit, or one that is no subclass of Speaker, Face, Head ...")
        if len(self.units) < len(units) or not all(re.fullmatch("[a-z0-9-]{1,32}", n) for n in [name, *self.units]):
            raise ValueError(f"names {[name, *self.units]}: want 1 to 32 of a-z, 0-9 and -, and no two with one id")
        for u in units:
            u.adapter = self
        self.interval = TICK if any(u.moves for u in units) else 5 * TICK  # of the states; a change is sent at once
        self.describe = {
            "model": model, "languages": list(languages), "points": self.points, "calibrates": bool(points), **describe,
            "units": [{"id": u.id, "kind": u.kind, **u.fields} for u in units], "state_ms": round(self.interval * 1000),
        }
        self.session, self.robotd, self.language, self.assets = os.urandom(4).hex(), "", "", ""
        self.seq, self.sent, self.sent_at, self.clock = 0, None, 0.0, time.monotonic  # sent: the last state
        self.inbox, self.keys = queue.SimpleQueue(), collections.deque(maxlen=1000)  # keys: of the last commands

    def call(self, f):
        """Calls f in the thread of the units; other threads call nothing else of a unit."""
        self.inbox.put(f)

    def event(self, kind, **fields):
        """Reports what a unit senses or has done, such as event("sensed", signal="touch", name="head", on=True)."""
        self.publish("event", {"kind": kind, **fields}, qos=1)

    def publish(self, what, m, qos=0):
        m = json.dumps({"v": 1, "session": self.session, **m})
        self.mqtt.publish(f"{self.topic}/out/{what}", m, qos, retain=what == "presence")

    def step(self, dt):
        for u in self.units.values():
            if no := u.attempt(u.tick, dt):
                u.set_fault(no["detail"])
        units, now = {u.id: u.report() for u in self.units.values()}, self.clock()
        if units != self.sent or now - self.sent_at > self.interval - TICK / 2:
            self.seq, self.sent, self.sent_at = self.seq + 1, units, now
            self.publish("state", {"seq": self.seq, "t_ms": int(now * 1000), "units": units})

    def receive(self, topic, payload):  # the adapter or its units have a method for the end of each topic
        what = topic.removeprefix(self.topic + "/").replace("/", "_")
        try:
            m = json.loads(payload)
            if m["v"] != 1:
                raise ValueError("it has another version")
            if "key" in m:
                if (what, self.robotd, m["key"]) in self.keys:
                    return  # it came twice
                self.keys.append((what, self.robotd, m["key"]))
            for each in (self, *self.units.values()):
                getattr(each, what, lambda m: None)(m)
        except (ValueError, TypeError, KeyError) as e:
            log.warning("ignored a message on %s: %r", topic, e)

    def out_presence(self, m):  # the name is free: the adapter has just connected, or another process has gone
        if not m["present"]:
            self.publish("presence", {"present": True, "describe": self.describe}, qos=1)

    def robotd_gone(self, *_):
        for u in self.units.values():
            u.robotd_gone()

    def bus_robotd_presence(self, m):
        if not m["present"] or m["session"] != self.robotd:
            self.robotd_gone()
        self.robotd, self.language, self.assets = m["session"], m.get("language", ""), m.get("assets", "")

    def in_start(self, m):
        unit = self.units.get(m["unit"], Unit(m["unit"]))  # one without a kind knows no type of command
        if no := unit.attempt(unit.begin, Command(m, self.assets)):
            self.event("failed", key=m["key"], **no)


def serve(adapter, bus=None):
    """Serves the units until the process is ended. bus is the address of the robot's bus, by default that of --bus."""
    parser = argparse.ArgumentParser(description=f"adapter {adapter.name}, which serves {', '.join(adapter.units)}")
    parser.add_argument("--bus", default="mqtt://127.0.0.1:1884", help="the robot's bus (%(default)s)")
    bus = urlsplit(bus or parser.parse_args().bus)
    if bus.scheme not in ("mqtt", "tcp") or not bus.hostname:
        parser.error("--bus wants an address such as mqtt://127.0.0.1:1884")
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO)
    version = [mqtt.CallbackAPIVersion.VERSION1] if hasattr(mqtt, "CallbackAPIVersion") else []  # from paho 2 on
    c = adapter.mqtt = mqtt.Client(*version, client_id=f"{adapter.name}.{adapter.session}")
    gone = f"{adapter.topic}/out/presence", json.dumps({"v": 1, "session": adapter.session, "present": False}), 1, True

    def on_connect(_, __, ___, code):
        if code != 0:
            return log.error("the bus refuses the adapter: %s", mqtt.connack_string(code))
        c.subscribe([(f"{adapter.topic}/in/#", 1), ("bus/robotd/presence", 1), (f"{adapter.topic}/out/presence", 1)])
        c.publish(*gone)  # comes back once it is subscribed, so that it misses nothing of what robotd sends then

    c.will_set(*gone)
    c.on_connect, c.on_disconnect = on_connect, lambda *_: adapter.call(adapter.robotd_gone)
    c.on_message = lambda _, __, m: adapter.call(lambda: adapter.receive(m.topic, m.payload))
    # Otherwise a state waits for the acknowledgement of the one before, up to 40 ms.
    c.on_socket_open = lambda _, __, s: s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    c.reconnect_delay_set(1, 1)
    c.connect_async(bus.hostname, bus.port or 1884, keepalive=10)
    c.loop_start()
    for s in (signal.SIGINT, signal.SIGTERM):
        signal.signal(s, lambda *_: adapter.call(sys.exit))
    print(f"ready adapter={adapter.name} units={','.join(adapter.units)} bus={bus.geturl()}", flush=True)
    last = time.monotonic()
    try:
        while True:
            with contextlib.suppress(queue.Empty):
                adapter.inbox.get(timeout=max(0, last + TICK - time.monotonic()))()
            if (dt := time.monotonic() - last) >= TICK:
                last += dt
                adapter.step(min(dt, 0.1))
    finally:
        adapter.robotd_gone()
        c.publish(*gone)
        c.disconnect()
        c.loop_stop()
