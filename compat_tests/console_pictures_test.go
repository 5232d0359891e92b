package compat

import (
	"cmp"
	picture "image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestConsolePictures makes the pictures of docs/images/console anew: each page of the web
// console at three widths in both colours. It runs only by
//
//	DUSKDB_CLIENTS=1 DUSKDB_CONSOLE_PICTURES=1 go test ./compat_tests -run TestConsolePictures
//
// With names of pages in place of 1, such as overview,queue, it makes theirs alone.
func TestConsolePictures(t *testing.T) {
	if os.Getenv("DUSKDB_CONSOLE_PICTURES") == "" {
		t.Skip("makes the pictures of the documentation only if DUSKDB_CONSOLE_PICTURES is set")
	}
	made := t.TempDir()
	s := start(t, "--test-clock", "--setParameter", "testClockStart=2026-01-01T00:00:00Z")
	consolePages(t, "console_pictures.js", "CONSOLE="+s.Console, "OUT="+made).reports(t)
	files, err := filepath.Glob(filepath.Join(made, "*.png"))
	if err != nil || len(files) == 0 {
		t.Fatal("no pictures", err)
	}
	for _, file := range files {
		if err := pack(file, filepath.Join("..", "docs", "images", "console", filepath.Base(file))); err != nil {
			t.Fatal(err)
		}
	}
}

// pack writes a picture with a palette, so that it takes a third of the space.
func pack(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	full, err := png.Decode(in)
	if err != nil {
		return err
	}
	small := picture.NewPaletted(full.Bounds(), paletteOf(full))
	draw.Draw(small, full.Bounds(), full, full.Bounds().Min, draw.Src)
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	return (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(out, small)
}

// paletteOf chooses colours one after the other: each time the one that most points have
// and that is farthest from those chosen before.
func paletteOf(p picture.Image) (palette color.Palette) {
	points := map[color.RGBA]int{}
	b := p.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			points[color.RGBAModel.Convert(p.At(x, y)).(color.RGBA)]++
		}
	}
	type candidate struct {
		color.RGBA
		points, far float64
	}
	var all []candidate
	for c, n := range points {
		all = append(all, candidate{c, math.Sqrt(float64(n)), math.MaxFloat64})
	}
	slices.SortFunc(all, func(x, y candidate) int {
		return cmp.Or(cmp.Compare(x.R, y.R), cmp.Compare(x.G, y.G), cmp.Compare(x.B, y.B))
	})
	for range min(len(all), 256) {
		next := slices.MaxFunc(all, func(x, y candidate) int { return cmp.Compare(x.points*x.far, y.points*y.far) })
		palette = append(palette, next.RGBA)
		for i := range all {
			r, g, b := float64(all[i].R)-float64(next.R), float64(all[i].G)-float64(next.G), float64(all[i].B)-float64(next.B)
			all[i].far = min(all[i].far, r*r+g*g+b*b)
		}
	}
	return palette
}
