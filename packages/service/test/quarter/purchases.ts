/** The purchases of the scenario's reseller, at standard prices. */
import { SMALL_VM } from '../harness.ts';

/** 2 cores, 4 GB, 40 GB: 4.00 + 4.80 + 1.60 = 10.40. */
export const RYZEN = SMALL_VM;
/** 4 cores, 8 GB, 100 GB: 6.00 + 8.00 + 3.00 = 17.00. */
export const EPYC = { cores: 4, mem: 8192, disk: 100, os: 'debian_12', hostsystem: 'de_epyc' };
/** 16 cores, 64 GB, 500 GB: 32.00 + 76.80 + 20.00 = 128.80. */
export const BIG = { ...RYZEN, cores: 16, mem: 65_536, disk: 500 };
/** 10.40 + an address 1.50 + a backup slot 0.50 + 2 Gbit/s, the second of them begun, 10.00 = 22.40. */
export const WITH_EXTRAS = { ...RYZEN, ips: 2, backup_slots: 3, network_speed: 2500 };
