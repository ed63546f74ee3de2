package server_test

// dangers lists what the broker withstands and the library alone does not, as far as
// clients can observe it. See stock_test.go.
var dangers = []danger{
	// Authentication
	{what: "a client takes another's session by its client id", test: TestSessionCannotBeTakenWithAnotherName},
	{what: "names and ids with wildcards, persistent sessions, no keep-alive, old protocols", test: TestConnectIdentityRules},
	{what: "an empty users file admits every client", test: TestEmptyUsersFileAdmitsNobody},
	{what: "passwords are not checked", test: TestPasswordsAreChecked},
	{what: "clients that guess passwords are admitted, or keep out clients that know theirs", test: TestPasswordGuessersKeepNobodyOut},
	{what: "of two connections with one id both stay, or the new one receives nothing", test: TestOneConnectionPerIDRemainsAndReceives},

	// Connections before authentication
	{what: "a connection that never sends CONNECT stays for ever", test: TestSilentConnectionIsCutAfterTenSeconds},
	{what: "a CONNECT sent byte by byte keeps a connection open", test: TestConnectByteByByteIsCutAfterTenSeconds},
	{what: "a header before CONNECT makes the broker allocate 256 MB", test: TestOversizedFirstPacketIsRefused},
	{what: "a header after CONNECT makes the broker allocate 256 MB", test: TestOversizedPacketEndsOnlyItsConnection},
	{what: "silent connections use up the broker's sockets", test: TestSilentConnectionsAreLimited},
	{what: "a few silent connections keep out clients that send CONNECT", test: TestSilentConnectionsKeepNobodyOut},
	{what: "a client connects at an unlimited rate", test: TestAcceptRatePerAddressIsLimited},
	{what: "a silent connection costs 64 KiB", test: TestSilentConnectionNeedsLittleMemory},
	{what: "closing waits for silent connections", test: TestCloseDoesNotWaitForSilentConnections},
	{what: "acknowledged messages are lost when the broker closes", test: TestAcknowledgedMessagesAreDeliveredAtClose},
	{what: "one user name uses all connection slots, and a stop button gets none", test: TestConnectionSlotsPerNameAndReservedSlots},

	// Wills
	{what: "a will without a payload is refused with a code that clients take for success", test: TestWillWithoutPayloadIsSent},
	{what: "a refused CONNECT is answered with codes that MQTT 3.1.1 clients take for success", test: TestRefusedConnectGetsMQTT311Code},
	{what: "a will is published that its owner may not publish", test: TestForbiddenWillsAreRefused},
	{what: "a robot that has reconnected is declared lost by its old will", test: TestWillIsSentOnlyForLostClients},
	{what: "a stop that is a will is lost when another program takes over the client id, or sent by a panel that reconnects",
		test: TestStopOfAWillIsSentAtTakeOverUnlessTheNewConnectionArmsIt},
	{what: "a broker that closes publishes every robot as lost", test: TestClosingBrokerSendsNoWills},
	{what: "the will of a client that is disconnected for abuse is not sent", test: TestWillIsSentForClientCutForAbuse},

	// Authorization
	{what: "a refused publish ends the connection, and is sent again for ever", test: TestRefusedPublishIsAcknowledgedAndNotified},
	{what: "a publish to $SYS is never acknowledged, and sent again for ever", test: TestPublishToBrokerTopicsIsAcknowledgedAndRefused},
	{what: "retained commands, topics outside the table, too large messages", test: TestRefusedPublishes},
	{what: "a retained stop is replayed to later subscribers", test: TestStopPassesWithAnyPayloadAndIsNeverRetained},
	{what: "a retained event is replayed to later subscribers", test: TestRetainedEventIsPassedOnButNotRetained},
	{what: "wildcard subscriptions receive messages for other clients", test: TestCommandAndAnswerAreRouted},
	{what: "a console of one robot operates another, or sends it heartbeats", test: TestConsoleReachesItsRobotOnly},
	{what: "subscriptions to $SYS, $share and topics of other clients", test: TestSubscriptionIsGrantedIfSomethingMayBeRead},
	{what: "a client makes the broker search all documents again and again", test: TestSubscribeRateIsPerUserName},
	{what: "a client makes an unlimited number of subscriptions", test: TestNumberOfSubscriptionsIsLimited},
	{what: "documents of a removed user stay retained", test: TestDocumentsOfRemovedUserAreDeleted},
	{what: "a robot's blob connection publishes", test: TestBlobConnectionOnlyReadsBlobs},

	// Limits and slow clients
	{what: "a subscriber that does not read stalls publishers", test: TestStalledSubscriberDelaysNobody},
	{what: "a subscriber that does not read keeps its connection and its queue", test: TestStalledSubscriberIsCut},
	{what: "a subscriber that reads a little at a time keeps its queue full for ever", test: TestSlowReaderIsDisconnected},
	{what: "a robot publishes at an unlimited rate", test: TestRobotMessagesOverTheRateAreOmitted},
	{what: "a robot publishes large messages at an unlimited byte rate", test: TestRobotByteRateSparesAnswersAndPresence},
	{what: "a faulty joystick floods a robot with frames", test: TestFrameFloodIsLimitedAndStopArrives},
	{what: "an operator floods a robot, and the operator's stop waits behind", test: TestCommandFloodIsLimitedAndStopArrives},
	{what: "an operator sends to ever more robots and floods fleetd", test: TestCommandsToManyRobotsShareARateAndStopsArrive},
	{what: "a sender multiplies its rate by several connections", test: TestCommandRateSpansConnectionsOfASender},
	{what: "a client whose messages are all refused stays connected", test: TestClientIsCutForAbuse},
	{what: "a burst leaves a slow subscriber with an old state, unnoticed", test: TestBurstLeavesNewestStateAndCountsDrops},
	{what: "a slow subscriber ends with wrong documents", test: TestSlowSubscriberGetsNewestDocuments},
	{what: "a stop that nobody receives is acknowledged, and its sender learns nothing",
		test: TestSenderOfLiveStopThatNobodyReceivesIsNotified},
	{what: "a stop that is sent before robots and fleetd have connected again is lost",
		test: TestLiveStopReachesRobotsAndFleetdThatConnectWithin30Seconds},
	{what: "a new subscriber gets the first 8192 documents only", test: TestNewSubscriberGetsEveryDocument},
	{what: "deliveries beyond the in-flight limit vanish", test: TestClientWithoutAcknowledgementsIsCut},
	{what: "a stop that does not fit into a robot's queue vanishes", test: TestRobotIsCutIfACommandDoesNotFit},
	{what: "the messages queued for a stalled subscriber are not counted", test: TestLostDeliveriesOfStalledSubscriberAreCounted},
	{what: "a robot retains an unlimited number of documents", test: TestRobotRetainsOnlyItsDocuments},
	{what: "documents are deleted after a day", test: TestDocumentsOutliveADay},
	{what: "documents fill the memory", test: TestRetainedBytesAreLimited},

	// Sessions and packets
	{what: "a persistent session leaves subscriptions behind and replays old messages", test: TestSessionEndsWithItsConnection},
	{what: "a connection that takes a session over is sent what the old one had not acknowledged",
		test: TestTakeOverDeliversNothingOfTheOldSession},
	{what: "a SUBSCRIBE is refused because a delivery has its packet id", test: TestSubscribeWithPacketIDOfADeliveryIsGranted},
	{what: "a robot that connects too often loads the broker, or takes itself over for ever", test: TestRobotConnectRateIsLimited},
	{what: "topics that are empty, malformed, too long, or the broker's own", test: TestInvalidTopicsAreNotRouted},
	{what: "a truncated MQTT 5 SUBSCRIBE crashes the process", test: TestTruncatedMQTT5SubscribeEndsOnlyItsConnection},
	{what: "slow, huge, truncated, forged and random input while a robot is in use", test: TestBrokerSurvivesHostileInput},
	{what: "a duplicate QoS 2 message is delivered again", test: TestDuplicateQoS2MessageIsDeliveredOnce,
		stockHolds: "it remembers the packet id until it is released"},
	{what: "QoS 2 messages without PUBREL fill the memory", test: TestUnreleasedQoS2MessagesEndTheConnection,
		stockHolds: "it accepts 1024 at once"},
}
