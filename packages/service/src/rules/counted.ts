/** A count with its noun, such as "1 invoice" or "2 invoices". */
export function counted(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : nouns}`;
}
