package main

var stalledBenches, restBenches []bench
