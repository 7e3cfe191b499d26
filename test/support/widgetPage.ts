// The page of `examples/shop`, and a browser that shows it.
import { access, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, extname, join, normalize } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { builtShopPage } from '../../scripts/shop/builtPage.ts'

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
}

/** A picture of a chain or a token, under `pictures/` of the page's own address. */
const picture =
  '<svg xmlns="http://www.w3.org/2000/svg" width="32" height="32"><circle cx="16" cy="16" r="16" fill="#26a"/></svg>'

export type WidgetPage = {
  readonly url: string
  /** URL of a small picture, under any name. */
  pictureUrl(name: string): string
  readonly browser: Browser
  stop(): Promise<void>
}

/** @throws Error where the machine has no Chromium */
export async function startWidgetPage(): Promise<WidgetPage> {
  const [folder, executablePath] = await Promise.all([builtShopPage(), findChromium()])
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://page').pathname
    if (/^\/pictures\/\w+\.svg$/.test(path)) {
      response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(picture)
      return
    }
    const file = join(folder, normalize(path === '/' ? '/index.html' : path))
    readFile(file).then(
      (body) => response.writeHead(200, { 'content-type': types[extname(file)] ?? 'text/plain' }).end(body),
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // CAST: a server that listens on a port has such an address.
  const { port } = server.address() as AddressInfo
  const browser = await launchChromium(executablePath)
  const url = `http://127.0.0.1:${port}/`
  return {
    url,
    pictureUrl: (name) => `${url}pictures/${name}.svg`,
    browser,
    async stop() {
      await browser.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Chromium without a screen. */
export async function startBrowser(): Promise<Browser> {
  return launchChromium(await findChromium())
}

function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox'] })
}

const names = ['chromium', 'chromium-browser', 'google-chrome']

/** @throws Error where the machine has none */
export async function findChromium(): Promise<string> {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  for (const path of names.flatMap((name) => folders.map((folder) => join(folder, name))))
    if (await exists(path)) return path
  throw new Error(`none of ${names.join(', ')} is installed: apt-get install chromium`)
}
