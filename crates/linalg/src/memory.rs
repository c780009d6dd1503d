//! The memory that may be used: what the machine has available, and the limits that are set on the process.
//!
//! A limit of the user holds for everything: the points themselves, the graph, the field, the factors and the embedding. A
//! fit takes the points from it first, and every stage sees what is left.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};
use sysinfo::System;

/// The limit where the system does not report its memory.
const UNKNOWN: u64 = 8_000_000_000;

/// Never refused, however small the limit is: every program takes more for itself.
pub const NEGLIGIBLE: u64 = 2_000_000;

/// The address space that a thread reserves for the buffer of the matrix library, whether it is used or not, and the number
/// of threads that are counted at most, beside one more. The matrix library aborts where it is refused.
const RESERVED: (u64, usize) = (64 << 20, 4);

/// The bytes that may be allocated, nine tenths of the least of: the available memory of the machine, and on Linux what the
/// control groups and the limits of the process on address space and data leave.
pub fn available() -> u64 {
    let free = machine().map(|system| system.available_memory()).filter(|&bytes| bytes > 0);
    let limits = read_to_string("/proc/self/limits").unwrap_or_default();
    let status = read_to_string("/proc/self/status").unwrap_or_default();
    let groups = read_to_string("/proc/self/cgroup").unwrap_or_default();
    let known = [
        free,
        left_of(&limits, "Max address space", kilobytes(&status, "VmSize:"))
            .map(|left| left.saturating_sub(reserved())),
        left_of(&limits, "Max data size", kilobytes(&status, "VmData:")),
        left_in_groups(&groups, Path::new("/sys/fs/cgroup")),
    ];
    known.into_iter().flatten().min().map_or(UNKNOWN, |bytes| bytes / 10 * 9)
}

/// The most bytes that this process has had in memory so far; on Linux alone.
pub fn peak() -> Option<u64> {
    kilobytes(&read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// The memory of the machine, where the system reports it.
fn machine() -> Option<System> {
    let mut system = System::new().ok()?;
    system.refresh_memory();
    Some(system)
}

/// What the threads reserve of the address space.
fn reserved() -> u64 {
    RESERVED.0 * (1 + rayon::current_num_threads().min(RESERVED.1) as u64)
}

/// The bytes on the line of a name, which has kilobytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// The rest of a limit of the process; none if it is unlimited.
fn left_of(limits: &str, name: &str, used: Option<u64>) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
    let soft: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(soft.saturating_sub(used.unwrap_or(0)))
}

/// What the control groups of the process have left, the tightest of them counting; nothing if there is no limit. The file
/// of the groups has lines `0::/path` (version 2) or `7:memory:/path` (version 1).
fn left_in_groups(groups: &str, root: &Path) -> Option<u64> {
    let of_line = |line: &str| {
        let mut parts = line.splitn(3, ':');
        let (number, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let (mount, names) = if number == "0" && controllers.is_empty() {
            (root.to_path_buf(), ["memory.max", "memory.current"])
        } else if controllers.split(',').any(|one| one == "memory") {
            (root.join("memory"), ["memory.limit_in_bytes", "memory.usage_in_bytes"])
        } else {
            return None;
        };
        // Within a container the path may be that of the host: then its own group is mounted as the root.
        let own = mount.join(path.trim_start_matches('/'));
        let own: PathBuf = if own.is_dir() { own } else { mount.clone() };
        let number = |at: &Path, name: &str| read_to_string(at.join(name)).ok()?.trim().parse::<u64>().ok();
        let left = |at: &Path| Some(number(at, names[0])?.saturating_sub(number(at, names[1]).unwrap_or(0)));
        own.ancestors().take_while(|at| at.starts_with(&mount)).filter_map(left).min()
    };
    groups.lines().filter_map(of_line).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Also where there is no /proc: the figure is that of the machine, not the one for unknown systems.
    #[test]
    fn the_machine_reports_its_memory() {
        let system = machine().unwrap();
        assert!(system.available_memory() > 0 && system.total_memory() >= system.available_memory());
        assert!(available() <= system.total_memory());
    }

    #[test]
    fn limits_of_the_process_are_read() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max data size             unlimited            unlimited            bytes     \n\
                      Max address space         4096000000           unlimited            bytes     \n";
        assert_eq!(left_of(limits, "Max address space", Some(96_000_000)), Some(4_000_000_000));
        assert_eq!(left_of(limits, "Max data size", Some(1)), None);
        assert_eq!(kilobytes("VmPeak:\t   9 kB\nVmSize:\t     216 kB\n", "VmSize:"), Some(216 * 1024));
        assert_eq!(kilobytes("", "VmSize:"), None);
    }

    #[test]
    fn the_tightest_group_counts_in_both_versions() {
        let directory = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = directory.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("a/b/memory.max", "max\n");
        write("a/b/memory.current", "100\n");
        assert_eq!(left_in_groups("0::/a/b\n", directory.path()), None);
        write("a/memory.max", "5000\n");
        write("a/memory.current", "1000\n");
        assert_eq!(left_in_groups("0::/a/b\n", directory.path()), Some(4000));
        write("a/b/memory.max", "700\n");
        assert_eq!(left_in_groups("0::/a/b\n", directory.path()), Some(600));
        write("memory/c/memory.limit_in_bytes", "300\n");
        write("memory/c/memory.usage_in_bytes", "400\n");
        assert_eq!(left_in_groups("5:cpu:/\n7:hugetlb,memory:/c\n", directory.path()), Some(0));
        // A path of the host, seen from inside of a container.
        write("memory/memory.limit_in_bytes", "900\n");
        assert_eq!(left_in_groups("7:memory:/docker/0123\n", directory.path()), Some(900));
        assert!(available() > 0);
    }
}
