import { StaleTokenError } from '@reseller/adapters';
import type { Dns, DsRecord, FencingToken, Zone } from '@reseller/adapters';

import { simulatedDsRecord } from '../../src/ports/simulated.ts';
import { PortCalls } from './port-calls.ts';

/** A DNS that keeps the zones that were published, and fails when a test says so. */
export class TestDns implements Dns {
  readonly zones = new Map<string, Zone>();
  /** How many calls were rejected, because a newer one came before them. */
  rejected = 0;
  readonly #calls: PortCalls;
  constructor(calls: PortCalls = new PortCalls()) {
    this.#calls = calls;
  }

  publish(zone: Zone, token: FencingToken): Promise<void> {
    const call = this.#calls.call('tell', [`zone/${zone.name}`, token], () => void this.zones.set(zone.name, zone));
    return call.catch((error: unknown) => {
      if (error instanceof StaleTokenError) this.rejected++;
      throw error;
    });
  }
  /** Signs each zone with a key of its own. */
  async dsRecords(name: string): Promise<readonly DsRecord[]> {
    return this.zones.has(name) ? [simulatedDsRecord(name)] : [];
  }
  remove(name: string, token: FencingToken): Promise<void> {
    return this.#calls.call('tell', [`zone/${name}`, token], () => void this.zones.delete(name));
  }
}
