#!/usr/bin/python3
"""Answers the intents of people for which the robot's own setting `intents` has no row.

    responder.py r1 --name resp1 --broker 127.0.0.1:1883

The role of its user is responder. A language model would take the place of compose().
"""

import argparse
import signal
import sys

from troupe import Robot

FACES = {"joy": "laugh", "sad": "sad", "anger": "surprised"}


def compose(intent):
    """Returns the actions that answer an intent, or None."""
    face = {"type": "face", "start_ms": 0, "end_ms": 2500, "face": FACES.get(intent.get("robot_emotion"), "smile")}
    if intent.get("reason") == "low_confidence":
        return [face, say("I did not understand that. Please say it again.", "Das habe ich nicht verstanden. Bitte noch einmal.")]
    if intent["name"] == "sing":
        return [face, {"type": "sound", "start_ms": 200, "timeout_ms": 5000, "sound": "fanfare"}]
    if intent["name"] == "who-are-you":
        guest = intent.get("slots", {}).get("guest", "")
        return [face, say(f"I am a robot, {guest}." if guest else "I am a robot.", "Ich bin ein Roboter.")]
    return None


def say(en, de):
    return {"type": "say", "start_ms": 200, "timeout_ms": 9000, "text": {"en": en, "de": de}}


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("robot")
    p.add_argument("--name", default="resp1", help="user name at the broker")
    p.add_argument("--broker", default="127.0.0.1:1883", help="host:port")
    p.add_argument("--password-file")
    p.add_argument("--ca", help="file with the CA certificates to trust; then the connection uses TLS")
    o = p.parse_args()
    host, port = o.broker.rsplit(":", 1)
    password = open(o.password_file).read().strip() if o.password_file else None
    robot = Robot(o.robot, o.name, host, int(port), password, o.ca)
    print(f"ready robot={o.robot}", flush=True)
    while True:
        robot.wait("an intent", lambda: robot.intents, timeout=10**6)
        intent = robot.intents.pop(0)
        if "reaction" in intent:
            continue  # the robot answers by itself
        actions = compose(intent)
        if actions is None:
            print(f"{intent['name']}: no answer", flush=True)
            continue
        try:
            answer = robot.ask("act/perform", {"actions": actions, "clear": True})
        except (PermissionError, TimeoutError) as e:  # the robot is away, or the broker refuses the command
            print(f"{intent['name']}: no answer: {e}", flush=True)
            continue
        print(f"{intent['name']}: {answer['status']} {answer.get('reason', '')} {answer.get('detail', '')}".strip(), flush=True)


if __name__ == "__main__":
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, lambda *_: sys.exit(0))
    main()
