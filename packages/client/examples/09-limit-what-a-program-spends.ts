/** Gives a program a budget, and asks before each purchase. */
import { createReseller, SpendRefusedError } from '@reseller/client';

const reseller = createReseller({
  environment: 'sandbox',
  budget: { limit: 1 },
  beforeBillable: ({ operation, form }) => {
    if (Number(form['cores']) > 4) throw new Error(`${operation} is too large for this program`);
  },
});

const form = { cores: 1, mem: 1024, disk: 10, os: 'debian_12', hostsystem: 'nl_ryzen' };
for (const wanted of [{ ...form, cores: 8 }, form, form]) {
  try {
    console.log('bought', (await reseller.vm.create(wanted)).identifier);
  } catch (error) {
    if (!(error instanceof SpendRefusedError)) throw error;
    console.log(error.message);
  }
}
