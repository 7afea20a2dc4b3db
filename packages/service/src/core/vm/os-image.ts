import type { Selectable } from 'kysely';

import type { BrokenField } from '../../rules/broken-field.ts';
import type { OsImagesTable } from '../../store/tables/os-images.ts';

export type OsImage = Selectable<OsImagesTable>;

/** The operating system that a form names, or the rule that the form breaks. */
export function findOsImage(images: readonly OsImage[], name: string): OsImage | { readonly broken: BrokenField } {
  const named = images.find((image) => image.name === name);
  if (named) return named;
  const message =
    images.length === 0
      ? 'cannot be chosen, because the provider has not set up an operating system yet'
      : `must be one of ${images.map((image) => image.name).join(', ')}`;
  return { broken: { field: 'os', rule: 'exists', message } };
}
