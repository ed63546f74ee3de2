#!/usr/bin/python3
"""Example: a base with two wheels, which it simulates, and a battery.

    base.py --bus mqtt://127.0.0.1:1884

robotd then runs with: --body bus --bus-listen 127.0.0.1:1884 --bus-adapters talker,base
"""

import math

from troupe_kinds import Battery
from troupe_motion import Drive
from troupe_unit import TICK, Adapter, serve

# The map: x and y in m, theta in rad.
POINTS = {"entrance": (0.0, 0.0, 0.0), "desk": (3.0, 1.0, math.pi / 2), "stage": (6.0, -2.0, math.pi), "fountain": (4.0, 4.0, -math.pi / 2), "dock": (-1.0, 0.0, 0.0)}
WHEELS_APART = 0.4  # m


class Base(Drive):
    types = ("drive", "goto")

    def __init__(self):
        super().__init__("drive", max_speed_mps=0.5, max_turn_radps=1.2, braking_mps2=2.0)
        self.x = self.y = self.theta = 0.0

    def apply(self, vx_mps, wz_radps):
        """A real base sets its motors here, and reads its odometry."""
        left, right = vx_mps - wz_radps * WHEELS_APART / 2, vx_mps + wz_radps * WHEELS_APART / 2
        forward, turned = (left + right) / 2 * TICK, (right - left) / WHEELS_APART * TICK
        self.theta = math.remainder(self.theta + turned, 2 * math.pi)
        self.x += forward * math.cos(self.theta)
        self.y += forward * math.sin(self.theta)

    def position(self):
        return self.x, self.y, self.theta

    def steer(self, c):
        """Turns towards the place, drives there, and turns to the heading if one is wanted."""
        x, y, theta = POINTS.get(c.do.get("point"), (c.do.get("x_m"), c.do.get("y_m"), None))
        theta = c.do.get("theta_rad", theta)
        left = math.hypot(x - self.x, y - self.y)
        arrived = left < 0.03
        if arrived and theta is None:
            return None
        off = math.remainder((theta if arrived else math.atan2(y - self.y, x - self.x)) - self.theta, 2 * math.pi)
        if arrived and abs(off) < 0.03:
            return None
        turn = math.copysign(min(1.0, 2 * abs(off)), off)
        if arrived or abs(off) > 0.3:
            return 0.0, turn
        return min(c.do.get("speed_mps", 0.4), left), turn


if __name__ == "__main__":
    serve(Adapter("base", "example base", [Base(), Battery()], points=sorted(POINTS)))
