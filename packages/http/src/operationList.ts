/** One operation as the list tells it. */
export type ListedOperation = {
  /** In capitals. */
  readonly method: string
  /** With members in braces, as the description has it. */
  readonly path: string
  readonly operationId: string
  readonly summary: string
  /** The first one, under which Swagger UI links to it. */
  readonly tag: string
}

/** A route as Fastify tells it when it is declared. */
type DeclaredRoute = {
  readonly method: string | readonly string[]
  readonly url: string
  readonly schema?: unknown
}

/** @returns nothing for what is not described: hidden routes, and HEAD, which is answered wherever GET is */
export function listedOperations({ method, url, schema }: DeclaredRoute): readonly ListedOperation[] {
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
 * Operations as HTML that needs no script: by tag, each with its method, path and summary, and a link that Swagger UI
 * opens it by. All text is escaped. Pure.
 * @param folder where `json` and `yaml` of the description are, with a slash at its end
 */
export function operationList(
  { title, description }: { readonly title: string; readonly description: string },
  operations: readonly ListedOperation[],
  folder: string,
): string {
  const sections = [...new Set(operations.map(({ tag }) => tag))].map((tag) => {
    const items = operations.filter((operation) => operation.tag === tag).map(itemOf)
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
function itemOf({ method, path, operationId, summary, tag }: ListedOperation): string {
  const link = `#/${encodeURIComponent(tag)}/${encodeURIComponent(operationId)}`
  return `<li><a href="${escaped(link)}"><b class="${method.toLowerCase()}">${method}</b> <code>${escaped(path)}</code> <span>${withCode(summary)}</span></a></li>`
}

const entities: Readonly<Record<string, string>> = {
  ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;' },
  ...{ '"': '&quot;', "'": '&#39;' },
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '')

/** Text as it may stand in HTML, what is between backticks as code. */
const withCode = (text: string): string => escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>')
