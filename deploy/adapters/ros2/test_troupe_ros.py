"""Tests of troupe_ros with a stand-in for rclpy and the messages. They prove what is sent to
which topic, and nothing about a real ROS."""

import json
import logging
import math
import sys
import types
import unittest

logging.disable(logging.CRITICAL)


class Message:
    """Any message: its fields appear when they are used."""

    def __getattr__(self, name):
        if name.startswith("_") or name in ("volume", "rate", "language"):
            raise AttributeError(name)
        value = Message()
        setattr(self, name, value)
        return value


class Future:
    def __init__(self):
        self.callbacks, self.value = [], None

    def add_done_callback(self, f):
        self.callbacks.append(f)

    def set(self, value):
        self.value = value
        for f in self.callbacks:
            f(self)

    def result(self):
        return self.value


class Handle:
    accepted = True

    def __init__(self):
        self.ended, self.cancelled = Future(), False

    def get_result_async(self):
        return self.ended

    def cancel_goal_async(self):
        self.cancelled = True


class ActionClient:
    ready, made = True, {}

    def __init__(self, node, kind, name):
        self.kind, self.goals = kind, []
        ActionClient.made[name] = self

    def server_is_ready(self):
        return self.ready

    def send_goal_async(self, goal):
        self.goals.append((goal, Future()))
        return self.goals[-1][1]


class Node:
    def __init__(self, parameters=()):
        self.parameters, self.published, self.subscribed = dict(parameters), {}, {}

    def declare_parameter(self, name, default):
        return types.SimpleNamespace(value=self.parameters.get(name, default))

    def create_publisher(self, kind, topic, _):
        self.published[topic] = sent = []
        return types.SimpleNamespace(publish=sent.append)

    def create_subscription(self, kind, topic, callback, _):
        self.subscribed[topic] = callback


def module(name, **members):
    sys.modules[name] = types.SimpleNamespace(**members)


kind = lambda name: type(name, (Message,), {})
action = lambda name: type(name, (), {"Goal": kind("Goal")})
module("rclpy")
module("rclpy.action", ActionClient=ActionClient)
module("action_msgs")
module("action_msgs.msg", GoalStatus=types.SimpleNamespace(STATUS_SUCCEEDED=4, STATUS_ABORTED=6))
module("geometry_msgs")
module("geometry_msgs.msg", Twist=kind("Twist"))
module("nav_msgs")
module("nav_msgs.msg", Odometry=kind("Odometry"))
module("nav2_msgs")
module("nav2_msgs.action", NavigateToPose=action("NavigateToPose"))
module("sensor_msgs")
module("sensor_msgs.msg", BatteryState=type("BatteryState", (Message,), {"POWER_SUPPLY_STATUS_CHARGING": 1}))
module("audio_common_msgs")
module("audio_common_msgs.action", TTS=action("TTS"))

import troupe_ros
from troupe_unit import TICK, Adapter


class ROS(unittest.TestCase):
    def setUp(self):
        self.node = Node({"point_names": ["dock"], "points.dock": [1.0, 2.0, 0.0]})
        units, points, language = troupe_ros.units(self.node)
        self.drive, self.voice, self.battery = units
        self.adapter, self.now, self.out = Adapter("ros", "ROS 2", units, points=sorted(points)), 0.0, []
        self.adapter.clock, self.adapter.publish = lambda: self.now, lambda what, m, qos=0: self.out.append(m)
        self.nav, self.tts = ActionClient.made["/navigate_to_pose"], ActionClient.made["/say"]

    def send(self, what, **m):
        self.adapter.receive("bus/ros/in/" + what, json.dumps({"v": 1, **m}).encode())

    def run_for(self, seconds, order="run"):
        for _ in range(round(seconds / TICK)):
            self.send("tick", order=order)
            self.now += TICK
            self.adapter.step(TICK)

    def run_with_nav(self, seconds, vx_mps):
        """Runs while nav2's controller sends a velocity every 60 ms."""
        m = sys.modules["geometry_msgs.msg"].Twist()
        m.linear.x, m.angular.z = vx_mps, 0.0
        for _ in range(round(seconds / 0.06)):
            self.node.subscribed["/cmd_vel_nav"](m)
            self.run_for(0.06)

    def twist(self):
        last = self.node.published["/cmd_vel"][-1]
        return last.linear.x, last.angular.z

    def answers(self):
        return [(m["kind"], m["key"], m.get("reason")) for m in self.out if m.get("kind") in ("done", "failed")]

    def test_goto_is_a_goal_of_nav2_whose_velocities_pass(self):
        self.run_for(0.1)
        self.send("start", key=1, unit="drive", holds=True, do={"type": "goto", "point": "dock"})
        goal, taken = self.nav.goals[0]
        self.assertEqual((goal.pose.header.frame_id, goal.pose.pose.position.x, goal.pose.pose.position.y), ("map", 1.0, 2.0))
        handle = Handle()
        taken.set(handle)
        self.run_with_nav(2, 0.2)
        self.assertEqual(self.twist(), (0.2, 0.0))
        handle.ended.set(types.SimpleNamespace(status=4))
        self.run_for(1)
        self.assertEqual((self.answers(), self.twist()), ([("done", 1, None)], (0.0, 0.0)))

    def test_goto_arrives_as_it_comes_and_no_faster_than_the_command_says(self):
        self.drive.pose = (1.0, 1.0, 0.5)
        self.run_for(0.1)
        self.send("start", key=1, unit="drive", holds=True, do={"type": "goto", "x_m": 1, "y_m": 4, "speed_mps": 0.1})
        goal, taken = self.nav.goals[0]
        self.assertAlmostEqual(goal.pose.pose.orientation.z, math.sin(math.pi / 4))
        taken.set(Handle())
        self.run_with_nav(2, 0.2)
        self.assertEqual(self.twist(), (0.1, 0.0))

    def test_drive_brakes_when_nav2_sends_no_velocity_any_more(self):
        self.run_for(0.1)
        self.send("start", key=1, unit="drive", holds=True, do={"type": "goto", "x_m": 3, "y_m": 0})
        self.nav.goals[0][1].set(Handle())
        self.run_with_nav(2, 0.2)
        self.run_for(0.1)
        self.assertEqual(self.twist(), (0.2, 0.0))
        self.run_for(0.4)  # 0.2 s until the velocity is too old, and the ramp
        self.assertEqual((self.twist(), self.answers()), ((0.0, 0.0), []))
        self.run_with_nav(2, 0.2)  # nav2 had waited, as for a person in the way
        self.assertEqual(self.twist(), (0.2, 0.0))

    def test_goto_fails_when_nav2_is_gone_and_goes_on_with_no_other(self):
        self.run_for(0.1)
        self.send("start", key=1, unit="drive", holds=True, do={"type": "goto", "x_m": 3, "y_m": 0})
        self.nav.goals[0][1].set(Handle())
        self.run_with_nav(2, 0.2)
        self.nav.ready = False
        self.run_for(0.5)
        self.nav.ready = True
        self.run_with_nav(2, 0.2)
        self.assertEqual((self.twist(), self.answers()), ((0.0, 0.0), [("failed", 1, "unit_error")]))

    def test_goto_fails_when_nav2_sends_no_number(self):
        for key, bad in enumerate((math.nan, math.inf, -math.inf), 1):
            self.run_for(0.1)
            self.out.clear()
            self.send("start", key=key, unit="drive", holds=True, do={"type": "goto", "x_m": 3, "y_m": 0})
            self.nav.goals[-1][1].set(handle := Handle())
            self.run_with_nav(0.12, bad)
            self.assertEqual((self.answers(), handle.cancelled, self.twist()), ([("failed", key, "unit_error")], True, (0.0, 0.0)))

    def test_stop_cancels_the_goal_and_brakes(self):
        self.run_for(0.1)
        self.send("start", key=1, unit="drive", holds=True, do={"type": "goto", "x_m": 3, "y_m": 0})
        handle = Handle()
        self.nav.goals[0][1].set(handle)
        self.run_for(0.1)
        self.run_for(1, "stop")
        self.assertEqual((handle.cancelled, self.twist()), (True, (0.0, 0.0)))

    def test_way_that_nav2_gives_up_fails_the_command_and_not_the_drive(self):
        self.run_for(0.1)
        self.send("start", key=1, unit="drive", holds=True, do={"type": "goto", "x_m": 3, "y_m": 0})
        handle = Handle()
        self.nav.goals[0][1].set(handle)
        handle.ended.set(types.SimpleNamespace(status=6))
        self.run_for(0.1)
        self.assertEqual((self.answers(), self.drive.state), ([("failed", 1, "obstructed")], "run"))

    def test_speech_is_a_goal_of_the_text_to_speech_action(self):
        self.send("start", key=1, unit="speaker", holds=True, text="Hello", do={"type": "say"})
        goal, taken = self.tts.goals[0]
        handle = Handle()
        taken.set(handle)
        self.run_for(0.1)
        self.assertEqual((goal.text, self.answers()), ("Hello", []))
        handle.ended.set(types.SimpleNamespace(status=4))
        self.run_for(0.1)
        self.assertEqual(self.answers(), [("done", 1, None)])

    def test_odometry_and_battery_are_reported(self):
        m = sys.modules["nav_msgs.msg"].Odometry()
        m.twist.twist.linear.x, m.twist.twist.angular.z = 0.3, 0.1
        m.pose.pose.position.x, m.pose.pose.position.y = 1.5, 2.5
        q = m.pose.pose.orientation
        q.x, q.y, q.z, q.w = 0.0, 0.0, 0.0, 1.0
        m.header.frame_id = "odom"
        self.node.subscribed["/odom"](m)
        drive = self.drive.report()
        self.assertEqual((drive["vx_mps"], "x_m" in drive), (0.3, False), "odometry drifts, so it is no position on the map")
        m.header.frame_id = "map"
        self.node.subscribed["/odom"](m)
        b = sys.modules["sensor_msgs.msg"].BatteryState()
        b.percentage, b.power_supply_status = 0.5, 1
        self.node.subscribed["/battery_state"](b)
        drive, battery = self.drive.report(), self.battery.report()
        self.assertEqual((drive["vx_mps"], drive["x_m"], drive["theta_rad"], battery["level"], battery["charging"]), (0.3, 1.5, 0.0, 0.5, True))

    def test_level_that_is_not_measured_is_not_an_empty_battery(self):
        b = sys.modules["sensor_msgs.msg"].BatteryState()
        b.percentage, b.power_supply_status = float("nan"), 1
        self.node.subscribed["/battery_state"](b)
        self.assertEqual((self.battery.report()["level"], self.battery.report()["charging"]), (1.0, True))

    def test_action_without_a_server_is_refused(self):
        self.tts.ready = False
        self.send("start", key=1, unit="speaker", holds=True, text="Hello", do={"type": "say"})
        self.assertEqual(self.answers(), [("failed", 1, "precondition")])


if __name__ == "__main__":
    unittest.main()
