import { resolve } from 'node:path';

import type { Plugin } from '@redocly/openapi-core';

import { closedForm } from './closed-form.ts';
import { constraintProvenance } from './constraint-provenance.ts';
import { decisiveColumns } from './decisive-columns.ts';
import { derivedResponses } from './derived-responses.ts';
import { described } from './described.ts';
import { effectOfWrite } from './effect-of-write.ts';
import { exampleRequired } from './example-required.ts';
import { explainedPattern } from './explained-pattern.ts';
import { extensionMarks } from './extension-marks.ts';
import { extensions } from './extensions.ts';
import { ignoreWithReason } from './ignore-with-reason.ts';
import { linearPattern } from './linear-pattern.ts';
import { markedUnit } from './marked-unit.ts';
import { openEnumeration } from './open-enumeration.ts';
import { portablePattern } from './portable-pattern.ts';
import { provenanceRemark } from './provenance-remark.ts';
import { referenceSiblings } from './reference-siblings.ts';
import { requestExamples } from './request-examples.ts';
import { scopeRemark } from './scope-remark.ts';
import { writeScope } from './write-scope.ts';

/** The plugin that the Redocly CLI loads. It resolves files relative to the folder of redocly.yaml. */
// oxlint-disable-next-line import/no-default-export -- The CLI requires one.
export default function reseller({ contentDir }: { contentDir: string }): Plugin {
  // The CLI gives it relative to the current directory.
  const folder = resolve(contentDir);
  return {
    id: 'reseller',
    rules: {
      oas3: {
        'closed-form': closedForm,
        'constraint-provenance': constraintProvenance,
        'decisive-columns': decisiveColumns,
        described,
        'effect-of-write': effectOfWrite,
        'example-required': exampleRequired,
        'explained-pattern': explainedPattern,
        'extension-marks': extensionMarks,
        extensions: extensions(folder),
        'ignore-with-reason': ignoreWithReason(folder),
        'linear-pattern': linearPattern,
        'marked-unit': markedUnit,
        'open-enumeration': openEnumeration,
        'portable-pattern': portablePattern,
        'reference-siblings': referenceSiblings,
        'write-scope': writeScope,
      },
    },
    preprocessors: { oas3: { 'derived-responses': derivedResponses(folder) } },
    decorators: { oas3: { 'provenance-remark': provenanceRemark, 'request-examples': requestExamples, 'scope-remark': scopeRemark } },
  };
}
