package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duskdb/duskdb/internal/needs"
)

// The formula names each archive with its sum, and is Ruby. A stand-in for Homebrew's class
// runs its blocks and its install.
func TestFormula(t *testing.T) {
	r := packed(t, platform{"darwin", "arm64"}, platform{"darwin", "amd64"}, platform{"linux", "amd64"}, platform{"windows", "amd64"})
	text := string(r.read(t, formulaName))
	for _, p := range []string{"darwin-arm64", "darwin-amd64", "linux-amd64"} {
		name := "duskdb-1.2.0-rc.1-" + p + ".tar.gz"
		sum := sha256.Sum256(r.read(t, name))
		if want := releases + "1.2.0-rc.1/" + name + "\"\n      sha256 \"" + hex.EncodeToString(sum[:]) + "\""; !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if strings.Contains(text, "windows") || strings.Contains(text, "linux-arm64") {
		t.Errorf("archives that do not exist in\n%s", text)
	}
	if _, err := os.Stat(filepath.Join(packed(t, platform{"windows", "arm64"}).out, formulaName)); err == nil {
		t.Error("a formula without archives")
	}
	needs.Program(t, "ruby")
	const cellar = `class Formula
  def self.test = nil # else Ruby's own
  def self.method_missing(name, *args, &block)
    puts "#{name} #{args.join(" ")}" unless args.empty?
    instance_eval(&block) if block && name.to_s.start_with?("on_")
  end
  %w[bin man1 bash_completion zsh_completion fish_completion doc].each do |dir|
    define_method(dir) { Class.new { define_method(:install) { |*files| puts "#{dir} #{files.join(" ")}" } }.new }
  end
end
`
	file := filepath.Join(t.TempDir(), "formula.rb")
	if err := os.WriteFile(file, []byte(cellar+text+"Duskdb.new.install\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "ruby", "-w", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"version 1.2.0-rc.1\n", "license Apache-2.0\n", "bin duskdb\n", "man1 duskdb.1\n", "doc THIRD_PARTY_NOTICES.txt duskdb.conf\n"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	// What the formula installs is in the archive.
	for _, name := range []string{"duskdb", "duskdb.1", "completions/duskdb.bash", "completions/_duskdb", "completions/duskdb.fish", "THIRD_PARTY_NOTICES.txt", "duskdb.conf"} {
		if !strings.Contains(text, `"`+name+`"`) {
			t.Errorf("the formula does not install %s", name)
		}
	}
}
