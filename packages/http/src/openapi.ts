import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { jsonSchemaTransform } from 'fastify-type-provider-zod'
import type { ErrorPolicy } from './describeFailure.ts'
import type { HttpApp } from './fastifyTypes.ts'
import { nameSchemas, type OperationExamples } from './openApiDocument.ts'

export type OpenApiOptions = {
  readonly title: string
  readonly description: string
  /** Mainnet and testnet addresses, from configuration. */
  readonly servers: readonly { readonly url: string; readonly description: string }[]
  /** A request of each operation that takes members. */
  readonly examples?: OperationExamples
}

type Listener = {
  readonly policy: ErrorPolicy
  readonly bearerKeys: boolean
  /** For operators: every operation needs the key, and nobody is limited. */
  readonly isAdmin?: boolean
}

/** A route's own error codes by status, beside those that every route has. */
export type RouteErrors = Readonly<Record<number, readonly string[]>>

const license = { name: 'MIT', identifier: 'MIT' }

/** Version of both interface descriptions. @source quote-and-sponsorship.md, Versioning 1 */
export const interfaceVersion = '1.0.0'

/** Asks nobody else, and works without TLS, as on a listener of a private network. */
const pagePolicy = {
  'default-src': "'self'",
  'base-uri': "'self'",
  'frame-ancestors': "'none'",
  'img-src': ["'self'", 'data:'],
  'object-src': "'none'",
  // The page sizes parts of itself by style attributes.
  'style-src': ["'self'", "'unsafe-inline'"],
}

/** On a narrow screen a line per part of an operation's head; what is too wide breaks or scrolls in its own box. */
const phoneStyle = `
@media (max-width: 640px) {
  .swagger-ui .topbar { display: none }
  .swagger-ui .wrapper, .swagger-ui .info, .swagger-ui .scheme-container { padding-inline: 8px }
  .swagger-ui .info { margin-block: 16px }
  .swagger-ui .info .title { font-size: 24px; overflow-wrap: anywhere }
  .swagger-ui .scheme-container .schemes { flex-wrap: wrap; gap: 8px }
  .swagger-ui .opblock .opblock-summary { align-items: flex-start }
  .swagger-ui .opblock .opblock-summary-control { flex-wrap: wrap; min-width: 0; text-align: start }
  .swagger-ui .opblock .opblock-summary-path-description-wrapper { min-width: 0; gap: 2px 8px }
  .swagger-ui .opblock .opblock-summary-path { max-width: 100%; word-break: normal; overflow-wrap: anywhere }
  .swagger-ui .opblock .opblock-summary-description { flex-basis: 100%; font-size: 14px; overflow-wrap: anywhere }
  .swagger-ui .opblock-body, .swagger-ui .responses-inner, .swagger-ui .table-container { overflow-x: auto }
  .swagger-ui table.parameters, .swagger-ui table.parameters > thead, .swagger-ui table.parameters > tbody,
  .swagger-ui table.parameters > tbody > tr, .swagger-ui table.parameters > tbody > tr > td { display: block; max-width: 100% }
  .swagger-ui table.parameters > thead { display: none }
  .swagger-ui .parameters-col_description input, .swagger-ui .parameters-col_description select,
  .swagger-ui textarea { max-width: 100%; min-width: 0; font-size: 16px }
  .swagger-ui pre, .swagger-ui .microlight { overflow-wrap: anywhere; white-space: pre-wrap }
  .swagger-ui .model-box { max-width: 100%; overflow-x: auto }
}
`

/** Where the page is; the description itself is beneath. */
export const descriptionPath = '/documentation'

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
      const { schema, url } = jsonSchemaTransform(route)
      return { schema: withKeys(withErrors(schema, options), keyed), url }
    },
    transformObject: (document) =>
      'openapiObject' in document
        ? nameSchemas(document.openapiObject, options.examples ?? {})
        : document.swaggerObject,
  })
  await app.register(swaggerUi, {
    routePrefix: descriptionPath,
    staticCSP: pagePolicy,
    theme: { title: options.title, css: [{ filename: 'phone.css', content: phoneStyle }] },
    // Schemas stand at their operations; a second list of them only makes the page slow.
    uiConfig: { docExpansion: 'list', validatorUrl: null, defaultModelsExpandDepth: -1 },
  })
  app.get('/', { schema: { hide: true }, config: { rateLimitClass: false } }, async (_request, reply) =>
    reply.redirect(descriptionPath, 302),
  )
}

type DescribedSchema = ReturnType<typeof jsonSchemaTransform>['schema']

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
