#!/usr/bin/python3
"""Example: a robot that speaks and has a face. It prints what it says and shows, one line each.

    talker.py --bus mqtt://127.0.0.1:1884

robotd then runs with: --body bus --bus-listen 127.0.0.1:1884 --bus-adapters talker
"""

import time

from troupe_kinds import Face, Speaker
from troupe_unit import Adapter, Refused, serve

CHARACTERS_PER_SECOND = 14
SOUNDS = {"chime": 1.2, "fanfare": 3.0, "bell": 1.5}  # s


class Voice(Speaker):
    """Speech that takes its time. With a real voice, start begins to play and poll asks whether it plays still."""

    def __init__(self):
        super().__init__("speaker", sounds=sorted(SOUNDS))
        self.until = {}  # when each command is done

    def start(self, c):
        if c.type == "say":
            seconds = len(c.text) / CHARACTERS_PER_SECOND / c.do.get("rate", 1.0)
        elif c.asset:
            seconds = 1.0  # a sound that the story brings: c.asset is the path of its file
        elif c.do["sound"] in SOUNDS:
            seconds = SOUNDS[c.do["sound"]]
        else:
            raise Refused(f"cannot play {c.do['sound']}", "out_of_range")
        print(f"says {c.text}" if c.type == "say" else f"plays {c.do['sound']}", flush=True)
        self.until[c.key] = time.monotonic() + seconds - c.from_s

    def poll(self, c):
        return time.monotonic() >= self.until[c.key] and not c.do.get("loop")

    def stop(self, c):
        self.until.pop(c.key, None)


class Eyes(Face):
    def __init__(self):
        super().__init__("face", faces=["neutral", "smile", "laugh", "sad", "sleepy", "surprised", "thinking", "wink"])

    def show(self, c):
        print(f"shows {c.do['face'] if c else 'neutral'}", flush=True)


if __name__ == "__main__":
    serve(Adapter("talker", "example talker", [Voice(), Eyes()], languages=["en", "de", "fr"]))
