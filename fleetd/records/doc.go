// Package records keeps flight records that robots send to this instance: MCAP files of what a
// robot recorded in the last minutes.
//
// A person asks for a record of a robot. The robot then sends it over HTTP under a key, which
// is valid once, for one robot and a limited time. The bytes go to the disk as they come. The
// file is offered once it is whole and readable as the record of that robot; anything else ends
// with a sentence that says why, and leaves nothing.
//
// Records are in a folder of this instance, which keeps each for a day and all together within
// a number of bytes. Beside each file is what is known of it, so that a restart forgets no
// record; one that was on its way ends then.
package records
