import fastJsonStringify, { type Schema } from 'fast-json-stringify'
import { toJSONSchema } from 'zod'
import { $ZodType } from 'zod/v4/core'

type JsonSchema = { [keyword: string]: unknown }
type Serialize = (data: unknown) => string

/** Serializers by schema, shared by all apps of the process: compiling one takes as long as thousands of answers. */
const serializers = new WeakMap<$ZodType, Serialize>()

/**
 * Fastify's serializer compiler: turns a zod response schema into JSON Schema and that into code when the first answer
 * needs it, because compiling all schemas would add a third of a second to each start. Members that a schema does not
 * name are not sent. A missing required member is a bug and becomes a 500.
 */
export function serializerOf({ schema }: { schema: unknown }): Serialize {
  if (!(schema instanceof $ZodType)) throw new TypeError('a response schema must be a zod schema')
  const cached = serializers.get(schema)
  if (cached !== undefined) return cached
  const serialize = compileSerializer(schema)
  serializers.set(schema, serialize)
  return serialize
}

/** One schema's serializer; see `serializerOf`. */
export function compileSerializer(schema: $ZodType): Serialize {
  let serialize: Serialize | undefined
  return (data) => {
    serialize ??= fastJsonStringify(answerSchema(schema))
    return serialize(data)
  }
}

/** An answer's schema as JSON Schema. @throws Error for what that cannot express (transforms, bigint) */
export function answerSchema(schema: $ZodType): Schema {
  const jsonSchema = toJSONSchema(schema, {
    io: 'output',
    override: ({ jsonSchema: node }) => foldNullable(node),
  })
  // CAST: zod emits JSON Schema 2020-12; the keywords that the two type definitions disagree about are ignored by the
  // serializer.
  return jsonSchema as Schema
}

/** Replaces `anyOf [X, null]` by X with `nullable`: for `anyOf` the serializer would validate each value at run time. */
function foldNullable(node: JsonSchema): void {
  const branches = node['anyOf']
  if (!Array.isArray(branches) || branches.length !== 2) return
  const other: unknown = branches.find((branch: JsonSchema) => branch['type'] !== 'null')
  const hasNull = branches.some((branch: JsonSchema) => branch['type'] === 'null')
  if (!hasNull || typeof other !== 'object' || other === null) return
  delete node['anyOf']
  Object.assign(node, other, { nullable: true })
}
