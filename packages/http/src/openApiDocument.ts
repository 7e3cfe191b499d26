// Makes the generated OpenAPI description readable. Schemas move to named components (or stay inline where a reader
// needs that), repeated error answers are shared, and operations get examples. Pure functions over the description's JSON.

type Json = null | boolean | number | string | readonly Json[] | JsonObject
type JsonObject = { readonly [member: string]: Json | undefined }

/** A valid request of one operation, shown in the description. */
export type OperationExample = {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number>>
  readonly body?: unknown
}

/** By `operationId`. */
export type OperationExamples = Readonly<Record<string, OperationExample>>

const json = 'application/json'
/** Schema keywords whose values are data and not schemas: a member `title` in them is no name of a schema. */
const dataMembers: ReadonlySet<string> = new Set(['default', 'enum', 'const', 'example', 'examples'])

export type Readability = {
  readonly examples?: OperationExamples
  /** `operationId`s whose body and success answer stay inline, for readers that do not follow `$ref`. */
  readonly inlineOperations?: ReadonlySet<string>
}

/**
 * Moves every request body, every answer and every schema with a `title` to `components.schemas`, leaves a `$ref` in its
 * place, and adds examples. Operations in `inlineOperations` keep their schemas inline. An untitled body or
 * answer is named after its operation. Error answers of several operations move to `components.responses`.
 *
 * Schemas are named in the order of the operations, in each the request body before the answers. The first
 * schema of a title is called by it. A later different one is called `<title>Input` in a body, and is an
 * error in an answer. So of an operation's different answers only one may be untitled.
 * @throws Error for a different schema that cannot be named
 */
export function nameSchemas(
  document: object,
  { examples = {}, inlineOperations = new Set() }: Readability,
): object {
  const schemas = new NamedSchemas()
  const description = asObject(withoutSafeBounds(asJson(document)))
  const paths = mapMembers(asObject(description['paths']), (methods) =>
    mapMembers(asObject(methods), (operation) =>
      nameOperation(asObject(operation), schemas, { examples, inlineOperations }),
    ),
  )
  const refusals = repeatedRefusals(
    Object.values(paths).flatMap((methods) => Object.values(asObject(methods))),
  )
  const shared = mapMembers(paths, (methods) =>
    mapMembers(asObject(methods), (operation) => shareRefusals(asObject(operation), refusals)),
  )
  const responses = Object.fromEntries(
    [...refusals].map(([text, name]): [string, Json] => [name, JSON.parse(text)]),
  )
  const components = { ...asObject(description['components']), schemas: schemas.sorted(), responses }
  return { ...description, paths: shared, components }
}

/**
 * Error answers that at least two operations have: their JSON text, and the name of the shared component. Different
 * answers of one status are numbered: `Error400`, `Error400_2`.
 */
function repeatedRefusals(operations: readonly (Json | undefined)[]): ReadonlyMap<string, string> {
  const seenTexts = new Set<string>()
  const names = new Map<string, string>()
  const countByStatus: Record<string, number> = {}
  for (const operation of operations) {
    for (const [status, response] of refusalsOf(asObject(operation))) {
      const text = JSON.stringify(response)
      if (seenTexts.has(text) && !names.has(text)) {
        const number = (countByStatus[status] ?? 0) + 1
        countByStatus[status] = number
        names.set(text, `Error${status}${number === 1 ? '' : `_${number}`}`)
      }
      seenTexts.add(text)
    }
  }
  return names
}

function shareRefusals(operation: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  const shared = refusalsOf(operation).flatMap(([status, response]) => {
    const name = names.get(JSON.stringify(response))
    return name === undefined ? [] : [[status, { $ref: `#/components/responses/${name}` }] as const]
  })
  return { ...operation, responses: { ...asObject(operation['responses']), ...Object.fromEntries(shared) } }
}

function refusalsOf(operation: JsonObject) {
  return Object.entries(asObject(operation['responses'])).filter(([status]) => Number(status) >= 400)
}

function nameOperation(
  operation: JsonObject,
  schemas: NamedSchemas,
  { examples, inlineOperations }: Required<Readability>,
): Json {
  const { operationId, requestBody, responses, parameters } = operation
  const id = typeof operationId === 'string' ? operationId : undefined
  const name = id && capitalized(id)
  const example = id === undefined ? undefined : examples[id]
  const isInline = id !== undefined && inlineOperations.has(id)
  return {
    ...operation,
    ...(Array.isArray(parameters) && {
      parameters: parameters.map((parameter) =>
        withExample(withoutFalseRequired(asObject(parameter)), example),
      ),
    }),
    ...(requestBody !== undefined && {
      requestBody: withBodyExample(
        isInline
          ? inlineContent(asObject(requestBody))
          : nameContent(asObject(requestBody), name && `${name}Request`, schemas, 'Input'),
        example,
      ),
    }),
    ...(responses !== undefined && {
      responses: mapMembers(asObject(responses), (response, status) =>
        isInline && Number(status) < 400
          ? inlineContent(asObject(response))
          : nameContent(asObject(response), name && `${name}Answer`, schemas, ''),
      ),
    }),
  }
}

/** Drops `required: false`, which is the default. `schema` stays the last member. */
function withoutFalseRequired({ required, schema, ...parameter }: JsonObject): JsonObject {
  return {
    ...parameter,
    ...(required === true && { required }),
    ...(schema !== undefined && { schema }),
  }
}

function withExample(parameter: JsonObject, example: OperationExample | undefined): JsonObject {
  const { name, in: place } = parameter
  const values = place === 'path' ? example?.params : place === 'query' ? example?.query : undefined
  const value = typeof name === 'string' ? values?.[name] : undefined
  return value === undefined ? parameter : { ...parameter, example: value }
}

function withBodyExample(body: JsonObject, example: OperationExample | undefined): JsonObject {
  const media = asObject(asObject(body['content'])[json])
  if (example?.body === undefined) return body
  // CAST: an example is written out as JSON with the description.
  const value = example.body as Json
  return { ...body, content: { ...asObject(body['content']), [json]: { ...media, example: value } } }
}

/**
 * Names the schemas of a request body or an answer.
 * @param holder has `content` by media type
 * @param fallback name of an untitled schema
 */
function nameContent(
  holder: JsonObject,
  fallback: string | undefined,
  schemas: NamedSchemas,
  suffix: string,
): JsonObject {
  const { content, description } = holder
  if (content === undefined) return holder
  return {
    ...holder,
    content: mapMembers(asObject(content), (media) => {
      const { schema, ...rest } = asObject(media)
      if (schema === undefined) return asObject(media)
      const { description: schemaDescription, ...bareSchema } = asObject(schema)
      // A description that only repeats the answer's is dropped: one schema serves many answers.
      const isRepeated = schemaDescription === undefined || schemaDescription === description
      return {
        ...rest,
        schema: schemas.name(isRepeated ? bareSchema : asObject(schema), { fallback, suffix }),
      }
    }),
  }
}

function inlineContent(holder: JsonObject): JsonObject {
  return {
    ...holder,
    content: mapMembers(asObject(holder['content']), (media) => ({
      ...asObject(media),
      schema: withTypes(asObject(media)['schema'] ?? {}),
    })),
  }
}

/**
 * An inline schema without titles, which only serve as names of components. A choice (`anyOf`, `oneOf`) also gets a
 * `type` that lists the types of its branches, if all of them have one.
 */
function withTypes(value: Json): Json {
  if (Array.isArray(value)) return value.map(withTypes)
  if (!isObject(value)) return value
  const { title, ...rest } = value
  // A `title` that is no text is a property of that name and stays.
  const schema = mapMembers(typeof title === 'string' ? rest : value, (inner, member) =>
    inner === undefined || dataMembers.has(member) ? inner : withTypes(inner),
  )
  const branches = schema['anyOf'] ?? schema['oneOf']
  if (schema['type'] !== undefined || !Array.isArray(branches)) return schema
  // `null` stands for a branch without a type.
  const branchTypes = [...new Set(branches.flatMap((branch: Json) => asObject(branch)['type'] ?? null))]
  const [type, ...others] = branchTypes.filter((branchType) => typeof branchType === 'string')
  const isEveryTypeKnown = type !== undefined && others.length + 1 === branchTypes.length
  if (!isEveryTypeKnown) return schema
  return { type: others.length === 0 ? type : [type, ...others], ...schema }
}

/** Drops the safe-integer bounds that zod adds: they inform nobody, and tools would make examples of them. */
function withoutSafeBounds(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutSafeBounds)
  if (!isObject(value)) return value
  const { minimum, maximum } = value
  const members = Object.entries(value).filter(
    ([member]) =>
      !(member === 'minimum' && minimum === Number.MIN_SAFE_INTEGER) &&
      !(member === 'maximum' && maximum === Number.MAX_SAFE_INTEGER),
  )
  return Object.fromEntries(
    members.map(([member, inner]) => [member, inner === undefined ? inner : withoutSafeBounds(inner)]),
  )
}

type Naming = {
  /** Name of an untitled schema; undefined: it stays inline. */
  readonly fallback?: string | undefined
  /** Added to a title whose name another schema has: `Input` for bodies; '' for answers: an error. */
  readonly suffix: string
}

class NamedSchemas {
  readonly #byName = new Map<string, { readonly schema: Json; readonly text: string }>()

  /** Keeps a schema whose `title` is text, after the schemas inside it. @returns a reference to it, or the unnamed schema */
  name(schema: JsonObject, { fallback, suffix }: Naming): JsonObject {
    const { title, ...rest } = schema
    const inner = mapMembers(typeof title === 'string' ? rest : schema, (value, member) =>
      value === undefined || dataMembers.has(member) ? value : this.#inside(value, suffix),
    )
    const name = typeof title === 'string' ? title : fallback
    if (name === undefined || inner['$ref'] !== undefined) return inner
    const { description, ...named } = inner
    const $ref = `#/components/schemas/${this.#keep(name, suffix, named)}`
    // The description is of this use and not of the shared schema.
    return { $ref, ...(description !== undefined && { description }) }
  }

  sorted(): JsonObject {
    const entries = [...this.#byName].map(([name, { schema }]) => [name, schema] as const)
    return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)))
  }

  #inside(value: Json, suffix: string): Json {
    if (Array.isArray(value)) return value.map((item: Json) => this.#inside(item, suffix))
    return isObject(value) ? this.name(value, { suffix }) : value
  }

  /**
   * Keeps a schema under its name, or under name and suffix if a different schema has the name. Body and
   * answer of one title may differ, because defaults are optional in a body only; if the body comes first,
   * the answer needs another.
   * @returns the name under which it is kept
   * @throws Error where different schemas have all these names
   */
  #keep(name: string, suffix: string, schema: JsonObject): string {
    const text = JSON.stringify(schema)
    for (const candidate of suffix === '' ? [name] : [name, `${name}${suffix}`]) {
      const existingSchema = this.#byName.get(candidate)
      if (existingSchema === undefined) this.#byName.set(candidate, { schema, text })
      if (existingSchema === undefined || existingSchema.text === text) return candidate
    }
    throw new Error(`two schemas are called ${name}`)
  }
}

function mapMembers(
  object: JsonObject,
  change: (value: Json | undefined, member: string) => Json | undefined,
): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([member, value]) => [member, change(value, member)]))
}

function asJson(value: object): Json {
  // CAST: a description is JSON.
  return value as Json
}

function asObject(value: unknown): JsonObject {
  // CAST: a description is JSON; what is not an object here has no members.
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function capitalized(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}
