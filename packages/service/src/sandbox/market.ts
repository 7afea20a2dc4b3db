import type { NewMarketServer } from '../core/dedicated/order.ts';
/**
 * The dedicated servers of the sandbox, at both locations. The specification shows no prices. These are plausible ones. The addresses are
 * not routed: shared address space (RFC 6598) and the documentation prefix (RFC 3849).
 */
import { euros } from '../rules/money.ts';
import { FRANKFURT, NETHERLANDS } from './catalogue.ts';
import { sampleIdentifiers } from './sample-identifiers.ts';

const BY_HAND = { type: 'not_ready', description: 'The server is set up after the order.' };
const UNLIMITED = { limit: false, amount: null, unit: null };
const FRANKFURT_V4 = '100.112.0.1';
const AMSTERDAM_V4 = '100.80.0.1';

function frankfurt(host: number) {
  return {
    datacenter: FRANKFURT,
    ipv4: [{ address: `100.112.0.${host}`, gateway: FRANKFURT_V4 }],
    ipv6: [{ address: `2001:db8:69d0:${host}::/64`, gateway: '2001:db8:69d0::1' }],
  };
}

function amsterdam(host: number) {
  return {
    datacenter: NETHERLANDS,
    ipv4: [{ address: `100.80.0.${host}`, gateway: AMSTERDAM_V4 }],
    ipv6: [],
  };
}

const RYZEN = {
  cpu: { amount: 1, cores: 16, type: 'AMD Ryzen 9 7950X' },
  memory: { size: 128, unit: 'GB', type: 'DDR5 ECC' },
  disks: [{ amount: 2, size: 1920, unit: 'GB', type: 'NVMe' }],
  network: { traffic: { limit: true, amount: 50, unit: 'TB' }, connection: '1 x 10 Gbit/s' },
  price: euros('89.00'),
  runtimeDays: 30,
  status: BY_HAND,
};

const XEON = {
  cpu: { amount: 1, cores: 8, type: 'Intel Xeon E-2388G' },
  memory: { size: 64, unit: 'GB', type: 'DDR4 ECC' },
  disks: [{ amount: 2, size: 960, unit: 'GB', type: 'SSD' }],
  network: { traffic: UNLIMITED, connection: '1 x 1 Gbit/s' },
  price: euros('59.00'),
  runtimeDays: 30,
  status: BY_HAND,
};

const EPYC = {
  cpu: { amount: 2, cores: 24, type: 'AMD EPYC 7443' },
  memory: { size: 256, unit: 'GB', type: 'DDR4 ECC' },
  disks: [
    { amount: 2, size: 1920, unit: 'GB', type: 'NVMe' },
    { amount: 2, size: 8000, unit: 'GB', type: 'HDD' },
  ],
  network: { traffic: { limit: true, amount: 50, unit: 'TB' }, connection: '1 x 10 Gbit/s' },
  price: euros('149.00'),
  runtimeDays: 30,
  status: BY_HAND,
};

/** The market of every sandbox. */
export const sandboxMarket: readonly NewMarketServer[] = [
  { identifier: '5e0b7a4f-91c3-4d68-b2f7-6a3c9d10e8b4', ...EPYC, ...frankfurt(10) },
  { identifier: sampleIdentifiers.offer, ...RYZEN, ...frankfurt(11) },
  { identifier: 'c41d8f20-3b6e-4a95-8e07-f52b9c6d1a73', ...XEON, ...amsterdam(10) },
  { identifier: 'e6720b9d-14f8-4c3a-9b5d-70c8a1e2f946', ...RYZEN, ...amsterdam(11) },
];

/** The servers of the demo account: two deployed ones, one of them cancelled, and one that it has just ordered. */
export const demoServers: Readonly<Record<'deployed' | 'cancelled' | 'ordered', NewMarketServer & { readonly identifier: string }>> = {
  deployed: { identifier: sampleIdentifiers.dedicatedServer, ...RYZEN, ...frankfurt(20) },
  cancelled: { identifier: sampleIdentifiers.cancelledDedicatedServer, ...XEON, ...frankfurt(21) },
  ordered: { identifier: sampleIdentifiers.orderedDedicatedServer, ...XEON, ...amsterdam(20) },
};
