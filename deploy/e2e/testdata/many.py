#!/usr/bin/python3
"""A body of many units for measurements: base.py's drive and battery, and units of the other kinds in turn.

It prints how many messages it has sent and received, once a second."""

import os
import sys
import time

ADAPTERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "adapters")
sys.path.insert(0, os.path.join(ADAPTERS, "python"))

from base import POINTS, Base
from troupe_kinds import LED, Battery, Face, Screen, Speaker
from troupe_head import Head
from troupe_unit import Adapter, serve


class Voice(Speaker):
    until = 0.0

    def start(self, c):
        self.until = time.monotonic() + len(c.text) / 14

    def poll(self, c):
        return time.monotonic() >= self.until


class Neck(Head):
    def apply(self, yaw_rad, pitch_rad, roll_rad):
        pass


class Shows:
    def show(self, c):
        pass


KINDS = [
    Voice, type("Eyes", (Shows, Face), {}), type("Lamp", (Shows, LED), {}), type("Display", (Shows, Screen), {}),
    lambda id: Neck(id, yaw_rad={"min": -1.2, "max": 1.2}),
]
NAMES = ["speaker", "face", "led", "screen", "head"]


class Counting(Adapter):
    messages = printed = 0

    def publish(self, *args, **options):
        self.messages += 1
        super().publish(*args, **options)

    def receive(self, topic, payload):
        self.messages += bool(topic)
        super().receive(topic, payload)

    def step(self, dt):
        super().step(dt)
        if time.monotonic() - self.printed >= 1:
            self.printed = time.monotonic()
            print("messages", self.messages, flush=True)


units = [Base(), Battery()]
for n in range(int(os.environ["UNITS"]) - len(units)):
    kind = n % len(KINDS)
    units.append(KINDS[kind](NAMES[kind] + (str(n // len(KINDS) + 1) if n >= len(KINDS) else "")))
serve(Counting("many", "many units", units, points=sorted(POINTS), languages=["en"]))
