package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// version is a semantic version without a "v": 1.2.0, 1.2.0-rc.1, or of a commit that has no
// tag 0.1.0-dev.20260101120000.gabcdef0.
type version string

var semantic = regexp.MustCompile(`^(\d+\.\d+\.\d+)(?:-([0-9A-Za-z.-]+))?$`)

// findVersion returns the version and the date of its files: given by the user, or by git.
// The date is that of the commit, or SOURCE_DATE_EPOCH.
func findVersion(root, given string) (version, time.Time, error) {
	date, dateErr := commitDate(root)
	if epoch := os.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
		seconds, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil {
			return "", date, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
		}
		date, dateErr = time.Unix(seconds, 0).UTC(), nil
	}
	if dateErr != nil {
		return "", date, fmt.Errorf("no date: work in a clone, or set SOURCE_DATE_EPOCH: %w", dateErr)
	}
	if given != "" {
		if !semantic.MatchString(given) {
			return "", date, fmt.Errorf("%q is no version like 1.2.0 or 1.2.0-rc.1", given)
		}
		return version(given), date, nil
	}
	v, err := versionOfCommit(root)
	return v, date, err
}

func commitDate(root string) (time.Time, error) {
	out, err := git(root, "show", "-s", "--format=%ct", "HEAD")
	if err != nil {
		return time.Time{}, err
	}
	seconds, err := strconv.ParseInt(out, 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}

// versionOfCommit is the version of the tag at the commit. A commit without a tag, or a
// changed tree, has a version before the next one.
func versionOfCommit(root string) (version, error) {
	changed, err := git(root, "status", "--porcelain", "--untracked-files=no")
	if err != nil {
		return "", fmt.Errorf("no version: work in a clone, or give it with -version: %w", err)
	}
	if tag, err := git(root, "describe", "--tags", "--exact-match", "--match=v[0-9]*"); err == nil && changed == "" {
		if tag = strings.TrimPrefix(tag, "v"); !semantic.MatchString(tag) {
			return "", fmt.Errorf("the tag v%s is no version like v1.2.0", tag)
		}
		return version(tag), nil
	}
	next, err := nextVersion(root)
	if err != nil {
		return "", err
	}
	commit, err := git(root, "show", "-s", "--date=format-local:%Y%m%d%H%M%S", "--format=%cd.g%h", "--abbrev=9", "HEAD")
	if err != nil {
		return "", err
	}
	if changed != "" {
		commit += ".changed"
	}
	return version(next + "-dev." + commit), nil
}

var nextLine = regexp.MustCompile(`(?m)^const next = "([^"]+)"$`)

// nextVersion reads the version that the source leads to.
func nextVersion(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "cmd", "duskdb", "version.go"))
	if err != nil {
		return "", err
	}
	m := nextLine.FindSubmatch(text)
	if m == nil {
		return "", errors.New("cmd/duskdb/version.go has no line: const next = …")
	}
	return string(m[1]), nil
}

func git(root string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "TZ=UTC")
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// python is the version as PEP 440 writes it. It has no room for a commit's name.
func (v version) python() (string, error) {
	m := semantic.FindStringSubmatch(string(v))
	if m[2] == "" {
		return m[1], nil
	}
	stage, rest, _ := strings.Cut(m[2], ".")
	number, _, _ := strings.Cut(rest, ".")
	short, ok := map[string]string{"alpha": "a", "beta": "b", "rc": "rc", "dev": ".dev"}[stage]
	if _, err := strconv.ParseUint(number, 10, 64); !ok || err != nil {
		return "", fmt.Errorf("no version of Python packages is like %s: use alpha.n, beta.n, rc.n or dev.n", v)
	}
	return m[1] + short + number, nil
}

// debian is the version of the Debian package: ~ sorts before the release itself.
func (v version) debian() string {
	m := semantic.FindStringSubmatch(string(v))
	if m[2] == "" {
		return m[1]
	}
	return m[1] + "~" + strings.ReplaceAll(m[2], "-", ".")
}
