"""Tests of troupe.py with a stand-in for the connection to the broker."""

import json
import types
import unittest
import unittest.mock

import troupe


class Client(unittest.mock.Mock):
    """A connection that is subscribed at once."""

    def loop_start(self):
        self.on_subscribe(self, None, 1, [1])


class Notices(unittest.TestCase):
    def setUp(self):
        patch = unittest.mock.patch.object(troupe.mqtt, "Client", Client)
        patch.start()
        self.addCleanup(patch.stop)
        self.robot = troupe.Robot("r1", "resp1")

    def receive(self, on, **document):
        self.robot._received(None, None, types.SimpleNamespace(topic=f"troupe/v1/{on}", payload=json.dumps(document)))

    def notice(self, robot):
        topic = f"troupe/v1/robots/{robot}/cmd/resp1/act/perform"
        self.receive("clients/resp1/notice", reason="undelivered", detail="no robot", topic=topic)

    def test_refused_command_raises_an_error(self):
        id = self.robot.send("act/perform")
        self.notice("r1")
        with self.assertRaisesRegex(PermissionError, "undelivered: no robot"):
            self.robot.answer(id, timeout=1)

    def test_notice_about_another_command_is_no_refusal(self):
        id = self.robot.send("act/perform")
        self.notice("r2")
        self.receive("robots/r1/ack/resp1", id=id, status="SUCCEEDED")
        self.assertEqual(self.robot.answer(id, timeout=1)["status"], "SUCCEEDED")

    def test_notice_about_an_earlier_command_is_no_refusal(self):
        self.robot.send("act/perform")
        self.notice("r1")
        id = self.robot.send("act/perform")
        self.receive("robots/r1/ack/resp1", id=id, status="SUCCEEDED")
        self.assertEqual(self.robot.answer(id, timeout=1)["status"], "SUCCEEDED")


if __name__ == "__main__":
    unittest.main()
