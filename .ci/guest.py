"""What a guest is made of: a kernel of Debian, unpacked and not installed, a root file system in memory, a disk, and the
emulator.

Nothing of the host is changed. Packages are kept between two calls, next to what cargo builds.
"""

import hashlib
import lzma
import re
import shutil
import subprocess
import tarfile
import urllib.request
from dataclasses import dataclass
from pathlib import Path

MIRROR = "https://deb.debian.org/debian"
MIB = 1 << 20


@dataclass(frozen=True)
class Architecture:
    """How an architecture is called, by whom."""

    debian: str
    emulator: tuple
    console: str
    linker: str
    compiler: str
    target: str


X86_64 = Architecture(
    debian="amd64",
    emulator=("qemu-system-x86_64",),
    console="ttyS0",
    linker="/lib64/ld-linux-x86-64.so.2",
    compiler="x86_64-linux-gnu-gcc",
    target="x86_64-unknown-linux-gnu",
)
AARCH64 = Architecture(
    debian="arm64",
    emulator=("qemu-system-aarch64", "-M", "virt"),
    console="ttyAMA0",
    linker="/lib/ld-linux-aarch64.so.1",
    compiler="aarch64-linux-gnu-gcc",
    target="aarch64-unknown-linux-gnu",
)


@dataclass(frozen=True)
class Guest:
    """A machine: its hardware, its kernel, and what is done to it before Fathom runs."""

    name: str
    what: str
    architecture: Architecture
    options: tuple
    memory_mib: int
    suite: str = "bookworm"
    kernel: str = ""
    prepare: tuple = ()

    def kernel_package(self):
        """The package that depends on the kernel's newest version."""
        return self.kernel or f"linux-image-{self.architecture.debian}"


class Packages:
    """Packages of one suite of Debian, for one architecture."""

    def __init__(self, cache, suite, architecture):
        self.cache = cache / f"{suite}-{architecture}"
        self.cache.mkdir(parents=True, exist_ok=True)
        index = self.cache / "Packages.xz"
        if not index.exists():
            fetch(f"{MIRROR}/dists/{suite}/main/binary-{architecture}/Packages.xz", index)
        text = lzma.decompress(index.read_bytes()).decode()
        entries = (dict(re.findall(r"^([\w-]+): (.*)$", entry, re.M)) for entry in text.split("\n\n"))
        self.index = {entry["Package"]: entry for entry in entries if "Package" in entry}

    def depends_on(self, package):
        """The first package that this one needs."""
        return self.index[package]["Depends"].split()[0]

    def unpacked(self, package):
        """The folder with the files of a package."""
        entry = self.index[package]
        folder = self.cache / f"{package}_{entry['Version'].replace(':', '-')}"
        if not folder.exists():
            archive = self.cache / Path(entry["Filename"]).name
            fetch(f"{MIRROR}/{entry['Filename']}", archive, entry["SHA256"])
            unfinished = folder.with_suffix(".unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            subprocess.run(["dpkg", "-x", archive, unfinished], check=True)
            unfinished.rename(folder)
            archive.unlink()
        return folder


def fetch(address, to, sha256=None):
    """Fetches a file; one with another digest than expected is refused."""
    with urllib.request.urlopen(address, timeout=120) as answer:
        data = answer.read()
    if sha256 and hashlib.sha256(data).hexdigest() != sha256:
        raise SystemExit(f"{address} is not the file that the index names")
    to.write_bytes(data)


# The drivers of the disks, and the file system.
MODULES = ("virtio_pci", "virtio_blk", "crc32c_generic", "ext4")


def modules(folder, wanted):
    """The files of the modules wanted and of those that they need, in the order of loading; what is built in has none."""
    files = {path.name.split(".")[0].replace("-", "_"): path for path in folder.rglob("*.ko*")}
    ordered = []

    def load(name):
        path = files.get(name)
        if path is None or path in ordered:
            return
        needs = re.search(rb"\0depends=([^\0]*)", module(path))
        for needed in needs.group(1).decode().split(",") if needs else ():
            load(needed.replace("-", "_"))
        ordered.append(path)

    for name in wanted:
        load(name)
    return ordered


def module(path):
    """The bytes of a module."""
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data


CHAPTERS = ("cpu", "memory", "network", "filesystem")


def commands(runs, budget):
    """What is run in the guest, by the name of its answer. Every chapter is a run of its own, so that each gets its time."""
    yield "machine", "fathom machine --format json --dir /disk"
    yield "list", "fathom list"
    for name in runs:
        answer = name.replace("/", "-")
        file = f"/disk/{answer}.jsonl"
        yield f"{answer}-run", f"fathom run {name} --quick --budget {budget}s --dir /disk --output {file}"
        yield f"{answer}-report", f"fathom report {file}"
        yield f"{answer}-points", f"fathom report {file} --format json"


INIT = """#!/bin/sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/disk TMPDIR=/disk
mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t devtmpfs devtmpfs /dev; mount -t tmpfs tmpfs /tmp
for module in /modules/*; do insmod $module; done
ip link set lo up
mount -t ext4 /dev/vda /disk
mkdir /results
{prepare}
answer() {{
    name=$1; shift
    echo "-- $name"
    "$@" >/results/$name.out 2>/results/$name.err
    echo $? >/results/$name.status
    # Whatever ends the guest early, what it has answered until then is there.
    dmesg >/results/kernel.out
    tar -cf /dev/vdb -C /results .
    sync
}}
{answers}
cp /disk/*.jsonl /results/
answer end true
poweroff -f
"""


def root(guest, packages, kernel, binary, answers, folder):
    """The root file system in memory, as an archive that the kernel unpacks."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("bin", "lib", "lib64", "proc", "sys", "dev", "tmp", "disk", "modules"):
        (folder / name).mkdir(parents=True)
    # Since Debian 13 both the shell and modules are below /usr.
    busybox = next(packages.unpacked("busybox-static").glob("**/bin/busybox"))
    shutil.copy(busybox, folder / "bin/busybox")
    (folder / "bin/sh").symlink_to("busybox")
    shutil.copy(binary, folder / "bin/fathom")
    for number, path in enumerate(modules(next(kernel.glob("**/lib/modules")), MODULES)):
        (folder / "modules" / f"{number:02}.ko").write_bytes(module(path))
    for library in libraries(guest.architecture, binary):
        to = Path(guest.architecture.linker) if library.name.startswith("ld-") else Path("/lib") / library.name
        shutil.copy(library, folder / to.relative_to("/"))
    answers = "\n".join(f"answer {name} {command}" for name, command in answers)
    init = folder / "init"
    init.write_text(INIT.format(prepare="\n".join(guest.prepare), answers=answers))
    init.chmod(0o755)
    archive = folder.with_suffix(".cpio")
    with open(archive, "wb") as file:
        listing = subprocess.run(["find", "."], cwd=folder, capture_output=True, check=True).stdout
        pack = ["cpio", "-o", "-H", "newc", "--quiet"]
        subprocess.run(pack, cwd=folder, input=listing, stdout=file, check=True)
    return archive


def libraries(architecture, binary):
    """The shared libraries of a binary, where its compiler finds them."""
    names = re.findall(r"NEEDED.*\[(.*)\]", output("readelf", "-d", binary))
    linker = Path(architecture.linker).name
    found = (Path(output(architecture.compiler, f"-print-file-name={name}")) for name in {*names, linker})
    return [path.resolve() if path.name == linker else path for path in found]


def output(*command):
    """What a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def boot(guest, binary, cache, folder, asked):
    """Boots a guest, and waits until it ends or its time is up. Its answers until then are in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    packages = Packages(cache, guest.suite, guest.architecture.debian)
    kernel = packages.unpacked(packages.depends_on(guest.kernel_package()))
    answered = commands(asked.run or CHAPTERS, asked.budget)
    archive = root(guest, packages, kernel, binary, answered, folder / "root")
    disk, answers = folder / "disk.ext4", folder / "answers.tar"
    for path, size in ((disk, 2048 * MIB), (answers, 64 * MIB)):
        path.unlink(missing_ok=True)
        with open(path, "wb") as file:
            file.truncate(size)
    subprocess.run(["/sbin/mke2fs", "-q", "-t", "ext4", "-F", disk], check=True)
    image = next(path for path in (kernel / "boot").iterdir() if path.name.startswith("vmlinu"))
    command = [
        *guest.architecture.emulator, *guest.options, "-m", str(guest.memory_mib),
        "-nographic", "-no-reboot", "-nic", "none",
        "-kernel", image, "-initrd", archive, "-append", f"console={guest.architecture.console} panic=-1 quiet",
        *drive("disk", disk), *drive("answers", answers),
    ]  # fmt: skip
    with open(folder / "console.txt", "wb") as console:
        try:
            ends = {"stdin": subprocess.DEVNULL, "stdout": console, "stderr": console}
            subprocess.run(command, **ends, timeout=asked.limit, check=False)
        except subprocess.TimeoutExpired:
            pass
    unpack(answers, folder / "answers")


def drive(name, path):
    """A disk of the guest."""
    options = f"file={path},format=raw,if=none,id={name},cache=unsafe,discard=unmap"
    return ["-drive", options, "-device", f"virtio-blk-pci,drive={name}"]


def unpack(archive, folder):
    """Takes the answers out of the raw disk that they were written to; a guest that never ran has none."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        with tarfile.open(archive) as answers:
            answers.extractall(folder, filter="data")
    except tarfile.ReadError:
        pass
