/** The use of a VM, from its process, from QEMU, and from the guest agent. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

import type { VmUsage } from '../hypervisor.ts';
import { isMessage } from './json-socket.ts';
import { DISK_FILE } from './machine.ts';
import type { Machine } from './machine.ts';
import { agent, qmp } from './qmp.ts';

const AGENT_TIMEOUT_MS = 2_000;
/** Linux counts the time of processes in hundredths of a second on every architecture that QEMU runs on. */
const TICKS_PER_SECOND = 100;
/** The size of the blocks in which a file system counts, as `stat` states them. */
const BLOCK_BYTES = 512;

/** @throws Error if the process has ended meanwhile. */
export async function usageOf(folder: string, vmId: number, { pid }: Machine): Promise<VmUsage> {
  const [process, disks, traffic, { blocks }] = await Promise.all([
    usageOfProcess(pid),
    qmp(folder, 'query-blockstats').then(statisticsIn, () => undefined),
    agent(folder, 'guest-network-get-interfaces', { timeoutMs: AGENT_TIMEOUT_MS }).then(trafficIn, () => undefined),
    stat(join(folder, DISK_FILE)),
  ]);
  return {
    vmId,
    ...process,
    disk: blocks * BLOCK_BYTES,
    diskRead: sumOf(disks, 'rd_bytes'),
    diskWritten: sumOf(disks, 'wr_bytes'),
    received: sumOf(traffic, 'rx-bytes'),
    sent: sumOf(traffic, 'tx-bytes'),
  };
}

async function usageOfProcess(pid: number): Promise<Pick<VmUsage, 'run' | 'seconds' | 'cpuSeconds' | 'memory'>> {
  const [line, status, uptime] = await Promise.all(
    [`${pid}/stat`, `${pid}/status`, 'uptime'].map((file) => readFile(`/proc/${file}`, 'utf8')),
  );
  // The name of the program, in parentheses, may contain spaces. After it are the state and, as the fields 12, 13 and 20, user time, system time and start.
  const fields = line?.slice(line.lastIndexOf(')') + 2).split(' ') ?? [];
  const [user = 0, system = 0, start = 0] = [fields[11], fields[12], fields[19]].map(Number);
  return {
    run: `${pid}-${start}`,
    seconds: Math.max(0, Number.parseFloat(uptime ?? '') - start / TICKS_PER_SECOND),
    cpuSeconds: (user + system) / TICKS_PER_SECOND,
    memory: Number(/^VmRSS:\s+(\d+) kB/m.exec(status ?? '')?.[1] ?? 0) * 1024,
  };
}

function statisticsIn(blocks: unknown): readonly unknown[] {
  return messagesIn(blocks).map(({ stats }) => stats);
}

function trafficIn(interfaces: unknown): readonly unknown[] {
  return messagesIn(interfaces).flatMap(({ name, statistics }) => (name === 'lo' ? [] : [statistics]));
}

function messagesIn(value: unknown) {
  return Array.isArray(value) ? value.filter(isMessage) : [];
}

/** Null if nothing was measured. */
function sumOf(values: readonly unknown[] | undefined, name: string): number | null {
  return values?.map((value) => (isMessage(value) ? Number(value[name] ?? 0) : 0)).reduce((sum, one) => sum + one, 0) ?? null;
}
