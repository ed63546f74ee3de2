package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/schema"
	"troupe/schema/score"
)

// siteCommand has the commands of sites that are not made from rows.
func (sh *shell) siteCommand() *cobra.Command {
	return group("site", "opening hours, maintenance windows and maps: list, hours, week, set, map",
		group("map", "the image of a site's floor, which is drawn behind its robots: set, get, delete", sh.siteMapSetCommand(),
			sh.siteMapGetCommand()))
}

// rosMap is the description of a map that ROS saves.
type rosMap struct {
	Image      string    `json:"image"`
	Resolution float64   `json:"resolution"`
	Origin     []float64 `json:"origin"`
	Negate     int       `json:"negate"`
}

// siteMapFlags say where an image lies that no file of ROS describes.
type siteMapFlags struct {
	resolution float64
	origin     string
	negate     bool
	onMap, why string
}

func (sh *shell) siteMapSetCommand() *cobra.Command {
	var f siteMapFlags
	c := &cobra.Command{
		Use: "set SITE FILE", Short: "set the map of a site from a map of ROS (YAML beside a PGM or PNG), or from an image",
		Long: `Set the image of a site's floor, which the console draws behind its robots and places. FILE is the YAML
file that ROS saves with a map: its image, resolution, origin and negate are read. FILE may also be the image, PNG or PGM,
if --resolution says how many metres a pixel is, and --origin where its lower left corner lies. SITE - is for robots
without a site.`,
		Example: "  fleetd site map set berlin map.yaml\n  fleetd site map set berlin hall.png --resolution 0.02 --origin -10,-4",
		Args:    cobra.ExactArgs(2),
		RunE: run(func(cmd *cobra.Command, args []string) error {
			return sh.setSiteMap(cmd.Context(), args[0], args[1], f)
		}),
	}
	flags := c.Flags()
	flags.Float64Var(&f.resolution, "resolution", 0, "metres of one pixel; default: as the YAML file says")
	flags.StringVar(&f.origin, "origin", "",
		"where the lower left corner lies: `X,Y[,HEADING]`, in metres and radians; default: as the YAML file says, or 0,0")
	flags.BoolVar(&f.negate, "negate", false, "black is white, and white is black; default: as the YAML file says")
	flags.StringVar(&f.onMap, "on-map", "", "SHA-256 of the robots' map that it shows; default: each map of the site")
	whyFlag(c, &f.why)
	return c
}

func (sh *shell) setSiteMap(ctx context.Context, id, path string, f siteMapFlags) error {
	image := path
	var ros rosMap
	if slices.Contains([]string{".yaml", ".yml"}, strings.ToLower(filepath.Ext(path))) {
		_, body, err := sh.readAsJSON(path)
		if err != nil {
			return err
		}
		var found []schema.Problem
		if ros, found = schema.Decode[rosMap](body); len(schema.Errors(found)) > 0 || ros.Image == "" {
			return usage("%s: this is no map of ROS: it has no image, resolution and origin: [x, y, yaw]", path)
		}
		if image = ros.Image; !filepath.IsAbs(image) {
			image = filepath.Join(filepath.Dir(path), image)
		}
	}
	if f.origin != "" {
		var err error
		if ros.Origin, err = readNumbers("--origin "+f.origin, f.origin, "X,Y or X,Y,HEADING"); err != nil {
			return err
		}
	}
	if f.resolution != 0 {
		ros.Resolution = f.resolution
	}
	if ros.Resolution == 0 {
		return usage("write --resolution: how many metres a pixel is, such as 0.05")
	}
	if ros.Origin = append(ros.Origin, make([]float64, max(0, 3-len(ros.Origin)))...); len(ros.Origin) != 3 {
		return usage("the origin has %d numbers: write X,Y or X,Y,HEADING", len(ros.Origin))
	}
	if info, err := os.Stat(image); err == nil && info.Size() > score.MaxAsset {
		return fmt.Errorf("%s has %d bytes, fleetd accepts at most %d; make it smaller", image, info.Size(), score.MaxAsset)
	}
	body, err := os.ReadFile(filepath.Clean(image))
	if err != nil {
		return fmt.Errorf("read %s: %w", image, errors.Unwrap(err))
	}
	r := sh.request("put-site-map", given{"id": id, "resolution_m": ros.Resolution, "x_m": ros.Origin[0], "y_m": ros.Origin[1],
		"theta_rad": ros.Origin[2], "negate": ros.Negate != 0 || f.negate, "map_sha256": f.onMap, "why": f.why})
	a := r.http()
	a.body, a.file, a.timeout = binaryBody(body), image, uploadTimeout
	var got api.SiteMap
	if err := sh.call(ctx, a, &got); err != nil {
		return err
	}
	return sh.show(got, func(w io.Writer) {
		fmt.Fprintf(w, "the map of site %s is set: %d x %d pixels, %.2f x %.2f m\n", id, got.Width, got.Height,
			float64(got.Width)*got.ResolutionM, float64(got.Height)*got.ResolutionM)
	})
}

func (sh *shell) siteMapGetCommand() *cobra.Command {
	var into string
	c := &cobra.Command{
		Use: "get SITE", Short: "print where the map of a site lies, or download its image, a PNG", Args: exactlyOne,
		Example: "  fleetd site map get berlin\n  fleetd site map get berlin --out berlin.png",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			if into == "" {
				return sh.printSiteMap(cmd.Context(), args[0])
			}
			r := sh.request("get-site-map", given{"id": args[0]})
			body, err := sh.download(cmd.Context(), r, score.MaxAsset, "a map")
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Clean(into), body, 0o644); err != nil {
				return fmt.Errorf("write %s: %w", into, errors.Unwrap(err))
			}
			return sh.show(map[string]any{"file": into, "bytes": len(body)}, func(w io.Writer) { fmt.Fprintf(w, "%s: %d bytes\n", into, len(body)) })
		}),
	}
	c.Flags().StringVar(&into, "out", "", "file to download the image to")
	return c
}

func (sh *shell) printSiteMap(ctx context.Context, id string) error {
	var all api.SiteList
	r := sh.request("list-sites", given{})
	if err := sh.call(ctx, r.http(), &all); err != nil {
		return err
	}
	i := slices.IndexFunc(all.Sites, func(s api.Site) bool { return s.ID == id && s.Map != nil })
	if i < 0 {
		return fmt.Errorf("site %s has no map: fleetd site map set %[1]s FILE", id)
	}
	m := all.Sites[i].Map
	return sh.show(m, func(w io.Writer) {
		fmt.Fprintf(w, "map of site %s: %d x %d pixels, %.2f x %.2f m, %v m a pixel\n", id, m.Width, m.Height,
			float64(m.Width)*m.ResolutionM, float64(m.Height)*m.ResolutionM, m.ResolutionM)
		fmt.Fprintf(w, "lower left corner at %v, %v m, turned by %v rad\n", m.XM, m.YM, m.ThetaRad)
		if m.MapSHA256 != "" {
			fmt.Fprintf(w, "of the robots' map %s\n", m.MapSHA256)
		}
		fmt.Fprintf(w, "image: %d bytes, sha256 %s\n", m.Size, m.SHA256)
		fmt.Fprintf(w, "set %s by %s\n", m.Changed.Time().UTC().Format(time.RFC3339), m.By)
	})
}
