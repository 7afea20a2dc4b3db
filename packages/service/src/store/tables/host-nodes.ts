import type { Generated } from 'kysely';

/** Machines that run VMs. */
export interface HostNodesTable {
  name: string;
  hostsystem: string;
  cores: number;
  used_cores: number;
  /** MB. */
  mem: number;
  used_mem: number;
  /** GB of NVMe. */
  disk: number;
  used_disk: number;
  /** GB of HDD. */
  storage: number;
  used_storage: number;
  /** 1 if the catalogue no longer has it. Removed VMs still refer to it. */
  retired: Generated<number>;
}
