import type { Generated } from 'kysely';

/** Virtual machines, removed ones included until their identifier is reused. */
export interface VmsTable {
  /** Five digits. */
  id: number;
  account_id: string;
  /** `reserved` until the hypervisor has delivered it, `installing` while it has a task for that, then `running` or `stopped`, finally `removed`. */
  state: string;
  hostsystem: string;
  node: string;
  cores: number;
  /** MB. */
  mem: number;
  /** GB. */
  disk: number;
  os: string;
  ips: number;
  backup_slots: number;
  /** Mbit. */
  network_speed: number;
  hostname: string;
  /** Display name. Null if the hostname counts as the name. */
  name: Generated<string | null>;
  /** The ISO file of the hypervisor from which it boots. Null for its disk. */
  iso: Generated<string | null>;
  /** JSON: the values of the labels by their keys. */
  labels: Generated<string>;
  /** GB of HDD. Null if none was ordered. */
  storage: number | null;
  ssh_key: string | null;
  ssh_key_displayname: string | null;
  /** 1 if the service has set a password for its login user. Null if it does not know, as for an adopted machine. */
  password_enabled: number | null;
  default_ptr: string;
  /** Money: the net price of 30 days. */
  monthly_price: number;
  /** Milliseconds: the `valid_from` of the prices of the host system that the price was calculated with. */
  prices_from: number;
  /** `SALE` while the prices of `sale_id` apply, otherwise `STANDARD`. */
  price_basis: string;
  /** The sale in which it was bought. Null if it was bought at standard prices. */
  sale_id: string | null;
  /** 1 while a change is being delivered. */
  changing: Generated<number>;
  /** Milliseconds: when it was last started, restarted or reinstalled. */
  booted: number | null;
  /** Milliseconds: when the service found that its machine had ended by itself. Null while the machine runs, or should not. */
  machine_ended: Generated<number | null>;
  /** Failed attempts to start the machine again. */
  start_attempts: Generated<number>;
  /** Milliseconds: when the next attempt is due. */
  next_start: Generated<number | null>;
  /** Of the complaints about it: `CLEAN`, `WARNED`, `STATEMENT_EXPECTED` or `BLOCKED`. Only the provider changes it. */
  abuse_status: Generated<string>;
  /** Why it has the status, for its reseller. Null if the provider never set it. */
  abuse_reason: Generated<string | null>;
  /** The statement of its reseller. */
  abuse_statement: Generated<string | null>;
  /** 1 while it is stopped by the provider, so that only the provider can start it. */
  stopped_by_provider: Generated<number>;
  /** `daily` or `weekly` if the service makes backups by itself. Null if it does not. */
  backup_schedule: Generated<string | null>;
  /** Seconds: when the next one is due. Null without a schedule. */
  backup_due: Generated<number | null>;
  /** Seconds: an instant from which the regular backups are whole intervals away. Null without a schedule, and for one of an earlier version. */
  backup_anchor: Generated<number | null>;
  /** 1 if the last scheduled backup failed. */
  backup_failing: Generated<number>;
  /** 1 for the sample VM of a sandbox, which no hypervisor has created. */
  is_sample: Generated<number>;
  /** Milliseconds: when its removal was requested. Null before. */
  removed: number | null;
  /** Milliseconds. */
  created: number;
}

/** Backups of VMs. The rows of a VM are deleted with it. */
export interface VmBackupsTable {
  /** UUID, also the name of the backup in the hypervisor. */
  id: string;
  vm_id: number;
  description: string;
  /** `creating` and `deleting` until the hypervisor has confirmed it, else `available`. Each uses a slot. */
  state: 'creating' | 'available' | 'deleting';
  /** 1 if the schedule of the VM asked for it. */
  is_scheduled: number;
  /** 1 if the one before it in the schedule failed, so that its failure is not an event. */
  repeats_failure: Generated<number>;
  /** Milliseconds. */
  created: number;
  // The VM at the time of the backup.
  /** GB. */
  disk: number;
  os: string;
  hostname: string;
  ssh_key: string | null;
  ssh_key_displayname: string | null;
  password_enabled: number | null;
}

/** The user data of VMs. The rows of a VM are deleted with it. */
export interface VmUserDataTable {
  vm_id: number;
  /** 1 for that of a reinstallation in progress. */
  is_pending: number;
  sealed_text: string;
  /** The hash of the text, in hexadecimal. */
  sha256: string;
}

/** The port of each VM that is checked, or was. The row of a VM is deleted with it. */
export interface VmMonitorsTable {
  vm_id: number;
  /** 1 while the service checks it. */
  enabled: number;
  port: number;
  /** `unknown` until the first check. */
  status: 'unknown' | 'reachable' | 'unreachable';
  /** Checks that failed one after another. */
  failures: number;
  /** Milliseconds. */
  next_check: number;
}

/** Links to the consoles of VMs, and the sessions that they have opened. */
export interface VmConsolesTable {
  /** Of the secret in the link. */
  hash: string;
  vm_id: number;
  account_id: string;
  /** The API key that asked for it. */
  key_id: string;
  /** Milliseconds: until when it can be opened. */
  expires: number;
  /** Milliseconds: when its session ends at the latest. Null until it is opened. */
  ends: number | null;
  /** Milliseconds: when its instance said last that the session is open. Null until it is opened. */
  seen: number | null;
}

/** The counters of VMs at their newest measurement. The rows of a VM are deleted with it, as those of the next two tables. */
export interface VmCountersTable {
  vm_id: number;
  /** Milliseconds. */
  at: number;
  /** The name that the hypervisor has given to the run of the counters. */
  run: string;
  /** Milliseconds since the run began, by the hypervisor. */
  run_time: number;
  /** Milliseconds of cores. Null as long as it is not known how much of a counter belongs to the VM. */
  cpu_time: number | null;
  /** Bytes. */
  disk_read: number | null;
  disk_written: number | null;
  received: number | null;
  sent: number | null;
}

/** The use of VMs at each measurement of the last 24 hours. Null for what was not measured. */
export interface VmUsageTable {
  vm_id: number;
  /** Milliseconds. */
  at: number;
  /** Hundredths of a percent of all its cores. */
  cpu: number | null;
  /** Bytes. */
  mem: number | null;
  disk: number | null;
  /** Bytes per second since the measurement before. */
  disk_read: number | null;
  disk_written: number | null;
  received: number | null;
  sent: number | null;
}

/** The traffic of VMs by day. */
export interface VmTrafficTable {
  vm_id: number;
  /** Days (UTC) since 1970. */
  day: number;
  /** Bytes. */
  received: number;
  sent: number;
}

/** Names of addresses in reverse DNS that an account has set or removed. The other first addresses have the `default_ptr` of their VM. */
export interface RdnsEntriesTable {
  /** IPv4 or IPv6. */
  address: string;
  /** The row of `ip_addresses` with the address, or with the network that it is in. The row is deleted when that is released. */
  assigned: string;
  vm_id: number;
  /** Null if the address has no name. */
  domain: string | null;
  /** Milliseconds. */
  changed: number;
}

/** An address or network whose names must be published, because they changed. Triggers add it. */
export interface RdnsChangesTable {
  id: Generated<number>;
  address: string;
}

/** SSH keys that accounts have stored for their purchases. */
export interface SshKeysTable {
  id: string;
  account_id: string;
  displayname: string;
  /** In OpenSSH notation. */
  public_key: string;
  /** Of the key without its comment. An account has each key once. */
  fingerprint: string;
  /** Milliseconds. */
  created: number;
}
