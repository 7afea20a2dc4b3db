import { basename } from 'node:path';

/**
 * Where a document keeps its paths and components, relative to redocly.yaml: openapi.yaml beside itself, a further document in a folder of
 * its name. So a file tells by its place which document it is part of, and a change of one document cannot break the other.
 *
 * @param root - the root document's file
 * @returns '' or the folder with a trailing slash, such as `operator/`
 */
export function folderOfParts(root: string): string {
  const name = basename(root, '.yaml');
  return name === 'openapi' ? '' : `${name}/`;
}
