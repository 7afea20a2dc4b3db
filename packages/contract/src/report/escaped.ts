import { escapeUTF8 } from 'entities';

/** Escaped HTML. Only `markup` creates it, so all other texts are escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value that a template accepts. */
export type Content = Html | string | number | undefined | readonly Content[];

/** Builds HTML from a template literal. Escapes all values except HTML from `markup`. */
export function markup(parts: TemplateStringsArray, ...contents: readonly Content[]): Html {
  return new Html(parts.map((part, index) => part + written(contents[index])).join(''));
}

/** Inserts a separator between contents. */
export function joined(contents: readonly Content[], separator: Content): readonly Content[] {
  return contents.flatMap((content, index) => (index === 0 ? [content] : [separator, content]));
}

function written(content: Content): string {
  if (content === undefined) return '';
  if (content instanceof Html) return content.text;
  if (typeof content === 'string' || typeof content === 'number') return escapeUTF8(String(content));
  return content.map(written).join('');
}
