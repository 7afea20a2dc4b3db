/** A person at the console, who finds everything by its visible name. Counts what the person does for each task. */
import type { Locator, Page } from 'playwright-core';

/** The effort of a task. */
export interface Effort {
  readonly task: string;
  readonly clicks: number;
  /** Fields that the person filled or chose. */
  readonly fields: number;
  readonly seconds: number;
  /** Texts that the person typed, and that neither the task nor a page of it shows. */
  readonly lookedUp: readonly string[];
}

export interface Person {
  readonly efforts: readonly Effort[];
  /** @param knows What the person knows without the console, such as the name of a customer. */
  does(task: string, knows: readonly string[], steps: () => Promise<void>): Promise<void>;
  click(role: 'button' | 'link' | 'menuitem', name: string | RegExp, within?: Locator): Promise<void>;
  /** Opens the menu of a row, and chooses an item. */
  chooseAction(row: string | RegExp, item: string): Promise<void>;
  type(label: string | RegExp, text: string, within?: Locator): Promise<void>;
  /** Replaces a part of a text. */
  correct(label: RegExp, wrong: string, right: string): Promise<void>;
  choose(label: string | RegExp, option: string): Promise<void>;
  check(label: string): Promise<void>;
  /** Types into the command palette, and opens the first of what it shows. */
  goTo(text: string): Promise<void>;
  reads(text: string | RegExp): Promise<void>;
  row(text: string | RegExp): Locator;
  dialog(): Locator;
}

export function createPerson(page: Page): Person {
  const efforts: Effort[] = [];
  let clicks = 0;
  let fields = 0;
  let lookedUp: string[] = [];
  let known = '';

  async function look(): Promise<void> {
    known += `\n${await page.locator('body').innerText()}`;
  }

  async function press(target: Locator): Promise<void> {
    await target.click();
    clicks++;
    await look();
  }

  function row(text: string | RegExp): Locator {
    return page.getByRole('row').filter({ hasText: text });
  }

  function dialog(): Locator {
    return page.getByRole('dialog');
  }

  /** @param typed What the person types. The rest of the text was there. */
  async function fill(target: Locator, text: string, typed = text): Promise<void> {
    await look();
    if (!known.includes(typed)) lookedUp.push(typed);
    await target.fill(text);
    fields++;
  }

  /** The label of an optional field says so. */
  function field(label: string | RegExp, within: Page | Locator = page): Locator {
    if (typeof label !== 'string') return within.getByLabel(label).last();
    return within
      .getByLabel(label, { exact: true })
      .or(within.getByLabel(`${label} optional`, { exact: true }))
      .last();
  }

  return {
    efforts,
    row,
    dialog,
    async does(task, knows, steps) {
      [clicks, fields, lookedUp, known] = [0, 0, [], knows.join('\n')];
      const started = performance.now();
      await steps();
      efforts.push({ task, clicks, fields, seconds: (performance.now() - started) / 1000, lookedUp });
    },
    async click(role, name, within) {
      await press((within ?? page).getByRole(role, { name, exact: typeof name === 'string' }).first());
    },
    async chooseAction(text, item) {
      await press(
        row(text)
          .first()
          .getByRole('button', { name: /^Actions for / }),
      );
      await press(page.getByRole('menuitem', { name: item, exact: true }));
    },
    async type(label, text, within) {
      await fill(field(label, within), text);
    },
    async correct(label, wrong, right) {
      const target = field(label);
      await fill(target, (await target.inputValue()).replace(wrong, right), right);
    },
    async choose(label, option) {
      await look();
      await field(label).selectOption({ label: option });
      fields++;
    },
    async check(label) {
      await field(label).check();
      clicks++;
    },
    async goTo(text) {
      await press(page.getByRole('button', { name: /^Go to/ }));
      await fill(page.getByRole('combobox'), text);
      await press(page.getByRole('option').filter({ hasText: text }).first());
    },
    async reads(text) {
      await page.getByText(text).first().waitFor();
      await look();
    },
  };
}

/** The efforts as lines of a table. */
export function tableOf(efforts: readonly Effort[]): string {
  const cells = efforts.map(({ task, clicks, fields, seconds, lookedUp }) => [
    task,
    ...[clicks, fields, seconds.toFixed(1), lookedUp.length].map((value) => String(value).padStart(9)),
  ]);
  const width = Math.max(...efforts.map(({ task }) => task.length));
  const lines = [['task', '   clicks', '   fields', '  seconds', 'looked up'], ...cells];
  return `${lines.map(([task = '', ...numbers]) => `${task.padEnd(width)} ${numbers.join(' ')}`).join('\n')}\n`;
}
