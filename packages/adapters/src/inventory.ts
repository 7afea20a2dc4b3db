/** A machine of the system that runs VMs. */
export interface NodeSeen {
  readonly name: string;
  readonly cores: number;
  /** MB. */
  readonly mem: number;
  /** GB of NVMe. */
  readonly disk: number;
  /** GB of HDD. */
  readonly storage: number;
}

/** A VM of the system, or anything else that uses the name of one. Null for what the system does not say. */
export interface VmSeen {
  /** Its name in the system, such as that of a folder or the number of a VM. */
  readonly resource: string;
  /** The VM of the service. Null if the resource does not carry the mark of the service. The adapter then never changes it. */
  readonly vmId: number | null;
  readonly running: boolean | null;
  readonly node: string | null;
  readonly cores: number | null;
  /** MB. */
  readonly mem: number | null;
  /** GB. */
  readonly disk: number | null;
  readonly os: string | null;
  readonly hostname: string | null;
}

/** What a system has, whatever the service knows of it. */
export interface Inventory {
  /** Null if the system does not name its nodes. */
  readonly nodes: readonly NodeSeen[] | null;
  /** The operating systems that can be installed. Null if any can. */
  readonly images: readonly string[] | null;
  readonly vms: readonly VmSeen[];
}
