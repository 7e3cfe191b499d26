// Makes an interface description readable: a body or an answer is a component with a name, or stands in its operation
// whole, and each operation shows one request that works. Pure functions over the JSON of the description.

type Json = null | boolean | number | string | readonly Json[] | JsonObject
type JsonObject = { readonly [member: string]: Json | undefined }

/** One request of an operation that its route takes, as it stands. */
export type OperationExample = {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number>>
  readonly body?: unknown
}

/** By `operationId`. */
export type OperationExamples = Readonly<Record<string, OperationExample>>

const json = 'application/json'
/** Keywords that hold data, in which a member `title` names no schema. */
const dataMembers: ReadonlySet<string> = new Set(['default', 'enum', 'const', 'example', 'examples'])

export type Readability = {
  readonly examples?: OperationExamples
  /** `operationId`s of operations whose body and success stand in them whole, for readers that follow no `$ref`. */
  readonly whole?: ReadonlySet<string>
}

/**
 * The description with every request body, every answer and every schema that has a `title` moved to
 * `components.schemas` and referred to, but for operations that are `whole`. Untitled ones are called after their
 * operation.
 * @throws Error when two different schemas have one title
 */
export function nameSchemas(document: object, { examples = {}, whole = new Set() }: Readability): object {
  const schemas = new NamedSchemas()
  const description = asObject(withoutSafeBounds(asJson(document)))
  const paths = mapMembers(asObject(description['paths']), (methods) =>
    mapMembers(asObject(methods), (operation) =>
      nameOperation(asObject(operation), schemas, { examples, whole }),
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

/** Name by text of every refusal that stands in two operations; a second one of a status is numbered. */
function repeatedRefusals(operations: readonly (Json | undefined)[]): ReadonlyMap<string, string> {
  const seen = new Set<string>()
  const names = new Map<string, string>()
  const countOf: Record<string, number> = {}
  for (const operation of operations) {
    for (const [status, response] of refusalsOf(asObject(operation))) {
      const text = JSON.stringify(response)
      if (seen.has(text) && !names.has(text)) {
        const number = (countOf[status] ?? 0) + 1
        countOf[status] = number
        names.set(text, `Error${status}${number === 1 ? '' : `_${number}`}`)
      }
      seen.add(text)
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
  { examples, whole }: Required<Readability>,
): Json {
  const { operationId, requestBody, responses, parameters } = operation
  const id = typeof operationId === 'string' ? operationId : undefined
  const name = id && capitalized(id)
  const example = id === undefined ? undefined : examples[id]
  const isWhole = id !== undefined && whole.has(id)
  return {
    ...operation,
    ...(Array.isArray(parameters) && {
      parameters: parameters.map((parameter) => withExample(briefly(asObject(parameter)), example)),
    }),
    ...(requestBody !== undefined && {
      requestBody: withBodyExample(
        isWhole
          ? wholeContent(asObject(requestBody))
          : nameContent(asObject(requestBody), name && `${name}Request`, schemas, 'Input'),
        example,
      ),
    }),
    ...(responses !== undefined && {
      responses: mapMembers(asObject(responses), (response, status) =>
        isWhole && Number(status) < 400
          ? wholeContent(asObject(response))
          : nameContent(asObject(response), name && `${name}Answer`, schemas, ''),
      ),
    }),
  }
}

/** A parameter may be left out where nothing else is said. */
function briefly({ required, schema, ...parameter }: JsonObject): JsonObject {
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
      const { description: said, ...bare } = asObject(schema)
      // A description of the answer is the answer's alone: one schema serves many answers.
      const own = said === undefined || said === description ? bare : asObject(schema)
      return { ...rest, schema: schemas.name(own, { fallback, suffix }) }
    }),
  }
}

function wholeContent(holder: JsonObject): JsonObject {
  return {
    ...holder,
    content: mapMembers(asObject(holder['content']), (media) => ({
      ...asObject(media),
      schema: withTypes(asObject(media)['schema'] ?? {}),
    })),
  }
}

/** Titles name components, which there are none of here. A choice says its types, where all that is chosen from have one. */
function withTypes(value: Json): Json {
  if (Array.isArray(value)) return value.map(withTypes)
  if (!isObject(value)) return value
  const { title, ...rest } = value
  const own = mapMembers(typeof title === 'string' ? rest : value, (inner, member) =>
    inner === undefined || dataMembers.has(member) ? inner : withTypes(inner),
  )
  const choice = own['anyOf'] ?? own['oneOf']
  if (own['type'] !== undefined || !Array.isArray(choice)) return own
  const types = [...new Set(choice.flatMap((one: Json) => asObject(one)['type'] ?? null))]
  const [type, ...others] = types.filter((one) => typeof one === 'string')
  if (type === undefined || others.length + 1 < types.length) return own
  return { type: others.length === 0 ? type : [type, ...others], ...own }
}

/** Every integer of JavaScript is within these: they tell nobody anything, and examples are made of them. */
function withoutSafeBounds(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutSafeBounds)
  if (!isObject(value)) return value
  const { minimum, maximum } = value
  const told = Object.entries(value).filter(
    ([member]) =>
      !(member === 'minimum' && minimum === Number.MIN_SAFE_INTEGER) &&
      !(member === 'maximum' && maximum === Number.MAX_SAFE_INTEGER),
  )
  return Object.fromEntries(
    told.map(([member, inner]) => [member, inner === undefined ? inner : withoutSafeBounds(inner)]),
  )
}

type Naming = { readonly fallback?: string | undefined; readonly suffix: string }

class NamedSchemas {
  readonly #byName = new Map<string, { readonly schema: Json; readonly text: string }>()

  /** The schema, or a reference to it where it has a name. Inner schemas first. */
  name(schema: JsonObject, { fallback, suffix }: Naming): JsonObject {
    const { title, ...rest } = schema
    const inner = mapMembers(rest, (value, member) =>
      value === undefined || dataMembers.has(member) ? value : this.#inside(value, suffix),
    )
    const name = typeof title === 'string' ? title : fallback
    if (name === undefined || inner['$ref'] !== undefined) return inner
    const { description, ...named } = inner
    const $ref = `#/components/schemas/${this.#keep(name, suffix, named)}`
    // Said of this use of it.
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

  /** Input and output schemas of one title may differ: defaults are filled in on input only. */
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
