/** Tells whoever reads the run what a proof came to. */
export function tell(figures: string): void {
  process.stdout.write(`${figures}\n`);
}
