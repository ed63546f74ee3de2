package cli

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/schema/score"
)

// uploadTimeout bounds the transfer of one file, for slow connections.
const uploadTimeout = 6 * time.Minute

// assetCommand manages the sounds and images that acts use.
func (sh *shell) assetCommand() *cobra.Command {
	return group("asset", "sounds and images that acts use, and maps of places: put, list, get, delete", sh.assetPutCommand(),
		sh.assetGetCommand())
}

func (sh *shell) assetPutCommand() *cobra.Command {
	var name, why string
	c := &cobra.Command{
		Use: "put FILE...", Short: "upload sounds (WAV, Ogg, MP3, FLAC), images (PNG, JPEG) and maps (JSON) of at most 16 MiB",
		Long: `Upload sounds (WAV, Ogg, MP3, FLAC), images (PNG, JPEG) and maps (JSON) of at most 16 MiB each. Acts
refer to sounds and images by name, places to a map: the file name without its extension, unless --name gives another. A
published story keeps the bytes that it was published with; publish it again to use new ones.`,
		Example: "  fleetd asset put sounds/gong.wav\n  fleetd asset put take-7.flac --name gong",
		Args:    atLeastOne,
		RunE: run(func(cmd *cobra.Command, args []string) error {
			if name != "" && len(args) > 1 {
				return usage("--name works with one file only, not with %d", len(args))
			}
			var done []api.Uploaded
			for _, path := range args {
				up, err := sh.putAsset(cmd.Context(), path, orElse(name, assetNameOf(path)), why)
				if err != nil {
					return uploadError(sh.show(done, func(w io.Writer) { uploadedLines(w, done) }), err)
				}
				done = append(done, up)
			}
			return sh.show(done, func(w io.Writer) { uploadedLines(w, done) })
		}),
	}
	c.Flags().StringVar(&name, "name", "", "name of the asset; default: the file name without its extension")
	whyFlag(c, &why)
	return c
}

// uploadError returns the error of the upload before an error of showing the earlier ones.
func uploadError(shown, err error) error {
	if err != nil {
		return err
	}
	return shown
}

// assetNameOf returns the file name without folder and extension.
func assetNameOf(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// isAssetFile reports whether publishing a folder uploads this file as an asset.
func isAssetFile(path string) bool {
	return slices.Contains([]string{".wav", ".ogg", ".mp3", ".flac", ".png", ".jpg", ".jpeg"}, strings.ToLower(filepath.Ext(path)))
}

// assetFiles lists the sounds and images in folders.
func assetFiles(paths []string) (files []string, err error) {
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			continue // sources has reported what cannot be read
		}
		err := filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && isAssetFile(file) {
				files = append(files, file)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
	}
	return files, nil
}

// putAssetsOf uploads the sounds and images in folders, so that the acts published
// after them find them.
func (sh *shell) putAssetsOf(ctx context.Context, paths []string, why string) error {
	files, err := assetFiles(paths)
	if err != nil {
		return err
	}
	for _, file := range files {
		up, err := sh.putAsset(ctx, file, assetNameOf(file), why)
		if err != nil {
			return err
		}
		uploadedLines(sh.Err, []api.Uploaded{up})
	}
	return nil
}

// newAssetsOf describes the sounds and images in folders for a validation.
func newAssetsOf(paths []string) (assets []api.NewAsset, err error) {
	files, err := assetFiles(paths)
	for _, file := range files {
		kind := score.AssetSound
		switch strings.ToLower(filepath.Ext(file)) {
		case ".png", ".jpg", ".jpeg":
			kind = score.AssetFace
		}
		body, err := os.ReadFile(filepath.Clean(file))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", file, errors.Unwrap(err))
		}
		assets = append(assets, api.NewAsset{Name: assetNameOf(file), Kind: string(kind), SHA256: fmt.Sprintf("%x", sha256.Sum256(body)),
			Size: int64(len(body))})
	}
	return assets, err
}

func (sh *shell) putAsset(ctx context.Context, path, name, why string) (up api.Uploaded, err error) {
	if info, err := os.Stat(path); err == nil && info.Size() > score.MaxAsset {
		return up, fmt.Errorf("%s has %d bytes, robots accept at most %d; make it shorter, or compress it", path, info.Size(), score.MaxAsset)
	}
	body, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return up, fmt.Errorf("read %s: %w", path, errors.Unwrap(err))
	}
	r := sh.request("put-asset", given{"name": name, "why": why})
	a := r.http()
	line := sh.progress(path, "KiB")
	defer line.clear()
	a.body, a.file, a.timeout = binaryBody(body), path, uploadTimeout
	a.onSent = func(n int) { line.show(n>>10, len(body)>>10) }
	return up, sh.call(ctx, a, &up)
}

func uploadedLines(w io.Writer, done []api.Uploaded) {
	for _, up := range done {
		word := "uploaded"
		if up.Unchanged {
			word = "unchanged"
		}
		fmt.Fprintf(w, "asset %s %s (%s, %d bytes, sha256 %s)\n", up.Asset.Name, word, up.Asset.Media, up.Asset.Size, up.Asset.SHA256[:12])
		staleLine(w, "stories", "version", up.Stale)
		staleLine(w, "activities", "version", up.StaleActivities)
	}
}

func assetTable(_ *shell, out io.Writer, got api.AssetList) {
	if len(got.Assets) == 0 {
		fmt.Fprintln(out, "no assets")
		return
	}
	writeTable(out, "ASSET\tFORMAT\tLENGTH\tBYTES\tSHA256\tUSED BY\tCHANGED\tBY", got.Assets, func(a api.Asset) []any {
		var users []string
		for _, u := range a.Uses {
			users = append(users, orElse(u.Story, u.Activity))
		}
		by := dash(strings.Join(slices.Compact(users), " "))
		return []any{a.Name, orElse(a.Format, a.Media), dash(extent(a)), a.Size, a.SHA256[:12], by, formatTime(a.At), dash(a.By)}
	})
}

// extent is how long a sound is, or how large an image; empty if it is not known.
func extent(a api.Asset) string {
	switch {
	case a.LengthMS > 0:
		return fmt.Sprintf("%.1f s", float64(a.LengthMS)/1000)
	case a.Width > 0:
		return fmt.Sprintf("%d x %d", a.Width, a.Height)
	}
	return ""
}

func (sh *shell) assetGetCommand() *cobra.Command {
	var into string
	c := &cobra.Command{
		Use: "get NAME", Short: "show an asset and what uses it; --out downloads it", Args: exactlyOne,
		RunE: run(func(cmd *cobra.Command, args []string) error {
			var a api.Asset
			if err := sh.do(cmd.Context(), "get-asset", given{"name": args[0]}, &a); err != nil {
				return err
			}
			if into != "" {
				if err := sh.getFile(cmd.Context(), a, into); err != nil {
					return err
				}
			}
			return sh.show(a, func(w io.Writer) { assetDetail(w, a) })
		}),
	}
	c.Flags().StringVar(&into, "out", "", "file to download it to")
	return c
}

func assetDetail(w io.Writer, a api.Asset) {
	fmt.Fprintf(w, "%s  %s  %s  %d bytes  sha256 %s  %s %s\n", a.Name, orElse(a.Format, a.Media), dash(extent(a)), a.Size, a.SHA256,
		formatTime(a.At), a.By)
	for _, u := range a.Uses {
		newest := ""
		if u.Newest {
			newest = ", the newest"
		}
		what := "story " + u.Story
		if u.Activity != "" {
			what = "activity " + u.Activity
		}
		fmt.Fprintf(w, "  %s revision %d%s  %s\n", what, u.Rev, newest, strings.Join(u.Robots, " "))
	}
}

// getFile downloads an asset into a file. It writes the file only if the download is
// complete, and reads no more than the asset has.
func (sh *shell) getFile(ctx context.Context, a api.Asset, path string) error {
	body, err := sh.download(ctx, sh.request("get-file", given{"digest": a.SHA256}), a.Size, a.Name)
	if err != nil {
		return err
	}
	if n := int64(len(body)); n < a.Size {
		return fmt.Errorf("fleetd sent %d bytes of %d", n, a.Size)
	}
	if err := os.WriteFile(filepath.Clean(path), body, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", path, errors.Unwrap(err))
	}
	return nil
}

// download returns what a request is answered with, which has at most that many bytes.
func (sh *shell) download(ctx context.Context, r rowRequest, most int64, what string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, uploadTimeout)
	defer cancel()
	a := r.http()
	response, err := sh.open(ctx, a)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, most+1))
	switch {
	case err != nil:
		return nil, sh.unreachable(err, a.hint)
	case int64(len(body)) > most:
		return nil, fmt.Errorf("fleetd sent more than the %d bytes of %s", most, what)
	}
	return body, nil
}

func deleteAsset(sh *shell, _ *cobra.Command) finish {
	return func(ctx context.Context, args []string, r rowRequest) error {
		if err := sh.call(ctx, r.http(), nil); err != nil {
			return err
		}
		return sh.show(map[string]string{"deleted": args[0]}, func(w io.Writer) { fmt.Fprintln(w, r.sentence(reflect.Value{})) })
	}
}
