"""A client of one robot over MQTT: commands with their answers, its state and its intents."""

import json
import threading
import time
import uuid

import paho.mqtt.client as mqtt

NOT_FINAL = ("ACCEPTED", "IN_PROGRESS")


class Robot:
    """One connection to the broker, as the user `name`, for the robot `robot`."""

    def __init__(self, robot, name, host="127.0.0.1", port=1883, password=None, ca=None):
        self.robot, self.name = robot, name
        self.changed = threading.Condition()  # guards what follows; notified on every message
        self.state, self.acks, self.events, self.intents = {}, [], [], []
        self.topics, self.refused = {}, {}  # of the commands by id; why the broker refused one, by topic
        self.granted = False
        # The client id is the user's name, or begins with it and a dot. Version 2 of the
        # library wants to be told that these are the callbacks of version 1.
        version = {"callback_api_version": mqtt.CallbackAPIVersion.VERSION1} if hasattr(mqtt, "CallbackAPIVersion") else {}
        self.mqtt = mqtt.Client(client_id=f"{name}_{uuid.uuid4().hex[:8]}", **version)
        self.mqtt.username_pw_set(name, password)
        if ca:
            self.mqtt.tls_set(ca_certs=ca)
        self.mqtt.on_connect = self._connected
        self.mqtt.on_subscribe = self._subscribed
        self.mqtt.on_message = self._received
        self.mqtt.connect(host, port)
        self.mqtt.loop_start()
        self.wait("the subscriptions", lambda: self.granted)

    def close(self):
        self.mqtt.disconnect()
        self.mqtt.loop_stop()

    def topic(self, rest):
        return f"troupe/v1/robots/{self.robot}/{rest}"

    def send(self, verb, args=None, id=None, **envelope):
        """Sends a command and returns its id. A command that was sent again with the same id
        and content is performed once."""
        id = id or str(uuid.uuid4())
        payload = {"id": id, "args": args or {}, **envelope}
        topic = self.topics[id] = self.topic(f"cmd/{self.name}/{verb}")
        with self.changed:
            self.refused.pop(topic, None)  # that was about an earlier command
        self.mqtt.publish(topic, json.dumps(payload), qos=1)
        return id

    def answer(self, id, timeout=60):
        """Waits for the final answer to a command. One that the broker refuses raises an error."""
        def final():
            ack = next((a for a in self.acks if a.get("id") == id and a["status"] not in NOT_FINAL), None)
            if not ack and (why := self.refused.pop(self.topics.get(id), None)):
                raise PermissionError(why)
            return ack
        return self.wait(f"the answer to {id}", final, timeout)

    def ask(self, verb, args=None, id=None, timeout=60, **envelope):
        return self.answer(self.send(verb, args, id, **envelope), timeout)

    def wait(self, what, holds, timeout=60):
        """Waits until holds() returns something true, and returns that."""
        end = time.monotonic() + timeout
        with self.changed:
            while not (found := holds()):
                if not self.changed.wait(end - time.monotonic()):
                    raise TimeoutError(f"{self.robot}: {what} did not come within {timeout} s; the state is {json.dumps(self.state)}")
            return found

    def _connected(self, client, userdata, flags, code):
        if code != 0:
            print(f"the broker refuses {self.name}: {mqtt.connack_string(code)}", flush=True)
            return
        own = [f"ack/{self.name}", "state", "event", "intent"]
        client.subscribe([(self.topic(t), 1) for t in own] + [(f"troupe/v1/clients/{self.name}/notice", 1)])

    def _subscribed(self, client, userdata, mid, codes):
        with self.changed:
            self.granted = True
            self.changed.notify_all()

    def _received(self, client, userdata, message):
        try:
            document = json.loads(message.payload)
        except ValueError:
            return
        with self.changed:
            kind = message.topic[len(self.topic("")):].split("/")[0]
            if message.topic.endswith("/notice"):
                # Every connection of this user gets it, also about messages of the others.
                self.refused[document.get("topic")] = f"{document.get('reason')}: {document.get('detail')}"
            elif kind == "state":
                self.state = document
            else:
                {"ack": self.acks, "event": self.events, "intent": self.intents}[kind].append(document)
            self.changed.notify_all()
