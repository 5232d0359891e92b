package packages_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/duskdb/duskdb/internal/needs"
)

// TestInstalled makes the files of a release for this machine, installs them as
// docs/install.md says, without a network, and runs a test of something that expires with
// each.
func TestInstalled(t *testing.T) {
	needs.Client(t, "node", "npm", "python3", "dpkg-deb")
	dir := t.TempDir()
	runFor(t, 10*time.Minute, "..", []string{"SOURCE_DATE_EPOCH=1767225600"}, // it may compile everything
		"go", "run", "./internal/release", "-platforms", "own", "-version", "0.0.0-dev.1", "-out", filepath.Join(dir, "dist"))
	t.Run("publish", func(t *testing.T) {
		t.Parallel()
		rehearse(t, filepath.Join(dir, "dist"))
	})
	python := emptyVenv(t, dir)
	installAsDocumented(t, dir, python)
	t.Run("archive", func(t *testing.T) {
		t.Parallel()
		expires(t, only(t, dir, "duskdb-*-linux-*/duskdb"))
	})
	t.Run("deb", func(t *testing.T) {
		t.Parallel()
		root := filepath.Join(dir, "root")
		run(t, dir, nil, "dpkg-deb", "--extract", only(t, dir, "dist/duskdb_*.deb"), root)
		expires(t, filepath.Join(root, "usr", "bin", "duskdb"), "--config", filepath.Join(root, "etc", "duskdb.conf"))
		checkUnit(t, root)
	})
	t.Run("dpkg", func(t *testing.T) {
		t.Parallel()
		installDeb(t, only(t, dir, "dist/duskdb_*.deb"))
	})
	t.Run("node", func(t *testing.T) {
		t.Parallel()
		write(t, dir, "cart.test.mjs", nodeTest)
		run(t, dir, bare, "node", "--test", "cart.test.mjs")
	})
	runners := runners(t)
	t.Run("types", func(t *testing.T) {
		t.Parallel()
		checkTypes(t, dir, runners)
	})
	t.Run("jest", func(t *testing.T) {
		t.Parallel()
		write(t, dir, "cart.jest.js", "const { DuskDBMemoryServer } = require('duskdb-memory-server');\n"+clocksTest("jest"))
		run(t, dir, bare, "node", filepath.Join(runners, "jest", "bin", "jest.js"), "--rootDir", dir, "--testMatch", "**/cart.jest.js", "--transform", "{}")
	})
	t.Run("vitest", func(t *testing.T) {
		t.Parallel()
		write(t, dir, "vi.test.js", "import { DuskDBMemoryServer } from 'duskdb-memory-server';\n"+clocksTest("vi"))
		run(t, dir, bare, "node", filepath.Join(runners, "vitest", "vitest.mjs"), "run", "--root", dir, "--globals", "vi.test.js")
	})
	t.Run("python", func(t *testing.T) {
		t.Parallel()
		write(t, dir, "test_cart.py", pythonTest)
		run(t, dir, append([]string{"PYTHONDONTWRITEBYTECODE=1"}, bare...), filepath.Join(python, "bin", "python"), "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_cart.py")
	})
}

// bare is an environment in which only what was installed is found.
var bare = []string{"DUSKDB_BINARY=", "PATH=/usr/bin:/bin:" + filepath.Dir(programPath("node"))}

func programPath(name string) string {
	path, _ := exec.LookPath(name) // "" if it is missing, and then the tests do not run
	return path
}

const nodeTest = `
import assert from 'node:assert';
import { test } from 'node:test';
import { DuskDBMemoryServer, MongoMemoryServer } from 'duskdb-memory-server';

for (const Server of [DuskDBMemoryServer, MongoMemoryServer]) {
  test('a cart expires', async () => {
    const server = await Server.create();
    assert.match(server.process?.spawnfile ?? server.instanceInfo.instance.mongodProcess.spawnfile, /node_modules.@duskdb/);
    await server.command({ createIndexes: 'carts', indexes: [{ key: { touched: 1 }, name: 't', expireAfterSeconds: 3600 }] }, 'shop');
    await server.command({ insert: 'carts', documents: [{ touched: new Date() }] }, 'shop');
    await server.advance('59m');
    assert.equal((await server.command({ count: 'carts' }, 'shop')).n, 1);
    await server.advance({ minutes: 2 });
    assert.equal((await server.command({ count: 'carts' }, 'shop')).n, 0);
    await server.stop();
  });
}
`

const pythonTest = `
import sys

import duskdb as package


def test_cart_expires(duskdb):
    assert package.find_binary().startswith(sys.prefix)
    carts = duskdb.client.shop.carts
    carts.create_index("touched", expireAfterSeconds=3600)
    carts.insert_one({"touched": duskdb.now()})
    duskdb.advance("59m")
    assert carts.count_documents({}) == 1
    duskdb.advance(minutes=2)
    assert carts.count_documents({}) == 0
`

// aside runs a command in a copy of this machine's file system, which is thrown away: $1 is a
// directory for the copy, $2 the package. It exits with 77 where that is not possible.
const aside = `
mount -t tmpfs tmpfs "$1" && mkdir "$1/upper" "$1/work" "$1/root" || exit 77
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root" || exit 77
cp "$2" "$1/root/duskdb.deb"
chroot "$1/root" sh -euc '
	dpkg --install /duskdb.deb
	test "$(dpkg-query --show --showformat="\${Status}" duskdb)" = "install ok installed"
	dpkg --verify duskdb
	test "$(stat --format="%U %a" /var/lib/duskdb)" = "duskdb 700"
	cd / && runuser -u duskdb -- sh -c "timeout 10 duskdb --quiet --config /etc/duskdb.conf --port 0 --exit-with-stdin </dev/null" | grep "duskdb listening on"
	dpkg --install /duskdb.deb # again, as an upgrade
	dpkg --remove duskdb
	test -f /etc/duskdb.conf -a -f /var/lib/duskdb/duskdb.bunt
	dpkg --purge duskdb
	test ! -e /etc/duskdb.conf -a -f /var/lib/duskdb/duskdb.bunt
'
`

// installDeb has dpkg install, upgrade, remove and purge the Debian package, with its scripts,
// where that leaves no traces: as root in a file system that is thrown away.
func installDeb(t *testing.T, deb string) {
	if os.Getuid() != 0 {
		t.Skip("only root can mount a copy of the file system")
	}
	needs.Program(t, "unshare", "chroot", "runuser", "dpkg")
	cmd := exec.CommandContext(t.Context(), "unshare", "--mount", "sh", "-c", aside, "sh", t.TempDir(), deb)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive"}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() == 77 {
		t.Skipf("no copy of the file system: %s", out)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// checkUnit has systemd read the service of the Debian package.
func checkUnit(t *testing.T, root string) {
	if programPath("systemd-analyze") == "" {
		t.Log("no systemd to check the service with")
		return
	}
	text, err := os.ReadFile(filepath.Join(root, "usr", "lib", "systemd", "system", "duskdb.service"))
	if err != nil {
		t.Fatal(err)
	}
	unit := strings.ReplaceAll(string(text), "/usr/bin/duskdb", filepath.Join(root, "usr", "bin", "duskdb")) // where it is here
	out, err := exec.Command("systemd-analyze", "verify", "--man=no", write(t, t.TempDir(), "duskdb.service", unit)).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// clocksTest is a test of code that calls new Date(), for Jest or Vitest.
func clocksTest(fakes string) string {
	return `
test('both clocks move', async () => {
  const server = await DuskDBMemoryServer.create();
  await server.command({ createIndexes: 'carts', indexes: [{ key: { touched: 1 }, name: 't', expireAfterSeconds: 3600 }] }, 'shop');
  const clocks = await server.fakeTimers(` + fakes + `);
  const before = new Date();
  expect(await server.now()).toEqual(before);
  await server.command({ insert: 'carts', documents: [{ touched: before }] }, 'shop');
  const after = await clocks.advance('61m');
  expect(new Date()).toEqual(after);
  expect(after - before).toBe(61 * 60 * 1000);
  expect((await server.command({ count: 'carts' }, 'shop')).n).toBe(0);
  await new Promise((resolve) => setTimeout(resolve, 1)); // timers are real
  await clocks.restore();
  expect(Date.now()).toBeLessThan(after.getTime());
  await server.stop();
});
`
}

// runners installs Jest, Vitest and TypeScript into the cache of the tests with real
// clients, and returns the directory with their packages.
func runners(t *testing.T) string {
	t.Helper()
	sum := sha256.New()
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join("npm", "runners", name))
		if err != nil {
			t.Fatal(err)
		}
		sum.Write(text)
	}
	dir := filepath.Join(needs.Cache(t), "packages-node-"+hex.EncodeToString(sum.Sum(nil)[:6]))
	if _, err := os.Stat(filepath.Join(dir, "whole")); err != nil {
		if err := os.CopyFS(dir, os.DirFS(filepath.Join("npm", "runners"))); err != nil && !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
		run(t, dir, nil, "npm", "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier")
		write(t, dir, "whole", "")
	}
	return filepath.Join(dir, "node_modules")
}

// only is the one file that fits a pattern.
func only(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	return found[0]
}

// emptyVenv makes a Python environment that has what the tests need, but not DuskDB.
func emptyVenv(t *testing.T, dir string) string {
	t.Helper()
	known := filepath.Dir(filepath.Dir(venv(t)))
	path := filepath.Join(dir, "venv")
	run(t, dir, nil, "python3", "-m", "venv", "--without-pip", path)
	site := only(t, path, "lib/python*/site-packages")
	write(t, site, "known.pth", only(t, known, "lib/python*/site-packages")+"\n")
	return path
}

// installAsDocumented runs the lines of the page in which the files of a release are
// installed.
func installAsDocumented(t *testing.T, dir, python string) {
	t.Helper()
	page, err := os.ReadFile("../docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```sh installs\n(.*?)^```$").FindAllSubmatch(page, -1)
	if len(blocks) != 4 {
		t.Fatalf("%d blocks install something, not those for checksums, binary, Node and Python", len(blocks))
	}
	// Without pip of its own, the environment is filled by the pip of the other one.
	write(t, dir, "pip", "#!/bin/sh\nexec "+venv(t)+" -m pip --python "+filepath.Join(python, "bin", "python")+" \"$@\"\n")
	if err := os.Chmod(filepath.Join(dir, "pip"), 0o700); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + dir + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"npm_config_offline=true", "npm_config_audit=false", "npm_config_fund=false", "npm_config_update_notifier=false", "npm_config_cache=" + filepath.Join(dir, "npm-cache"),
		"PIP_NO_INDEX=1", "PIP_DISABLE_PIP_VERSION_CHECK=1"}
	for _, block := range blocks {
		run(t, dir, env, "bash", "-euo", "pipefail", "-c", string(block[1]))
	}
}

// expires starts a binary and has a document expire.
func expires(t *testing.T, binary string, args ...string) {
	cmd := exec.CommandContext(t.Context(), binary, append(args, "--quiet", "--test-clock", "--exit-with-stdin", "--port", "0", "--dbpath", filepath.Join(t.TempDir(), "data"))...)
	cmd.Env = []string{}
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = stdin.Close()
		_, _ = io.Copy(io.Discard, stdout)
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}()
	var uri string
	for lines := bufio.NewScanner(stdout); uri == "" && lines.Scan(); {
		uri, _ = strings.CutPrefix(lines.Text(), "duskdb listening on ")
	}
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Disconnect(t.Context()) // the server ends with the test
	carts := client.Database("shop").Collection("carts")
	if _, err := carts.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.M{"touched": 1}, Options: options.Index().SetExpireAfterSeconds(3600)}); err != nil {
		t.Fatal(err)
	}
	if _, err := carts.InsertOne(t.Context(), bson.M{"touched": time.Now()}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ minutes, left int }{{59, 1}, {2, 0}} {
		forward := bson.D{{Key: "testClock", Value: 1}, {Key: "advanceSeconds", Value: step.minutes * 60}}
		if err := client.Database("admin").RunCommand(t.Context(), forward).Err(); err != nil {
			t.Fatal(err)
		}
		if n, err := carts.CountDocuments(t.Context(), bson.M{}); n != int64(step.left) || err != nil {
			t.Errorf("%d minutes later: %d carts, %v, want %d", step.minutes, n, err, step.left)
		}
	}
}

// checkTypes compiles the test of the types.
func checkTypes(t *testing.T, dir, runners string) {
	text, err := os.ReadFile(filepath.Join("npm", "duskdb-memory-server", "test", "types.ts"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "types.ts", string(text))
	run(t, dir, nil, "node", filepath.Join(runners, "typescript", "bin", "tsc"), "--noEmit", "--strict", "--target", "es2022",
		"--module", "node16", "--moduleResolution", "node16", "--lib", "es2022,esnext.disposable", "--typeRoots", filepath.Join(runners, "@types"), "--types", "node", "types.ts")
}
