/** Prints the figures of a fault test. */
export function tell(figures: string): void {
  process.stdout.write(`${figures}\n`);
}
