import swagger from '@fastify/swagger'
import { jsonSchemaTransform } from 'fastify-type-provider-zod'
import type { ErrorPolicy } from './describeFailure.ts'
import { errorBodySchema } from './errorBody.ts'
import type { HttpApp, RouteErrors } from './fastifyTypes.ts'
import { nameSchemas, type Readability } from './openApiDocument.ts'
import { descriptionPath, registerReferencePage } from './referencePage.ts'

export type OpenApiOptions = Readability & {
  readonly title: string
  readonly description: string
  /** Mainnet and testnet addresses, from configuration. */
  readonly servers: readonly { readonly url: string; readonly description: string }[]
}

type Listener = {
  readonly policy: ErrorPolicy
  readonly bearerKeys: boolean
  /** For operators: every operation needs the key, and nobody is limited. */
  readonly isAdmin?: boolean
}

const license = { name: 'MIT', identifier: 'MIT' }

/** Version of both interface descriptions. @source quote-and-sponsorship.md, Versioning 1 */
export const interfaceVersion = '1.0.0'

/**
 * The interface description, generated from the routes' zod schemas, and its page at /documentation
 * with local assets only. Must be awaited before routes are declared.
 */
export async function registerOpenApi(app: HttpApp, options: OpenApiOptions & Listener): Promise<void> {
  const keyed = [{ apiKey: [] }, ...(options.bearerKeys ? [{ bearerKey: [] }] : [])]
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
      // A public listener takes a key on every route, and needs it where the route says so.
      security: options.isAdmin === true ? keyed : [{}, ...keyed],
    },
    transform: (route) => {
      const { schema, url } = withSharedRefusals(route)
      return { schema: withKeys(withErrors(schema, options), keyed), url }
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
 * A route as it is described. The refusal, which each route has ten times, is turned to JSON once per route: the
 * first reader of the description holds up everybody else for a quarter less.
 */
function withSharedRefusals(route: Route): Described {
  const response: unknown = route.schema?.response
  if (typeof response !== 'object' || response === null) return jsonSchemaTransform(route)
  const refusals = Object.entries(response).filter(([, schema]) => schema === errorBodySchema)
  const [first] = refusals
  if (first === undefined) return jsonSchemaTransform(route)
  const own = Object.entries(response).filter(([, schema]) => schema !== errorBodySchema)
  const described = jsonSchemaTransform({
    ...route,
    schema: { ...route.schema, response: Object.fromEntries([...own, first]) },
  })
  const { response: answers, ...rest } = described.schema
  // Hidden routes are described without.
  if (typeof answers !== 'object' || answers === null) return described
  const refusal = new Map<string, unknown>(Object.entries(answers)).get(first[0])
  const all = {
    ...answers,
    ...Object.fromEntries(refusals.map(([status]) => [status, structuredClone(refusal)])),
  }
  return { ...described, schema: { ...rest, response: all } }
}

/** A route names the key; by which headers it may come is the app's matter. */
function withKeys(schema: DescribedSchema, keyed: readonly Record<string, string[]>[]): DescribedSchema {
  const { security, ...rest } = schema
  if (!Array.isArray(security)) return schema
  return { ...rest, security: security.flatMap((one) => ('apiKey' in one ? keyed : [one])) }
}

/** Only the statuses that the route can answer with, each told by its codes. A route may have no schema at all. */
function withErrors(
  schema: DescribedSchema | undefined,
  { policy: { errorCodes }, isAdmin = false }: Listener,
): DescribedSchema {
  if (schema === undefined) return {}
  const { errors = {}, response, ...rest } = schema
  if (typeof response !== 'object' || response === null) return { ...rest, response }
  const shared: RouteErrors = {
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
    if ('properties' in answer && !('errorCode' in answer.properties)) return [[status, answer]]
    const codes = [...(shared[Number(status)] ?? []), ...(errors[Number(status)] ?? [])]
    return codes.length === 0 ? [] : [[status, { ...answer, description: codes.toSorted().join(', ') }]]
  })
  return { ...rest, response: Object.fromEntries(answers) }
}
