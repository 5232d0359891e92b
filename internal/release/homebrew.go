package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// releases is where the files of a version are published.
const releases = "https://github.com/duskdb/duskdb/releases/download/v"

// formulaName is the formula for Homebrew, whose name is the package's.
const formulaName = "duskdb.rb"

// homebrew are the systems of Homebrew and its processors, in its words.
var homebrew = []struct {
	system, block string
	processors    []struct{ name, block string }
}{
	{"darwin", "on_macos", []struct{ name, block string }{{"arm64", "on_arm"}, {"amd64", "on_intel"}}},
	{"linux", "on_linux", []struct{ name, block string }{{"arm64", "on_arm"}, {"amd64", "on_intel"}}},
}

// formula writes the formula for the archives that were made; it makes none if there are
// only archives for Windows.
func (r *release) formula() error {
	from := r.url
	if from == "" {
		from = releases + string(r.version)
	}
	var sources strings.Builder
	for _, system := range homebrew {
		var block strings.Builder
		for _, processor := range system.processors {
			name := "duskdb-" + string(r.version) + "-" + system.system + "-" + processor.name + ".tar.gz"
			if !slices.Contains(r.made, name) {
				continue
			}
			content, err := os.ReadFile(filepath.Join(r.out, name))
			if err != nil {
				return err
			}
			sum := sha256.Sum256(content)
			fmt.Fprintf(&block, "    %s do\n      url \"%s/%s\"\n      sha256 \"%s\"\n    end\n", processor.block, from, name, hex.EncodeToString(sum[:]))
		}
		if block.Len() > 0 {
			fmt.Fprintf(&sources, "  %s do\n%s  end\n\n", system.block, block.String())
		}
	}
	if sources.Len() == 0 {
		return nil
	}
	return r.write(formulaName, []byte(fmt.Sprintf(formulaText, r.version, sources.String())))
}

// formulaText is Ruby, in the form of Homebrew's Formula Cookbook. Homebrew unpacks an archive
// and enters its only directory.
const formulaText = `class Duskdb < Formula
  desc "MongoDB-compatible server for data that expires"
  homepage "https://github.com/duskdb/duskdb"
  version "%s"
  license "Apache-2.0"

%s  def install
    bin.install "duskdb"
    man1.install "duskdb.1"
    bash_completion.install "completions/duskdb.bash" => "duskdb"
    zsh_completion.install "completions/_duskdb"
    fish_completion.install "completions/duskdb.fish"
    doc.install "THIRD_PARTY_NOTICES.txt", "duskdb.conf"
  end

  def post_install
    (var/"duskdb").mkpath
    chmod 0700, var/"duskdb"
  end

  service do
    run [opt_bin/"duskdb", "--dbpath", var/"duskdb"]
    keep_alive true
    error_log_path var/"log/duskdb.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/duskdb version")
  end
end
`
