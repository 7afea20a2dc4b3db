/** Buys a VM for an order of a shop exactly once, even if the program crashes in between or the network fails. */
import { createReseller, OutcomeUnknownError } from '@reseller/client';

const reseller = createReseller({ environment: 'sandbox' });

const order = { id: 'order-4711', form: { cores: 2, mem: 4096, disk: 40, os: 'debian_12', hostsystem: 'nl_ryzen' } };

try {
  // The key names the order. After a crash, the same call returns the VM that was bought before.
  const { identifier } = await reseller.vm.create(order.form, { idempotencyKey: order.id });
  console.log(`${order.id}: VM ${identifier}`);
} catch (error) {
  if (!(error instanceof OutcomeUnknownError)) throw error;
  const found = await reseller.reconcile(error);
  if (found.outcome === 'committed' && found.operation === 'createVm') console.log(`${order.id}: VM ${found.data.identifier}`);
  if (found.outcome === 'not-committed') console.log(`${order.id}: refused, nothing was bought`);
  // Do not buy again before someone has looked.
  if (found.outcome === 'undecided') console.log(`${order.id}: ${found.advice}`, found.candidates);
}
