#!/usr/bin/python3
"""The API of ENAMOUR, another program for robots, performed by a robot of Troupe: each of its
examples has a counterpart here.

    enamour.py r1 --broker 127.0.0.1:1883

The robot performs a story in ato and may move, and has the setting INTENTS below. This
program prints a line for each example, and ends with an error at the first that does not hold.

What differs from ENAMOUR, on purpose:
- Every request is answered, at once if it is wrong, with the place of the fault.
- An id is echoed as it is, whatever its form.
- A request is checked before clear_action_queue takes effect. Requests that it cancels count
  as superseded, not as completed, and their actions stop.
- Actions of one type that overlap are refused before anything runs, and so is what excludes
  others and overlaps them, unless the request says that it waits (defer), as ENAMOUR's groups always do.
- Parallel actions keep real time. An action shorter than a tick runs once.
- Angles are in rad, heights in m; a goal is on the map, not relative to the robot.
- There is no stabilization.
"""

import argparse
import json
import math
import sys
import time

from troupe import Robot

SOUNDS = {"bark": "bell"}  # ENAMOUR's names, and those of this body
FACES = {"happy": "laugh", "neutral": "neutral", "sad": "sad"}

# ENAMOUR's table of intents: by intent and emotion the actions, or a default; and the
# resulting emotion. The acts are of the robot's story.
INTENTS = [
    {"intent": "makeDogNeutral", "act": "nod", "resulting_emotion": "neutral"},
    {"intent": "makeDogNeutral", "emotion": "sad", "act": "smile"},
    {"intent": "makeDogSad", "resulting_emotion": "sad"},
    {"intent": "getHelp", "interrupt": "service"},
    {"intent": "danceAround", "activity": "dance"},
    {"intent": "beManual", "mode": "mnl"},
]


def translate(request):
    """Returns the arguments of act/perform for one of ENAMOUR's ActionRequests."""
    return {"actions": [action(a) for a in request["actions"]], "clear": request.get("clear_action_queue") or False, "defer": True}


def action(a):
    start, end = a["start_ms"], a.get("end_ms")
    lasts = {"end_ms": end} if end else {}
    takes = {"timeout_ms": max(end - start, 1) if end else 5000}  # until its unit says that it is done
    angles = {f"{k}_rad": math.radians(a[k]) for k in ("roll", "pitch", "yaw") if a.get(k) is not None}
    kind = a["type"]
    if kind == "sound":
        out = {"type": "sound", "sound": SOUNDS[a["name"]], **(lasts or takes)}
    elif kind == "display":
        out = {"type": "face", "face": FACES[a["name"]], **lasts}
    elif kind == "navigation" and end:  # the velocity for that time
        out = {"type": "drive", "vx_mps": a.get("x", 0), "wz_radps": angles.get("yaw_rad", 0), **lasts}
    elif kind == "navigation":
        out = {"type": "goto", "x_m": a.get("x", 0), "y_m": a.get("y", 0), "theta_rad": angles.get("yaw_rad", 0), "timeout_ms": 60000}
    elif kind == "pose":
        out = {"type": "pose", **{k: v for k, v in angles.items() if k != "yaw_rad"}, **takes}
    elif kind == "head":
        out = {"type": "head", **angles, **(lasts or takes)}
    elif kind == "sit":
        out = {"type": "group", "method": "exclusive", "actions": [
            {"type": "pose", "start_ms": 0, "height_m": 0.95, "method": "exclusive", "timeout_ms": 5000},
            {"type": "pose", "start_ms": 0, "pitch_rad": 0.05, "method": "exclusive", "timeout_ms": 5000}]}
    elif kind == "group":
        out = {"type": "group", "method": "exclusive", "actions": [action(b) for b in a["actions"]]}
    elif kind == "no_op":
        out = {"type": "wait", "end_ms": end or start + 20}
    else:
        out = {"type": kind}  # the robot refuses it, with its place
    return {"start_ms": start, **out}


class Enamour:
    """ENAMOUR's interface to a robot."""

    def __init__(self, robot):
        self.robot = robot

    def action(self, request):
        """POST /action: returns the id of the request."""
        return self.robot.send("act/perform", translate(request), request.get("id"))

    def intent(self, **intent):
        """POST /intent: returns 204, or 400 with a message, and the answer."""
        answer = self.robot.ask("intent/post", intent)
        return (204 if answer["status"] == "SUCCEEDED" else 400), answer

    def robot_state(self):
        """The topic robot_state: ids of requests."""
        q, own = self.robot.state["queue"], lambda acts: [a["req_id"].split("/", 1)[1] for a in acts or [] if a.get("req_id", "").startswith(self.robot.name + "/")]
        ids = own(q.get("queued"))
        return {"current_action_id": ids[0] if ids else None, "action_queue": ids,
                "latest_completed_actions": own(q.get("completed_acts")), "latest_error_actions": own(q["failed"])}


class Examples:
    def __init__(self, robot, admin):
        self.robot, self.admin, self.api = robot, admin, Enamour(robot)

    def perform(self, *actions, status="SUCCEEDED", **request):
        """Performs actions in ENAMOUR's form and returns the answer."""
        answer = self.robot.answer(self.api.action({"actions": list(actions), **request}))
        check(answer["status"] == status, f"{actions}: {answer}")
        return answer

    def raw(self, *actions, status="SUCCEEDED", **args):
        """Performs actions in Troupe's form."""
        answer = self.robot.ask("act/perform", {"actions": list(actions), **args})
        check(answer["status"] == status, f"{actions}: {answer}")
        return answer

    def lasted(self, *actions, **args):
        """Performs actions and returns by their event how long they took, in ms."""
        id = self.raw(*actions, **args)["id"]
        ended = lambda e: e["type"] == "act_ended" and e.get("req_id") == f"{self.robot.name}/{id}"
        return self.robot.wait("the end of the act", lambda: next((e for e in self.robot.events if ended(e)), None))["data"]["ms"]

    def state(self, what, holds):
        return self.robot.wait(what, lambda: self.robot.state and holds(self.api.robot_state()))

    # ENAMOUR's schemas, in the order of its description.

    def request_with_an_id(self):
        id = "01cf8c57-6a3e-4a18-a8d1-3b28ac3d5417"
        self.api.action({"id": id, "clear_action_queue": False, "actions": [{"type": "no_op", "start_ms": 0, "end_ms": 1500}]})
        self.state("the request runs", lambda s: s["current_action_id"] == id)
        check(self.robot.answer(id)["id"] == id, "the id is echoed")
        self.state("the request is completed", lambda s: s["latest_completed_actions"][:1] == [id])

    def request_with_another_id(self):
        check(self.perform({"type": "no_op", "start_ms": 0}, id="not-a-uuid:7")["id"] == "not-a-uuid:7", "the id is echoed")

    def sit(self):
        self.perform({"type": "sit", "start_ms": 0})

    def sound(self):
        self.perform({"type": "sound", "start_ms": 0, "name": "bark"})

    def sound_for_a_time(self):
        self.perform({"type": "sound", "start_ms": 0, "end_ms": 1000, "name": "bark"})

    def display(self):
        self.perform({"type": "display", "start_ms": 0, "name": "happy"})

    def display_for_a_time(self):
        self.perform({"type": "display", "start_ms": 0, "end_ms": 1000, "name": "happy"})

    def navigation_to_a_goal(self):
        self.perform({"type": "navigation", "start_ms": 0, "x": 0.5, "y": 0.0, "yaw": 90})

    def navigation_for_a_time(self):
        self.perform({"type": "navigation", "start_ms": 0, "end_ms": 1000, "x": 0.1, "yaw": 10})

    def pose(self):
        self.perform({"type": "pose", "start_ms": 0, "roll": 2, "pitch": 5, "yaw": 0})

    def head(self):
        self.perform({"type": "head", "start_ms": 0, "end_ms": 800, "roll": 0, "pitch": 10, "yaw": 20})

    def group(self):
        self.perform({"type": "display", "start_ms": 0, "name": "neutral"},
                     {"type": "head", "start_ms": 200, "end_ms": 700, "roll": 0, "pitch": 10, "yaw": 0},
                     {"type": "group", "start_ms": 1000, "actions": [
                         {"type": "head", "start_ms": 0, "end_ms": 800, "roll": 0, "pitch": 0, "yaw": 0},
                         {"type": "pose", "start_ms": 0, "end_ms": 2000, "roll": 0, "pitch": 5, "yaw": 0}]},
                     {"type": "group", "start_ms": 2500, "actions": [
                         {"type": "head", "start_ms": 0, "end_ms": 800, "roll": 0, "pitch": 10, "yaw": 0},
                         {"type": "group", "start_ms": 900, "actions": [{"type": "no_op", "start_ms": 0}]}]})

    def empty_group(self):
        self.raw({"type": "group", "start_ms": 0, "actions": []}, {"type": "wait", "start_ms": 0, "end_ms": 100})

    def wrong_request(self):
        answer = self.perform({"type": "stabilization", "start_ms": 0}, status="REJECTED")
        check(answer["pointer"] == "/args/actions/0/type", answer)
        answer = self.perform({"type": "head", "start_ms": 0, "yaw": 270}, status="REJECTED")
        check(answer["pointer"] == "/args/actions/0/yaw_rad", answer)
        answer = self.raw({"type": "face", "face": "smile", "start_ms": -1}, status="REJECTED")
        check(answer["pointer"] == "/args/actions/0/start_ms", answer)

    # The queue.

    def queue_and_clear(self):
        first = self.api.action({"actions": [{"type": "no_op", "start_ms": 0, "end_ms": 60000}]})
        second = self.api.action({"actions": [{"type": "no_op", "start_ms": 0, "end_ms": 60000}]})
        self.state("one runs and one waits", lambda s: s["action_queue"] == [first, second])
        # A wrong request with clear_action_queue changes nothing.
        self.perform({"type": "stabilization", "start_ms": 0}, clear_action_queue=True, status="REJECTED")
        check(self.api.robot_state()["action_queue"] == [first, second], "a wrong request cleared the queue")
        third = self.perform({"type": "display", "start_ms": 0, "name": "happy"}, clear_action_queue=True)["id"]
        for id in (first, second):
            check(self.robot.answer(id)["status"] == "SUPERSEDED", "a cleared request is superseded")
        done = self.state("the third is completed", lambda s: s["latest_completed_actions"][:1] == [third] and s)
        check(first not in done["latest_completed_actions"] and second not in done["latest_completed_actions"], done)

    def latest_completed(self):
        ids = [self.perform({"type": "no_op", "start_ms": 0})["id"] for _ in range(6)]
        self.state("the newest five, the newest first", lambda s: s["latest_completed_actions"] == ids[:0:-1])

    def latest_failed(self):
        ids = []
        for _ in range(6):
            self.admin.mqtt.publish(self.admin.topic("sim/fail-next"), json.dumps({"unit": "speaker", "reason": "timeout"}), qos=1).wait_for_publish()
            ids.append(self.perform({"type": "sound", "start_ms": 0, "name": "bark"}, status="FAILED")["id"])
        self.state("the newest five, the newest first", lambda s: s["latest_error_actions"] == ids[:0:-1])

    # Selection and timing. The times are those of the performance itself.

    def multiple(self):
        waits = [{"type": "wait", "start_ms": 0, "end_ms": 1500}] * 3
        within(lambda: self.lasted(*waits), 1500, 2900)

    def multiple_group(self):
        # A group of MULTIPLE does not delay what stands beside it.
        within(lambda: self.lasted({"type": "group", "start_ms": 0, "method": "multiple", "actions": [{"type": "wait", "start_ms": 0, "end_ms": 1500}]},
                                   {"type": "wait", "start_ms": 200, "end_ms": 1500}), 1500, 2600)

    def exclusive_group(self):
        # The clock of its parent stops while it lasts.
        within(lambda: self.lasted({"type": "group", "start_ms": 0, "method": "exclusive", "actions": [{"type": "wait", "start_ms": 0, "end_ms": 1500}]},
                                   {"type": "wait", "start_ms": 200, "end_ms": 1500}), 3000, 5000)

    def exclusive_group_waits(self):
        # It is due while another runs: it waits until that has ended.
        within(lambda: self.lasted({"type": "wait", "start_ms": 0, "end_ms": 1500},
                                   {"type": "group", "start_ms": 300, "method": "exclusive", "actions": [{"type": "wait", "start_ms": 0, "end_ms": 1500}]}, defer=True), 3000, 5000)

    def exclusive_action(self):
        conflict = [{"type": "wait", "start_ms": 0, "end_ms": 500}, {"type": "led", "start_ms": 100, "end_ms": 300, "colour": "#20c0ff", "method": "exclusive"}]
        check(self.raw(*conflict, status="REJECTED")["pointer"].startswith("/args/actions/"), "the place of the conflict")
        self.raw(*conflict, defer=True)
        self.raw(conflict[0], {**conflict[1], "start_ms": 500, "end_ms": 700})

    def no_same_type(self):
        heads = lambda first, then: [{"type": "head", "start_ms": 0, "end_ms": first, "yaw_rad": 0.1}, {"type": "head", "start_ms": then, "end_ms": then + 500, "yaw_rad": 0}]
        check(self.raw(*heads(500, 200), status="REJECTED")["pointer"].startswith("/args/actions/1"), "the second is refused")
        self.raw(*heads(500, 500))  # back to back
        self.raw({"type": "head", "start_ms": 0, "end_ms": 500, "yaw_rad": 0.1}, {"type": "pose", "start_ms": 0, "pitch_rad": 0.02, "timeout_ms": 3000})

    def timing(self):
        # Due at its start, and for its duration; shorter than a tick it runs once.
        self.raw({"type": "led", "start_ms": 3, "end_ms": 6, "colour": "#ff0000"})
        within(lambda: self.lasted({"type": "wait", "start_ms": 1000, "end_ms": 1200}), 1200, 2400)

    # Intents. ENAMOUR answers 204, or 400 with a message.

    def intents(self):
        emotion = lambda: self.robot.state.get("intent", {}).get("emotion")
        published = lambda name: next(i for i in reversed(self.robot.intents) if i["name"] == name)
        code, _ = self.api.intent(name="makeDogNeutral", text="be calm")
        check(code == 204 and published("makeDogNeutral")["reaction"] == {"act": "nod"}, published("makeDogNeutral"))
        self.robot.wait("neutral", lambda: emotion() == "neutral")
        code, _ = self.api.intent(name="makeDogSad", text="you are not welcome")
        check(code == 204 and "reaction" not in published("makeDogSad"), "only the emotion changes")
        self.robot.wait("sad", lambda: emotion() == "sad")
        # The same intent in another emotion is another act.
        code, _ = self.api.intent(name="makeDogNeutral")
        check(code == 204 and published("makeDogNeutral")["reaction"] == {"act": "smile"}, published("makeDogNeutral"))
        code, answer = self.api.intent(name="singSong", slots={"song": "Ode"})
        check(code == 204 and answer["reason"] == "unknown_intent" and published("singSong")["slots"] == {"song": "Ode"}, answer)
        code, answer = self.api.intent(name="makeDogSad", confidence=0.2)
        check(code == 204 and answer["reason"] == "low_confidence", answer)
        code, answer = self.api.intent(text="no name")
        check(code == 400 and answer["pointer"] == "/args/name", answer)
        code, answer = self.api.intent(name="danceAround")
        check(code == 400 and answer["reason"], answer)  # the robot has no such activity

    def intent_interrupts(self):
        code, answer = self.api.intent(name="getHelp")
        check(code == 204, answer)
        id = self.robot.wait("the handler", lambda: next((i["id"] for i in self.robot.state["interrupts"] if i["handler"] == "service"), None))
        check(self.robot.ask("interrupt/cancel", {"id": id})["status"] == "SUCCEEDED", "the handler ends")

    def intent_changes_the_mode(self):
        code, answer = self.api.intent(name="beManual")
        check(code == 204, answer)
        self.robot.wait("mnl", lambda: self.robot.state["mode"]["active"] == "mnl")

    # The broker. This role may not do more than act, post intents, interrupt and stop.

    def responder_may_not_set_modes(self):
        try:
            self.robot.ask("mode/set", {"mode": "ato"})
        except PermissionError as refused:
            check("forbidden" in str(refused), refused)
        else:
            check(False, "a responder set the mode")


def check(holds, what):
    if not holds:
        raise AssertionError(what)


def within(measure, low, high):
    """A busy machine may be late twice; it is never early."""
    for _ in range(3):
        if (ms := measure()) < low:
            break
        if ms <= high:
            return
    raise AssertionError(f"it took {ms} ms, not {low} to {high}")


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("robot", nargs="?", help="left out: print the setting intents that the examples need")
    p.add_argument("--name", default="resp1", help="user name at the broker, of the role responder")
    p.add_argument("--admin", default="admin", help="user name of an administrator, who makes units fail")
    p.add_argument("--broker", default="127.0.0.1:1883", help="host:port")
    o = p.parse_args()
    if not o.robot:
        print(json.dumps(INTENTS))
        return
    host, port = o.broker.rsplit(":", 1)
    robot, admin = (Robot(o.robot, name, host, int(port)) for name in (o.name, o.admin))
    robot.wait("the state", lambda: robot.state)
    examples = Examples(robot, admin)
    for name in (n for n in Examples.__dict__ if n not in ("__init__", "perform", "raw", "lasted", "state") and not n.startswith("__")):
        began = time.monotonic()
        try:
            getattr(examples, name)()
        except Exception as failed:
            print(f"{name}: {type(failed).__name__}: {failed}", file=sys.stderr)
            sys.exit(1)
        print(f"ok {name} {time.monotonic() - began:.1f}s", flush=True)


if __name__ == "__main__":
    main()
