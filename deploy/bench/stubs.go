package main

var commandBenches, stalledBenches, restBenches []bench
