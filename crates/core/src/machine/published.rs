//! What of a machine may be published with a run file: kernel options and mount options by list, sources of mounts by kind,
//! and places without the names in them. Whatever is not listed may name a host, a user or a server, or contain a password.

/// Options of the kernel that change figures, without dashes, which the kernel reads as underscores. A name that ends in a
/// period is that of a module with all its parameters (kernel-parameters.txt of the kernel's documentation).
const KERNEL: &[&str] = &[
    // Vulnerabilities of processors.
    "mitigations nospectre_v1 nospectre_v2 nospectre_bhb spectre_v2 spectre_v2_user spectre_bhi \
     spec_store_bypass_disable nospec_store_bypass_disable ssbd pti nopti kpti l1tf l1d_flush mds tsx \
     tsx_async_abort mmio_stale_data retbleed spec_rstack_overflow gather_data_sampling \
     reg_file_data_sampling srbds indirect_target_selection tsa vmscape attack_vector ibt kvm. \
     kvm_intel. kvm_amd. dis_ucode_ldr clearcpuid nosmap nosmep noxsave noxsaveopt",
    // CPUs, their ticks and interrupts.
    "nosmt nosmp nr_cpus maxcpus possible_cpus isolcpus nohz nohz_full rcu_nocbs rcu_nocb_poll rcutree. \
     rcupdate. skew_tick irqaffinity threadirqs highres noapic nolapic nox2apic lapic apic preempt \
     nowatchdog nmi_watchdog nosoftlockup watchdog_thresh mce workqueue. split_lock_detect rdt \
     nortsched schedstats delayacct psi audit sched_verbose",
    // Idle states, clock rates, clocks.
    "idle intel_idle. processor. cpuidle. haltpoll. cpuidle_haltpoll. cpufreq. intel_pstate \
     intel_pstate. amd_pstate amd_pstate. acpi_cpufreq. energy_perf_bias clocksource clocksource. tsc \
     notsc hpet nohpet tsc_early_khz no_timer_check",
    // Guests.
    "no_kvmclock no_kvmclock_vsyscall no_kvmapf no_steal_acc nopvspin xen_nopvspin hv_nopvspin nopv \
     nested_pvm nested",
    // Memory.
    "hugepages hugepagesz default_hugepagesz hugetlb_free_vmemmap hugepage_alloc_threads \
     transparent_hugepage transparent_hugepage_shmem transparent_hugepage_tmpfs thp_anon thp_shmem cma \
     numa numa_balancing numa_zonelist_order mem memmap movable_node movablecore kernelcore swiotlb \
     swapaccount zswap. page_alloc. init_on_alloc init_on_free slab_nomerge slub_debug slab_debug \
     page_poison page_poisoning debug_pagealloc page_owner kasan kasan. kfence. kmemleak \
     hardened_usercopy randomize_kstack_offset norandmaps nokaslr kaslr vsyscall vdso cgroup_disable \
     cgroup_enable cgroup_no_v1 lru_gen. hash_pointers",
    // Security modules, which are asked at every call that opens a file.
    "lsm security selinux apparmor enforcing lockdown",
    // Buses, devices, their translation.
    "iommu iommu. intel_iommu amd_iommu pci pcie_aspm pcie_aspm. pcie_ports nvme. nvme_core. scsi_mod. \
     elevator libata. virtio_blk. virtio_net.",
];

/// Options of mounts and file systems that change figures; none has the name of a place, a server or a user for its value.
const MOUNT: &str = "rw ro relatime noatime nodiratime strictatime lazytime sync async dirsync nosuid \
    nodev noexec discard nodiscard data barrier nobarrier commit journal_checksum journal_async_commit \
    delalloc nodelalloc stripe dax errors acl noacl user_xattr nouser_xattr inode64 inode32 \
    inode_readahead_blks attr2 logbufs logbsize sunit swidth allocsize largeio noquota usrquota grpquota \
    prjquota quota compress compress-force ssd nossd ssd_spread space_cache nospace_cache autodefrag \
    noautodefrag nodatacow nodatasum flushoncommit noflushoncommit max_inline thread_pool xattr noxattr \
    posixacl casesensitive background_gc gc_merge active_logs alloc_mode fsync_mode checkpoint_merge size \
    nr_inodes nr_blocks huge mpol noswap pagesize min_size xino metacopy index redirect_dir volatile \
    userxattr nfs_export uuid vers rsize wsize bsize namlen hard soft softerr proto timeo retrans sec \
    local_lock nconnect max_connect nocto ac noac actimeo acregmin acregmax acdirmin acdirmax lookupcache \
    nolock lock fsc resvport noresvport cache cache_strict seal sign nobrl mapposix mfsymlinks rasize \
    max_credits echo_interval multichannel max_channels posix unix nounix serverino noserverino trans \
    msize access version default_permissions allow_other max_read blksize writeback_cache resv_strict";

/// What stands for a name that is not published.
const HIDDEN: &str = "…";

/// The options of the kernel that change figures, in their order, and how many others there were.
pub(super) fn kernel_options(line: &str) -> String {
    let (public, other): (Vec<&str>, Vec<&str>) =
        line.split_whitespace().partition(|word| is_published(word));
    let others = match other.len() {
        0 => None,
        1 => Some("(and 1 other)".to_owned()),
        many => Some(format!("(and {many} others)")),
    };
    public.into_iter().map(str::to_owned).chain(others).collect::<Vec<_>>().join(" ")
}

fn is_published(word: &str) -> bool {
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    let name = name.replace('-', "_");
    let is_listed = |listed: &str| match listed.strip_suffix('.') {
        Some(module) => name.split_once('.').is_some_and(|(prefix, _)| prefix == module),
        None => name == listed,
    };
    KERNEL.iter().flat_map(|names| names.split(' ')).any(is_listed) && is_setting(value)
}

/// Whether a value looks like one: numbers, lists of CPUs and words, but no address, path or text.
fn is_setting(value: &str) -> bool {
    value.len() <= 1024
        && value.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-.,:+/*$%!;".contains(letter))
        && !value.contains("//")
        && !value.starts_with('/')
}

/// The options of a mount that change figures, in their order.
pub(super) fn mount_options(options: &str) -> String {
    let is_listed = |option: &&str| {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        MOUNT.split(' ').any(|listed| listed == name) && !value.contains('/')
    };
    options.split(',').filter(is_listed).collect::<Vec<_>>().join(",")
}

/// The kind of a mount's source: volumes, pools, exports and shares are often named after hosts, users or customers.
pub(super) fn mount_source(source: &str, file_system: &str, is_remote: bool) -> &'static str {
    match source {
        _ if is_remote => "a server",
        _ if source.starts_with("/dev/mapper/") => "a device of the device mapper",
        _ if source.starts_with("/dev/") => "a block device",
        _ if file_system == "zfs" || source.contains('/') => "a data set or folder",
        _ => "no device",
    }
}

/// A place with only the first of its names: the others may be those of users, hosts or customers.
pub(super) fn place(path: &str) -> String {
    match path.strip_prefix('/').and_then(|below| below.split_once('/')) {
        Some((first, rest)) if !rest.is_empty() => format!("/{first}/{HIDDEN}"),
        _ => path.to_owned(),
    }
}

/// A control group below its mount: slices and scopes are named after users, and a container's group after its pod.
pub(super) fn control_group(folder: &str, mount: &str) -> String {
    let mount = mount.trim_end_matches('/');
    if folder.len() <= mount.len() { folder.to_owned() } else { format!("{mount}/{HIDDEN}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_change_figures_are_kept_in_their_order_and_others_are_counted() {
        let line = "BOOT_IMAGE=/vmlinuz root=UUID=1-2 mitigations=off nohz_full=1-7,9 rd.iscsi.password=geheim \
                    intel_idle.max_cstate=1 rcu-nocbs=1-7 nvme.poll_queues=4 ip=192.0.2.7::192.0.2.1:host7 nosmt";
        assert_eq!(
            kernel_options(line),
            "mitigations=off nohz_full=1-7,9 intel_idle.max_cstate=1 rcu-nocbs=1-7 nvme.poll_queues=4 nosmt (and 4 others)"
        );
        assert_eq!(kernel_options("quiet"), "(and 1 other)");
        assert_eq!(
            kernel_options("mitigations=user@host idle=//nas/x"),
            "(and 2 others)",
            "no value of such an option"
        );
    }

    #[test]
    fn mounts_are_told_by_kind() {
        assert_eq!(mount_source("nas7:/export/alice", "nfs4", true), "a server");
        assert_eq!(mount_source("/dev/mapper/vg_host7-root", "xfs", false), "a device of the device mapper");
        assert_eq!(mount_source("/dev/nvme0n1p2", "ext4", false), "a block device");
        assert_eq!(mount_source("tank/host7", "zfs", false), "a data set or folder");
        assert_eq!(mount_source("tank", "zfs", false), "a data set or folder");
        assert_eq!(mount_source("host7", "tmpfs", false), "no device");
        let options =
            "rw,relatime,vers=4.2,addr=192.0.2.7,username=alice,subvol=/@alice,data=/secret,commit=30";
        assert_eq!(mount_options(options), "rw,relatime,vers=4.2,commit=30");
    }

    #[test]
    fn places_have_their_first_name_only() {
        assert_eq!(
            ["/", "/tmp", "/home/alice", "/mnt/nas7/x"].map(place),
            ["/", "/tmp", "/home/…", "/mnt/…"]
        );
        assert_eq!(control_group("/sys/fs/cgroup", "/sys/fs/cgroup"), "/sys/fs/cgroup");
        assert_eq!(
            control_group("/sys/fs/cgroup/user.slice/user-1000.slice", "/sys/fs/cgroup"),
            "/sys/fs/cgroup/…"
        );
    }
}
