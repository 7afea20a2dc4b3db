import { checkPage } from '@reseller/contract/engine';
import { expect, test } from 'vitest';

import { otpRules } from '../src/one-time-codes/rules.ts';

test('the page of the check for one-time codes is up to date', async () => {
  await expect(checkPage(otpRules([]))).toMatchFileSnapshot('../docs/otp-rules.md');
});
