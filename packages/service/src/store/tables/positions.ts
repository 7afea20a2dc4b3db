/** The billed runtimes of VMs. A position outlives the row of its VM. */
export interface PositionsTable {
  /** Identifiers are reused: each VM that had this one began with a `CREATE` position. */
  vm_id: number;
  /** 1, 2, 3, … for each identifier. */
  number: number;
  account_id: string;
  /** Null while the period is open. */
  invoice_id: string | null;
  /** `CREATE`, `BILLINGRESTART` or `UP-DOWNGRADE`. */
  type: string;
  /** Seconds. */
  start: number;
  /** Seconds. Null while it runs. */
  stop: number | null;
  /** Money. */
  monthly_price: number;
  /** Money: its hold on the credit limit. */
  hold: number;
  /** The VM as it was when the position began, for the invoice. */
  hostname: string;
  hostsystem: string;
  cores: number;
  /** MB. */
  mem: number;
  /** GB. */
  disk: number;
  /** GB of HDD. Null if none was ordered. */
  storage: number | null;
  ips: number;
  backup_slots: number;
  /** Mbit. */
  network_speed: number;
}
