package compat

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// hour is one line of vega-datasets' hourly weather at Seattle.
type hour struct {
	At          time.Time
	Pressure    float64
	Temperature float64
	Wind        float64
}

// weather reads a year of hours.
func weather(t *testing.T) []hour {
	t.Helper()
	f, err := os.Open(filepath.Join(datasets(t), "seattle-weather-hourly-normals.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []hour
	for _, r := range rows[1:] {
		at, err := time.Parse("2006-01-02T15:04:05", r[0])
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, hour{At: at, Pressure: number(t, r[1]), Temperature: number(t, r[2]), Wind: number(t, r[3])})
	}
	return out
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// readJSON decodes a file of vega-datasets.
func readJSON(t *testing.T, name string, into any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(datasets(t), name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
}

// flight is one of vega-datasets' flights.
type flight struct {
	Date        string `bson:"date" json:"date"`
	Delay       int    `bson:"delay" json:"delay"`
	Distance    int    `bson:"distance" json:"distance"`
	Origin      string `bson:"origin" json:"origin"`
	Destination string `bson:"destination" json:"destination"`
}

// movie is what the tests use of vega-datasets' movies.
type movie struct {
	Title    any      `bson:"Title" json:"Title"` // some are numbers
	Gross    any      `bson:"Worldwide Gross" json:"Worldwide Gross"`
	Rating   *string  `bson:"MPAA Rating" json:"MPAA Rating"`
	Genre    *string  `bson:"Major Genre" json:"Major Genre"`
	Director *string  `bson:"Director" json:"Director"`
	IMDB     *float64 `bson:"IMDB Rating" json:"IMDB Rating"`
}
