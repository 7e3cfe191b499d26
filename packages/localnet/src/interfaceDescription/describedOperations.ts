import { z } from 'zod'

const parameterSchema = z.object({
  name: z.string(),
  in: z.enum(['path', 'query', 'header']),
  required: z.boolean().optional(),
  example: z.union([z.string(), z.number()]).optional(),
})
const mediaSchema = z.object({
  schema: z.looseObject({ $ref: z.string().optional() }).optional(),
  example: z.unknown().optional(),
  examples: z.record(z.string(), z.object({ value: z.unknown().optional() })).optional(),
})
const answerSchema = z.object({
  $ref: z.string().optional(),
  description: z.string().optional(),
  content: z.record(z.string(), mediaSchema).optional(),
})
const operationSchema = z.object({
  operationId: z.string(),
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  parameters: z.array(parameterSchema).default([]),
  requestBody: z.object({ content: z.record(z.string(), mediaSchema) }).optional(),
  responses: z.record(z.string(), answerSchema),
})
const methodSchema = z.enum(['GET', 'POST', 'PUT'])
const descriptionSchema = z.object({
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
  components: z.object({ responses: z.record(z.string(), answerSchema) }),
})

/** An operation of an OpenAPI document, with the request that its examples make. */
type DescribedOperation = z.infer<typeof operationSchema> & {
  readonly method: 'GET' | 'POST' | 'PUT'
  /** URL of the example, with its query. */
  readonly url: string
  /** Body of the example; undefined where the operation takes none. */
  readonly body: unknown
  /** Parameters, or `body`, that a request needs and that have no example. */
  readonly missing: readonly string[]
  /** Error codes that the description lists, by status. */
  readonly codes: Readonly<Record<string, readonly string[]>>
}

/** Every operation of an OpenAPI document, as tests of a service need them. @throws ZodError where one has no id */
export function describedOperations(text: string): readonly DescribedOperation[] {
  const { paths, components } = descriptionSchema.parse(JSON.parse(text))
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const media = operation.requestBody?.content['application/json']
      const body = media?.example ?? Object.values(media?.examples ?? {})[0]?.value
      const missing = operation.parameters.filter(
        ({ required = false, example }) => required && example === undefined,
      )
      const codes = Object.entries(operation.responses).flatMap(([status, { $ref, description }]) => {
        const shared = $ref === undefined ? undefined : components.responses[$ref.replace(/.*\//, '')]
        const codeList = shared?.description ?? description ?? ''
        return Number(status) < 400 ? [] : [[status, codeList.split(', ')]]
      })
      return {
        ...operation,
        method: methodSchema.parse(method.toUpperCase()),
        url: urlOf(path, operation.parameters),
        body,
        missing: [
          ...missing.map(({ name }) => name),
          ...(media !== undefined && body === undefined ? ['body'] : []),
        ],
        codes: Object.fromEntries(codes),
      }
    }),
  )
}

/**
 * Sends the example of an operation to a service.
 * @returns a sentence for each way in which the answer contradicts the description
 */
export async function contradictedExample(
  { method, url, body, missing, codes, responses, security }: DescribedOperation,
  app: Injectable,
  headers: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  if (missing.length > 0) return missing.map((member) => `${member} has no example`)
  const answer = await app.inject({
    method,
    url,
    headers,
    ...(typeof body === 'object' && body !== null && { payload: body }),
  })
  const status = String(answer.statusCode)
  if (!(status in responses)) return [`${status} is not described: ${answer.body}`]
  if (answer.statusCode < 300) return []
  const { errorCode } = errorSchema.parse(JSON.parse(answer.body))
  if (errorCode === 'INVALID_REQUEST') return [`its own route refuses it: ${answer.body}`]
  if (codes[status]?.includes(errorCode) !== true) return [`${status} ${errorCode} is not described`]
  // An operation that takes requests without a key lists `{}` beside the schemes.
  const needsKey = JSON.stringify(security) === JSON.stringify([{ apiKey: [] }, { bearerKey: [] }])
  return errorCode === 'UNAUTHORIZED' && !needsKey ? ['it needs a key, which is not described'] : []
}

const errorSchema = z.object({ errorCode: z.string() })

/** The part of a Fastify server that is used here. */
type Injectable = {
  inject(request: {
    readonly method: DescribedOperation['method']
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly payload?: object
  }): Promise<{ readonly statusCode: number; readonly body: string }>
}

function urlOf(path: string, parameters: readonly z.infer<typeof parameterSchema>[]): string {
  const query = new URLSearchParams()
  let url = path
  for (const { name, in: location, example } of parameters) {
    if (example === undefined) continue
    if (location === 'path') url = url.replace(`{${name}}`, encodeURIComponent(example))
    if (location === 'query') query.set(name, String(example))
  }
  return query.size === 0 ? url : `${url}?${query}`
}
