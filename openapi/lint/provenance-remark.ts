import type { Oas3Decorator } from '@redocly/openapi-core';

import { isFields, isText } from './nodes.ts';

const REMARKS = new Map<unknown, string>([
  ['inferred', '*Inferred: the specification does not state this.*'],
  ['not-shown', '*Not shown in the specification; this is our choice.*'],
]);

/** Adds to the description of a part the remark that its provenance calls for, once. */
function addRemark(part: unknown): void {
  const remark = isFields(part) ? REMARKS.get(part['x-provenance']) : undefined;
  if (!isFields(part) || remark === undefined) return;
  const said = isText(part['description']) ? part['description'].trimEnd() : '';
  if (!said.includes(remark)) Object.assign(part, { description: said === '' ? remark : `${said}\n\n${remark}` });
}

/** Docs and generated types show descriptions, not x- keys: the bundle says in the description what the specification does not show. */
export const provenanceRemark: Oas3Decorator = () => ({
  any: {
    leave: (node: unknown, { type }) => {
      // A key of that name inside an example is data.
      if (type.extensionsPrefix !== undefined) addRemark(node);
    },
  },
  // The keys beside a reference belong to no visited node.
  ref: { leave: (node) => addRemark(node) },
});
