import type { Oas3Decorator } from '@redocly/openapi-core';

import { isText } from './nodes.ts';

/** Docs and generated clients show descriptions but not x- keys, so the bundle adds the scope of an operation to its description. */
export const scopeRemark: Oas3Decorator = () => ({
  Operation: {
    leave: (operation) => {
      const scope: unknown = Reflect.get(operation, 'x-scope');
      if (!isText(scope)) return;
      const remark = `Needs the scope \`${scope}\`.`;
      const said = operation.description?.trimEnd() ?? '';
      if (!said.includes(remark)) operation.description = `${said}\n\n${remark}`.trimStart();
    },
  },
});
