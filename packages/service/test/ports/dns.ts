import type { Dns, FencingToken, Zone } from '@reseller/adapters';

import { PortCalls } from './port-calls.ts';

/** A DNS that keeps the zones that were published, and fails when a test says so. */
export class TestDns implements Dns {
  readonly zones = new Map<string, Zone>();
  readonly #calls: PortCalls;
  constructor(calls: PortCalls = new PortCalls()) {
    this.#calls = calls;
  }

  publish(zone: Zone, token: FencingToken): Promise<void> {
    return this.#calls.call('tell', [`zone/${zone.name}`, token], () => void this.zones.set(zone.name, zone));
  }
  remove(name: string, token: FencingToken): Promise<void> {
    return this.#calls.call('tell', [`zone/${name}`, token], () => void this.zones.delete(name));
  }
}
