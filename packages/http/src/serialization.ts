import fastJsonStringify, { type Schema } from 'fast-json-stringify'
import { toJSONSchema } from 'zod'
import { $ZodType } from 'zod/v4/core'

type JsonSchema = { [keyword: string]: unknown }
type Serialize = (data: unknown) => string

/** By schema and not by app: a schema never changes, and compiling one takes as long as thousands of answers. */
const compiled = new WeakMap<$ZodType, Serialize>()

/**
 * Fastify's serializer compiler: zod response schema → JSON Schema → code, which is compiled when the first
 * answer needs it: all of it takes a third of a second of a start. Members a schema does not name never
 * leave the process; a missing required member is a bug and becomes a 500. A schema that JSON Schema cannot
 * express (transforms, bigint) throws when the route is registered.
 */
export function serializerOf({ schema }: { schema: unknown }): Serialize {
  if (!(schema instanceof $ZodType)) throw new TypeError('a response schema must be a zod schema')
  const cached = compiled.get(schema)
  if (cached !== undefined) return cached
  const serialize = compileSerializer(schema)
  compiled.set(schema, serialize)
  return serialize
}

/** One schema's serializer; see `serializerOf`. */
export function compileSerializer(schema: $ZodType): Serialize {
  const jsonSchema = toJSONSchema(schema, {
    io: 'output',
    override: ({ jsonSchema: node }) => foldNullable(node),
  })
  let serialize: Serialize | undefined
  return (data) => {
    // CAST: zod emits JSON Schema 2020-12; the keywords that the two type definitions disagree about
    // are ignored by the serializer.
    serialize ??= fastJsonStringify(jsonSchema as Schema)
    return serialize(data)
  }
}

/** `anyOf [X, null]` makes the serializer validate at run time; `nullable` does not. */
function foldNullable(node: JsonSchema): void {
  const branches = node['anyOf']
  if (!Array.isArray(branches) || branches.length !== 2) return
  const other: unknown = branches.find((branch: JsonSchema) => branch['type'] !== 'null')
  const hasNull = branches.some((branch: JsonSchema) => branch['type'] === 'null')
  if (!hasNull || typeof other !== 'object' || other === null) return
  delete node['anyOf']
  Object.assign(node, other, { nullable: true })
}
