import { checkPage } from '@reseller/contract/engine';
import { expect, test } from 'vitest';

import { otpLaws } from '../src/one-time-codes/laws.ts';

test('the page of the check for one-time codes is its own text', async () => {
  await expect(checkPage(otpLaws([]))).toMatchFileSnapshot('../docs/otp-laws.md');
});
