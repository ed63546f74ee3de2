package main

var roundTripBenches, commandBenches, stalledBenches, restBenches []bench
