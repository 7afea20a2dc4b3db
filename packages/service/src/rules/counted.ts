/** A count with its noun, such as "1 invoice" or "2 invoices". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
