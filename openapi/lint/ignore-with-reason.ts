import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Oas3Rule } from '@redocly/openapi-core';

const IGNORE_FILE = '.redocly.lint-ignore.yaml';

/**
 * Each ignored finding has a reason in the line above it. The ignore file is not a document, so the root document reports for it.
 *
 * @param folder - the folder of redocly.yaml
 */
export function ignoreWithReason(folder: string): Oas3Rule {
  return () => ({
    Root(_root, { report, location }) {
      const file = join(folder, IGNORE_FILE);
      if (!existsSync(file)) return;
      const lines = readFileSync(file, 'utf8').split('\n');
      for (const [index, line] of lines.entries()) {
        const isReasoned = lines[index - 1]?.trim().startsWith('#') === true;
        if (!/^\s*- /.test(line) || isReasoned) continue;
        report({
          message: `${IGNORE_FILE}:${index + 1} ignores ${line.trim().slice(2)} without a reason. Fix the finding, or explain in a comment on the line above why it is ignored.`,
          location: location.child('openapi').key(),
        });
      }
    },
  });
}
