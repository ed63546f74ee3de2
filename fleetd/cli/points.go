package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/selector"
	"troupe/schema"
)

func pointTable(_ *shell, out io.Writer, l api.RobotPoints) {
	if len(l.Points) == 0 {
		fmt.Fprintln(out, "no points")
		return
	}
	metres := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	writeTable(out, "POINT\tX\tY\tHEADING\tFROM", l.Points, func(p api.RobotPoint) []any {
		x, y, heading, from := "-", "-", "-", p.From
		if p.At != nil {
			if x, y = metres(p.At.XM), metres(p.At.YM); p.At.ThetaRad != nil {
				heading = metres(*p.At.ThetaRad)
			}
		}
		switch {
		case !p.Known:
			from += " (the robot does not have it yet)"
		case p.From == api.PointTaught && l.TaughtMap != "":
			from += " (on map sha256 " + l.TaughtMap[:min(len(l.TaughtMap), 12)] + ")"
		}
		return []any{p.Name, x, y, heading, from}
	})
}

// pointFlags are points to add: taught ones of a robot, or by their coordinates.
type pointFlags struct {
	from    string
	points  []string
	add     []string
	onMap   string
	replace bool
}

const pointsHelp = `With --from the points that were taught on a robot are added to the places that each robot has.
Coordinates hold only on the same map, so fleetd refuses places with another map than that of
the points. It cannot compare maps that bodies have of their own. A point of the same name
that lies elsewhere is replaced only with --replace. fleetd robot points lists taught points.
--add gives robots a point by its coordinates in the same way.`

func (p *pointFlags) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&p.from, "from", "", "add points that were taught on this robot")
	f.StringArrayVar(&p.points, "point", nil, "with --from: only this point; may be repeated")
	f.StringArrayVar(&p.add, "add", nil, "add the point `NAME=X,Y[,HEADING]`, in metres and radians; may be repeated")
	f.StringVar(&p.onMap, "on-map", "", "with --add: SHA-256 of the map on which the points lie; default: the body's own map")
	f.BoolVar(&p.replace, "replace", false, "with --from and --add: replace points of the same name that lie elsewhere")
}

// given returns the points of --add.
func (p *pointFlags) given(id string) (*api.DesiredPoints, error) {
	out := &api.DesiredPoints{ID: id, MapSHA256: p.onMap, Points: map[string]api.Point{}, Replace: p.replace}
	for _, text := range p.add {
		name, place, _ := strings.Cut(text, "=")
		at, err := readNumbers("--add "+text, place, "NAME=X,Y or NAME=X,Y,HEADING")
		if err != nil {
			return nil, err
		}
		switch len(at) {
		case 2:
			out.Points[name] = api.Point{XM: at[0], YM: at[1]}
		case 3:
			out.Points[name] = api.Point{XM: at[0], YM: at[1], ThetaRad: &at[2]}
		default:
			return nil, usage("--add %s: write NAME=X,Y or NAME=X,Y,HEADING", text)
		}
	}
	return out, nil
}

// readNumbers reads numbers with commas between them; form is how a flag is written.
func readNumbers(flag, text, form string) (all []float64, err error) {
	for word := range strings.SplitSeq(text, ",") {
		v, err := schema.ReadFloat(word)
		if refused := (*schema.NumberRefused)(nil); errors.As(err, &refused) {
			return nil, usage("%s: %v", flag, err)
		} else if err != nil {
			return nil, usage("%s: write %s", flag, form)
		}
		all = append(all, v)
	}
	return all, nil
}

// taughtPoints are points that were taught on one robot, to add to the places of robots.
func (sh *shell) taughtPoints(ctx context.Context, robots selector.Selector, taught pointFlags, id string) (*api.DesiredPoints, error) {
	var l api.RobotPoints
	if err := sh.do(ctx, "list-points", given{"id": taught.from}, &l); err != nil {
		return nil, err
	}
	add := &api.DesiredPoints{ID: id, MapSHA256: l.TaughtMap, Points: map[string]api.Point{}, Replace: taught.replace}
	var known []string
	for _, p := range l.Points {
		if p.From != api.PointTaught || p.At == nil {
			continue
		}
		known = append(known, p.Name)
		if len(taught.points) == 0 || slices.Contains(taught.points, p.Name) {
			add.Points[p.Name] = *p.At
		}
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("%s has no taught points on its map; teach it some with fleetd manual point-save", taught.from)
	}
	for _, name := range taught.points {
		if _, ok := add.Points[name]; !ok {
			return nil, fmt.Errorf("%s has no taught point %s on its map; it has %s", taught.from, name, strings.Join(known, ", "))
		}
	}
	if l.TaughtMap == "" && !slices.Equal(robots.IDs, []string{taught.from}) {
		fmt.Fprintf(sh.Err, "fleetd: warning: the points lie on the own map of the body of %s, which fleetd cannot compare with those of other "+
			"bodies; check that they are the same\n", taught.from)
	}
	return add, nil
}
