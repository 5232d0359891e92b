package diagnostics

import (
	"bufio"
	"os"
	"strconv"
	"strings"

	"github.com/duskdb/duskdb/commands/kernel"
	"github.com/duskdb/duskdb/value"
)

// The figures of the machine in getDiagnosticData, from Linux's files with the names that
// mongod gives them. On other systems they are empty.

// tick is the unit of /proc/stat in milliseconds: the kernel shows hundredths of a second.
const tick = 10

// cpuFigures are the columns of the line "cpu" of /proc/stat.
var cpuFigures = []string{"user_ms", "nice_ms", "system_ms", "idle_ms", "iowait_ms", "irq_ms", "softirq_ms", "steal_ms", "guest_ms", "guest_nice_ms"}

// cpuLines are the other lines of /proc/stat that are shown.
var cpuLines = map[string]bool{"ctxt": true, "btime": true, "processes": true, "procs_running": true, "procs_blocked": true}

// memoryLines are the lines of /proc/meminfo that are shown.
var memoryLines = map[string]bool{
	"MemTotal": true, "MemFree": true, "MemAvailable": true, "Cached": true, "Dirty": true, "Buffers": true, "SwapTotal": true,
	"SwapFree": true, "SwapCached": true, "Active": true, "Inactive": true, "Active(anon)": true, "Inactive(anon)": true,
	"Active(file)": true, "Inactive(file)": true, "AnonHugePages": true,
}

// diskFigures are the columns of /proc/diskstats behind the name of the device.
var diskFigures = []string{
	"reads", "reads_merged", "read_sectors", "read_time_ms", "writes", "writes_merged", "write_sectors", "write_time_ms",
	"io_in_progress", "io_time_ms", "io_queued_ms",
}

func writeSystemMetrics(c *kernel.Call) error {
	b := c.Reply
	b.StartDocument("cpu")
	eachLine("/proc/stat", func(fields []string) {
		switch {
		case fields[0] == "cpu":
			appendFigures(b, cpuFigures, fields[1:], tick)
		case cpuLines[fields[0]]:
			appendFigures(b, fields[:1], fields[1:], 1)
		}
	})
	b.End().StartDocument("memory")
	eachLine("/proc/meminfo", func(fields []string) {
		if name := strings.TrimSuffix(fields[0], ":"); memoryLines[name] {
			appendFigures(b, []string{name + "_kb"}, fields[1:], 1)
		}
	})
	b.End().StartDocument("disks")
	eachLine("/proc/diskstats", func(fields []string) {
		if len(fields) > 3 && isDisk(fields[2]) {
			b.StartDocument(fields[2])
			appendFigures(b, diskFigures, fields[3:], 1)
			b.End()
		}
	})
	b.End()
	return nil
}

// eachLine calls fn with the words of every line of a file that has any.
func eachLine(path string, fn func(fields []string)) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > 1 {
			fn(fields)
		}
	}
}

// appendFigures writes numbers under their names, times the unit.
func appendFigures(b *value.Builder, names, numbers []string, unit int64) {
	for i, name := range names {
		if i == len(numbers) {
			return
		}
		if n, err := strconv.ParseInt(numbers[i], 10, 64); err == nil {
			b.Int64(name, n*unit)
		}
	}
}

// isDisk reports whether a name of /proc/diskstats is a device of the machine: partitions,
// loops and memory disks are not.
func isDisk(name string) bool {
	_, err := os.Stat("/sys/block/" + name + "/device")
	return err == nil
}
