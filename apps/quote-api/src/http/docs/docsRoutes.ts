import { createHash } from 'node:crypto'
import { type HttpApp, RequestFailure } from '@causeway/http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { callerPages, pageList } from './callerPages.ts'
import type { Docs } from './readDocs.ts'

/** A caller may use a page for so long without asking again. */
const ageSecondsMax = 300

type Page = { readonly type: string; readonly body: Buffer; readonly tag: string }

/**
 * `/llms.txt` and, under `/docs/`, the pages that it lists. The name that a caller asks for is looked up in memory and
 * never becomes a path of the disk. Without docs all of them are 404.
 */
export function registerDocs(app: HttpApp, docs: Docs): void {
  const schema = { hide: true }
  const config = { rateLimitClass: 'read' }
  const list = docs.size === 0 ? undefined : toPage('text/plain', pageList(docs))
  const pages = new Map([...callerPages(docs)].map(([path, text]) => [path, toPage('text/markdown', text)]))
  app.get('/llms.txt', { schema, config }, async (request, reply) => send(list, request, reply))
  const pageSchema = { ...schema, params: z.object({ '*': z.string() }) }
  app.get('/docs/*', { schema: pageSchema, config }, async (request, reply) =>
    send(pages.get(request.params['*']), request, reply),
  )
}

function toPage(type: string, text: string): Page {
  const body = Buffer.from(text)
  const tag = `"${createHash('sha256').update(body).digest('base64url')}"`
  return { type: `${type}; charset=utf-8`, body, tag }
}

/** @throws RequestFailure not_found */
function send(page: Page | undefined, { headers }: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (page === undefined)
    throw new RequestFailure('not_found', 'There is no such page; /llms.txt lists those that are.')
  reply.headers({ 'cache-control': `public, max-age=${ageSecondsMax}`, etag: page.tag })
  if (matchesTag(headers['if-none-match'], page.tag)) return reply.code(304).send()
  return reply.type(page.type).send(page.body)
}

/** True if the caller's cached copy of the page is current. @source RFC 9110 13.1.2 */
function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  const heldTags = ifNoneMatch?.split(',').map((heldTag) => heldTag.trim().replace(/^W\//, '')) ?? []
  return heldTags.includes('*') || heldTags.includes(tag)
}
