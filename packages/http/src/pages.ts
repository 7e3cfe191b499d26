import type { FastifyReply } from 'fastify'
import type { HttpApp } from './fastifyTypes.ts'

/** One file of a web page. `type` is its media type. */
export type PageFile = { readonly type: string; readonly body: Buffer }

/**
 * Forbids content from other hosts, inline scripts and styles, and framing. `require-trusted-types-for` without any
 * policy makes every assignment of text as HTML or code fail.
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
 * Serves the files of a web page, such as the operator's console, under `prefix`. Each has its own route and is sent from
 * memory, so that a caller's path never reaches the disk. `index.html` is served at `prefix/`.
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
