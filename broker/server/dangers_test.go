package server_test

// dangers are what the broker withstands and the library alone does not, as far
// as it shows on the wire. See stock_test.go.
var dangers = []danger{
	// Who are you?
	{what: "a client takes another's session by its client id", test: TestNobodyTakesASessionByAnotherName},
	{what: "names and ids with wildcards, kept sessions, no keep-alive, old protocols", test: TestWhoMayConnect},
	{what: "an empty users file lets everybody in", test: TestAnEmptyUsersFileIsNobody},
	{what: "passwords are not asked for", test: TestPasswordsAreAskedForAndChecked},
	{what: "unknown clients who guess passwords are let in, or shut out who need not guess", test: TestStrangersWhoGuessPasswordsShutNobodyOut},
	{what: "of two connections of one id both stay, or the new one is half-open", test: TestOfManyConnectionsOfOneIDOneStaysAndHears},

	// Unknown clients
	{what: "a connection that never says CONNECT stays for ever", test: TestWhoNeverSaysConnectIsCutAfterTenSeconds},
	{what: "a CONNECT byte by byte holds a connection", test: TestWhoSaysConnectByteByByteIsCutAfterTenSeconds},
	{what: "a header before CONNECT makes the broker allocate 256 MB", test: TestAHugeFirstPacketIsNotWaitedFor},
	{what: "a header after CONNECT makes the broker allocate 256 MB", test: TestAPacketOverTheLimitEndsItsConnectionOnly},
	{what: "silent connections use up the broker's sockets", test: TestConnectionsThatSayNothingAreCapped},
	{what: "a few who say nothing keep out who says CONNECT", test: TestWhoSaysNothingKeepsNobodyOut},
	{what: "who connects without end is taken without end", test: TestConnectionsOfOneAddressAreTakenAtARate},
	{what: "a connection that says nothing costs 64 KiB", test: TestAConnectionThatSaysNothingCostsNextToNothing},
	{what: "closing waits for silent connections", test: TestClosingDoesNotWaitForWhoSaysNothing},
	{what: "what was acknowledged is thrown away when the broker closes", test: TestWhatWasAcknowledgedIsHeardThoughTheBrokerCloses},
	{what: "one name takes all places, and a button finds none", test: TestOneNameTakesNoMorePlacesThanOthersLeaveItAndStopsHaveTheirOwn},

	// Wills
	{what: "a stop without a payload is refused as a will, in a code that clients take for success", test: TestAWillWithoutAPayloadIsPublished},
	{what: "codes that clients of MQTT 3.1.1 take for success", test: TestAConnectThatIsRefusedIsToldSoInCodesOfMQTT311},
	{what: "a will is published that its owner may not publish", test: TestWillsThatAreRefused},
	{what: "a robot that is connected again is declared lost by its old will", test: TestAWillIsSentForWhoIsLostAndForNobodyElse},
	{what: "a broker that closes declares every robot lost", test: TestAClosingBrokerDeclaresNobodyLost},
	{what: "a client that is cut for abuse leaves no will", test: TestTheWillIsPublishedOfAClientThatIsCutForAbuse},

	// May you?
	{what: "a refused publish ends the connection, and is sent again for ever", test: TestADeniedPublishIsAcknowledgedNotRoutedAndToldToItsSender},
	{what: "a publish to $SYS is never acknowledged, and sent again for ever", test: TestAPublishToTheBrokersOwnTopicsIsAcknowledgedAndRefused},
	{what: "retained commands, foreign topics, too large messages", test: TestRefusedPublishes},
	{what: "a retained stop is replayed to who comes later", test: TestAStopPassesWhateverItCarriesAndIsNeverKept},
	{what: "a retained event is replayed to who comes later", test: TestWhatIsNoDocumentIsPassedOnButNotKept},
	{what: "wildcard subscriptions hear what is others'", test: TestACommandReachesTheRobotAndItsAnswerTheAsker},
	{what: "a console at one robot operates another, or keeps its link", test: TestAConsoleReachesItsRobotAndNoOther},
	{what: "subscriptions to $SYS, $share and what is others'", test: TestSubscriptionsAreGrantedWhereSomethingMayBeRead},
	{what: "a client has all documents searched again and again", test: TestWhoSubscribesAgainAndAgainIsHeldBackAndNobodyElse},
	{what: "a client subscribes without end", test: TestNobodySubscribesWithoutEnd},
	{what: "what somebody left is handed out although he lost his right", test: TestWhatIsLeftByWhoLosesHisRightIsRemoved},
	{what: "a robot's blob connection publishes", test: TestARobotsBlobConnectionOnlyReadsBlobsAndBlocksNobody},

	// How much?
	{what: "a subscriber that does not read stalls publishers", test: TestNobodyWaitsForASubscriberThatStalls},
	{what: "a subscriber that does not read keeps its connection and its queue", test: TestAStalledSubscriberIsCut},
	{what: "a subscriber that reads a little at a time keeps its queue full for ever", test: TestASubscriberThatSipsIsCut},
	{what: "a robot sends without limit", test: TestARobotThatSpeaksTooOftenIsNotRoutedButStaysConnected},
	{what: "a robot sends few messages that are large, without end", test: TestARobotThatSaysTooMuchIsHeldBackButNotItsAnswersAndItsPresence},
	{what: "a stick that raves floods a robot", test: TestAStickThatRavesIsHeldBackAndAStopBesideItStillArrives},
	{what: "an operator floods a robot, and his stop waits behind", test: TestABusyOperatorIsHeldBackAndHisStopStillArrives},
	{what: "an operator speaks to ever more robots, and floods fleetd", test: TestWhoSpeaksToEverMoreRobotsIsHeldBackAndHisStopsStillArrive},
	{what: "a sender multiplies his rate by connecting more often", test: TestASenderIsHeldBackWhateverHeConnectsAs},
	{what: "who does nothing but break the rules goes on", test: TestWhoDoesNothingButBreakTheRulesIsCut},
	{what: "a burst leaves a slow subscriber with an old state, and nobody knows", test: TestAfterABurstTheStateIsWholeAndWhatWasLostIsCounted},
	{what: "a slow subscriber is left with a wrong picture", test: TestASlowSubscriberHasTheRightPictureInTheEnd},
	{what: "a new subscriber gets the first 8192 documents only", test: TestANewSubscriberGetsEveryDocumentHoweverManyThereAre},
	{what: "deliveries beyond the in-flight limit vanish", test: TestWhoAcknowledgesNothingIsCutBeforeAnythingIsLostUnseen},
	{what: "a stop that does not fit into a robot's queue vanishes", test: TestARobotForWhichACommandDoesNotFitIsCut},
	{what: "what waited for a stalled subscriber vanishes", test: TestWhatWasQueuedForAStalledSubscriberIsCounted},
	{what: "a robot keeps documents without end", test: TestARobotKeepsNoMoreThanItsDocuments},
	{what: "documents are deleted when they are a day old", test: TestDocumentsOutliveADay},
	{what: "documents fill the memory", test: TestDocumentsBeyondTheRoomForThemAreRefused},

	// Sessions and packets
	{what: "a kept session leaves subscriptions behind and replays what is old", test: TestNobodysSessionOutlivesHisConnection},
	{what: "who takes a connection over is sent what the old one had not acknowledged", test: TestWhoTakesAConnectionOverIsSentNothingOfTheOldOne},
	{what: "a SUBSCRIBE is refused because a delivery has its packet id", test: TestASubscribeWhoseIDIsThatOfADeliveryIsGranted},
	{what: "a robot that flaps wears the broker out, or takes itself over for ever", test: TestARobotThatConnectsAgainAndAgainIsSlowedAndTheConnectionThatIsThereStays},
	{what: "topics that are empty, malformed, endless, or the broker's own", test: TestTopicsThatAreNoneGoNowhere},
	{what: "a SUBSCRIBE of MQTT 5 that is cut off ends the process", test: TestATruncatedSubscribeOfMQTT5EndsNobodyElse},
	{what: "slow, huge, truncated, forged and random input, while a robot is at work", test: TestTheBrokerOutlivesWhateverIsSentToIt},
	{what: "a duplicate of QoS 2 is delivered again", test: TestAMessageOfQoS2ThatComesTwiceIsDeliveredOnce, stockHolds: "it remembers the packet id until it is released"},
	{what: "messages of QoS 2 that are never released fill the memory", test: TestMessagesOfQoS2ThatAreNeverReleasedEndTheirConnection, stockHolds: "it takes 1024 at once"},
}
