import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import swaggerUi from '@fastify/swagger-ui'
import { z } from 'zod'
import { createPacker } from './compressedAnswers.ts'
import type { HttpApp } from './fastifyTypes.ts'

/** Where the page is; the description itself is beneath. */
export const descriptionPath = '/documentation'

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

/** The large files of the page, by their media types. The rest of its folder is small, and left to the page itself. */
const largeFiles = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui-standalone-preset.js': 'text/javascript; charset=utf-8',
} as const

const packageFile = createRequire(import.meta.url).resolve('@fastify/swagger-ui/package.json')
const packageSchema = z.object({ version: z.string() })

/** The page of the description, for who reads. Two megabytes by themselves: a quarter as sent, and sent once. */
export async function registerReferencePage(app: HttpApp, title: string): Promise<void> {
  const { version } = packageSchema.parse(JSON.parse(await readFile(packageFile, 'utf8')))
  const script = await readFile(fileURLToPath(new URL('./referenceScript.js', import.meta.url)), 'utf8')
  await app.register(async (page) => {
    const pack = createPacker()
    page.addHook('onSend', async (request, reply, payload) =>
      pack(
        request,
        reply,
        typeof payload === 'string' && isPage(reply) ? readable(payload, version) : payload,
      ),
    )
    await registerLargeFiles(page, version)
    await page.register(swaggerUi, {
      routePrefix: descriptionPath,
      staticCSP: pagePolicy,
      theme: {
        title,
        css: [{ filename: 'phone.css', content: phoneStyle }],
        js: [{ filename: 'reference.js', content: script }],
      },
      // Schemas stand at their operations; a second list of them only makes the page slow.
      uiConfig: { docExpansion: 'list', validatorUrl: null, defaultModelsExpandDepth: -1 },
    })
  })
}

function isPage(reply: { getHeader(name: string): unknown }): boolean {
  return String(reply.getHeader('content-type')).startsWith('text/html')
}

/**
 * The page as it comes has no viewport, so a phone would draw it 980 px wide and shrink it; its files have addresses
 * that say nothing of their version, so nothing could keep them; and it asks for the description last of all.
 */
function readable(html: string, version: string): string {
  const [, folder] = /href="([^"]*\/)static\//.exec(html) ?? []
  const early =
    folder === undefined
      ? ''
      : `\n<link rel="preload" href="${folder}json" as="fetch" crossorigin="anonymous">`
  return html
    .replace(
      '<meta charset="UTF-8">',
      `<meta charset="UTF-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">${early}`,
    )
    .replace(/\/static\/([\w.-]+)"/g, (path, name: string) =>
      name in largeFiles ? `/static/${name}?v=${version}"` : path,
    )
}

/** These routes win over the one that reads any file of the folder, and reach no disk. */
async function registerLargeFiles(page: HttpApp, version: string): Promise<void> {
  for (const [name, type] of Object.entries(largeFiles)) {
    const content = await readFile(join(dirname(packageFile), 'static', name))
    page.get<{ Querystring: { v?: unknown } }>(
      `${descriptionPath}/static/${name}`,
      { schema: { hide: true } },
      async ({ query }, reply) => {
        // What is there under this address is never another file; without the version nobody may keep it.
        if (query.v === version) reply.header('cache-control', 'public, max-age=31536000, immutable')
        return reply.type(type).send(content)
      },
    )
  }
}
