import { defineHostSystem, getHostSystem } from '@reseller/operator-client';
import { expect, test } from 'vitest';

import { startOperator } from '../../../test/operator.ts';

/** A host system of the sample data as its provider would define it in another city. */
async function inVienna(change: { readonly max: number; readonly storage?: boolean }) {
  const { client } = await startOperator();
  const { name: _, prices_valid_from: __, ...found } = Object(await getHostSystem({ client, path: { hostsystem: 'nl_ryzen' } }));
  const { displayname, datacenter, processor, memory, nvme_hard_drives, ranges, prices, nodes } = found;
  const body = {
    displayname,
    datacenter: { ...datacenter, city: 'Vienna', country: 'Austria' },
    processor,
    memory,
    nvme_hard_drives,
    position: 9,
    ranges: {
      ...ranges,
      network_speed: { ...ranges.network_speed, max: change.max },
      ...(change.storage && { storage: { min: 100, max: 2_000, step: 100 } }),
    },
    prices: { ...prices, hdd: '0.01' },
    nodes: nodes
      .map((node: object) => ({ name: 'at-01', cores: Object(node).cores, mem: Object(node).mem, disk: Object(node).disk, storage: 4_000 }))
      .slice(0, 1),
  };
  return defineHostSystem({ client, path: { hostsystem: 'at_epyc' }, body }).then(
    ({ ranges: { network_speed, storage } }) => ({ max: network_speed.max, storage: storage?.max }),
    String,
  );
}

test.each([
  [1_000, 2_000],
  [5_000, 2_000],
])('a host system in any city has the network speed and the HDDs of its provider: %i Mbit', async (max, storage) => {
  expect(await inVienna({ max, storage: true })).toEqual({ max, storage });
});

test('more than a purchase can name is refused in one line', async () => {
  expect(await inVienna({ max: 5_100 })).toContain('#/ranges/network_speed/max must be at most 5000, the most that a purchase can name');
});
