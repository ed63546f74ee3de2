"""Tests of troupe_unit without a network: robotd is the test, and time is its own."""

import json
import logging
import math
import os
import subprocess
import sys
import threading
import unittest
import unittest.mock

import troupe_unit
from troupe_kinds import Face, Screen, Speaker
from troupe_head import Head
from troupe_motion import Drive
from troupe_unit import TICK, Adapter, Refused

logging.disable(logging.CRITICAL)


class Voice(Speaker):
    left = 0.0

    def start(self, c):
        if c.text == "refuse":
            raise Refused("the voice is hoarse", "precondition")
        if c.text == "crash":
            raise KeyError("voice")
        self.left = 1.0

    def poll(self, c):
        self.left -= TICK
        return self.left <= 0


class Eyes(Face):
    shown = None

    def show(self, c):
        self.shown = c and c.do["face"]


class Display(Screen):
    def show(self, c):
        pass


class Wheels(Drive):
    wrong, broken = "", False

    def check(self):
        return self.wrong

    def apply(self, vx_mps, wz_radps):
        if self.broken:
            raise OSError("no motor")


class Neck(Head):
    at = None

    def __init__(self, **fields):
        super().__init__(**fields)
        self.servos = []

    def measured(self):
        return self.at

    def apply(self, *angles):
        self.servos.append(angles)


class Robotd(unittest.TestCase):
    """A body of all units, and the robotd that feeds it."""

    def setUp(self):
        self.now, self.out, self.key = 1000.0, [], 0
        self.voice, self.eyes, self.screen = Voice(sounds=["chime"]), Eyes(faces=["neutral", "smile", "sad"]), Display()
        self.wheels = Wheels(max_speed_mps=0.5, max_turn_radps=1.0, braking_mps2=2.0)
        self.neck = Neck(yaw_rad={"min": -1, "max": 1}, motions={"nod": [(0, -0.3, 0), (0, 0, 0)]})
        a = self.adapter = Adapter("body", "test", [self.voice, self.eyes, self.screen, self.wheels, self.neck])
        a.clock = lambda: self.now
        a.publish = lambda what, m, qos=0: self.out.append((what, json.loads(json.dumps(m))))
        self.send("robotd/presence", present=True, session="s1", assets="/assets")

    def send(self, topic, **m):
        self.adapter.receive("bus/" + topic, json.dumps({"v": 1, **m}).encode())

    def order(self, order, seconds=TICK):
        """Feeds the adapter with an order for a time."""
        for _ in range(round(seconds / TICK)):
            self.send("body/in/tick", seq=1, order=order)
            self.now += TICK
            self.adapter.step(TICK)

    def silence(self, seconds):
        for _ in range(round(seconds / TICK)):
            self.now += TICK
            self.adapter.step(TICK)

    def start(self, unit, holds=True, text="", choices=(), **do):
        self.key += 1
        self.send("body/in/start", key=self.key, unit=unit, holds=holds, text=text, choices=list(choices), do=do)
        return self.key

    def answer(self, key):
        """Returns the only answer to a command, or None."""
        found = [m for what, m in self.out if what == "event" and m.get("key") == key]
        self.assertLessEqual(len(found), 1, found)
        return (found[0]["kind"], found[0].get("reason")) if found else None

    def state(self, unit):
        return [m for what, m in self.out if what == "state"][-1]["units"][unit]

    def drive(self, **speeds):
        return self.start("drive", type="drive", **speeds)

    def velocity(self, vx, wz=0, ttl=400):
        self.send("body/in/velocity", unit="drive", vx_mps=vx, wz_radps=wz, ttl_ms=ttl)

    # Orders and permission.

    def test_nothing_moves_unless_enabled(self):
        keys = [self.drive(vx_mps=0.3), self.start("head", type="head", yaw_rad=0.5)]
        self.velocity(0.3)
        self.order("idle", 0.5)
        self.assertEqual([self.answer(k) for k in keys], [("failed", "safety_disabled")] * 2)
        self.assertEqual((self.state("drive")["set_vx_mps"], self.state("drive")["state"]), (0, "idle"))

    def test_head_is_not_commanded_before_it_may_move_for_the_first_time(self):
        self.neck.at = (0.5, -0.2, 0)
        self.order("idle", 0.2)
        self.start("head", type="head", yaw_rad=0.9)
        self.send("robotd/presence", present=True, session="s2")
        self.order("error", 0.2)
        self.order("reset", 0.5)
        self.assertEqual(self.neck.servos, [])
        self.order("run", 0.2)
        self.assertEqual(set(self.neck.servos), {(0.5, -0.2, 0)})
        self.neck.at = None  # it holds what it was sent afterwards
        self.start("head", type="head", yaw_rad=0.9)
        self.order("run", 1)
        self.order("error", 0.2)
        yaws = [yaw for yaw, _, _ in self.neck.servos]
        self.assertLess(max(b - a for a, b in zip(yaws, yaws[1:])), 0.03)
        self.assertEqual(self.neck.servos[-1], (0.9, -0.2, 0))

    def test_head_that_cannot_measure_is_commanded_from_its_first_command_on(self):
        self.order("run", 0.2)
        self.assertEqual(self.neck.servos, [])
        self.start("head", type="head", yaw_rad=0.1)
        self.order("run", 1)
        self.assertEqual(self.neck.servos[-1], (0.1, 0, 0))

    def test_head_reports_the_angles_that_it_describes(self):
        angles = lambda: {k: v for k, v in self.state("head").items() if k.endswith("_rad")}
        self.order("run", 0.2)
        self.assertEqual(angles(), {})  # it has not moved, and cannot measure
        self.start("head", type="head", yaw_rad=0.1)
        self.order("run", 1)
        self.assertEqual(angles(), {"yaw_rad": 0.1})  # as it was sent
        self.neck.at = (0.3, 0.2, 0)  # pushed by a person
        self.order("idle", 0.2)
        self.assertEqual(angles(), {"yaw_rad": 0.3})

    def test_head_whose_servos_cannot_be_read_is_in_error(self):
        self.neck.measured = unittest.mock.Mock(side_effect=OSError("no servo"))
        self.order("run", 0.2)
        self.assertEqual((self.state("head")["state"], self.neck.servos), ("error", []))

    def test_stop_brakes_and_ends_idle(self):
        for order in ("stop", "idle"):
            self.order("run")
            key = self.drive(vx_mps=0.5)
            self.order("run", 2)
            self.assertEqual(self.state("drive")["set_vx_mps"], 0.5)
            self.order(order)
            self.assertEqual(self.state("drive")["state"], "run")  # it brakes still
            self.order(order, 0.3)
            self.assertEqual((self.state("drive")["state"], self.state("head")["state"], self.answer(key)), ("idle", "idle", ("failed", "safety_disabled")))

    def test_halt_ends_in_error_that_only_a_reset_ends(self):
        self.order("run")
        self.drive(vx_mps=0.5)
        self.order("run", 1)
        self.order("halt")
        self.assertEqual(self.state("drive")["state"], "halt")
        self.order("halt", 1)
        self.assertEqual(self.state("drive")["state"], "error")
        self.order("run", 1)
        self.assertEqual(self.state("drive")["state"], "error")
        self.order("reset", 0.5)
        self.assertEqual(self.state("drive")["state"], "idle")

    def test_error_and_unknown_orders_stop_at_once(self):
        for order in ("error", "dance"):
            self.order("run")
            self.drive(vx_mps=0.5)
            self.order("run", 1)
            self.order(order)
            self.assertEqual((self.state("drive")["state"], self.state("drive")["set_vx_mps"]), ("error", 0))
            self.order("reset", 1)

    def test_way_to_a_goal_keeps_the_limits_of_the_drive(self):
        self.wheels.types = ("drive", "goto")
        self.wheels.steer = lambda c: (9.0, -9.0)
        self.order("run")
        self.start("drive", type="goto", x_m=1, y_m=2)
        self.order("run", 3)
        self.assertEqual((self.wheels.vx, self.wheels.wz), (0.5, -1.0))

    def test_way_that_is_no_number_fails_the_command_and_moves_nothing(self):
        self.wheels.types = ("drive", "goto")
        self.order("run")
        for bad in (math.nan, math.inf):
            for way in ((bad, 0.1), (0.1, bad)):
                self.wheels.steer = lambda c: way
                key = self.start("drive", type="goto", x_m=1, y_m=2)
                self.order("run", 0.2)
                self.assertEqual((self.wheels.vx, self.wheels.wz, self.answer(key)), (0, 0, ("failed", "unit_error")))
                self.assertEqual(self.state("drive")["state"], "run")

    # The watchdog: robotd feeds the adapter.

    def test_moving_drive_brakes_without_ticks(self):
        self.order("run")
        self.drive(vx_mps=0.5)
        self.order("run", 1)
        self.silence(0.18)
        self.assertEqual(self.state("drive")["state"], "run")
        self.silence(0.06)
        self.assertEqual((self.state("drive")["state"], self.state("drive")["set_vx_mps"]), ("error", 0))
        self.assertIn("robotd", self.state("drive")["fault"])
        self.silence(1)
        self.assertNotIn("fault", self.state("drive"))
        self.order("run", 1)
        self.assertEqual(self.state("drive")["state"], "error")
        self.order("reset", 1)
        self.assertEqual(self.state("drive")["state"], "idle")

    def test_unit_at_rest_waits_for_ticks(self):
        self.order("run")
        self.silence(5)
        self.assertEqual((self.state("drive")["state"], self.state("head")["state"]), ("run", "run"))

    def test_gone_robotd_is_an_error_at_once(self):
        for gone in (lambda: self.send("robotd/presence", present=False, session="s1"),
                     lambda: self.send("robotd/presence", present=True, session="s2"),
                     lambda: self.send("robotd/presence")):  # the connection is lost
            self.setUp()
            self.order("run")
            self.drive(vx_mps=0.5)
            self.order("run", 1)
            gone()
            self.assertEqual((self.wheels.state, self.wheels.vx, self.neck.state), ("error", 0, "error"))

    def test_commands_end_with_robotd(self):
        keys = [self.start("speaker", type="say", text="hello"), self.start("speaker", type="sound", sound="chime")]
        self.start("face", holds=False, type="face", face="smile"), self.start("face", type="face", face="sad")
        self.send("robotd/presence", present=False, session="s1")
        self.assertEqual((self.eyes.shown, self.voice.running, [self.answer(k) for k in keys]), ("smile", {}, [None] * 2))

    def test_motors_stop_when_a_method_hangs(self):
        self.order("run")
        self.drive(vx_mps=0.5)
        self.order("run", 1)
        self.wheels.apply = lambda vx, wz: self.applied.append(vx)
        self.applied = []
        self.now += 1
        self.assertRaises(SystemExit, self.wheels.watch, unittest.mock.Mock(side_effect=[None, None, SystemExit]))
        self.assertEqual(self.applied, [0.0])

    # Faults.

    def test_fault_is_an_error_until_it_is_gone_and_reset(self):
        self.order("run")
        key = self.drive(vx_mps=0.5)
        self.order("run", 1)
        self.wheels.wrong = "a wheel is off"
        self.order("run")
        self.assertEqual((self.state("drive")["state"], self.state("drive")["fault"], self.answer(key)), ("error", "a wheel is off", ("failed", "unit_error")))
        self.order("reset", 1)
        self.assertEqual(self.state("drive")["state"], "error")
        self.wheels.wrong = ""
        self.order("reset", 1)
        self.assertEqual(self.state("drive")["state"], "idle")

    def test_exception_of_the_author_is_a_fault_with_its_text(self):
        self.order("run", 1)
        self.wheels.broken = True
        self.order("run", 1)
        self.assertIn("no motor", self.state("drive")["fault"])
        self.assertEqual(self.answer(self.start("speaker", type="say", text="crash")), ("failed", "unit_error"))
        self.assertEqual(self.state("speaker")["state"], "idle")
        self.assertEqual(self.answer(self.start("speaker", type="say", text="refuse")), ("failed", "precondition"))

    # Commands.

    def test_each_command_is_answered_once(self):
        self.order("run")
        keys = [self.start("speaker", type="say", text="hello"), self.start("speaker", type="sound", sound="chime"),
                self.start("face", holds=False, type="face", face="smile"), self.start("head", type="head", yaw_rad=0.5)]
        self.order("run", 3)
        self.assertEqual([self.answer(k) for k in keys], [("done", None)] * 4)
        key = self.start("head", type="motion", motion="nod")
        self.order("run", 3)
        self.assertEqual(self.answer(key), ("done", None))

    def test_command_whose_poll_refuses_fails_and_not_the_unit(self):
        for error, want in [(Refused("the voice broke", "obstructed"), "obstructed"), (OSError("no sound"), "unit_error")]:
            self.voice.poll = unittest.mock.Mock(side_effect=error)
            key = self.start("speaker", type="say", text="hello")
            self.order("idle")
            self.assertEqual((self.answer(key), self.state("speaker")["state"]), (("failed", want), "idle"))

    def test_repeated_command_runs_once(self):
        for _ in range(2):
            self.send("body/in/start", key=7, unit="face", do={"type": "face", "face": "sad"})
            self.order("run", 0.1)
        self.assertEqual(self.answer(7), ("done", None))

    def test_stopped_command_is_not_answered(self):
        self.order("run")
        keys = [self.start("speaker", type="say", text="hello"), self.drive(vx_mps=0.2), self.start("head", type="head", yaw_rad=1)]
        self.order("run", 0.1)
        for k in [*keys, 99]:
            self.send("body/in/stop", key=k)
        self.order("run", 3)
        self.assertEqual([self.answer(k) for k in keys], [None] * 3)
        self.assertEqual((self.state("drive")["state"], self.state("drive")["set_vx_mps"]), ("run", 0))

    def test_newer_command_supersedes(self):
        self.order("run")
        old = [self.start("speaker", type="say", text="one"), self.start("head", type="head", yaw_rad=1), self.drive(vx_mps=0.2)]
        beside = self.start("speaker", type="sound", sound="chime")
        self.start("speaker", type="say", text="two"), self.start("head", type="head", yaw_rad=-1), self.velocity(0.1)
        self.assertEqual([self.answer(k) for k in old], [("failed", "superseded")] * 3)
        self.assertIsNone(self.answer(beside))

    def test_wrong_commands_are_refused(self):
        self.order("run")
        for want, key in [
            ("bad_request", self.start("no-such-unit", type="say")), ("bad_request", self.start("speaker", type="goto")),
            ("out_of_range", self.start("face", type="face", face="angry")), ("out_of_range", self.start("speaker", type="sound", sound="gong")),
            ("out_of_range", self.start("head", type="head", yaw_rad=3)), ("out_of_range", self.start("head", type="head", pitch_rad=0.1)),
            ("out_of_range", self.drive(vx_mps=2)), ("out_of_range", self.drive(vy_mps=0.1)), ("out_of_range", self.start("head", type="motion", motion="bow")),
            ("bad_request", self.start("drive", type="goto", point="dock")),
        ]:
            self.assertEqual(self.answer(key), ("failed", want))

    def test_broken_messages_change_nothing(self):
        self.order("run")
        before = len(self.out)
        for topic, payload in [("tick", b"{"), ("tick", b'{"v":2,"order":"idle"}'), ("tick", b'{"v":1,"order":7}'), ("start", b"[]"), ("start", b'{"v":1}'), ("stop", b'{"v":1,"key":"x"}'),
                               ("velocity", b'{"v":1,"unit":"drive","vx_mps":NaN,"wz_radps":0,"ttl_ms":100}'), ("velocity", b'{"v":1,"unit":"face","vx_mps":1,"wz_radps":0,"ttl_ms":1}'),
                               ("dance", b'{"v":1}')]:
            self.adapter.receive("bus/body/in/" + topic, payload)
        self.assertEqual((len(self.out), self.wheels.velocity, self.wheels.order), (before, None, "run"))

    # Displays.

    def test_face_returns_after_a_command_that_holds_it(self):
        self.start("face", holds=False, type="face", face="smile")
        self.order("idle", 0.1)
        key = self.start("face", type="face", face="sad")
        self.assertEqual(self.eyes.shown, "sad")
        self.send("body/in/stop", key=key)
        self.assertEqual(self.eyes.shown, "smile")

    def test_choice_of_a_person_ends_the_command(self):
        key = 1
        self.send("body/in/start", key=key, unit="screen", holds=True, choices=["Yes", "No"], do={"type": "screen", "choices": [{"id": "y", "text": {}}, {"id": "n", "text": {}}]})
        self.screen.choose("z")
        self.assertIsNone(self.answer(key))
        self.screen.choose("n")
        self.assertEqual([m["choice"] for what, m in self.out if m.get("kind") == "done"], ["n"])

    # Velocities.

    def test_velocity_is_limited_and_ends(self):
        self.order("run")
        for _ in range(100):
            self.velocity(9, -9)
            self.order("run")
        self.assertEqual((self.state("drive")["set_vx_mps"], self.state("drive")["set_wz_radps"]), (0.5, -1.0))
        self.order("run", 0.36)
        self.assertEqual(self.state("drive")["set_vx_mps"], 0.5)
        self.order("run", 0.4)
        self.assertEqual((self.state("drive")["set_vx_mps"], self.state("drive")["set_wz_radps"]), (0, 0))

    def test_state_counts_and_names_every_unit(self):
        self.order("idle", 1)
        states = [m for what, m in self.out if what == "state"]
        self.assertGreaterEqual(len(states), 50)
        self.assertEqual([m["seq"] for m in states], list(range(states[0]["seq"], states[0]["seq"] + len(states))))
        self.assertEqual(set(states[0]["units"]), {"speaker", "face", "screen", "drive", "head"})

    def test_adapter_without_movers_sends_changes_at_once_and_else_less(self):
        self.adapter = Adapter("body", "test", [self.voice])
        self.adapter.clock, self.adapter.publish = lambda: self.now, lambda what, m, qos=0: self.out.append((what, m))
        self.silence(1)
        self.assertAlmostEqual(len(self.out), 10, delta=1)
        before = len(self.out)
        while len(self.out) == before:
            self.silence(TICK)
        before = len(self.out)
        self.voice.check = lambda: "no power"
        self.silence(TICK)
        self.assertEqual((len(self.out), self.state("speaker")), (before + 1, {"state": "error", "fault": "no power"}))

    def test_calibration_names_the_points_of_the_only_map(self):
        self.adapter.describe["points"] = ["dock"]
        self.send("body/in/calibrate", key=1)
        self.send("body/in/calibrate", key=2, map={"name": "hall", "sha256": "9f"})
        one, other = [m for what, m in self.out if m.get("kind") == "calibrated"]
        self.assertEqual((one["map"], len(one["units"])), ({"points": ["dock"]}, 5))
        self.assertEqual(other["map"]["reason"], "bad_map")

    def test_calibration_of_two_drives_is_answered_once_for_both(self):
        self.adapter = Adapter("body", "test", [Wheels("left"), Wheels("right")])
        self.adapter.publish = lambda what, m, qos=0: self.out.append((what, m))
        self.send("body/in/calibrate", key=3)
        (answer,) = [m for what, m in self.out if m.get("kind") == "calibrated"]
        self.assertEqual(answer["units"], [{"unit": "left"}, {"unit": "right"}])

    def test_name_that_is_free_again_is_taken(self):
        taken = lambda: [m["present"] for what, m in self.out if what == "presence"]
        self.send("body/out/presence", present=True, session="other")
        self.assertEqual(taken(), [])
        self.send("body/out/presence", present=False, session="other")
        self.assertEqual(taken(), [True])

    def test_stop_inputs_are_reported_again_whenever_robotd_or_the_adapter_connects(self):
        sent = lambda: [(m["name"], m["on"]) for what, m in self.out if what == "event"]
        for name, on in ("rear", True), ("front", True), ("front", False):
            self.adapter.event("sensed", signal="estop-input", name=name, on=on)
        for connects in (lambda: self.send("robotd/presence", present=True, session="s2"),
                         lambda: self.send("body/out/presence", present=False, session="other")):
            self.out.clear()
            self.send("robotd/presence", present=False, session="s1")
            self.assertEqual(sent(), [])
            connects()
            self.assertEqual(sent(), [("rear", True), ("front", False)])
            self.assertEqual(self.out[-1][0], "event")  # after the presence: robotd ignores it before

    def test_log_has_what_robotd_thinks_of_the_adapter(self):
        with unittest.mock.patch.object(troupe_unit.log, "warning") as logged:
            self.setUp()
            for health in [{"health": "good"}, {"health": "silent", "why": "no state", "way_out": "restart it"}] * 2:
                for _ in range(3):  # robotd repeats it every second
                    self.send("body/in/health", **health)
        said = [a.args[0] % a.args[1:] for a in logged.call_args_list]
        bad = "robotd says of this adapter: silent; no state; restart it"
        self.assertEqual(said, ["robotd says of this adapter: good", bad] * 2)

    def test_log_has_once_whether_there_is_a_bus(self):
        client, mqtt = unittest.mock.Mock(), unittest.mock.Mock()
        mqtt.Client.return_value = client
        with unittest.mock.patch.object(troupe_unit.log, "warning") as logged, unittest.mock.patch.multiple(troupe_unit, mqtt=mqtt, signal=unittest.mock.Mock(), faulthandler=unittest.mock.Mock(), print=unittest.mock.Mock(), create=True):
            self.setUp()
            self.adapter.step = unittest.mock.Mock(side_effect=SystemExit)
            self.assertRaises(SystemExit, troupe_unit.serve, self.adapter, "mqtt://127.0.0.1:1")
            for _ in range(2):
                for _ in range(3):  # paho tries once a second
                    client.on_connect_fail(client, None)
                client.on_connect(client, None, {}, 0)
        said = [a.args[0] % a.args[1:] for a in logged.call_args_list]
        self.assertEqual(said, ["no bus at mqtt://127.0.0.1:1: start robotd or `robotd driver check`, or correct --bus", "connected to mqtt://127.0.0.1:1"] * 2)

    def test_wrong_address_of_the_bus_is_one_sentence(self):
        for bus in ("mqtt://127.0.0.1:99999", "http://127.0.0.1:1884", "127.0.0.1:1884"):
            with self.assertRaises(SystemExit) as ended:
                troupe_unit.serve(self.adapter, bus)
            self.assertIn(f"--bus {bus}: want an address such as mqtt://127.0.0.1:1884", ended.exception.code)

    def test_bus_is_an_argument_of_its_own_or_after_an_equals_sign(self):
        for given in (["--bus", "wrong"], ["--bus=wrong"]):
            with unittest.mock.patch.object(sys, "argv", ["adapter.py", *given]), self.assertRaises(SystemExit) as ended:
                troupe_unit.serve(self.adapter)
            self.assertIn("--bus wrong: want an address", ended.exception.code)

    def test_session_names_the_process(self):
        self.assertRegex(self.adapter.session, f"^pid{os.getpid()}-[0-9a-f]{{8}}$")

    def test_wrong_name_of_an_adapter_is_refused(self):
        for name in ("my_body", "Body", "", "b" * 33, "body\n", "robotd"):
            with self.assertRaises(SystemExit) as ended:
                Adapter(name, "test", [])
            self.assertEqual(ended.exception.code, f"adapter {name!r}: want 1 to 32 of a-z, 0-9 and hyphens, and not robotd")

    def test_methods_of_units_never_run_at_once(self):
        free = []
        other = threading.Thread(target=lambda: free.append(self.adapter.lock.acquire(blocking=False)))

        def start(c):  # another thread wants to call a method now
            other.start()
            other.join()

        self.voice.start = start
        self.adapter.call(lambda: self.start("speaker", type="say"))
        self.assertEqual(free, [False])

    def test_messages_have_their_turn_while_the_adapter_is_late(self):
        pauses = []  # the lock is free in them

        def sleep(seconds):
            pauses.append(seconds)
            if len(pauses) == 5:
                raise SystemExit

        def step(dt):  # takes longer than a tick
            self.now += 3 * TICK

        self.adapter.step = step
        time = unittest.mock.Mock(sleep=sleep, monotonic=lambda: self.now)
        parts = {"time": time, **{name: unittest.mock.Mock() for name in ("mqtt", "signal", "faulthandler", "print")}}
        with unittest.mock.patch.multiple(troupe_unit, create=True, **parts), self.assertRaises(SystemExit):
            troupe_unit.serve(self.adapter, "mqtt://127.0.0.1:1884")
        self.assertGreaterEqual(min(pauses), 0.001)

    def test_missing_paho_is_one_sentence(self):
        p = subprocess.run([sys.executable, "-B", "-c", "import sys; sys.modules['paho'] = None; import troupe_unit"], capture_output=True, text=True)
        self.assertEqual((p.returncode, p.stderr.count("\n")), (1, 1))
        self.assertIn("python3-paho-mqtt", p.stderr)


if __name__ == "__main__":
    unittest.main()
