package schema

// RecordsPath is where robots send flight records to fleetd, each under the key that the
// command record/export named.
const RecordsPath = "/api/v1/records/"

// MaxRecordBytes bounds a flight record that a robot sends. A robot that may move writes about
// 7 MiB an hour.
const MaxRecordBytes = 64 << 20
