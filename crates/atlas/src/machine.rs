//! What of a machine stands in the atlas: numbers, and words of closed lists.

use super::words;
use fathom_core::machine::{Fact, Machine};
use serde::{Deserialize, Serialize};

/// A machine without anything that names a host or a person; what is unknown, or may not be published, is `null`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineFacts {
    /// The design of the processor, such as `Zen 5`, by its numbers.
    pub design: Option<String>,
    /// `GenuineIntel`, `AuthenticAMD`, `Arm`.
    pub vendor: Option<String>,
    /// Family number (x86).
    pub family: Option<u32>,
    /// Model number (x86), or part number (Arm).
    pub model: Option<u32>,
    /// Stepping (x86), or revision (Arm).
    pub stepping: Option<u32>,
    /// The marketing name, of words that processors have.
    pub processor: Option<String>,
    /// Hardware, guest or emulation.
    pub kind: MachineKind,
    /// The hypervisor, by the list of those that are known.
    pub hypervisor: Option<String>,
    /// Whether the hypervisor is known to be a guest itself.
    pub nested: bool,
    /// The type of the instance, where the provider's tables tell it: `m7i.large`.
    pub instance: Option<String>,
    /// CPUs that the run was allowed to use.
    pub cpus: usize,
    /// Memory, in tenths of GiB.
    pub memory_gib: Option<f64>,
    /// The numbers of the kernel's release: `6.18.44`.
    pub kernel: Option<String>,
    /// Frequency of the kernel's timer tick, Hz.
    pub tick_hz: Option<u32>,
    /// The kernel's preemption.
    pub preemption: Option<String>,
    /// The kernel's clock.
    pub clock_source: Option<String>,
    /// Whether every entry to the kernel switches page tables.
    pub page_table_isolation: Option<bool>,
    /// Whether indirect calls of the kernel are replaced.
    pub retpolines: Option<bool>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub huge_pages: Option<String>,
    /// The governor of the clock.
    pub governor: Option<String>,
    /// Whether cores may exceed their nominal clock.
    pub turbo: Option<bool>,
    /// The file system of the measured folder.
    pub file_system: Option<String>,
    /// The kind of device below it.
    pub device: Option<String>,
}

/// What runs the machine: a figure of one kind is compared with no other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MachineKind {
    /// Hardware.
    BareMetal,
    /// A guest of a hypervisor.
    Guest,
    /// Instructions are emulated.
    Emulated,
    /// It is unknown whether there is a hypervisor.
    #[default]
    Unknown,
}

impl MachineKind {
    /// What a machine shows of itself.
    fn of(machine: &Machine) -> Self {
        match machine.virtualization.hypervisor.value() {
            None => MachineKind::Unknown,
            Some(None) => MachineKind::BareMetal,
            Some(Some(name)) if name.contains("TCG") => MachineKind::Emulated,
            Some(Some(_)) => MachineKind::Guest,
        }
    }

    /// The name in ids.
    pub(super) fn slug(self) -> &'static str {
        match self {
            MachineKind::BareMetal => "metal",
            MachineKind::Guest => "guest",
            MachineKind::Emulated => "emulated",
            MachineKind::Unknown => "machine",
        }
    }

    /// Several of them, in words.
    pub fn plural(self) -> &'static str {
        match self {
            MachineKind::BareMetal => "machines without hypervisor",
            MachineKind::Guest => "guests",
            MachineKind::Emulated => "emulated machines",
            MachineKind::Unknown => "machines",
        }
    }
}

impl MachineFacts {
    /// What of a machine may stand in the atlas.
    pub fn of(machine: &Machine) -> Self {
        let (processor, kernel) = (&machine.processor, &machine.kernel);
        MachineFacts {
            design: machine.design(),
            vendor: listed(&processor.vendor, words::VENDORS),
            family: processor.family.value().copied(),
            model: processor.model.value().copied(),
            stepping: processor.stepping.value().copied(),
            processor: processor.model_name.value().and_then(|name| words::of_processor(name)),
            kind: MachineKind::of(machine),
            hypervisor: hypervisor(machine),
            nested: machine.nested().is_some(),
            instance: instance(machine),
            cpus: machine.allowed_cpus().len(),
            memory_gib: machine.memory.total_bytes.value().map(|bytes| tenths_of_gib(*bytes)),
            kernel: kernel.release.value().and_then(|release| words::release(release)),
            tick_hz: kernel.tick_hz.value().copied(),
            preemption: listed(&kernel.preemption, words::PREEMPTION),
            clock_source: listed(&kernel.clocksource, words::CLOCKS),
            page_table_isolation: kernel.page_table_isolation.value().copied(),
            retpolines: kernel.retpolines.value().copied(),
            huge_pages: listed(&machine.memory.transparent_huge_pages.enabled, words::HUGE_PAGES),
            governor: governor(machine),
            turbo: machine.conditions.turbo.value().copied(),
            file_system: listed(&machine.storage.file_system, words::FILE_SYSTEMS),
            device: device(machine),
        }
    }

    /// The family: the design, or the numbers where it is unknown; `None` for a machine that shows neither.
    pub fn family(&self) -> Option<String> {
        let by_number = || {
            Some(format!(
                "{} family {} model {}",
                self.vendor.as_ref()?,
                self.family.unwrap_or(0),
                self.model?
            ))
        };
        self.design.clone().or_else(by_number)
    }

    /// Whether nothing that stays with a machine tells the two apart: processor to its stepping, hypervisor, type of the instance,
    /// memory and kernel. The CPUs that a run may use, the folder and settings differ between two runs of one machine.
    pub fn is_perhaps(&self, other: &Self) -> bool {
        let lasting = |facts: &Self| MachineFacts {
            cpus: 0,
            tick_hz: None,
            preemption: None,
            clock_source: None,
            page_table_isolation: None,
            retpolines: None,
            huge_pages: None,
            governor: None,
            turbo: None,
            file_system: None,
            device: None,
            ..facts.clone()
        };
        lasting(self) == lasting(other)
    }

    /// Its kind among machines, in words: `Zen 5 guests`.
    pub fn in_words(&self) -> String {
        format!("{} {}", self.family().unwrap_or_else(|| "unknown".to_owned()), self.kind.plural())
    }

    /// The machine in a line.
    pub fn title(&self) -> String {
        let memory = self.memory_gib.map(|size| format!("{size} GiB"));
        let kernel = self.kernel.as_ref().map(|release| format!("Linux {release}"));
        let nested = self.nested.then(|| "nested".to_owned());
        let under = self.hypervisor.as_ref().map(|name| format!("under {name}"));
        let known = [
            self.family(),
            self.processor.clone(),
            self.instance.clone(),
            Some(format!("{} CPUs", self.cpus)),
            under,
            nested,
            memory,
            kernel,
        ];
        known.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// The fact, if it is one of these words.
fn listed(fact: &Fact<String>, words: &[&str]) -> Option<String> {
    fact.value().filter(|value| words.contains(&value.as_str())).cloned()
}

fn hypervisor(machine: &Machine) -> Option<String> {
    let name = machine.virtualization.hypervisor.value()?.as_deref()?;
    let is_known = words::HYPERVISORS.contains(&name);
    Some(if is_known { name } else { "another hypervisor" }.to_owned())
}

/// The type of an instance: of a provider that writes it into its tables, or the product that several of them have in common.
fn instance(machine: &Machine) -> Option<String> {
    let (vendor, product) =
        (machine.virtualization.system_vendor.value()?, machine.virtualization.system_product.value()?);
    let is_type = vendor == "Amazon EC2" && words::is_instance(product);
    (is_type || words::PRODUCTS.contains(&product.as_str())).then(|| product.clone())
}

fn governor(machine: &Machine) -> Option<String> {
    match machine.conditions.governors.value()?.as_slice() {
        [only] if words::GOVERNORS.contains(&only.as_str()) => Some(only.clone()),
        _ => None,
    }
}

fn device(machine: &Machine) -> Option<String> {
    let kind = &machine.storage.device.value()?.kind;
    words::DEVICES.contains(&kind.as_str()).then(|| kind.clone())
}

fn tenths_of_gib(bytes: u64) -> f64 {
    (bytes as f64 / f64::from(1 << 30) * 10.0).round() / 10.0
}
