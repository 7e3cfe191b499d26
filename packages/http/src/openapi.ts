import swagger from '@fastify/swagger'
import { jsonSchemaTransform } from 'fastify-type-provider-zod'
import { $ZodType } from 'zod/v4/core'
import type { ErrorPolicy } from './describeFailure.ts'
import { errorBodySchema } from './errorBody.ts'
import type { HttpApp, RouteErrors } from './fastifyTypes.ts'
import { nameSchemas, type Readability } from './openApiDocument.ts'
import { descriptionPath, registerReferencePage } from './referencePage.ts'
import { answerSchema } from './serialization.ts'

export type OpenApiOptions = Readability & {
  readonly title: string
  readonly description: string
  /** Mainnet and testnet addresses, from configuration. */
  readonly servers: readonly { readonly url: string; readonly description: string }[]
}

/** Traits of the described listener. */
type Listener = {
  readonly policy: ErrorPolicy
  /** True: keys are accepted as bearer tokens too. */
  readonly bearerKeys: boolean
  /** True for the admin listener: every operation needs the key, and no limits apply. */
  readonly isAdmin?: boolean
}

const license = { name: 'MIT', identifier: 'MIT' }

/** Version of both interface descriptions. @source rule Q-version-01 */
export const interfaceVersion = '1.0.0'

/**
 * Adds the OpenAPI description, generated from the routes' zod schemas, and its page at /documentation. It must be
 * awaited before routes are declared.
 */
export async function registerOpenApi(app: HttpApp, options: OpenApiOptions & Listener): Promise<void> {
  const keySchemes = [{ apiKey: [] }, ...(options.bearerKeys ? [{ bearerKey: [] }] : [])]
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: options.title, description: options.description, version: interfaceVersion, license },
      servers: options.servers.map(({ url, description }) => ({ url, description })),
      components: {
        securitySchemes: {
          apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
          ...(options.bearerKeys && { bearerKey: { type: 'http', scheme: 'bearer' } }),
        },
      },
      // On a public listener every route accepts a key and none requires it (`{}`), unless the route says so.
      security: options.isAdmin === true ? keySchemes : [{}, ...keySchemes],
    },
    transform: (route) => {
      const { schema, url } = describeRoute(route)
      return { schema: withKeySchemes(withErrors(schema, options), keySchemes), url }
    },
    transformObject: (document) =>
      'openapiObject' in document ? nameSchemas(document.openapiObject, options) : document.swaggerObject,
  })
  await registerReferencePage(app, options)
  app.get('/', { schema: { hide: true }, config: { rateLimitClass: false } }, async (_request, reply) =>
    reply.redirect(descriptionPath, 302),
  )
}

type Route = Parameters<typeof jsonSchemaTransform>[0]
type Described = ReturnType<typeof jsonSchemaTransform>
type DescribedSchema = Described['schema']

/**
 * Turns a route's zod schemas into JSON Schema. The error body, which each route has for ten statuses, is converted once
 * and copied. That saves a quarter of the time that the first request for the description blocks the process.
 * @throws Error for an answer that JSON cannot express: nobody may have asked for it yet, and it would be a 500
 */
function describeRoute(route: Route): Described {
  const response: unknown = route.schema?.response
  if (typeof response !== 'object' || response === null) return jsonSchemaTransform(route)
  const errorAnswers = Object.entries(response).filter(([, schema]) => schema === errorBodySchema)
  const [firstError] = errorAnswers
  if (firstError === undefined) return jsonSchemaTransform(route)
  const otherAnswers = Object.entries(response).filter(([, schema]) => schema !== errorBodySchema)
  for (const [, schema] of otherAnswers) if (schema instanceof $ZodType) answerSchema(schema)
  const described = jsonSchemaTransform({
    ...route,
    schema: { ...route.schema, response: Object.fromEntries([...otherAnswers, firstError]) },
  })
  const { response: answers, ...rest } = described.schema
  // A hidden route has no answers here.
  if (typeof answers !== 'object' || answers === null) return described
  const errorAnswer = new Map<string, unknown>(Object.entries(answers)).get(firstError[0])
  const allAnswers = {
    ...answers,
    ...Object.fromEntries(errorAnswers.map(([status]) => [status, structuredClone(errorAnswer)])),
  }
  return { ...described, schema: { ...rest, response: allAnswers } }
}

/** Replaces `apiKey`, which routes name in `security`, by all schemes that the listener accepts keys by. */
function withKeySchemes(
  schema: DescribedSchema,
  keySchemes: readonly Record<string, string[]>[],
): DescribedSchema {
  const { security, ...rest } = schema
  if (!Array.isArray(security)) return schema
  return { ...rest, security: security.flatMap((one) => ('apiKey' in one ? keySchemes : [one])) }
}

/**
 * Keeps of the error answers only the statuses that the route can answer with, each described by its error
 * codes: those common to the listener's routes, and those in the route's `errors`. A route that names no
 * errors keeps all statuses.
 * @param schema undefined for a route without a schema
 */
function withErrors(
  schema: DescribedSchema | undefined,
  { policy: { errorCodes }, isAdmin = false }: Listener,
): DescribedSchema {
  if (schema === undefined) return {}
  const { errors = {}, response, ...rest } = schema
  if (typeof response !== 'object' || response === null) return { ...rest, response }
  const commonErrors: RouteErrors = {
    400: [errorCodes.invalid_request],
    401: [errorCodes.unauthorized],
    500: [errorCodes.internal],
    ...(!isAdmin && {
      429: [errorCodes.rate_limited],
      503: [errorCodes.overloaded, errorCodes.timed_out],
    }),
    ...(schema.body !== undefined && {
      413: [errorCodes.body_too_large],
      415: [errorCodes.unsupported_media_type],
    }),
  }
  const answers = Object.entries(response).flatMap(([status, answer]) => {
    if (Number(status) < 400 || schema.errors === undefined) return [[status, answer]]
    // An answer without `errorCode` is not the shared error body, for example the 503 of a readiness report.
    if ('properties' in answer && !('errorCode' in answer.properties)) return [[status, answer]]
    const codes = [...(commonErrors[Number(status)] ?? []), ...(errors[Number(status)] ?? [])]
    return codes.length === 0 ? [] : [[status, { ...answer, description: codes.toSorted().join(', ') }]]
  })
  return { ...rest, response: Object.fromEntries(answers) }
}
