// The page of `examples/shop`, built once for what it is made of, and a browser that shows it.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, extname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'

const repositoryRoot = fileURLToPath(new URL('../..', import.meta.url))
const pageFolder = join(repositoryRoot, 'examples/shop')
const cacheFolder = join(repositoryRoot, 'node_modules/.cache/widget-page')
const sources = ['index.html', 'page.mjs', 'vite.config.mjs', 'package.json']
const lockFile = join(repositoryRoot, 'pnpm-lock.yaml')

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

/** The folder of the built page. Half a minute where it was not built before. */
async function builtPage(): Promise<string> {
  const hash = createHash('sha256')
  for (const path of [...sources.map((name) => join(pageFolder, name)), lockFile])
    hash.update(await readFile(path))
  const folder = join(cacheFolder, hash.digest('hex').slice(0, 16))
  if (await exists(folder)) return folder
  const unfinished = `${folder}.${process.pid}`
  await mkdir(cacheFolder, { recursive: true })
  const vite = join(pageFolder, 'node_modules/vite/bin/vite.js')
  await promisify(execFile)(
    process.execPath,
    [vite, 'build', '--outDir', unfinished, '--logLevel', 'error'],
    {
      cwd: pageFolder,
      maxBuffer: 2 ** 26,
    },
  )
  try {
    await rename(unfinished, folder)
  } catch (error) {
    // Another process was faster.
    await rm(unfinished, { recursive: true, force: true })
    if (!(await exists(folder))) throw error
  }
  return folder
}

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
  /** Where a small picture is, by any name. */
  pictureUrl(name: string): string
  readonly browser: Browser
  stop(): Promise<void>
}

/** @throws Error where the machine has no Chromium */
export async function startWidgetPage(): Promise<WidgetPage> {
  const [folder, executablePath] = await Promise.all([builtPage(), findChromium()])
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
