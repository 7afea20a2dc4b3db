import { escapeUTF8 } from 'entities';

/** Text that is HTML already. Only `markup` makes it, so every other text is escaped where it is put in. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What a template can hold: markup, texts and numbers, lists of these, and nothing. */
export type Content = Html | string | number | undefined | readonly Content[];

/** HTML from a template literal. Everything that is put in is escaped, unless `markup` made it. */
export function markup(parts: TemplateStringsArray, ...contents: readonly Content[]): Html {
  return new Html(parts.map((part, index) => part + written(contents[index])).join(''));
}

/** Contents one after the other with markup between them. */
export function joined(contents: readonly Content[], separator: Content): readonly Content[] {
  return contents.flatMap((content, index) => (index === 0 ? [content] : [separator, content]));
}

function written(content: Content): string {
  if (content === undefined) return '';
  if (content instanceof Html) return content.text;
  if (typeof content === 'string' || typeof content === 'number') return escapeUTF8(String(content));
  return content.map(written).join('');
}
