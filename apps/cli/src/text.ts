/** Text for terminals. */

/** Text without characters that a terminal would act on or hide. Their codes are shown instead. */
export function printable(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The same for several lines, which stay separate. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** The first sentence of a description, without Markdown. */
export function firstSentence(description: string): string {
  const plain = withoutMarkdown(description);
  return /^.*?[.!?](?=\s|$)/s.exec(plain)?.[0] ?? plain;
}

/** A description in one line, without Markdown. */
export function withoutMarkdown(description: string): string {
  return description
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
