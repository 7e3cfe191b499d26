// An interface description as its readers have it, with references followed.
import { z } from 'zod'
import { readOk, send } from '../../../apps/quote-api/test/serviceSupport/callService.ts'

const schemaShape: z.ZodType<DescribedSchema> = z.lazy(() =>
  z.looseObject({
    $ref: z.string().optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    pattern: z.string().optional(),
    enum: z.array(z.unknown()).optional(),
    deprecated: z.boolean().optional(),
    description: z.string().optional(),
    required: z.array(z.string()).optional(),
    properties: z.record(z.string(), schemaShape).optional(),
    items: schemaShape.optional(),
    anyOf: z.array(schemaShape).optional(),
  }),
)
export type DescribedSchema = {
  readonly $ref?: string | undefined
  readonly type?: string | string[] | undefined
  readonly pattern?: string | undefined
  readonly enum?: readonly unknown[] | undefined
  readonly deprecated?: boolean | undefined
  readonly description?: string | undefined
  readonly required?: readonly string[] | undefined
  readonly properties?: Readonly<Record<string, DescribedSchema>> | undefined
  readonly items?: DescribedSchema | undefined
  readonly anyOf?: readonly DescribedSchema[] | undefined
}

const contentShape = z.record(z.string(), z.object({ schema: schemaShape.optional() }))
const answerShape = z.object({ $ref: z.string().optional(), content: contentShape.optional() })
const securityShape = z.array(z.record(z.string(), z.array(z.string())))
const parameterShape = z.object({ name: z.string(), in: z.string(), required: z.boolean().optional() })
const operationShape = z.object({
  deprecated: z.boolean().optional(),
  security: securityShape.optional(),
  parameters: z.array(parameterShape).default([]),
  requestBody: z.object({ content: contentShape }).optional(),
  responses: z.record(z.string(), answerShape),
})
const descriptionShape = z.looseObject({
  openapi: z.string(),
  info: z.looseObject({ version: z.string() }),
  servers: z.array(z.object({ url: z.string(), description: z.string().optional() })).default([]),
  security: securityShape.optional(),
  paths: z.record(z.string(), z.record(z.string(), operationShape)),
  components: z.object({
    schemas: z.record(z.string(), schemaShape),
    responses: z.record(z.string(), answerShape).default({}),
    securitySchemes: z.record(z.string(), z.looseObject({ type: z.string() })).default({}),
  }),
})

export type Description = z.output<typeof descriptionShape>

export async function readDescription(publicUrl: string): Promise<Description> {
  return readOk(await send(`${publicUrl}/documentation/json`), descriptionShape)
}

/** @throws Error when the description has no such operation */
export function operationOf({ paths }: Description, method: string, path: string) {
  const operation = paths[path]?.[method.toLowerCase()]
  if (operation === undefined) throw new Error(`${method} ${path} is not described`)
  return operation
}

/** A schema itself, where another stands for it. */
export function resolved({ components }: Description, schema: DescribedSchema | undefined): DescribedSchema {
  const { $ref } = schema ?? {}
  if ($ref === undefined) return schema ?? {}
  return components.schemas[$ref.replace(/.*\//, '')] ?? {}
}

/** Schema of the JSON body that a route takes. */
export function requestSchema(description: Description, method: string, path: string): DescribedSchema {
  const { requestBody } = operationOf(description, method, path)
  return resolved(description, requestBody?.content['application/json']?.schema)
}

/** Schema of a route's answer with one status; undefined where that is not described. */
export function answerSchema(
  description: Description,
  [method, path, status]: readonly [string, string, number],
): DescribedSchema | undefined {
  const answer = operationOf(description, method, path).responses[status]
  const shared =
    answer?.$ref === undefined ? answer : description.components.responses[answer.$ref.replace(/.*\//, '')]
  const schema = shared?.content?.['application/json']?.schema
  return schema === undefined ? undefined : resolved(description, schema)
}
