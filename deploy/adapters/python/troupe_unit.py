"""Units of a robot in Python, which robotd uses over MQTT; docs/write-a-driver.md explains it."""

import faulthandler, functools, json, logging, os, re
import signal, socket, sys, threading, time, urllib.parse
try:
    import paho.mqtt.client as mqtt
except ImportError:
    sys.exit("paho-mqtt is missing: install python3-paho-mqtt, and use Debian's /usr/bin/python3")

TICK = 0.020  # s between two calls of poll
log = logging.getLogger("troupe")


class Refused(Exception):
    """Refused("sentence for people", "reason of topics.md") fails a command with these two."""


class Command:
    def __init__(self, m, assets):
        self.key, self.do, self.type = m["key"], m["do"], m["do"]["type"]  # do: as in a story
        self.text, self.choices = m.get("text", ""), m.get("choices", [])  # in the robot's language
        self.holds, self.from_s = m.get("holds", False), m.get("from_ms", 0) / 1000  # s to skip
        self.asset = os.path.join(assets, m["asset"]) if "asset" in m else ""  # path of its file


class Unit:
    """A unit. Its keyword arguments are fields of its description, such as sounds=["chime"]."""
    kind, types, state, fault, moves, adapter = "", (), "idle", "", False, None

    def __init__(self, id=None, **fields):
        self.id, self.fields, self.running = id or self.kind, fields, {}

    # What authors write, beside kind and types, which are the actions that the unit takes. Methods
    # of units run one at a time and return at once: if one blocks, all units are in error.
    def start(self, c): ...  # begins a command, or raises Refused
    def poll(self, c): ...  # reports whether a command is done; called every TICK while it runs
    def stop(self, c): ...  # ends a command at once, also one that poll reported as done
    def check(self): ...  # returns what is wrong with the unit now, as a sentence, or nothing

    def report(self):
        return {"state": self.state, **({"fault": self.fault} if self.fault else {})}

    def refuse(self, c):
        if self.fault: raise Refused(self.fault)
        if c.type not in self.types:
            raise Refused(f"the {self.id} knows no {c.type}", "bad_request")
        for field, name in c.do.items():
            if name not in self.fields.get(field + "s", [name]) and not c.asset:
                raise Refused(f"the {self.id} has no {field} {name}", "out_of_range")

    def begin(self, c):  # supersedes what runs, but a sound plays beside speech
        self.refuse(c)
        old = [k for k, o in self.running.items() if "sound" not in (c.type, o.type)]
        self.end(old, "failed", reason="superseded", detail="a newer command takes its place")
        self.start(c)
        if c.holds: self.running[c.key] = c
        else: self.adapter.event("done", key=c.key)

    def end(self, keys, kind="", **answer):
        for key in list(keys):
            self.attempt(self.stop, self.running.pop(key))
            if kind: self.adapter.event(kind, key=key, **answer)

    def attempt(self, method, *args, failed=lambda **why: None):
        try:
            return method(*args)
        except Exception as e:
            if not isinstance(e, Refused):
                log.exception("unit %s failed", self.id)
                e = Refused(f"the {self.id} failed: {e!r}")
            failed(**dict(zip(("detail", "reason"), (*e.args, "unit_error"))))  # unit_error if none

    def tick(self, dt):
        self.set_fault(self.check() or "")
        for key, c in list(self.running.items()):
            if self.attempt(self.poll, c, failed=lambda **why: self.end([key], "failed", **why)):
                self.end([key], "done")

    def set_fault(self, fault):
        self.fault, self.state = fault, "error" if fault else "idle"
        self.end(self.running if fault else (), "failed", reason="unit_error", detail=fault)

    def in_stop(self, m):
        self.end({m["key"]} & self.running.keys())

    def bus_robotd_presence(self, m):
        self.end(self.running)  # without events: robotd has reported all of them as failed


class Adapter:
    """The units of one process. about may have points, languages, serial and hardware."""

    def __init__(self, name, model, units, **about):
        if not re.fullmatch("[a-z0-9-]{1,32}", name) or name == "robotd":
            sys.exit(f"adapter {name!r}: want 1 to 32 of a-z, 0-9 and hyphens, and not robotd")
        self.name, self.units = name, {u.id: u for u in units}
        has = [{"id": u.id, "kind": u.kind, **u.fields} for u in units]
        self.describe = {"model": model, "units": has, "calibrates": "points" in about, **about}
        self.describe["state_ms"] = 20 if any(u.moves for u in units) else 100  # or at a change
        self.session, self.clock = f"pid{os.getpid()}-{os.urandom(4).hex()}", time.monotonic
        self.language, self.assets, self.keys, self.lock = "", "", [], threading.RLock()
        self.seq, self.sent, self.sent_ms, self.inputs = 0, None, 0, {}
        self.say_once = functools.lru_cache(1)(log.warning)  # unless it is what it logged last
        for u in units: u.adapter = self

    def call(self, f, *args):
        """Calls f while no method of a unit runs; other threads call nothing else of a unit."""
        with self.lock: f(*args)

    def event(self, kind, **fields):
        """Reports an event, as in event("sensed", signal="touch", name="head", on=True)."""
        if fields.get("signal") == "estop-input": self.inputs[fields["name"]] = fields
        self.publish("event", {"kind": kind, **fields}, qos=1)

    def report_inputs(self):  # again: robotd may have missed that a stop input was pressed
        for fields in self.inputs.values(): self.event("sensed", **fields)

    def publish(self, what, m, qos=0):
        m = json.dumps({"v": 1, "session": self.session, **m})
        self.mqtt.publish(f"bus/{self.name}/out/{what}", m, qos, retain=what == "presence")

    def step(self, dt):
        for u in self.units.values():
            u.attempt(u.tick, dt, failed=lambda detail, reason: u.set_fault(detail))
        units, now = {u.id: u.report() for u in self.units.values()}, int(self.clock() * 1000)
        if units != self.sent or now - self.sent_ms > self.describe["state_ms"] - 10:
            self.seq, self.sent, self.sent_ms = self.seq + 1, units, now
            self.publish("state", {"seq": self.seq, "t_ms": now, "units": units})

    def receive(self, topic, payload):  # in/start calls in_start of the adapter and its units
        try:
            what, m = topic.removeprefix(f"bus/{self.name}/").replace("/", "_"), json.loads(payload)
            assert m["v"] == 1, "it has another version"
            for each in (self, *self.units.values()):
                getattr(each, what, lambda m: None)(m)
        except Exception as e:
            log.warning("ignored a message on %s: %r", topic, e)

    def out_presence(self, m):
        if not m["present"]:  # it has just connected, or another process has left the name
            self.publish("presence", {"present": True, "describe": self.describe}, qos=1)
            self.report_inputs()

    def bus_robotd_presence(self, m):  # robotd begins or ends, or the bus is gone
        self.language, self.assets, self.keys = m.get("language", ""), m.get("assets", ""), []
        if m.get("present"): self.report_inputs()

    def in_health(self, m):  # whether robotd uses the adapter, repeated every second
        self.say_once("robotd says of this adapter: %s", "; ".join(list(m.values())[1:]))

    def in_start(self, m):
        if m["key"] in self.keys: return  # it came twice
        self.keys = [*self.keys[-999:], m["key"]]
        unit = self.units.get(m["unit"], Unit(m["unit"]))  # one without a kind takes no command
        failed = lambda **why: self.event("failed", key=m["key"], **why)
        unit.attempt(unit.begin, Command(m, self.assets), failed=failed)


def serve(adapter, bus=""):
    """Serves the units until the process is ended. bus is the robot's bus, by default --bus."""
    words = "=".join(sys.argv).split("=")  # so --bus=X is read as --bus X
    bus = bus or dict(zip(words, words[1:])).get("--bus", "mqtt://127.0.0.1:1884")
    version = [mqtt.CallbackAPIVersion.VERSION1] if hasattr(mqtt, "CallbackAPIVersion") else []
    c = adapter.mqtt = mqtt.Client(*version, client_id=f"{adapter.name}.{adapter.session}")
    absent = json.dumps({"v": 1, "session": adapter.session, "present": False})
    gone = f"bus/{adapter.name}/out/presence", absent, 1, True

    def on_connect(_, __, ___, code):
        if code != 0:
            return log.error("the bus refuses the adapter: %s", mqtt.connack_string(code))
        adapter.say_once("connected to %s", bus)
        c.subscribe([(f"bus/{adapter.name}/in/#", 1), ("bus/robotd/presence", 1), (gone[0], 1)])
        c.publish(*gone)  # comes back once it is subscribed: out_presence then says present

    c.will_set(*gone)  # the end of the process is enough
    c.on_connect = on_connect
    no_bus = "no bus at %s: start robotd or `robotd driver check`, or correct --bus"
    c.on_connect_fail = lambda *_: adapter.say_once(no_bus, bus)
    c.on_disconnect = lambda *_: adapter.call(adapter.receive, "bus/robotd/presence", '{"v": 1}')
    c.on_message = lambda _, __, m: adapter.call(adapter.receive, m.topic, m.payload)
    c.on_socket_open = lambda _, __, s: s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    c.reconnect_delay_set(1, 1)
    try:
        at = urllib.parse.urlsplit(bus)
        c.connect_async(at.hostname if at.scheme == "mqtt" else "", at.port or 1884, keepalive=10)
    except ValueError as e:
        sys.exit(f"--bus {bus}: want an address such as mqtt://127.0.0.1:1884 ({e})")
    for s in (signal.SIGINT, signal.SIGTERM): signal.signal(s, lambda *_: sys.exit())
    c.loop_start()
    print(f"ready adapter={adapter.name} units={','.join(adapter.units)}", flush=True)
    last = time.monotonic()
    try:
        while True:
            time.sleep(max(0.001, last + TICK - time.monotonic()))  # messages need their turn
            dt, last = time.monotonic() - last, time.monotonic()
            faulthandler.dump_traceback_later(1)  # shows the method that hangs, if one does
            adapter.call(adapter.step, min(dt, 0.1))
    finally:
        adapter.call(adapter.receive, "bus/robotd/presence", '{"v": 1}')
