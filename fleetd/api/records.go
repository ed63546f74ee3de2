package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/operation"
	"troupe/fleetd/records"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// RecordRequest asks a robot for its flight record.
type RecordRequest struct {
	LastMS int64 `json:"last_ms,omitempty" minimum:"1000" maximum:"86400000" default:"600000" doc:"how far back from now it begins" cli:"last,ms"`
	audit.Attribution
}

type recordList struct {
	Records []records.Record `json:"records"`
}

// OneRecord is the path parameters of a flight record.
type OneRecord struct {
	PathID
	Record string `path:"record" maxLength:"64"`
}

// recordUpload is the body of a flight record, which no handler has in memory as a whole.
type recordUpload struct {
	caller
	Key string `path:"key" maxLength:"64"`

	body       io.Reader
	size       int64
	connection *http.ResponseController
}

// Resolve fills it in; huma calls it.
func (u *recordUpload) Resolve(ctx huma.Context) []error {
	r, w := humago.Unwrap(ctx)
	u.body, u.size, u.connection = r.Body, r.ContentLength, http.NewResponseController(w)
	return u.caller.Resolve(ctx)
}

// exportVerb asks a robot for its flight record.
const exportVerb = "record/export"

// flightRecords registers the requests for what robots recorded.
func (s *server) flightRecords(t *operation.Table) {
	const path = "/robots/{id}/records"
	operation.Register(t, operation.Row{
		ID: "ask-record", Method: http.MethodPost, Path: path, Tag: "records", Right: auth.Records,
		Summary: "Get what a robot recorded",
		Description: "Asks the robot for the last minutes of its flight recorder (record/export). It sends them to this instance " +
			"as one MCAP file, which GET .../file downloads once state is done. One at a time for a robot. fleetd keeps " +
			"it for a day.",
		Audit: audit.CommandAction("record/export"),
		Use:   "robot record ROBOT",
		Short: "get what a robot recorded in the last minutes, as an MCAP file",
		Long: "Get what a robot recorded in the last minutes, at most a day: its state, what was demanded of it and what it did,\n" +
			"commands, events and signals. The robot sends its flight recording to fleetd, which keeps it for a day,\n" +
			"and the file is downloaded. Foxglove opens it; the schemas are inside. The record has what people\n" +
			"said to the robot and what it answered; the audit says who got it.",
		Example: "robot record r1 --last 10m\nrobot record r1 --last 1h --out fall.mcap --why 'it fell'\n" +
			"robot record r1 --id 20261123t053012-1f0c9a3b",
	}, s.askRecord)
	operation.Register(t, operation.Row{
		ID: "list-records", Method: http.MethodGet, Path: path, Tag: "records", Right: auth.Records,
		Summary: "List the flight records of a robot that this instance has, the newest first",
		Use:     "robot records ROBOT",
		Example: "robot records r1",
		Columns: "RECORD id | LAST Last() | STATE state | KIB KiB() | FROM from | TO to | BY by | UNTIL expires_at | BECAUSE why",
		None:    "no flight records",
	}, func(_ context.Context, in *PathID) (*answer[recordList], error) {
		return &answer[recordList]{recordList{nonNil(s.Records.List(in.ID))}}, nil
	})
	operation.Register(t, operation.Row{
		ID: "get-record", Method: http.MethodGet, Path: path + "/{record}", Tag: "records", Right: auth.Records,
		Summary: "Get how far a flight record is",
		Example: "robot record r1 --id 20261123t053012-1f0c9a3b",
	}, func(_ context.Context, in *OneRecord) (*answer[records.Record], error) {
		r, err := s.record(in)
		if err != nil {
			return nil, err
		}
		return &answer[records.Record]{r}, nil
	})
	operation.Register(t, operation.Row{
		ID: "get-record-file", Method: http.MethodGet, Path: path + "/{record}/file", Tag: "records", Right: auth.Records,
		Summary:     "Download a flight record",
		Description: "An MCAP file with its schemas inside, which Foxglove opens. The audit says who downloaded it.",
		Example:     "robot record r1 --id 20261123t053012-1f0c9a3b --out r1.mcap",
	}, func(_ context.Context, in *OneRecord) (*huma.StreamResponse, error) {
		return s.recordFile(in)
	})
	operation.Register(t, operation.Row{
		ID: "send-record", Method: http.MethodPut, Path: strings.TrimPrefix(schema.RecordsPath, Prefix) + "{key}", Tag: "records",
		Right:       auth.SelfProving,
		Summary:     "Send a flight record to fleetd",
		Description: "For robots, with their certificate, under the key of record/export. The key counts once.",
		Audit:       audit.ActionFlightRecord,
		NoLine:      "a robot sends a flight record that was asked for",
		More: func(o *huma.Operation) {
			o.RequestBody = &huma.RequestBody{Required: true,
				Content: map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: "string", Format: "binary"}}}}
		},
	}, func(ctx context.Context, in *recordUpload) (*struct{}, error) {
		return nil, s.receiveRecord(ctx, in)
	})
}

func (s *server) askRecord(ctx context.Context, in *idAndBody[RecordRequest]) (*accepted[records.Record], error) {
	d, err := s.robot(in.ID)
	switch {
	case err != nil:
		return nil, err
	case !s.Status().Broker.OK:
		return nil, KindBroker.Problem("robot "+in.ID+" cannot be asked: fleetd is not connected to the broker",
			"try again when the connection is back")
	case !connected(d.Robot):
		return nil, KindNoAnswer.Problem("robot "+in.ID+" cannot be asked for its record: it is "+d.Presence.Status,
			"ask again when it is online; until then robotd record export on the robot writes the file")
	case d.Caps != nil && !slices.Contains(d.Caps.Verbs, exportVerb):
		return nil, KindConflict.Problem("robot "+in.ID+" does not send flight records: its release is too old",
			"update robotd on it; robotd record export on the robot may know how to write the file")
	}
	last := time.Duration(cmp.Or(in.Body.LastMS, 600_000)) * time.Millisecond
	r, key, err := s.Records.Ask(in.ID, last, actingName(in.principal, in.Body.Who), in.principal.Source(), in.Body.Why)
	if err != nil {
		return nil, s.failRecord(err)
	}
	args, err := json.Marshal(map[string]any{"to": key, "last_ms": last.Milliseconds()})
	if err == nil {
		err = s.sendExport(ctx, in.principal, in.ID, args, in.Body, &r)
	}
	if err != nil {
		s.Records.Forget(r.ID)
		return nil, err
	}
	return &accepted[records.Record]{http.StatusAccepted, r}, nil
}

// sendExport sends the robot the command for a record.
func (s *server) sendExport(ctx context.Context, p auth.Principal, robot string, args json.RawMessage, in RecordRequest,
	r *records.Record) error {
	b, err := s.issue(ctx, p, CommandRequest{Verb: exportVerb, Args: args, Selector: selector.IDs(robot), By: in.Who, Why: in.Why}, "", "")
	if err != nil {
		return err
	}
	r.Command = b.Body.Commands[0].ID
	s.Records.SetCommand(r.ID, r.Command)
	return nil
}

func (s *server) record(in *OneRecord) (records.Record, error) {
	r, known := s.Records.Get(in.ID, in.Record)
	if !known {
		return r, KindNotFound.Problem(fmt.Sprintf("this instance has no flight record %s of robot %s", in.Record, in.ID),
			fmt.Sprintf("fleetd keeps a record for %v; with several instances, the one that was asked has it. Ask for it again", records.KeepFor))
	}
	return r, nil
}

func (s *server) recordFile(in *OneRecord) (*huma.StreamResponse, error) {
	r, err := s.record(in)
	if err != nil {
		return nil, err
	}
	if r.State != records.Done {
		return nil, KindConflict.Problem("the flight record cannot be downloaded: it is "+string(r.State), orElse(r.Why, "wait until it is done"))
	}
	f, err := s.Records.Open(r)
	if err != nil { // it was removed by a person, or just now
		return nil, KindNotFound.Problem("the file of flight record "+r.ID+" is gone", "ask for it again")
	}
	s.Records.Downloaded(r, actingName(in.principal, ""), in.principal.Source())
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		defer f.Close() //nolint:errcheck // it was read
		req, w := humago.Unwrap(ctx)
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Disposition", "attachment; filename="+strconv.Quote(r.Robot+"-"+r.ID+".mcap"))
		http.ServeContent(w, req, "", time.Time{}, &pacedFile{f, http.NewResponseController(w), s.Now})
	}}, nil
}

// receiveRecord takes what a robot sends. At the address for robots its certificate says which
// one it is. At the other address robots have no certificate, so a flight record is accepted there in
// development mode only.
func (s *server) receiveRecord(ctx context.Context, in *recordUpload) error {
	from := records.Upload{Size: in.size, Body: in.body, Extend: func() {
		_ = in.connection.SetReadDeadline(s.Now().Add(records.Silence)) // if it fails, the server's own deadline applies
		_ = in.connection.SetWriteDeadline(s.Now().Add(records.Silence + partTimeout))
	}}
	if in.tls != nil && len(in.tls.PeerCertificates) > 0 {
		issuer, err := s.issuer()
		if err != nil {
			return err
		}
		holder, err := robotOf(in.tls, issuer, s.Now())
		if err == nil {
			err = s.Identities.CheckCertificate(ctx, holder)
		}
		if err != nil {
			return s.failCredential(err, "flight record")
		}
		from.Robot = holder.Name
	} else if in.principal.Kind != auth.KindDev {
		return KindCertificate.Problem("only a robot with its certificate sends flight records",
			"enrol the robot; or start fleetd with --dev on the robot's machine")
	}
	if err := s.Records.Receive(in.Key, from); err != nil {
		return s.failRecord(err)
	}
	audit.Written(ctx) // Receive did
	return nil
}

// recordKinds maps the refusals of records to kinds of problems.
var recordKinds = map[records.RefusalKind]Kind{
	records.UnknownKey: KindNotFound, records.OtherRobot: KindNotAllowed, records.TooLarge: KindTooLarge, records.Unreadable: KindInvalid,
	records.Broken: KindSlow, records.DiskFailed: KindDisk, records.Busy: KindBusy,
}

func (s *server) failRecord(err error) error {
	var no *records.Refused
	if !errors.As(err, &no) {
		return s.fail(err, "flight record")
	}
	return recordKinds[no.Why].Problem(no.Detail, no.Hint)
}
