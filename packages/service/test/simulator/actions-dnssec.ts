/** DNSSEC of domains. The model knows when resolvers may have DS records, so that it never predicts a domain whose keys differ. */
import type { DsRecord } from '@reseller/adapters';
import { expect } from 'vitest';

import { simulatedDsRecord } from '../../src/ports/simulated.ts';
import { predictRegistrarChange, registerDomain } from './actions-domain.ts';
import { CACHE_SECONDS, isAllStandard } from './model-dnssec.ts';
import { ownDomain } from './model.ts';
import type { ModelAccount } from './model.ts';
import { send, wrongState } from './requests.ts';
import type { Simulation } from './simulation.ts';

/** A reseller turns DNSSEC on or off. */
export function changeDnssec(sim: Simulation): Promise<void> {
  const domain = sim.dice.pickAny([...sim.model.domains.values()]);
  if (!domain) return registerDomain(sim);
  const { account, name } = domain;
  return sim.dice.chance(0.6) ? enable(sim, account, name) : disable(sim, account, name);
}

function enable(sim: Simulation, account: ModelAccount, name: string): Promise<void> {
  const { model, dice, clock, world } = sim;
  const isStandard = isAllStandard(model.domains.get(name)?.nameservers ?? []);
  // A tenth of the requests mistake who signs the zone.
  const own = dice.chance(0.1) ? isStandard : !isStandard;
  const digest = String(dice.integer(0, 9)).repeat(64);
  const record: DsRecord = own ? { keyTag: dice.integer(0, 65_535), algorithm: 13, digestType: 2, digest } : simulatedDsRecord(name);
  return send(sim, {
    account,
    id: 'enableDomainDnssec',
    sent: { path: { domain: name }, form: own ? { ds_records: `${record.keyTag} 13 2 ${digest}` } : {} },
    otherForm: { ds_records: `1 8 2 ${digest}` },
    predict() {
      const domain = ownDomain(model, account, name);
      const change = predictRegistrarChange<'enableDomainDnssec'>(sim, account, name, {
        isAllowed: ({ dnssec: { by, settled } }) => (by !== null || clock.seconds() >= settled) && (own || world.dns.zones.has(name)),
        begun: ({ dnssec }) => void Object.assign(dnssec, { by: own ? 'account' : 'service', settled: clock.seconds() + CACHE_SECONDS }),
        confirmed({ dnssec }, reply) {
          dnssec.records = [record];
          expect(reply.data()).toMatchObject({ domain: name, status: 'enabled', managed_by: own ? 'account' : 'service' });
        },
      });
      return domain && own === isAllStandard(domain.nameservers) ? { ...change, refusal: wrongState } : change;
    },
  });
}

function disable(sim: Simulation, account: ModelAccount, name: string): Promise<void> {
  const { model, clock } = sim;
  return send(sim, {
    account,
    id: 'disableDomainDnssec',
    sent: { path: { domain: name } },
    predict() {
      const domain = ownDomain(model, account, name);
      if (domain?.state === 'registered' && domain.dnssec.records.length === 0)
        return { portUse: 'no port', refusal: undefined, reserve: () => ({ release: () => {}, confirm: () => {} }) };
      return predictRegistrarChange<'disableDomainDnssec'>(sim, account, name, {
        begun: ({ dnssec }) => void (dnssec.settled = clock.seconds() + CACHE_SECONDS),
        confirmed: ({ dnssec }) => void (dnssec.records = []),
      });
    },
  });
}
