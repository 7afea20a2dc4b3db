import type { Selectable } from 'kysely';

import type { BrokenField } from '../../rules/broken-field.ts';
import { prepared } from '../../store/prepared.ts';
import type { OsImagesTable } from '../../store/tables/os-images.ts';
import type { Db } from '../../store/store.ts';

type OsImage = Selectable<OsImagesTable>;

/** The operating system that a form names, or the rule that the form breaks. */
export async function findOsImage(db: Db, name: string): Promise<OsImage | { readonly broken: BrokenField }> {
  // All images are read, because a refusal lists them and they are few.
  const images = await allOsImages(db, {});
  const named = images.find((image) => image.name === name);
  const message = `must be one of ${images.map((image) => image.name).join(', ')}`;
  return named ?? { broken: { field: 'os', rule: 'exists', message } };
}

/** All operating systems, by name. */
export const allOsImages = prepared<Record<never, never>, OsImage>((db) => db.selectFrom('os_images').selectAll().orderBy('name'));
