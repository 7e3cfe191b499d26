import type { FastifyReply } from 'fastify'
import type { HttpApp } from './fastifyTypes.ts'

/** One file of a page, as it is handed out. */
export type PageFile = { readonly type: string; readonly body: Buffer }

/**
 * Nothing from elsewhere, nothing inline, no frame around it, and no text that becomes HTML or code
 * (`require-trusted-types-for`, without a policy that could make some).
 */
const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const headers: Readonly<Record<string, string>> = {
  'content-security-policy': contentPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/**
 * Hands out the files of a page under `prefix`, each by its own route from memory, so that no path of a caller ever
 * reaches a disk. `index.html` is the prefix itself.
 * @param prefix begins with a slash and ends without one
 */
export function registerPages(app: HttpApp, prefix: string, files: ReadonlyMap<string, PageFile>): void {
  const config = { isPage: true }
  const schema = { hide: true }
  const send = (reply: FastifyReply, { type, body }: PageFile) => reply.headers(headers).type(type).send(body)
  for (const [name, file] of files) {
    const path = `${prefix}/${name === 'index.html' ? '' : name}`
    app.get(path, { schema, config }, async (_request, reply) => send(reply, file))
  }
  app.get(prefix, { schema, config }, async (_request, reply) =>
    reply.headers(headers).redirect(`${prefix}/`),
  )
}
