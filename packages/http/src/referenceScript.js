// @ts-check
// Runs in the browser on the page at /documentation, after Swagger UI is loaded and before it starts. Makes it faster.
//
// To resolve references of OpenAPI 3.1, Swagger UI converts the whole description into its own tree and back whenever an
// operation is opened. That blocks the page for over a second each time. Our descriptions only refer to their own
// components, so this plugin replaces the references of one operation by their targets, and marks each with `$$ref`, from
// which Swagger UI takes the names of models.

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
  path.reduce((/** @type {unknown} */ node, name) => (isObject(node) ? node[name] : undefined), root)

/**
 * Copies `value` with every reference replaced by its target. A reference inside its own target stays a reference.
 * `within` lists the references that enclose `value`.
 * @type {(root: JsonObject, value: unknown, within: readonly string[]) => unknown}
 */
function resolveReferences(root, value, within) {
  if (Array.isArray(value)) return value.map((item) => resolveReferences(root, item, within))
  if (!isObject(value)) return value
  const { $ref, ...own } = value
  const members = Object.fromEntries(
    Object.entries(own).map(([name, member]) => [name, resolveReferences(root, member, within)]),
  )
  if (typeof $ref !== 'string') return members
  if (!$ref.startsWith(localPrefix) || within.includes($ref)) return value
  const path = $ref.slice(localPrefix.length).split('/')
  const target = resolveReferences(root, memberAt(root, path), [...within, $ref])
  // Members beside the reference, such as a description, win over those of the target.
  return { ...(isObject(target) ? target : {}), ...members, $$ref: $ref }
}

/** @type {Plugin} */
const plugin = {
  fn: {
    async resolveSubtree(description, path) {
      return { spec: resolveReferences(description, memberAt(description, path), []), errors: [] }
    },
  },
}

// Replaces the global function by one that adds the plugin. The constant must not be named SwaggerUIBundle: it would hide
// the global of that name from the initializer.
const originalBundle = page.SwaggerUIBundle
page.SwaggerUIBundle = Object.assign(
  /** @type {SwaggerUi} */
  ((settings) => originalBundle({ ...settings, plugins: [...(settings.plugins ?? []), () => plugin] })),
  originalBundle,
)
