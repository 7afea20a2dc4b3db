/** A value of the text that a start prints, by its label, such as `Base URL`. @throws Error with the output if it is not there. */
export function printedFact(output: string, label: string): string {
  const value = output
    .split('\n')
    .find((line) => line.trimStart().startsWith(`${label}  `))
    ?.trim()
    .slice(label.length)
    .trim();
  if (value === undefined || value === '') throw new Error(`The service printed no ${label}: ${output}`);
  return value;
}
