/** Asks before each purchase, and limits how many a program makes. */
import { createReseller, SpendRefusedError } from '@reseller/client';

let left = 1;
const reseller = createReseller({
  environment: 'sandbox',
  beforeBillable: ({ operation, form }) => {
    if (Number(form['cores']) > 4) throw new Error(`${operation} is too large for this program`);
    if (left-- <= 0) throw new Error('this program has made all its purchases');
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
