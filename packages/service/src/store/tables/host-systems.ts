/** Kinds of hosts that VMs can be bought on. */
export interface HostSystemsTable {
  name: string;
  displayname: string;
  datacenter_name: string;
  datacenter_displayname: string;
  datacenter_country: string;
  datacenter_city: string;
  processor: string;
  memory: string;
  nvme_hard_drives: string;
  /** The limits of one VM: JSON of ResourceRanges. */
  ranges: string;
  /** Place in the list. */
  position: number;
}
