import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { jsonSchemaTransform } from 'fastify-type-provider-zod'
import type { HttpApp } from './fastifyTypes.ts'

export type OpenApiOptions = {
  readonly title: string
  readonly description: string
  /** Mainnet and testnet addresses, from configuration. */
  readonly servers: readonly { readonly url: string; readonly description: string }[]
}

/** Version of both interface descriptions. @source quote-and-sponsorship.md, Versioning 1 */
export const interfaceVersion = '1.0.0'

/**
 * The interface description, generated from the routes' zod schemas, and its page at /documentation
 * with local assets only. Must be awaited before routes are declared.
 */
export async function registerOpenApi(app: HttpApp, options: OpenApiOptions): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: options.title, description: options.description, version: interfaceVersion },
      servers: options.servers.map(({ url, description }) => ({ url, description })),
      components: {
        securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' } },
      },
    },
    transform: jsonSchemaTransform,
  })
  await app.register(swaggerUi, {
    routePrefix: '/documentation',
    staticCSP: true,
    uiConfig: { docExpansion: 'list', validatorUrl: null },
  })
  app.get('/', { schema: { hide: true }, config: { rateLimitClass: false } }, async (_request, reply) =>
    reply.redirect('/documentation', 302),
  )
}
