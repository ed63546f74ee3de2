package link_test

import (
	"context"
	"net"
	"net/url"
	"testing"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"troupe/broker/brokertest"
)

// The library takes every CONNACK code that it does not know for success, so the test
// checks that the will is really published.
func TestWillWithoutPayloadIsPublished(t *testing.T) {
	b := brokertest.Start(t)
	robot := b.Client(t, "r1")
	const stop = "troupe/v1/robots/r1/cmd/op1/safety/stop"
	robot.Subscribe(stop)
	var line net.Conn
	options := mqtt.NewClientOptions().AddBroker("tcp://"+b.Addr()).SetProtocolVersion(4).SetAutoReconnect(false).
		SetUsername("op1").SetClientID("op1.button").SetBinaryWill(stop, nil, 1, false).
		SetCustomOpenConnectionFn(func(u *url.URL, _ mqtt.ClientOptions) (conn net.Conn, err error) {
			conn, err = new(net.Dialer).DialContext(context.Background(), "tcp", u.Host)
			line = conn
			return conn, err
		})
	c := mqtt.NewClient(options)
	defer c.Disconnect(0)
	if token := c.Connect(); !token.WaitTimeout(brokertest.Timeout) || token.Error() != nil {
		t.Fatalf("connect: %v", token.Error())
	}
	if token := c.Subscribe("troupe/v1/clients/op1/notice", 1, nil); !token.WaitTimeout(brokertest.Timeout) || token.Error() != nil {
		t.Fatalf("subscribe, to see whether it is connected: %v", token.Error())
	}
	line.Close()
	if m := robot.Expect(stop); len(m.Payload) > 0 || m.Retain {
		t.Errorf("the will arrived as %v", m)
	}
}
