/** The XMP metadata by which readers of Factur-X and ZUGFeRD find the attached XML. */

const NAMESPACE = 'urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#';

/** The properties of the namespace, with their values. A credit note is an `INVOICE` too. */
const PROPERTIES = [
  { name: 'DocumentFileName', valueOf: (file: string) => file, description: 'The name of the embedded XML document' },
  { name: 'DocumentType', valueOf: () => 'INVOICE', description: 'The type of the hybrid document' },
  { name: 'Version', valueOf: () => '1.0', description: 'The version of the standard of the embedded XML document' },
  { name: 'ConformanceLevel', valueOf: () => 'EN 16931', description: 'The profile of the embedded XML document' },
] as const;

/**
 * The metadata of Factur-X, with the description of its properties that PDF/A requires for properties it does not have. It does not claim PDF/A.
 *
 * @param file The name of the attached XML.
 */
export function facturXMetadata(file: string): string {
  const values = PROPERTIES.map(({ name, valueOf }) => `<fx:${name}>${valueOf(file)}</fx:${name}>`);
  const descriptions = PROPERTIES.map(
    ({ name, description }) => `<rdf:li rdf:parseType="Resource">
  <pdfaProperty:name>${name}</pdfaProperty:name>
  <pdfaProperty:valueType>Text</pdfaProperty:valueType>
  <pdfaProperty:category>external</pdfaProperty:category>
  <pdfaProperty:description>${description}</pdfaProperty:description>
</rdf:li>`,
  );
  return `<rdf:Description rdf:about="" xmlns:fx="${NAMESPACE}">
${values.join('\n')}
</rdf:Description>
<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">
<pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">
<pdfaSchema:schema>Factur-X PDFA Extension Schema</pdfaSchema:schema>
<pdfaSchema:namespaceURI>${NAMESPACE}</pdfaSchema:namespaceURI>
<pdfaSchema:prefix>fx</pdfaSchema:prefix>
<pdfaSchema:property><rdf:Seq>
${descriptions.join('\n')}
</rdf:Seq></pdfaSchema:property>
</rdf:li></rdf:Bag></pdfaExtension:schemas>
</rdf:Description>`;
}

/** The name of the seller. The library writes the author of a PDF into this XML as it is, so a name with `&` would spoil it. */
export function creatorMetadata(name: string): string {
  return `<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:creator><rdf:Seq><rdf:li>${escaped(name)}</rdf:li></rdf:Seq></dc:creator>
</rdf:Description>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
