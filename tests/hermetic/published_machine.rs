//! A run file can be published as it is: whatever names a host, a user, a server or a customer, and whatever is secret, is
//! planted into every file from which a machine is described, and none of it comes through.

use crate::described::planted::{Described, empty_tree, plant};
use fathom::machine::{Folder, Machine, Root};
use fathom::report::description;
use proptest::prelude::*;
use std::path::PathBuf;

/// A tree with the planted word wherever Linux shows such words.
const TREE: &str = r#"
/proc/cmdline = BOOT_IMAGE=(hd0,gpt2)/vmlinuz-@ root=/dev/mapper/vg_@-root mitigations=off rd.iscsi.password=@ rd.iscsi.initiator=iqn.2001-04.com.@:x ip=@::@:@:@:eth0:off nfsroot=@:/srv/@ systemd.hostname=@ ds=nocloud-net;s=http://@/ inst.ks=https://@:@@@/ks proxy=http://@ user-@=1 @ @=@ nohz_full=1 idle=//@ pci=/@ console=ttyS0 cloud-init=@
/proc/self/mountinfo = 20 1 259:2 / / rw,relatime - ext4 /dev/mapper/vg_@-root rw,@,errors=remount-ro,usrjquota=@\n21 20 0:40 /@ /home/@ rw,nosuid - nfs4 nas-@.example:/export/@ rw,vers=4.2,addr=@,clientaddr=@,username=@,domain=@,fsc=/@\n22 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2-@ rw
/proc/self/cgroup = 0::/user.slice/user-@.slice/@
/sys/fs/cgroup/cgroup.controllers = cpu memory cpuset
/sys/fs/cgroup/user.slice/user-@.slice/@/cpu.max = 250000 100000
/sys/fs/cgroup/user.slice/user-@.slice/@/cpu.stat = nr_periods 1\nnr_throttled 1
/sys/fs/cgroup/user.slice/user-@.slice/@/memory.max = 536870912
/sys/fs/cgroup/user.slice/user-@.slice/@/memory.current = 1000000
/sys/fs/cgroup/user.slice/user-@.slice/@/cpuset.cpus.effective = 0-1
/proc/sys/kernel/hostname = @
/proc/sys/kernel/domainname = @
/proc/sys/kernel/random/boot_id = @
/proc/version = Linux version 6.1.0 (@@@) #1 SMP
/proc/self/environ = USER=@
/proc/self/status = Name: @\nUid: 0 0 0 0\nCapEff: 0000000000000000\nSeccomp: 0
/proc/net/route = Iface Destination Gateway Flags RefCnt Use Metric Mask\neth0 00000000 @ 0003 0 0 0 00000000
/proc/net/arp = @
/proc/net/tcp = @
/proc/net/fib_trie = @
/proc/meminfo = MemTotal: 16384000 kB\nMemAvailable: 12000000 kB
/proc/cpuinfo = processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 106\nflags : fpu hypervisor\nSerial : @
/proc/swaps = Filename Type Size Used Priority\n/@/swap file 1000 0 -2
/etc/hostname = @
/etc/hosts = 192.0.2.7 @
/etc/resolv.conf = search @
/etc/passwd = @:x:1000:1000:@:/home/@:/bin/sh
/etc/machine-id = @
/etc/os-release = PRETTY_NAME="Debian GNU/Linux 12"\nHOME_URL="https://@"\nIMAGE_ID=@
/sys/class/dmi/id/sys_vendor = Example
/sys/class/dmi/id/product_name = Rack Server
/sys/class/dmi/id/product_serial = @
/sys/class/dmi/id/product_uuid = @
/sys/class/dmi/id/product_sku = @
/sys/class/dmi/id/board_name = Board
/sys/class/dmi/id/board_serial = @
/sys/class/dmi/id/board_asset_tag = @
/sys/class/dmi/id/chassis_serial = @
/sys/class/dmi/id/chassis_asset_tag = @
/run/udev/data/+dmi:id = E:MEMORY_DEVICE_0_LOCATOR=DIMM 0\nE:MEMORY_DEVICE_0_SIZE=34359738368\nE:MEMORY_DEVICE_0_PRESENT=1\nE:MEMORY_DEVICE_0_SERIAL_NUMBER=@\nE:MEMORY_DEVICE_0_ASSET_TAG=@\nE:ID_SERIAL=@
/run/systemd/container = docker
/run/.containerenv = name="@"
/run/host/container-manager = @
/sys/class/net/eth0/mtu = 1500
/sys/class/net/eth0/address = @
/sys/class/net/eth0/ifalias = @
/sys/class/net/eth0/operstate = up
/sys/class/net/eth0/phys_port_id = @
/sys/class/net/eth0/device/label = @
/sys/devices/virtual/block/dm-0/dm/name = vg_@-root
/sys/dev/block/259:2 -> ../../devices/pci0/nvme/nvme0/nvme0n1
/sys/class/block/nvme0n1/size = 41943040
/sys/class/block/nvme0n1/serial = @
/sys/class/block/nvme0n1/wwid = nvme.@
/sys/class/block/nvme0n1/uuid = @
/sys/class/block/nvme0n1/device/serial = @
/sys/class/block/nvme0n1/device/subsysnqn = nqn.2014.08.org:@
/sys/class/block/nvme0n1/device/address = @
/sys/class/block/nvme0n1/device/model = Example NVMe 20G
/sys/class/block/nvme0n1/queue/rotational = 0
/sys/block/nvme0n1/device/serial = @
/sys/hypervisor/uuid = @
/sys/devices/system/cpu/online = 0-1
"#;

/// The machine of the tree with this word planted, and all that is told of it.
fn told(word: &str, folder: &str) -> (Machine, String) {
    let tree = empty_tree();
    plant(&tree, &TREE.replace('@', word));
    let folder = PathBuf::from(folder.replace('@', word));
    let host = Described {
        release: Some("6.1.0-13-amd64"),
        folder: Some(Folder { path: folder.clone(), total_bytes: 1, free_bytes: 1, block_bytes: 4096 }),
        ..Described::default()
    };
    let machine = Machine::from_root(&Root::new(tree.path()), &host, &folder);
    let text = format!("{}\n{:?}", serde_json::to_string(&machine).unwrap(), description::sections(&machine));
    (machine, text)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn no_planted_name_address_or_secret_comes_through(
        word in "(zq[a-z0-9]{4,12}q|198\\.51\\.100\\.[1-9][0-9]|zq[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}|2001:db8:[a-f0-9]{4}:7::[a-f0-9]{2})",
        folder in "(/home/@|/home/@/x|/srv/customer-@/y|/mnt/nas-@)",
    ) {
        let (machine, text) = told(&word, &folder);
        prop_assert!(!text.contains(&word), "{} in {}", word, text);
        // What is not a name is still told.
        prop_assert_eq!(machine.cpu_quota(), Some(2.5));
        let line = machine.kernel.command_line.value().cloned().unwrap_or_default();
        prop_assert!(line.starts_with("mitigations=off nohz_full=1 (and "), "{}", line);
        prop_assert!(machine.storage.mount_options.value().is_some_and(|options| options.contains("rw")));
    }
}
