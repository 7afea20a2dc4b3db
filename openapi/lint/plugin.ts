import type { Plugin } from '@redocly/openapi-core';

import { closedForm } from './closed-form.ts';
import { componentFileName } from './component-file-name.ts';
import { described } from './described.ts';
import { exampleRequired } from './example-required.ts';
import { extensions } from './extensions.ts';
import { ignoreWithReason } from './ignore-with-reason.ts';
import { noOrphanFile } from './no-orphan-file.ts';
import { openEnumeration } from './open-enumeration.ts';
import { operationNaming } from './operation-naming.ts';
import { operationResponses } from './operation-responses.ts';
import { pathFileName } from './path-file-name.ts';
import { provenanceRemark } from './provenance-remark.ts';

/** What the Redocly CLI loads. Files beside a document are looked up from the folder of redocly.yaml. */
// The CLI asks for a default export.
export default function reseller({ contentDir }: { contentDir: string }): Plugin {
  return {
    id: 'reseller',
    rules: {
      oas3: {
        'closed-form': closedForm,
        'component-file-name': componentFileName(contentDir),
        described,
        'example-required': exampleRequired,
        extensions: extensions(contentDir),
        'ignore-with-reason': ignoreWithReason(contentDir),
        'no-orphan-file': noOrphanFile(contentDir),
        'open-enumeration': openEnumeration,
        'operation-naming': operationNaming,
        'operation-responses': operationResponses,
        'path-file-name': pathFileName,
      },
    },
    decorators: { oas3: { 'provenance-remark': provenanceRemark } },
  };
}
