import cors from '@fastify/cors'
import type { HttpApp } from './fastifyTypes.ts'

/** Opens an app to browsers on every origin, without credentials. @source quote-api.md 4.8 (l) */
export async function registerCors(app: HttpApp): Promise<void> {
  await app.register(cors, {
    origin: '*',
    credentials: false,
    methods: ['GET', 'POST'],
    allowedHeaders: ['content-type', 'x-api-key', 'relay-sdk-version'],
    exposedHeaders: [
      'x-ratelimit-limit',
      'x-ratelimit-remaining',
      'x-ratelimit-reset',
      'retry-after',
      'deprecation',
      'sunset',
      'link',
      'x-request-id',
    ],
    maxAge: 600,
    // A preflight that is not one would be refused in a shape of its own.
    strictPreflight: false,
  })
}
