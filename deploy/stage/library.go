package stage

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"troupe/deploy/library"
	"troupe/fleetd/api"
	"troupe/fleetd/audit"
)

// publishLibrary publishes the shipped sounds, acts and stories in fleetd's
// library. It does not overwrite what a person changed or deleted there.
func (o *operatorSetup) publishLibrary(ctx context.Context) error {
	if err := o.putSounds(ctx); err != nil {
		return err
	}
	acts, err := library.Acts()
	if err != nil {
		return err
	}
	stories, err := library.Stories()
	if err != nil {
		return err
	}
	activities, err := library.Activities()
	if err != nil {
		return err
	}
	published := 0
	for _, kind := range []struct {
		path      string
		documents []library.Document
	}{{"/acts", acts}, {"/stories", stories}, {"/activities", activities}} {
		n, err := o.publishDocuments(ctx, kind.path, kind.documents)
		if err != nil {
			return err
		}
		published += n
	}
	switch all := len(acts) + len(stories) + len(activities); published {
	case 0:
		o.cfg.Say("the library is unchanged")
	case all:
		o.cfg.Say(fmt.Sprintf("published %d acts, %d stories and %d activities", len(acts), len(stories), len(activities)))
	default:
		o.cfg.Say(fmt.Sprintf("published %d of %d acts, stories and activities, which were new or changed", published, all))
	}
	return nil
}

// putSounds runs before acts are published, because acts name sounds. A sound that
// somebody deleted is uploaded again: fleetd keeps no record of deleted sounds.
func (o *operatorSetup) putSounds(ctx context.Context) error {
	sounds, err := library.Sounds()
	if err != nil {
		return err
	}
	known, err := request[struct {
		Assets []api.Asset `json:"assets"`
	}](ctx, o.fleetd, "GET", "/assets", nil, nil)
	if err != nil {
		return err
	}
	for _, d := range sounds {
		if slices.ContainsFunc(known.Assets, func(a api.Asset) bool { return a.Name == d.ID && a.By != operator }) {
			continue
		}
		if _, err := request[api.Uploaded](ctx, o.fleetd, "PUT", "/assets/"+d.ID, url.Values{"by": {operator}}, binaryBody(d.Text)); err != nil {
			return err
		}
	}
	return nil
}

func (o *operatorSetup) publishDocuments(ctx context.Context, path string, documents []library.Document) (published int, err error) {
	known, err := request[struct {
		Entries []api.Entry `json:"entries"`
	}](ctx, o.fleetd, "GET", path, url.Values{"deleted": {"true"}}, nil)
	if err != nil {
		return 0, err
	}
	for _, d := range documents {
		i := slices.IndexFunc(known.Entries, func(e api.Entry) bool { return e.ID == d.ID })
		if i >= 0 && (known.Entries[i].DeletedAt != 0 || known.Entries[i].ChangedBy != operator) {
			continue
		}
		saved, err := request[api.Saved](ctx, o.fleetd, "PUT", path+"/"+d.ID, url.Values{"by": {operator}}, yamlBody(d.Text))
		if err != nil {
			return published, err
		}
		if saved.Unchanged && saved.Entry.Rev > 0 {
			continue
		}
		if _, err := request[api.Published](ctx, o.fleetd, "POST", path+"/"+d.ID+"/publish", nil, audit.Attribution{Who: operator}); err != nil {
			return published, err
		}
		published++
	}
	return published, nil
}
