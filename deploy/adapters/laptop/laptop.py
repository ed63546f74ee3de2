#!/usr/bin/python3
"""A laptop as the body of a robot: it speaks (espeak-ng, aplay) and shows a face in a browser.

    laptop.py --bus mqtt://127.0.0.1:1884 --page 127.0.0.1:8091

The page shows face, led and screen, moves the eyes as a head, and writes what is said. Without espeak-ng, aplay or a
sound device it shows the text for as long as it would take to say it. A click on the face is a touch of the head.
"""

import argparse
import array
import contextlib
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import wave
from types import SimpleNamespace

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

from page import Page
from troupe_head import Head
from troupe_kinds import LED, Face, Screen, Speaker
from troupe_unit import Adapter, Refused, serve

CHARACTERS_PER_SECOND = 14  # of speech that is only shown
RATE = 22050
SOUNDS = {  # notes of the sounds that the laptop makes itself: Hz and s; 0 Hz is noise
    "applause": [(0, 0.06)] * 40, "bell": [(1568, 1.2)], "birds": [(2400, 0.1), (3100, 0.15), (2700, 0.4)] * 4, "chime": [(1319, 0.3), (1047, 0.9)],
    "drumroll": [(110, 0.05)] * 40, "fanfare": [(523, 0.2), (659, 0.2), (784, 0.2), (1047, 1.0)],
}
FACES = ["laugh", "neutral", "sad", "sleepy", "smile", "surprised", "thinking", "wink"]


def feed(pipe, samples, rate, channels, volume):
    """Writes a WAV file a second at a time, in a thread of its own: a long sound would delay the other units."""
    with contextlib.suppress(OSError), pipe, wave.open(pipe, "wb") as w:  # an error: aplay was ended
        w.setparams((channels, 2, rate, len(samples) // channels, "NONE", ""))
        for at in range(0, len(samples), rate * channels):
            w.writeframesraw(array.array("h", (int(s * volume) for s in samples[at:at + rate * channels])).tobytes())


def notes(name):
    tone = lambda hz, i: math.sin(2 * math.pi * hz * i / RATE) if hz else random.uniform(-1, 1)
    return array.array("h", [int(16000 * math.exp(-3 * i / RATE / s) * tone(hz, i)) for hz, s in SOUNDS[name] for i in range(int(s * RATE))])


def recording(path):
    """Returns the samples of a WAV file as 16 bits, their rate and the channels."""
    try:
        with wave.open(path, "rb") as w:
            data, width = w.readframes(w.getnframes()), w.getsampwidth()
            if width == 1:  # from 0 to 255
                samples = array.array("h", ((b - 128) << 8 for b in data))
            else:
                high = bytearray(2 * (len(data) // width))  # the two bytes of each sample that weigh most
                high[0::2], high[1::2] = data[width - 2::width], data[width - 1::width]
                samples = array.array("h", bytes(high))
            return samples, w.getframerate(), w.getnchannels()
    except (OSError, EOFError, wave.Error) as e:
        raise Refused(f"the laptop plays WAV files without compression: {e}")


class Voice(Speaker):
    def __init__(self, page):
        super().__init__("speaker", sounds=sorted(SOUNDS), formats=[f"wav-pcm{bits}" for bits in (8, 16, 24, 32)])
        self.page, self.playing, self.mute = page, {}, ""  # playing: by command, the processes that play and when it ends
        for program, package in (("espeak-ng", "espeak-ng"), ("aplay", "alsa-utils")):
            if not shutil.which(program):
                self.be_mute(f"{program} is missing (Debian's package {package})")

    def be_mute(self, why):
        if not self.mute:
            self.mute = why
            print(f"no sound: {why}; the page shows the text instead", file=sys.stderr, flush=True)
            self.page.show(note=f"No sound: {why}")

    def start(self, c):
        volume = c.do.get("volume", 1.0)
        seconds = len(c.text) / CHARACTERS_PER_SECOND / c.do.get("rate", 1.0)
        if c.type == "sound":
            samples, rate, channels = recording(c.asset) if c.asset else (notes(c.do["sound"]), RATE, 1)
            skip = c.from_s % (len(samples) / rate / channels or 1) if c.do.get("loop") else c.from_s  # from_s counts all rounds
            seconds = len(samples := samples[int(skip * rate) * channels:]) / rate / channels
        else:
            self.page.show(said=c.text)
        self.playing[c.key] = p = SimpleNamespace(processes=[], until=time.monotonic() + seconds)
        if c.type == "sound" and not self.mute:
            p.processes = [self.aplay(subprocess.PIPE)]
            threading.Thread(target=feed, args=(p.processes[0].stdin, samples, rate, channels, volume), daemon=True).start()
        if c.type == "sound" or self.mute:
            return
        text = tempfile.TemporaryFile()
        text.write(c.text.encode())
        text.seek(0)
        espeak = subprocess.Popen(["espeak-ng", "-v", self.language(c), "-s", str(int(165 * c.do.get("rate", 1.0))), "-a", str(int(100 * volume)), "--stdin", "--stdout"], stdin=text, stdout=subprocess.PIPE)
        p.processes = [self.aplay(espeak.stdout), espeak]
        espeak.stdout.close()

    def aplay(self, sound):
        return subprocess.Popen(["aplay", "-q"], stdin=sound)

    def language(self, c):
        """Returns the language of a text: that of the action's texts from which it was made."""
        for tag, text in c.do.get("text", {}).items():
            if all(part in c.text for part in re.split(r"\$\{[^}]*\}", text)):
                return tag.split("-")[0]
        return self.adapter.language.split("-")[0] or "en"

    def poll(self, c):
        p = self.playing[c.key]
        codes = [process.poll() for process in p.processes]
        if any(codes):
            self.be_mute(f"{p.processes[[bool(x) for x in codes].index(True)].args[0]} failed, see the terminal; is there a sound device?")
            self.kill(p)
        over = time.monotonic() >= p.until if not p.processes else None not in codes
        if over and c.do.get("loop"):
            self.kill(p)
            c.from_s = 0.0
            self.start(c)
        return over and not c.do.get("loop")

    def stop(self, c):
        if p := self.playing.pop(c.key, None):
            self.kill(p)
        if c.type == "say":
            self.page.show(said="")

    def kill(self, p):
        for process in p.processes:
            process.kill()
            process.wait()
        p.processes = []


class PageFace(Face):
    def __init__(self, page):
        super().__init__("face", faces=FACES)
        self.page = page

    def show(self, c):
        self.page.show(face=c.do["face"] if c else "neutral")


class PageLED(LED):
    def __init__(self, page):
        super().__init__("led")
        self.page = page

    def show(self, c):
        self.page.show(led={k: c.do[k] for k in ("colour", "pattern", "period_ms") if k in c.do} if c else {})


class PageScreen(Screen):
    def __init__(self, page):
        super().__init__("screen", views=["clock", "home", "map"])
        self.page = page

    def show(self, c):
        if not c:
            return self.page.show(screen={})
        if c.do.get("image") and not c.asset:
            raise Refused(f"there is no image {c.do['image']}", "out_of_range")
        clock = time.strftime("%H:%M") if c.do.get("view") == "clock" else ""
        self.page.show_screen({"text": c.text or clock, "choices": self.choices(c)}, c.asset)


class PageHead(Head):
    """The eyes look where a head would turn."""

    def __init__(self, page):
        super().__init__("head", speed_radps=1.5, yaw_rad={"min": -1.2, "max": 1.2}, pitch_rad={"min": -0.6, "max": 0.6}, roll_rad={"min": -0.3, "max": 0.3},
                         motions={"nod": [(0, -0.3, 0), (0, 0.1, 0), (0, 0, 0)], "shake": [(0.3, 0, 0), (-0.3, 0, 0), (0, 0, 0)], "look-around": [(0.8, 0, 0), (-0.8, 0, 0), (0, 0, 0)]})
        self.page = page

    def apply(self, yaw_rad, pitch_rad, roll_rad):
        self.page.show(yaw_rad=yaw_rad, pitch_rad=pitch_rad, roll_rad=roll_rad)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="a laptop as the body of a robot: it speaks, and shows a face in a browser")
    parser.add_argument("--bus", default="mqtt://127.0.0.1:1884", help="the robot's bus (%(default)s)")
    parser.add_argument("--page", default="127.0.0.1:8091", help="the page's address, of this machine only; port 0 takes a free one (%(default)s)")
    args = parser.parse_args()
    page = Page(os.path.dirname(os.path.abspath(__file__)))
    screen = PageScreen(page)
    adapter = Adapter("laptop", "laptop", [Voice(page), PageFace(page), PageLED(page), screen, PageHead(page)], languages=["en", "de", "fr", "es"])
    page.choose = lambda id: adapter.call(lambda: screen.choose(id))
    page.touch = lambda on: adapter.call(lambda: adapter.event("sensed", signal="touch", name="head", on=on))
    page.serve(args.page)
    serve(adapter, args.bus)
