/** The colours of the terminal output. */
import { expect, test } from 'vitest';

import { safeConsole } from '../src/console.ts';
import { coloured } from '../src/render.ts';

const marked = (text: string): string => coloured(text, (colour, part) => `<${colour}>${part}</>`);

test.each([
  ['violation  a text', '<red>violation</>  a text'],
  ['violation of the client  a text', '<red>violation</> of the client  a text'],
  ['discovered  a text', '<blue>discovered</>  a text'],
  ['learned  a text', '<yellow>learned</>  a text'],
  ['  unverified  a text', '  <gray>unverified</>  a text'],
  ['passed  Reseller at http://127.0.0.1:1/', '<green>passed</>  Reseller at http://127.0.0.1:1/'],
  ['failed  Reseller at http://127.0.0.1:1/', '<red>failed</>  Reseller at http://127.0.0.1:1/'],
  ['  listSales  GET /accounting/sales  200  passed', '  listSales  GET /accounting/sales  200  <green>passed</>'],
  ['  health     GET /health            200  passed', '  health     GET /health            200  <green>passed</>'],
  ['    +  a line', '<green>    +  a line</>'],
  ['    -  a line', '<red>    -  a line</>'],
  ['Findings', '<bold>Findings</>'],
  ['Spent: 0.00', 'Spent: 0.00'],
  ['  expected  a violation of nothing', '  expected  a violation of nothing'],
])('%s', (line, expected) => {
  expect(marked(line)).toBe(expected);
});

test('colours each line separately', () => {
  expect(marked('Findings\n\nlearned  a')).toBe('<bold>Findings</>\n\n<yellow>learned</>  a');
});

test('removes colours that a service sends', () => {
  const printed: string[] = [];
  safeConsole({ print: (text) => printed.push(text), progress: () => {} }, []).print('learned  \u001B[31mred\u001B[0m');
  expect(marked(printed.join())).toBe('<yellow>learned</>  \uFFFD[31mred\uFFFD[0m');
});
