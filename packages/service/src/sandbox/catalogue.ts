import type { IpPool } from '../core/catalogue/ip-pool.ts';
/**
 * The catalogue of the sandbox. The specification shows neither host systems nor prices. These are plausible ones, at the two locations that
 * the specification names.
 */
import type { ResourcePrices, ResourceRanges } from '../rules/resources.ts';

interface SandboxHostSystem {
  readonly name: string;
  readonly displayname: string;
  readonly datacenter: { readonly name: string; readonly displayname: string; readonly country: string; readonly city: string };
  readonly processor: string;
  readonly memory: string;
  readonly nvme_hard_drives: string;
  readonly ranges: ResourceRanges;
  readonly prices: ResourcePrices;
  /** GB in a calendar month; null for no amount. */
  readonly included_traffic: number | null;
  /** Cores to sell, MB of memory, GB of NVMe, GB of HDD. */
  readonly nodes: readonly {
    readonly name: string;
    readonly cores: number;
    readonly mem: number;
    readonly disk: number;
    readonly storage: number;
  }[];
}

export const FRANKFURT = { name: 'FRA1', displayname: 'Frankfurt 1', country: 'Germany', city: 'Frankfurt am Main' };
export const NETHERLANDS = { name: 'AMS1', displayname: 'Amsterdam 1', country: 'Netherlands', city: 'Amsterdam' };

function frankfurtRanges(cores: number, gigabytes: number): ResourceRanges {
  return {
    cores: { min: 1, max: cores, step: 1 },
    mem: { min: 1024, max: gigabytes * 1024, step: 512 },
    disk: { min: 10, max: 1000, step: 5 },
    ips: { min: 1, max: 8, step: 1 },
    backup_slots: { min: 0, max: 10, step: 1 },
    network_speed: { min: 100, max: 1000, step: 100 },
    storage: { min: 100, max: 10_000, step: 100 },
  };
}

export const sandboxHostSystems: readonly SandboxHostSystem[] = [
  {
    name: 'de_epyc',
    displayname: 'Frankfurt, AMD EPYC',
    datacenter: FRANKFURT,
    processor: 'AMD EPYC 7763, 64 cores at 2.45 GHz',
    memory: '1 TB DDR4 ECC',
    nvme_hard_drives: '8 x 3.84 TB NVMe, RAID 10',
    ranges: frankfurtRanges(32, 128),
    prices: { core: '1.50', mem: '1.00', nvme: '0.03', hdd: '0.008', extra_ip: '1.50', extra_backup_slot: '0.50', extra_gbit: '10.00' },
    included_traffic: null,
    nodes: [1, 2, 3].map((number) => ({ name: `de-epyc-0${number}`, cores: 4096, mem: 8_388_608, disk: 200_000, storage: 500_000 })),
  },
  {
    name: 'de_xeon',
    displayname: 'Frankfurt, Intel Xeon',
    datacenter: FRANKFURT,
    processor: 'Intel Xeon Gold 6152, 22 cores at 2.1 GHz',
    memory: '512 GB DDR4 ECC',
    nvme_hard_drives: '4 x 3.84 TB NVMe, RAID 10',
    ranges: frankfurtRanges(16, 64),
    prices: { core: '1.00', mem: '0.80', nvme: '0.03', hdd: '0.008', extra_ip: '1.50', extra_backup_slot: '0.50', extra_gbit: '10.00' },
    included_traffic: null,
    nodes: [1, 2].map((number) => ({ name: `de-xeon-0${number}`, cores: 2048, mem: 4_194_304, disk: 100_000, storage: 500_000 })),
  },
  {
    name: 'nl_ryzen',
    displayname: 'Netherlands, AMD Ryzen',
    datacenter: NETHERLANDS,
    processor: 'AMD Ryzen 9 7950X, 16 cores at 4.5 GHz',
    memory: '128 GB DDR5 ECC',
    nvme_hard_drives: '2 x 3.84 TB NVMe, RAID 1',
    ranges: {
      cores: { min: 1, max: 16, step: 1 },
      mem: { min: 1024, max: 65_536, step: 512 },
      disk: { min: 10, max: 500, step: 5 },
      ips: { min: 1, max: 4, step: 1 },
      backup_slots: { min: 0, max: 10, step: 1 },
      network_speed: { min: 100, max: 5000, step: 100 },
    },
    prices: { core: '2.00', mem: '1.20', nvme: '0.04', hdd: '0.00', extra_ip: '1.50', extra_backup_slot: '0.50', extra_gbit: '5.00' },
    included_traffic: 20_000,
    nodes: [1, 2, 3, 4].map((number) => ({ name: `nl-ryzen-0${number}`, cores: 2048, mem: 4_194_304, disk: 100_000, storage: 0 })),
  },
];

interface SandboxOsImage {
  readonly name: string;
  readonly displayname: string;
  readonly username: string;
  readonly platform: 'linux' | 'windows';
  /** GB. */
  readonly min_disk: number;
}

export const sandboxOsImages: readonly SandboxOsImage[] = [
  { name: 'debian_12', displayname: 'Debian 12', username: 'root', platform: 'linux', min_disk: 10 },
  { name: 'debian_13', displayname: 'Debian 13', username: 'root', platform: 'linux', min_disk: 10 },
  { name: 'ubuntu_22_04', displayname: 'Ubuntu 22.04 LTS', username: 'root', platform: 'linux', min_disk: 10 },
  { name: 'ubuntu_24_04', displayname: 'Ubuntu 24.04 LTS', username: 'root', platform: 'linux', min_disk: 10 },
  { name: 'almalinux_9', displayname: 'AlmaLinux 9', username: 'root', platform: 'linux', min_disk: 10 },
  { name: 'rockylinux_9', displayname: 'Rocky Linux 9', username: 'root', platform: 'linux', min_disk: 10 },
  { name: 'windows_server_2022', displayname: 'Windows Server 2022', username: 'Administrator', platform: 'windows', min_disk: 40 },
];

/** Addresses without routes, from the shared address space (RFC 6598) and the documentation prefix (RFC 3849). */
export const sandboxIpPools: readonly IpPool[] = [
  { id: 'ams1-v4', datacenter: NETHERLANDS.name, accountId: null, cidr: '100.64.0.0/20', ddosProtection: 'Arbor' },
  { id: 'ams1-v6', datacenter: NETHERLANDS.name, accountId: null, cidr: '2001:db8:4100::/52', ddosProtection: 'Arbor' },
  { id: 'fra1-v4', datacenter: FRANKFURT.name, accountId: null, cidr: '100.96.0.0/20', ddosProtection: 'Voxility' },
  { id: 'fra1-v6', datacenter: FRANKFURT.name, accountId: null, cidr: '2001:db8:6900::/52', ddosProtection: 'Voxility' },
];
