package diagnostics

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/commands/limits"
	"github.com/duskdb/duskdb/value"
)

// The machine as hostInfo describes it. On systems without Linux's files the
// fields that come from them are empty or 1.

func runHostInfo(c *kernel.Call) error {
	host, _ := os.Hostname()
	cpu, nodes := readProcessor(), numaNodes()
	b := c.Reply
	b.StartDocument("system").Date("currentTime", c.Now).String("hostname", host).Int32("cpuAddrSize", strconv.IntSize).
		Int64("memSizeMB", int64(limits.MemoryBytes()>>20)).Int64("memLimitMB", int64(limits.MemoryBytes()>>20)).
		Int32("numCores", int32(runtime.NumCPU())).Int32("numCoresAvailableToProcess", int32(runtime.GOMAXPROCS(0))).
		Int32("numPhysicalCores", cpu.cores).Int32("numCpuSockets", cpu.sockets).
		String("cpuArch", machine()).Bool("numaEnabled", nodes > 1).Int32("numNumaNodes", nodes).End()
	name, version := distribution()
	b.StartDocument("os").String("type", systemType()).String("name", name).String("version", version).End()
	b.StartDocument("extra").String("versionString", firstLine("/proc/version")).String("kernelVersion", firstLine("/proc/sys/kernel/osrelease")).
		String("cpuString", cpu.model).Int64("pageSize", int64(os.Getpagesize())).
		Int64("numPages", int64(limits.MemoryBytes())/int64(os.Getpagesize()))
	if files := openFilesLimit(); files > 0 {
		b.String("libcVersion", noLibc).Append("maxOpenFiles", value.Int(files))
	}
	b.End()
	return nil
}

// noLibc stands for the version of the C library, which a Go program has not.
const noLibc = "none (static binary)"

// machine is the architecture as uname calls it.
func machine() string {
	switch runtime.GOARCH {
	case "amd64":
		return "x86_64"
	case "arm64":
		if runtime.GOOS == "linux" {
			return "aarch64"
		}
	}
	return runtime.GOARCH
}

// systemType is the kind of system as mongod names it.
func systemType() string {
	switch runtime.GOOS {
	case "linux":
		return "Linux"
	case "darwin":
		return "Darwin"
	case "windows":
		return "Windows"
	}
	return runtime.GOOS
}

// distribution returns the name and the version of the operating system.
func distribution() (name, version string) {
	name = runtime.GOOS
	release, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return name, version
	}
	for line := range strings.Lines(string(release)) {
		key, v, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch v = strings.Trim(v, `"'`); key {
		case "NAME":
			name = v
		case "VERSION_ID":
			version = v
		}
	}
	return name, version
}

func firstLine(path string) string {
	text, _ := os.ReadFile(path)
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return string(line)
}

type processor struct {
	model          string
	cores, sockets int32
}

// readProcessor counts sockets, and cores apart from their threads.
func readProcessor() processor {
	p := processor{}
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return processor{cores: int32(runtime.NumCPU()), sockets: 1}
	}
	defer func() { _ = f.Close() }()
	sockets, cores, socket := map[string]bool{}, map[string]bool{}, ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		key, v, _ := strings.Cut(lines.Text(), ":")
		switch v = strings.TrimSpace(v); strings.TrimSpace(key) {
		case "model name":
			p.model = v
		case "physical id":
			socket = v
			sockets[v] = true
		case "core id":
			cores[socket+"/"+v] = true
		}
	}
	p.sockets, p.cores = max(int32(len(sockets)), 1), int32(len(cores))
	if p.cores == 0 {
		p.cores = int32(runtime.NumCPU())
	}
	return p
}

func numaNodes() int32 {
	found, _ := filepath.Glob("/sys/devices/system/node/node[0-9]*")
	return max(int32(len(found)), 1)
}
