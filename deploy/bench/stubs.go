package main

var restBenches []bench
