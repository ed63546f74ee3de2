#!/usr/bin/env python3
"""The units of a ROS 2 robot: nav2 drives, a text-to-speech action speaks.

    troupe_ros.py --bus mqtt://127.0.0.1:1884 --ros-args --params-file units.yaml

units.yaml has the topics and actions. UNTRIED on a real ROS: its tests use a stand-in for rclpy.
"""

import math
import os
import sys
import threading

import rclpy
from action_msgs.msg import GoalStatus
from geometry_msgs.msg import Twist
from nav2_msgs.action import NavigateToPose
from nav_msgs.msg import Odometry
from rclpy.action import ActionClient
from sensor_msgs.msg import BatteryState

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

from troupe_kinds import Battery, Speaker
from troupe_motion import WATCHDOG, Drive
from troupe_unit import Adapter, Refused, serve

try:
    from audio_common_msgs.action import TTS
except ImportError:  # a robot without a voice
    TTS = None


class Goal:
    """A goal of an action server. Callbacks of ROS come in another thread and only set fields."""

    def __init__(self, client, goal):
        self.handle, self.status, self.cancelled = None, None, False
        client.send_goal_async(goal).add_done_callback(self.taken)

    def taken(self, future):
        self.handle = future.result()
        if not self.handle.accepted:
            self.status = GoalStatus.STATUS_ABORTED
            return
        self.handle.get_result_async().add_done_callback(self.ended)
        if self.cancelled:
            self.handle.cancel_goal_async()

    def ended(self, future):
        self.status = future.result().status

    def done(self, what):
        """Reports whether the goal was reached; raises Refused if it never will be."""
        if self.status not in (None, GoalStatus.STATUS_SUCCEEDED):
            raise Refused(f"{what} ended without success (status {self.status})", "obstructed")
        return self.status is not None

    def cancel(self):
        self.cancelled = True
        if self.handle and self.status is None:
            self.handle.cancel_goal_async()


class Voice(Speaker):
    types = ("say",)

    def __init__(self, node, action):
        super().__init__("speaker")
        self.client, self.goals = ActionClient(node, TTS, action), {}

    def start(self, c):
        if not self.client.server_is_ready():
            raise Refused("no node offers the text-to-speech action", "precondition")
        goal = TTS.Goal()
        goal.text = c.text
        # The message has had other fields over the years.
        for name, value in (("language", self.adapter.language or "en"), ("volume", float(c.do.get("volume", 1.0))), ("rate", float(c.do.get("rate", 1.0)))):
            if hasattr(goal, name):
                setattr(goal, name, value)
        self.goals[c.key] = Goal(self.client, goal)

    def poll(self, c):
        return self.goals[c.key].done("the text-to-speech action")

    def stop(self, c):
        if goal := self.goals.pop(c.key, None):
            goal.cancel()


class Base(Drive):
    """Sends every velocity itself. cmd_vel of nav2's controller is remapped to the topic of the parameter
    nav_cmd_vel, whose velocities are sent on only while a goto runs and the drive may move, each for WATCHDOG at most."""

    types = ("drive", "goto")

    def __init__(self, node, p, points):
        super().__init__("drive", max_speed_mps=p["max_speed_mps"], max_turn_radps=p["max_turn_radps"], braking_mps2=p["braking_mps2"])
        self.points, self.goal, self.nav, self.speed, self.pose = points, None, (0.0, 0.0, -math.inf), (0.0, 0.0), None
        self.cmd_vel = node.create_publisher(Twist, p["cmd_vel"], 1)
        node.create_subscription(Odometry, p["odom"], self.on_odom, 1)
        node.create_subscription(Twist, p["nav_cmd_vel"], self.on_nav, 1)
        self.client = ActionClient(node, NavigateToPose, p["navigate_to_pose"])

    def on_odom(self, m):
        q = m.pose.pose.orientation
        self.speed = m.twist.twist.linear.x, m.twist.twist.angular.z
        if m.header.frame_id.lstrip("/") == "map":  # other frames drift, and a point would be taught elsewhere
            self.pose = m.pose.pose.position.x, m.pose.pose.position.y, math.atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y * q.y + q.z * q.z))

    def on_nav(self, m):
        if self.goal:
            self.nav = m.linear.x, m.angular.z, self.adapter.clock()

    def apply(self, vx_mps, wz_radps):
        m = Twist()
        m.linear.x, m.angular.z = float(vx_mps), float(wz_radps)
        self.cmd_vel.publish(m)

    def measured(self):
        return self.speed

    def position(self):
        return self.pose

    def start(self, c):
        if c.type != "goto":
            return
        if not self.client.server_is_ready():
            raise Refused("nav2 does not offer navigate_to_pose", "precondition")
        x, y, theta = self.points.get(c.do.get("point"), (c.do.get("x_m"), c.do.get("y_m"), None))
        theta = c.do.get("theta_rad", theta)
        if theta is None:  # no heading is wanted: that of the way there
            theta = math.atan2(y - self.pose[1], x - self.pose[0]) if self.pose else 0.0
        goal = NavigateToPose.Goal()
        goal.pose.header.frame_id = "map"
        goal.pose.pose.position.x, goal.pose.pose.position.y = float(x), float(y)
        goal.pose.pose.orientation.z, goal.pose.pose.orientation.w = math.sin(theta / 2), math.cos(theta / 2)
        self.nav, self.goal = (0.0, 0.0, -math.inf), Goal(self.client, goal)

    def steer(self, c):
        if self.goal.done("nav2's way"):  # raises Refused if nav2 gave up
            return None
        if not self.client.server_is_ready():  # a nav2 that starts again must not drive on by itself
            raise Refused("nav2 is gone")
        vx, wz, at = self.nav
        if self.adapter.clock() - at > WATCHDOG:  # nav2 waits, hangs or has died
            return 0.0, 0.0
        most = c.do.get("speed_mps", self.most[0])
        return (max(-most, min(most, vx)) if math.isfinite(vx) else vx), wz  # poll refuses what is no number

    def stop(self, c):
        if c.type == "goto" and self.goal:
            self.goal.cancel()
            self.goal = None


class Charge(Battery):
    def __init__(self, node, topic):
        super().__init__("battery")
        node.create_subscription(BatteryState, topic, self.on_state, 1)

    def on_state(self, m):
        if not math.isnan(m.percentage):  # it is NaN if the driver does not measure it
            self.level = min(1.0, max(0.0, m.percentage))
        self.charging = m.power_supply_status == BatteryState.POWER_SUPPLY_STATUS_CHARGING


# The parameters of units.yaml. An empty tts or battery_state leaves that unit out.
PARAMETERS = {
    "cmd_vel": "/cmd_vel", "nav_cmd_vel": "/cmd_vel_nav", "odom": "/odom", "navigate_to_pose": "/navigate_to_pose",
    "max_speed_mps": 0.3, "max_turn_radps": 0.8, "braking_mps2": 1.0,
    "tts": "/say", "battery_state": "/battery_state", "language": "en", "point_names": [""],
}


def units(node):
    """Returns the units and the points that the parameters name."""
    p = {name: node.declare_parameter(name, default).value for name, default in PARAMETERS.items()}
    points = {name: tuple(node.declare_parameter(f"points.{name}", [0.0, 0.0, 0.0]).value) for name in p["point_names"] if name}
    found = [Base(node, p, points)]
    if p["tts"] and TTS:
        found.append(Voice(node, p["tts"]))
    if p["battery_state"]:
        found.append(Charge(node, p["battery_state"]))
    return found, points, p["language"]


def main():
    rclpy.init(args=sys.argv)
    node = rclpy.create_node("troupe_units")
    threading.Thread(target=rclpy.spin, args=(node,), daemon=True).start()
    sys.argv = sys.argv[: sys.argv.index("--ros-args")] if "--ros-args" in sys.argv else sys.argv
    found, points, language = units(node)
    serve(Adapter("ros", "ROS 2", found, languages=[language], points=sorted(points)))


if __name__ == "__main__":
    main()
