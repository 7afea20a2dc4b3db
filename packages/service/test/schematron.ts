/** Runs the rules of a Schematron whose patterns and rules are all in one file, as the official rules of EN 16931 are. */
import fontoxpath from 'fontoxpath';
import { parseXmlDocument } from 'slimdom';
import type { Element, Node } from 'slimdom';

const { evaluateXPathToBoolean, evaluateXPathToNodes, Language } = fontoxpath;

const SCHEMATRON = 'http://purl.oclc.org/dsdl/schematron';

export interface SchematronReport {
  /** How many times an assertion was evaluated. */
  readonly evaluated: number;
  readonly failed: readonly string[];
}

/** @param rules The text of the Schematron. */
export function schematronOf(rules: string): (xml: string) => SchematronReport {
  const schema = parseXmlDocument(rules);
  const namespaces = new Map(schema.getElementsByTagNameNS(SCHEMATRON, 'ns').map((one) => [valueOf(one, 'prefix'), valueOf(one, 'uri')]));
  const options = {
    namespaceResolver: (prefix: string) => (prefix === '' ? '' : (namespaces.get(prefix) ?? null)),
    language: Language.XPATH_3_1_LANGUAGE,
  };
  return (xml) => {
    const document = parseXmlDocument(xml);
    const failed = new Set<string>();
    let evaluated = 0;
    for (const pattern of schema.getElementsByTagNameNS(SCHEMATRON, 'pattern')) {
      // Only the first rule of a pattern that matches a node applies to it.
      const matched = new Set<Node>();
      for (const rule of childrenOf(pattern, 'rule')) {
        const nodes: Node[] = evaluateXPathToNodes(fromRoot(valueOf(rule, 'context')), document, null, {}, options);
        const unmatched = nodes.filter((node) => !matched.has(node));
        for (const node of unmatched) {
          matched.add(node);
          for (const assertion of childrenOf(rule, 'assert')) {
            evaluated++;
            if (!evaluateXPathToBoolean(valueOf(assertion, 'test'), node, null, {}, options)) failed.add(valueOf(assertion, 'id'));
          }
        }
      }
    }
    return { evaluated, failed: [...failed] };
  };
}

/** A context matches nodes anywhere in the document. */
function fromRoot(context: string): string {
  return context
    .split('|')
    .map((path) => (path.trim().startsWith('/') ? path : `//${path.trim()}`))
    .join('|');
}

function childrenOf(element: Element, name: string): Element[] {
  return element.children.filter(({ localName }) => localName === name);
}

function valueOf(element: Element, name: string): string {
  return element.getAttribute(name) ?? '';
}
