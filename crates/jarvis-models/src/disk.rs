//! How much room this machine has: on a disk and in memory.

use std::path::Path;

/// Bytes that may be written below a folder, which need not exist yet; `None` where the system does not say.
pub fn free_space(folder: &Path) -> Option<u64> {
    let existing = folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("."));
    fs4::available_space(existing).ok()
}

/// Bytes of memory that processes of this machine, or of this container, may use in all; `None` where the system does not say.
pub fn total_memory() -> Option<u64> {
    let physical = memory_of(&std::fs::read_to_string("/proc/meminfo").ok()?)?;
    let limit = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let limit = limit.and_then(|text| text.trim().parse::<u64>().ok());
    Some(limit.map_or(physical, |limit| limit.min(physical)))
}

fn memory_of(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_disk_are_read() {
        assert_eq!(memory_of("MemTotal:       16384 kB\nMemFree: 1 kB\n"), Some(16 << 20));
        assert_eq!(memory_of("MemFree: 1 kB\n"), None);
        let folder = tempfile::tempdir().unwrap();
        assert!(free_space(&folder.path().join("not/there/yet")).is_some());
    }
}
