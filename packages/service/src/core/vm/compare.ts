/** The differences between the infrastructure and the store. */
import type { Inventory, VmSeen } from '@reseller/adapters';

/** The contents of the store. */
export interface Known {
  readonly nodes: readonly Resources[];
  readonly images: readonly string[];
  readonly vms: readonly KnownVm[];
}

interface Resources {
  readonly name: string;
  readonly cores: number;
  readonly mem: number;
  readonly disk: number;
  readonly storage: number;
}

export interface KnownVm {
  readonly id: number;
  readonly state: string;
  readonly changing: number;
  /** 1 for the sample VM of a sandbox, which no hypervisor has created. */
  readonly is_sample: number;
  readonly node: string;
  readonly cores: number;
  readonly mem: number;
  readonly disk: number;
  readonly os: string;
  readonly hostname: string;
}

/** A difference. The subject is the name of a node, an operating system or a machine. */
export interface Finding {
  readonly kind:
    | 'node_missing'
    | 'node_unknown'
    | 'node_smaller'
    | 'image_missing'
    | 'image_unknown'
    | 'vm_missing'
    | 'vm_unknown'
    | 'vm_differs'
    | 'vm_foreign';
  readonly subject: string;
  readonly vmId: number | null;
  /** The meaning, and the next step. */
  readonly message: string;
}

/** @returns All differences: nodes first, then images, then VMs, each in the order of their names. */
export function findDifferences(seen: Inventory, known: Known): Finding[] {
  const findings = [...nodeFindings(seen, known), ...imageFindings(seen, known), ...vmFindings(seen, known)];
  return findings.toSorted(
    (one, other) => RANK.indexOf(partOf(one)) - RANK.indexOf(partOf(other)) || one.subject.localeCompare(other.subject),
  );
}

const RANK = ['node', 'image', 'vm'];

function partOf({ kind }: Finding): string {
  return kind.slice(0, kind.indexOf('_'));
}

function nodeFindings({ nodes: seen }: Inventory, { nodes: known }: Known): Finding[] {
  if (seen === null) return [];
  const missing = known.filter(({ name }) => !seen.some((node) => node.name === name));
  const unknown = seen.filter(({ name }) => !known.some((node) => node.name === name));
  return [
    ...missing.map(({ name }) =>
      finding(
        'node_missing',
        name,
        `The hypervisor has no node ${name}, but the catalogue sells room on it. Remove it from its host system.`,
      ),
    ),
    ...unknown.map(({ name }) =>
      finding('node_unknown', name, `The catalogue does not have the node ${name}, so nothing is sold on it. Add it to a host system.`),
    ),
    ...known.flatMap((node) => {
      const real = seen.find(({ name }) => name === node.name);
      const more = real ? RESOURCES.filter(([name]) => real[name] < node[name]) : [];
      if (!real || more.length === 0) return [];
      const amounts = more.map(([name, unit]) => `${real[name]} of ${node[name]} ${unit}`).join(', ');
      return finding('node_smaller', node.name, `The node ${node.name} has ${amounts}. Correct its capacity in the catalogue.`);
    }),
  ];
}

const RESOURCES = [
  ['cores', 'cores'],
  ['mem', 'MB of memory'],
  ['disk', 'GB of NVMe'],
  ['storage', 'GB of HDD'],
] as const;

function imageFindings({ images: seen }: Inventory, { images: known }: Known): Finding[] {
  if (seen === null) return [];
  return [
    ...known
      .filter((name) => !seen.includes(name))
      .map((name) =>
        finding(
          'image_missing',
          name,
          `The hypervisor has no image of ${name}, so its purchases fail. Add the image, or take it from the catalogue.`,
        ),
      ),
    ...seen
      .filter((name) => !known.includes(name))
      .map((name) =>
        finding('image_unknown', name, `The catalogue does not offer ${name}, of which the hypervisor has an image. Define it to sell it.`),
      ),
  ];
}

function vmFindings({ vms: seen }: Inventory, { vms }: Known): Finding[] {
  // A removed VM may still have a machine, whose removal is then in progress.
  const known = vms.filter(({ changing }) => changing === 0);
  const busy = new Set(vms.flatMap(({ id, changing }) => (changing === 0 ? [] : id)));
  const alive = known.filter(({ state }) => state === 'running' || state === 'stopped');
  const machines = new Map(seen.flatMap((machine) => (machine.vmId === null ? [] : [[machine.vmId, machine] as const])));
  return [
    ...alive.flatMap((vm) => {
      const machine = machines.get(vm.id);
      if (machine) return differences(vm, machine);
      if (vm.is_sample === 1) return [];
      const message = `The hypervisor does not have the VM ${vm.id}, which is ${vm.state} in the store. Restore it, or remove or release the VM to end its billing.`;
      return { ...finding('vm_missing', `vm-${vm.id}`, message), vmId: vm.id };
    }),
    ...[...machines.values()].flatMap(({ vmId, resource }) => {
      if (vmId === null || busy.has(vmId) || alive.some(({ id }) => id === vmId)) return [];
      const message = `The machine ${resource} carries the mark of this service, but the store has no VM ${vmId}. Adopt it for an account, or release it.`;
      return { ...finding('vm_unknown', resource, message), vmId };
    }),
    ...seen
      .filter(({ vmId }) => vmId === null)
      .map(({ resource }) =>
        finding('vm_foreign', resource, `${resource} does not carry the mark of this service, which never changes it.`),
      ),
  ];
}

function differences(vm: KnownVm, machine: VmSeen): Finding[] {
  const wanted = { ...vm, running: vm.state === 'running' };
  const parts = (['running', 'node', 'cores', 'mem', 'os', 'hostname'] as const).flatMap((name) =>
    machine[name] === null || machine[name] === wanted[name] ? [] : `${name} is ${machine[name]} instead of ${wanted[name]}`,
  );
  // A disk may have kept its size after a resize that was undone.
  if (machine.disk !== null && machine.disk < vm.disk) parts.push(`disk is ${machine.disk} instead of ${vm.disk}`);
  if (parts.length === 0) return [];
  const message = `The machine of the VM ${vm.id} is not what the store has: ${parts.join(', ')}. Change the VM, or its machine.`;
  return [{ ...finding('vm_differs', machine.resource, message), vmId: vm.id }];
}

function finding(kind: Finding['kind'], subject: string, message: string): Finding {
  return { kind, subject, vmId: null, message };
}
