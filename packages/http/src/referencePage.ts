import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import swaggerUi from '@fastify/swagger-ui'
import { z } from 'zod'
import { createPacker } from './compressedAnswers.ts'
import type { HttpApp } from './fastifyTypes.ts'
import { type ListedOperation, listOperations, renderOperationList } from './operationList.ts'

/** Path of the page; the description itself is at `json` and `yaml` below it. */
export const descriptionPath = '/documentation'

/** Content security policy: this host only. It does not upgrade to https, because private networks may lack TLS. */
const pagePolicy = {
  'default-src': "'self'",
  'base-uri': "'self'",
  'frame-ancestors': "'none'",
  'img-src': ["'self'", 'data:'],
  'object-src': "'none'",
  // The page sizes parts of itself by style attributes.
  'style-src': ["'self'", "'unsafe-inline'"],
}

/** Style of the elements that `renderOperationList` writes, which are shown until Swagger UI is loaded. */
const listStyle = `
#operation-list { box-sizing: border-box; max-width: 1460px; margin: auto; padding: 16px; color: #3b4151; font-family: sans-serif;
  overflow-wrap: anywhere }
#operation-list h1 { margin: 16px 0; font-size: 28px }
#operation-list h2 { margin: 24px 0 8px; font-size: 20px }
#operation-list p { max-width: 80ch; line-height: 1.5 }
#operation-list ul { margin: 0; padding: 0; list-style: none }
#operation-list li a { display: flex; flex-wrap: wrap; gap: 2px 12px; align-items: center; padding: 10px 8px; color: inherit;
  border-bottom: 1px solid #d8dde7; text-decoration: none }
#operation-list li a:hover, #operation-list li a:focus-visible { background: #eef1f7 }
#operation-list b { min-width: 64px; padding: 6px 0; border-radius: 3px; background: #4a5468; color: #fff; font-size: 12px;
  text-align: center }
#operation-list b.get { background: #1b5fa8 }
#operation-list b.post { background: #1d7a4f }
#operation-list b.delete { background: #b3261e }
#operation-list code { font-weight: 600; font-size: 15px }
#operation-list span { font-size: 14px }
#operation-list p code, #operation-list span code { font-weight: 400; font-size: inherit }
#opening:empty { display: none }
[hidden] { display: none !important }
#search { display: block; box-sizing: border-box; max-width: 1460px; margin: auto; padding: 16px 16px 0; color: #3b4151;
  font-family: sans-serif }
#search input { width: 320px; max-width: 100%; padding: 8px; font: inherit; font-size: 16px; border: 1px solid #4a5468; border-radius: 3px }
`

/** Style of Swagger UI on narrow screens: the parts of an operation's head wrap, and wide content scrolls in its own box. */
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

/** Media types of the large files of Swagger UI, which browsers may cache. Its plugin serves the small ones. */
const largeFiles = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui-standalone-preset.js': 'text/javascript; charset=utf-8',
} as const

const packageFile = createRequire(import.meta.url).resolve('@fastify/swagger-ui/package.json')
const packageSchema = z.object({ version: z.string() })

/**
 * Adds the page at /documentation. It first shows the operations as a list; opening one loads Swagger UI, which is two
 * megabytes (half a megabyte compressed) and is cached by browsers. It must be awaited before routes are declared.
 */
export async function registerReferencePage(
  app: HttpApp,
  about: { readonly title: string; readonly description: string },
): Promise<void> {
  const { version } = packageSchema.parse(JSON.parse(await readFile(packageFile, 'utf8')))
  const [script = '', loader = ''] = await Promise.all(
    ['referenceScript.js', 'referenceLoader.js'].map((name) =>
      readFile(fileURLToPath(new URL(`./${name}`, import.meta.url)), 'utf8'),
    ),
  )
  // Collected from the routes: making the whole description takes a second, and the first reader would wait for it.
  const operations: ListedOperation[] = []
  app.addHook('onRoute', (route) => {
    operations.push(...listOperations(route))
  })
  // The plugin's HTML has two forms, for addresses with and without a slash at the end. Each is rewritten once.
  const pages = new Map<string, string>()
  const pageOf = (html: string): string => {
    const page =
      pages.get(html) ??
      rewritePage(html, version, (folder) => renderOperationList(about, operations, folder))
    pages.set(html, page)
    return page
  }
  await app.register(async (page) => {
    const pack = createPacker()
    page.addHook('onSend', async (request, reply, payload) =>
      pack(request, reply, typeof payload === 'string' && isPage(reply) ? pageOf(payload) : payload),
    )
    await registerLargeFiles(page, version)
    await page.register(swaggerUi, {
      routePrefix: descriptionPath,
      staticCSP: pagePolicy,
      theme: {
        title: about.title,
        css: [{ filename: 'page.css', content: `${listStyle}${phoneStyle}` }],
        js: [
          { filename: 'reference.js', content: script },
          { filename: 'loader.js', content: loader },
        ],
      },
      // The list of all schemas is off: each operation shows its own, and the list makes the page slow.
      uiConfig: { docExpansion: 'list', validatorUrl: null, defaultModelsExpandDepth: -1 },
    })
  })
}

function isPage(reply: { getHeader(name: string): unknown }): boolean {
  return String(reply.getHeader('content-type')).startsWith('text/html')
}

/**
 * Rewrites the HTML of the Swagger UI plugin:
 * - adds a viewport, without which a phone would lay the page out 980 px wide and shrink it;
 * - adds the version to the addresses of large files, so that browsers may cache them for ever;
 * - adds the list of operations, and replaces scripts and style by `referenceLoader.js`. When an operation is
 *   opened, that loads the addresses in its `data-style` and `data-scripts`, the scripts one after the other.
 */
function rewritePage(html: string, version: string, listIn: (folder: string) => string): string {
  const versionedHtml = html.replace(/\/static\/([\w.-]+)"/g, (path, name: string) =>
    name in largeFiles ? `/static/${name}?v=${version}"` : path,
  )
  const tags = [...versionedHtml.matchAll(/<script src="([^"]+)"[^>]*> *<\/script>/g)]
  const sources = tags.map(([, source = '']) => source)
  const sourcesOf = (part: string) => sources.filter((source) => source.includes(part))
  const [loader] = sourcesOf('/theme/loader.js')
  // The tag of the style sheet, its address, and the folder at the beginning of that.
  const [link, style, folder] =
    /<link rel="stylesheet"[^>]*href="(([^"]*\/)static\/swagger-ui\.css[^"]*)"[^>]*>/.exec(versionedHtml) ??
    []
  // If a release of the plugin changes its HTML, the page is sent without the list, and still works.
  if (link === undefined || style === undefined || folder === undefined || loader === undefined)
    return versionedHtml
  const library = sourcesOf('/swagger-ui')
  // Order matters: the initializer starts the library, so our plugin for the library comes before it.
  const ordered = [...library, ...sourcesOf('/theme/reference.js'), ...sourcesOf('/swagger-initializer.js')]
  const prefetches = [...library, style].map((address) => `<link rel="prefetch" href="${address}">`)
  return tags
    .reduce((page, [tag]) => page.replace(tag, ''), versionedHtml)
    .replace(link, '')
    .replace(
      '<meta charset="UTF-8">',
      `<meta charset="UTF-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n${prefetches.join('\n')}`,
    )
    .replace(
      '<div id="swagger-ui"></div>',
      // A function, because `replace` would expand `$` of the list in a text.
      () =>
        `${listIn(folder)}\n<div id="swagger-ui"></div>\n<script src="${loader}" data-scripts="${ordered.join(' ')}" data-style="${style}" defer></script>`,
    )
}

/** Serves the large files from memory. These exact routes win over the plugin's wildcard route, which reads the disk. */
async function registerLargeFiles(page: HttpApp, version: string): Promise<void> {
  for (const [name, type] of Object.entries(largeFiles)) {
    const content = await readFile(join(dirname(packageFile), 'static', name))
    page.get<{ Querystring: { v?: unknown } }>(
      `${descriptionPath}/static/${name}`,
      { schema: { hide: true } },
      async ({ query }, reply) => {
        // The content under this address never changes; without the version no cache may keep it.
        if (query.v === version) reply.header('cache-control', 'public, max-age=31536000, immutable')
        return reply.type(type).send(content)
      },
    )
  }
}
