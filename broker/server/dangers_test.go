package server_test

// dangers lists what the broker withstands and the library alone does not, as far as
// clients can observe it. See stock_test.go.
var dangers = []danger{
	// Authentication
	{what: "a client takes another's session by its client id", test: TestNobodyTakesASessionByAnotherName},
	{what: "names and ids with wildcards, persistent sessions, no keep-alive, old protocols", test: TestWhoMayConnect},
	{what: "an empty users file admits every client", test: TestAnEmptyUsersFileIsNobody},
	{what: "passwords are not checked", test: TestPasswordsAreAskedForAndChecked},
	{what: "clients that guess passwords are admitted, or keep out clients that know theirs", test: TestStrangersWhoGuessPasswordsShutNobodyOut},
	{what: "of two connections with one id both stay, or the new one receives nothing", test: TestOfManyConnectionsOfOneIDOneStaysAndHears},

	// Connections before authentication
	{what: "a connection that never sends CONNECT stays for ever", test: TestWhoNeverSaysConnectIsCutAfterTenSeconds},
	{what: "a CONNECT sent byte by byte keeps a connection open", test: TestWhoSaysConnectByteByByteIsCutAfterTenSeconds},
	{what: "a header before CONNECT makes the broker allocate 256 MB", test: TestAHugeFirstPacketIsNotWaitedFor},
	{what: "a header after CONNECT makes the broker allocate 256 MB", test: TestAPacketOverTheLimitEndsItsConnectionOnly},
	{what: "silent connections use up the broker's sockets", test: TestConnectionsThatSayNothingAreCapped},
	{what: "a few silent connections keep out clients that send CONNECT", test: TestWhoSaysNothingKeepsNobodyOut},
	{what: "a client connects at an unlimited rate", test: TestConnectionsOfOneAddressAreTakenAtARate},
	{what: "a silent connection costs 64 KiB", test: TestAConnectionThatSaysNothingCostsNextToNothing},
	{what: "closing waits for silent connections", test: TestClosingDoesNotWaitForWhoSaysNothing},
	{what: "acknowledged messages are lost when the broker closes", test: TestWhatWasAcknowledgedIsHeardThoughTheBrokerCloses},
	{what: "one user name uses all connection slots, and a stop button gets none", test: TestOneNameTakesNoMorePlacesThanOthersLeaveItAndStopsHaveTheirOwn},

	// Wills
	{what: "a will without a payload is refused with a code that clients take for success", test: TestAWillWithoutAPayloadIsPublished},
	{what: "a refused CONNECT is answered with codes that MQTT 3.1.1 clients take for success", test: TestAConnectThatIsRefusedIsToldSoInCodesOfMQTT311},
	{what: "a will is published that its owner may not publish", test: TestWillsThatAreRefused},
	{what: "a robot that has reconnected is declared lost by its old will", test: TestAWillIsSentForWhoIsLostAndForNobodyElse},
	{what: "a broker that closes publishes every robot as lost", test: TestAClosingBrokerDeclaresNobodyLost},
	{what: "the will of a client that is disconnected for abuse is not sent", test: TestTheWillIsPublishedOfAClientThatIsCutForAbuse},

	// Authorization
	{what: "a refused publish ends the connection, and is sent again for ever", test: TestADeniedPublishIsAcknowledgedNotRoutedAndToldToItsSender},
	{what: "a publish to $SYS is never acknowledged, and sent again for ever", test: TestAPublishToTheBrokersOwnTopicsIsAcknowledgedAndRefused},
	{what: "retained commands, topics outside the table, too large messages", test: TestRefusedPublishes},
	{what: "a retained stop is replayed to later subscribers", test: TestAStopPassesWhateverItCarriesAndIsNeverKept},
	{what: "a retained event is replayed to later subscribers", test: TestWhatIsNoDocumentIsPassedOnButNotKept},
	{what: "wildcard subscriptions receive messages for other clients", test: TestACommandReachesTheRobotAndItsAnswerTheAsker},
	{what: "a console of one robot operates another, or sends it heartbeats", test: TestAConsoleReachesItsRobotAndNoOther},
	{what: "subscriptions to $SYS, $share and topics of other clients", test: TestSubscriptionsAreGrantedWhereSomethingMayBeRead},
	{what: "a client makes the broker search all documents again and again", test: TestWhoSubscribesAgainAndAgainIsHeldBackAndNobodyElse},
	{what: "a client makes an unlimited number of subscriptions", test: TestNobodySubscribesWithoutEnd},
	{what: "documents of a removed user stay retained", test: TestWhatIsLeftByWhoLosesHisRightIsRemoved},
	{what: "a robot's blob connection publishes", test: TestARobotsBlobConnectionOnlyReadsBlobsAndBlocksNobody},

	// Limits and slow clients
	{what: "a subscriber that does not read stalls publishers", test: TestNobodyWaitsForASubscriberThatStalls},
	{what: "a subscriber that does not read keeps its connection and its queue", test: TestAStalledSubscriberIsCut},
	{what: "a subscriber that reads a little at a time keeps its queue full for ever", test: TestASubscriberThatSipsIsCut},
	{what: "a robot publishes at an unlimited rate", test: TestARobotThatSpeaksTooOftenIsNotRoutedButStaysConnected},
	{what: "a robot publishes large messages at an unlimited byte rate", test: TestARobotThatSaysTooMuchIsHeldBackButNotItsAnswersAndItsPresence},
	{what: "a faulty joystick floods a robot with frames", test: TestAStickThatRavesIsHeldBackAndAStopBesideItStillArrives},
	{what: "an operator floods a robot, and the operator's stop waits behind", test: TestABusyOperatorIsHeldBackAndHisStopStillArrives},
	{what: "an operator sends to ever more robots and floods fleetd", test: TestWhoSpeaksToEverMoreRobotsIsHeldBackAndHisStopsStillArrive},
	{what: "a sender multiplies its rate by several connections", test: TestASenderIsHeldBackWhateverHeConnectsAs},
	{what: "a client whose messages are all refused stays connected", test: TestWhoDoesNothingButBreakTheRulesIsCut},
	{what: "a burst leaves a slow subscriber with an old state, unnoticed", test: TestAfterABurstTheStateIsWholeAndWhatWasLostIsCounted},
	{what: "a slow subscriber ends with wrong documents", test: TestASlowSubscriberHasTheRightPictureInTheEnd},
	{what: "a new subscriber gets the first 8192 documents only", test: TestANewSubscriberGetsEveryDocumentHoweverManyThereAre},
	{what: "deliveries beyond the in-flight limit vanish", test: TestWhoAcknowledgesNothingIsCutBeforeAnythingIsLostUnseen},
	{what: "a stop that does not fit into a robot's queue vanishes", test: TestARobotForWhichACommandDoesNotFitIsCut},
	{what: "the messages queued for a stalled subscriber are not counted", test: TestWhatWasQueuedForAStalledSubscriberIsCounted},
	{what: "a robot retains an unlimited number of documents", test: TestARobotKeepsNoMoreThanItsDocuments},
	{what: "documents are deleted after a day", test: TestDocumentsOutliveADay},
	{what: "documents fill the memory", test: TestDocumentsBeyondTheRoomForThemAreRefused},

	// Sessions and packets
	{what: "a persistent session leaves subscriptions behind and replays old messages", test: TestNobodysSessionOutlivesHisConnection},
	{what: "a connection that takes a session over is sent what the old one had not acknowledged", test: TestWhoTakesAConnectionOverIsSentNothingOfTheOldOne},
	{what: "a SUBSCRIBE is refused because a delivery has its packet id", test: TestASubscribeWhoseIDIsThatOfADeliveryIsGranted},
	{what: "a robot that connects too often loads the broker, or takes itself over for ever", test: TestARobotThatConnectsAgainAndAgainIsSlowedAndTheConnectionThatIsThereStays},
	{what: "topics that are empty, malformed, too long, or the broker's own", test: TestTopicsThatAreNoneGoNowhere},
	{what: "a truncated MQTT 5 SUBSCRIBE crashes the process", test: TestATruncatedSubscribeOfMQTT5EndsNobodyElse},
	{what: "slow, huge, truncated, forged and random input while a robot is in use", test: TestTheBrokerOutlivesWhateverIsSentToIt},
	{what: "a duplicate QoS 2 message is delivered again", test: TestAMessageOfQoS2ThatComesTwiceIsDeliveredOnce, stockHolds: "it remembers the packet id until it is released"},
	{what: "QoS 2 messages without PUBREL fill the memory", test: TestMessagesOfQoS2ThatAreNeverReleasedEndTheirConnection, stockHolds: "it accepts 1024 at once"},
}
