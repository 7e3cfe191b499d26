// @ts-check
// Part of the page at /documentation: runs there, between Swagger UI and its start.
//
// For a description of OpenAPI 3.1 Swagger UI turns every member of the whole description into an element of a tree of
// its own, and back, whenever an operation is opened and once after the list is shown: over a second each time, in
// which the page does not answer. Our descriptions refer to their own components alone, so what an operation refers to
// is put in its place here, with the mark `$$ref` that Swagger UI names models by.

/** @typedef {{ readonly [member: string]: unknown }} JsonObject */
/** @typedef {{ fn: { resolveSubtree(description: JsonObject, path: readonly string[]): Promise<Resolved> } }} Plugin */
/** @typedef {{ readonly spec: unknown, readonly errors: readonly Error[] }} Resolved */
/** @typedef {{ readonly plugins?: readonly unknown[] }} Settings */
/** @typedef {{ (settings: Settings): unknown }} SwaggerUi */

/** @type {{ SwaggerUIBundle: SwaggerUi }} */
// @ts-expect-error: the script before this one sets it.
const page = globalThis

const localPrefix = '#/'

/** @type {(value: unknown) => value is JsonObject} */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

/** @type {(root: JsonObject, path: readonly string[]) => unknown} */
const memberAt = (root, path) =>
  path.reduce((/** @type {unknown} */ at, name) => (isObject(at) ? at[name] : undefined), root)

/**
 * `value` with every reference replaced; one that leads to itself stays a reference.
 * @type {(root: JsonObject, value: unknown, within: readonly string[]) => unknown}
 */
function replaced(root, value, within) {
  if (Array.isArray(value)) return value.map((item) => replaced(root, item, within))
  if (!isObject(value)) return value
  const { $ref, ...own } = value
  const members = Object.fromEntries(
    Object.entries(own).map(([name, member]) => [name, replaced(root, member, within)]),
  )
  if (typeof $ref !== 'string') return members
  if (!$ref.startsWith(localPrefix) || within.includes($ref)) return value
  const path = $ref.slice(localPrefix.length).split('/')
  const target = replaced(root, memberAt(root, path), [...within, $ref])
  // What is said of this use wins over what is said of all.
  return { ...(isObject(target) ? target : {}), ...members, $$ref: $ref }
}

/** @type {Plugin} */
const plugin = {
  fn: {
    async resolveSubtree(description, path) {
      return { spec: replaced(description, memberAt(description, path), []), errors: [] }
    },
  },
}

// A name of this script's own: its constants stand before the members of the page.
const withoutOurs = page.SwaggerUIBundle
page.SwaggerUIBundle = Object.assign(
  /** @type {SwaggerUi} */
  ((settings) => withoutOurs({ ...settings, plugins: [...(settings.plugins ?? []), () => plugin] })),
  withoutOurs,
)
