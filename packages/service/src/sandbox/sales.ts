import type { NewSale } from '../core/catalogue/sale-life-cycle.ts';
import { euros } from '../rules/money.ts';
import { sampleIdentifiers } from './sample-identifiers.ts';

/**
 * The sales of the sandbox: an active one, and one that follows it. Both are for one host system, so that VMs on the others always have list
 * prices.
 *
 * @param now Milliseconds.
 */
export function sandboxSales(now: number): NewSale[] {
  const date = new Date(now);
  function month(offset: number): number {
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset);
  }
  return [
    {
      id: sampleIdentifiers.sale,
      title: 'Xeon season',
      accountId: null,
      start: month(0),
      stop: month(3),
      upgradable: true,
      maxVolume: 200,
      pricings: { de_xeon: { core: euros('0.80'), mem: euros('0.60') } },
    },
    {
      title: 'Xeon storage weeks',
      accountId: null,
      start: month(3),
      stop: null,
      upgradable: false,
      maxVolume: 50,
      pricings: { de_xeon: { mem: euros('0.70'), nvme: euros('0.02') } },
    },
  ];
}
