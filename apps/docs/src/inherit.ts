/** Marks every part of a document with its provenance, even if the part inherits it. */
import type { Body, Components, OpenApi, Operation, Parameter, Schema } from './document.ts';
import { operationsOf, parameterOf, responseOf } from './document.ts';
import { inlineMarks, limitMarks, withoutRemarks } from './provenance.ts';
import type { Mark, Provenance } from './provenance.ts';
import { isOfExtension } from './references.ts';

/** Suffixes for the names of components that are used where everything is inferred or assumed. */
const SUFFIXES: Readonly<Record<Provenance, string>> = { shown: '', inferred: '.inferred', 'not-shown': '.assumed' };

/** The description of a part, with its mark instead of the remarks of the bundle. */
function describedWith(mark: Mark) {
  return (part: { readonly description?: string; readonly 'x-origin'?: 'extension' }, provenance: Provenance): { description?: string } => {
    const { description = '' } = part;
    const marks = [
      provenance === 'shown' ? '' : mark(provenance),
      isOfExtension(part) ? mark('extension') : '',
      limitMarks(description, mark),
    ];
    const said = [inlineMarks(withoutRemarks(description), mark), ...marks].filter((text) => text !== '').join(' ');
    return said === '' ? {} : { description: said };
  };
}

/** Copies schemas with their marks. A component that is used under several marks is copied for each, to `schemas`. */
function schemaCopier(document: OpenApi, mark: Mark) {
  const described = describedWith(mark);
  const schemas: Record<string, Schema> = {};

  function nameOf(name: string, provenance: Provenance): string {
    const own = `${name}${SUFFIXES[provenance]}`;
    const found = document.components.schemas[name];
    if (schemas[own] === undefined && found !== undefined) {
      // Set before its parts are copied, because a schema may contain itself.
      schemas[own] = { title: name };
      schemas[own] = { title: name, ...schemaIn(found, provenance) };
    }
    return own;
  }

  function schemaIn(schema: Schema, inherited: Provenance): Schema {
    const provenance = schema['x-provenance'] ?? inherited;
    function each(parts: readonly Schema[]): Schema[] {
      return parts.map((part) => schemaIn(part, provenance));
    }
    return {
      ...schema,
      ...described(schema, provenance),
      ...(schema.$ref === undefined ? {} : { $ref: `#/components/schemas/${nameOf(schema.$ref.split('/').at(-1) ?? '', provenance)}` }),
      ...(schema.properties === undefined
        ? {}
        : { properties: Object.fromEntries(Object.entries(schema.properties).map(([name, part]) => [name, schemaIn(part, provenance)])) }),
      ...(schema.dependentSchemas === undefined
        ? {}
        : {
            dependentSchemas: Object.fromEntries(
              Object.entries(schema.dependentSchemas).map(([name, part]) => [name, schemaIn(part, provenance)]),
            ),
          }),
      ...(schema.items === undefined ? {} : { items: schemaIn(schema.items, provenance) }),
      ...(typeof schema.additionalProperties === 'object'
        ? { additionalProperties: schemaIn(schema.additionalProperties, provenance) }
        : {}),
      ...(schema.allOf === undefined ? {} : { allOf: each(schema.allOf) }),
      ...(schema.anyOf === undefined ? {} : { anyOf: each(schema.anyOf) }),
      ...(schema.oneOf === undefined ? {} : { oneOf: each(schema.oneOf) }),
    };
  }

  return { schemas, schemaIn };
}

/** A copy of a document in which each description has the marks of its part instead of the remarks of the bundle. */
export function withInheritedMarks(document: OpenApi, mark: Mark): OpenApi {
  const described = describedWith(mark);
  const { schemas, schemaIn } = schemaCopier(document, mark);

  function bodyIn<Part extends Body>(body: Part, inherited: Provenance): Part {
    const provenance = body['x-provenance'] ?? inherited;
    const content = Object.entries(body.content ?? {}).map(([type, media]) => [
      type,
      media.schema === undefined ? media : { ...media, schema: schemaIn(media.schema, provenance) },
    ]);
    return {
      ...body,
      ...described(body, provenance),
      ...(body.content === undefined ? {} : { content: Object.fromEntries(content) }),
    };
  }

  function parameterIn(parameter: Parameter, inherited: Provenance): Parameter {
    const provenance = parameter['x-provenance'] ?? inherited;
    return { ...parameter, ...described(parameter, provenance), schema: schemaIn(parameter.schema, provenance) };
  }

  function operationIn(operation: Operation): Operation {
    const provenance = operation['x-provenance'] ?? 'shown';
    return {
      ...operation,
      description: described(operation, provenance).description ?? '',
      ...(operation.parameters === undefined
        ? {}
        : { parameters: operation.parameters.map((part) => parameterIn(parameterOf(document, part), provenance)) }),
      ...(operation.requestBody === undefined ? {} : { requestBody: bodyIn(operation.requestBody, provenance) }),
      responses: Object.fromEntries(
        Object.entries(operation.responses).map(([status, part]) => [status, bodyIn(responseOf(document, part), provenance)]),
      ),
    };
  }

  const paths: OpenApi['paths'] = structuredClone(document.paths);
  for (const { path, method, operation } of operationsOf(document))
    Object.assign(paths[path] ?? {}, { [method.toLowerCase()]: operationIn(operation) });
  const webhooks = Object.entries(document.webhooks ?? {}).map(([name, item]) => [
    name,
    Object.fromEntries(Object.entries(item).map(([method, operation]) => [method, operationIn(operation)])),
  ]);
  const headers = Object.fromEntries(
    Object.entries(document.components.headers ?? {}).map(([name, header]) => [
      name,
      { ...header, ...described(header, header['x-provenance'] ?? 'shown') },
    ]),
  );
  const components: Components = { ...document.components, schemas, parameters: {}, responses: {}, headers };
  return {
    ...document,
    info: { ...document.info, description: inlineMarks(document.info.description, mark) },
    paths,
    ...(document.webhooks && { webhooks: Object.fromEntries(webhooks) }),
    components,
  };
}
