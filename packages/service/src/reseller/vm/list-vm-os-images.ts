import { catalogueOf } from '../../core/catalogue/catalogue.ts';
import { counted } from '../../rules/counted.ts';
import type { ReadOperation } from '../operation.ts';

/** GET /vm/list/os: the operating systems that a VM can have. */
export const listVmOsImages: ReadOperation<'listVmOsImages'> = {
  kind: 'read',
  settles: false,
  async run(db) {
    const { images } = await catalogueOf(db);
    return {
      message: `${counted(images.length, 'operating system')}.`,
      data: images.map(({ name, displayname, platform, icon, min_disk }) => ({
        name,
        displayname,
        platform,
        ...(icon !== null && { icon }),
        minDiskSize: min_disk,
      })),
    };
  },
};
