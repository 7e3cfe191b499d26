/** One row of the list of operations on the page at /documentation. */
export type ListedOperation = {
  /** In capitals. */
  readonly method: string
  /** As in OpenAPI, with parameters in braces: `/requests/{id}`. */
  readonly path: string
  readonly operationId: string
  readonly summary: string
  /** The first tag of the operation; Swagger UI's links contain it. */
  readonly tag: string
}

/** A route as Fastify passes it to an `onRoute` hook. */
type DeclaredRoute = {
  readonly method: string | readonly string[]
  readonly url: string
  readonly schema?: unknown
}

/** @returns one row per method; none for HEAD, and for routes that are hidden or lack a tag or an id */
export function listOperations({ method, url, schema }: DeclaredRoute): readonly ListedOperation[] {
  if (typeof schema !== 'object' || schema === null || ('hide' in schema && schema.hide === true)) return []
  const { operationId, summary, tags } = { operationId: '', summary: '', tags: [], ...schema }
  const [tag] = tags
  if (typeof tag !== 'string' || operationId === '') return []
  const path = url.replace(/:(\w+)/g, '{$1}')
  return [method]
    .flat()
    .filter((name) => name !== 'HEAD')
    .map((name) => ({ method: name, path, operationId, summary, tag }))
}

/**
 * Renders operations as HTML that needs no script: grouped by tag, each with method, path, summary and a link that opens
 * it in Swagger UI. All text is escaped. Pure.
 * @param folder URL prefix of `json` and `yaml`, the description's two forms; ends with a slash
 */
export function renderOperationList(
  { title, description }: { readonly title: string; readonly description: string },
  operations: readonly ListedOperation[],
  folder: string,
): string {
  const sections = [...new Set(operations.map(({ tag }) => tag))].map((tag) => {
    const items = operations.filter((operation) => operation.tag === tag).map(renderItem)
    return `<section><h2>${escaped(tag)}</h2><ul>${items.join('')}</ul></section>`
  })
  return `<main id="operation-list">
<h1>${escaped(title)}</h1>
<p>${withCode(description)}</p>
<p>Open an operation for its members and answers, and to try it. The whole description: <a href="${folder}json">JSON</a>, <a href="${folder}yaml">YAML</a>.</p>
<p id="opening" role="status"></p>
<label id="search" hidden>Search <input type="search" autocomplete="off"></label>
${sections.join('\n')}
</main>`
}

/** @source Swagger UI documentation, "Deep linking" */
function renderItem({ method, path, operationId, summary, tag }: ListedOperation): string {
  const link = `#/${encodeURIComponent(tag)}/${encodeURIComponent(operationId)}`
  return `<li><a href="${escaped(link)}"><b class="${method.toLowerCase()}">${method}</b> <code>${escaped(path)}</code> <span>${withCode(summary)}</span></a></li>`
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '')

/** Escaped text, with `<code>` around what backticks enclose. */
const withCode = (text: string): string => escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>')
