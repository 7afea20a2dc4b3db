/** The usage of a VM, from its process, from QEMU, and from the guest agent. */
import { readFile } from 'node:fs/promises';

import { isMessage } from './json-socket.ts';
import type { Machine } from './machine.ts';
import { agent, qmp } from './qmp.ts';

/** Totals since the process of the VM started. */
export interface VmUsage {
  readonly cpuSeconds: number;
  /** Bytes of the host's memory, now. */
  readonly memory: number;
  /** Bytes. */
  readonly disk: { readonly read: number; readonly written: number };
  /** Bytes, counted by the guest. Null if its agent does not answer. */
  readonly network: { readonly received: number; readonly sent: number } | null;
}

const AGENT_TIMEOUT_MS = 3_000;
/** Linux counts the time of processes in hundredths of a second on every architecture that QEMU runs on. */
const TICKS_PER_SECOND = 100;

export async function usageOf(folder: string, { pid }: Machine): Promise<VmUsage> {
  const [stat, status, blocks, network] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8'),
    readFile(`/proc/${pid}/status`, 'utf8'),
    qmp(folder, 'query-blockstats'),
    agent(folder, 'guest-network-get-interfaces', { timeoutMs: AGENT_TIMEOUT_MS }).catch(() => undefined),
  ]);
  // The name of the program, in parentheses, may contain spaces. User and system time are the 12th and 13th field after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const memory = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
  const disks = messagesIn(blocks).map(({ stats }) => stats);
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
    memory,
    disk: { read: sumOf(disks, 'rd_bytes'), written: sumOf(disks, 'wr_bytes') },
    network: network === undefined ? null : trafficOf(network),
  };
}

function trafficOf(interfaces: unknown): VmUsage['network'] {
  const statistics = messagesIn(interfaces).flatMap(({ name, statistics: one }) => (name === 'lo' ? [] : [one]));
  return { received: sumOf(statistics, 'rx-bytes'), sent: sumOf(statistics, 'tx-bytes') };
}

function messagesIn(value: unknown) {
  return Array.isArray(value) ? value.filter(isMessage) : [];
}

function sumOf(values: readonly unknown[], name: string): number {
  return values.map((value) => (isMessage(value) ? Number(value[name] ?? 0) : 0)).reduce((sum, one) => sum + one, 0);
}
