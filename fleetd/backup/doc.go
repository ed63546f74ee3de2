// Package backup makes one file of what a fleet needs to begin again on another computer, and fills a database and a
// folder from such a file.
//
// The file is a tar archive, so that it can be opened without fleetd:
//
//	database.zst.age    the database: an SQLite file, or a dump of pg_dump in its custom format; compressed with zstd,
//	                    sealed with age and the passphrase
//	files.tar.age       a tar archive of keys, certificates, settings and waiting stops, sealed likewise; its first member,
//	                    manifest.json, names each file and the database with their digests
//	manifest.json       what the backup is a copy of, and the digests of the two sealed members
//	SHA256SUMS          digests of the three other members, as sha256sum -c reads them
//
// The members stand in this order, and every byte of the file is determined by them: a file that differs in one bit, or
// that was cut, is refused. The sealed manifest says what belongs together, since only who knows the passphrase can write
// one.
//
// A backup is written beside its place under another name and renamed when it is on the disk. A restore reads and checks
// all of a backup before it changes the target.
package backup
