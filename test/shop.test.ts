// Goal: the application to copy runs by one command beside the local network, and shows a price that a sponsor pays the
// fees of. Attack: who reads everything that the browser gets finds no key, and a link cannot make the page ask another
// service. Method: the command as a process, its page in Chromium.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { waitUntil } from '@causeway/localnet'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { type SessionBed, startSessionBed } from './support/sessionBed.ts'
import { startBrowser } from './support/widgetPage.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const pictures = join(root, 'node_modules/.cache/widget-pictures/')
let bed: SessionBed
let browser: Browser
beforeAll(async () => {
  await mkdir(pictures, { recursive: true })
  bed = await startSessionBed()
  browser = await startBrowser()
}, 480_000)
afterAll(async () => {
  await browser?.close()
  await bed?.stop()
}, 60_000)

async function runShop(directory: string) {
  const child = spawn(process.execPath, [join(root, 'scripts/shop.ts')], {
    cwd: root,
    env: { PATH: process.env['PATH'], CAUSEWAY_LOCAL_DIR: directory, SHOP_PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  const ended = once(child, 'exit')
  return {
    output: () => output,
    ended,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

test('Q-131: without a local network it says how to start one', async () => {
  const shop = await runShop(join(root, 'node_modules/.cache/no-network'))
  expect((await shop.ended)[0]).toBe(1)
  expect(shop.output()).toContain('npm start')
})

test('Q-131: one command opens a page that shows a sponsored price, and keeps the key', {
  timeout: 480_000,
}, async () => {
  const shop = await runShop(bed.directory)
  try {
    await waitUntil('the shop is open', () => /^The shop is open: \S+$/m.test(shop.output()), {
      patienceMs: 300_000,
    })
    const [, url = ''] = /^The shop is open: (\S+)$/m.exec(shop.output()) ?? []
    const file = await readFile(join(bed.directory, 'network.json'), 'utf8')
    const key = z.object({ sponsor: z.object({ apiKey: z.string() }) }).parse(JSON.parse(file)).sponsor.apiKey

    const context = await browser.newContext({ viewport: { width: 390, height: 844 } })
    const page = await context.newPage()
    const answers: { url: string; text: Promise<string> }[] = []
    page.on('response', (response) =>
      answers.push({ url: response.url(), text: response.text().catch(() => '') }),
    )
    const asked: string[] = []
    await context.route(
      (to) => to.hostname !== '127.0.0.1',
      (route) => {
        asked.push(route.request().url())
        return route.abort()
      },
    )
    // A link of somebody else.
    await page.goto(`${url}/?setting=${encodeURIComponent('{"api":"https://thief.example"}')}`)
    const shown = async () => (await page.locator('#root').textContent()) ?? ''
    await expect
      .poll(async () => (await shown()).match(/\$\d[\d,]*\.\d\d/g)?.length ?? 0, { timeout: 120_000 })
      .toBeGreaterThanOrEqual(2)
    await page.screenshot({ path: `${pictures}shop-390.png` })
    const texts = await Promise.all(answers.map(async ({ url: from, text }) => ({ from, text: await text })))
    const prices = texts.filter(({ from }) => /\/(price|quote|quote\/v2)$/.test(new URL(from).pathname))
    expect(prices.some(({ text }) => /"subsidized"/.test(text))).toBe(true)
    expect(texts.filter(({ text }) => text.includes(key))).toEqual([])
    expect(asked.filter((one) => one.includes('thief'))).toEqual([])
    // No path leads out of the folder of the page.
    for (const path of [
      '/..%2fpackage.json',
      '/%2e%2e/%2e%2e/package.json',
      '/settings.json/..%2f..%2fpackage.json',
    ])
      expect((await fetch(`${url}${path}`)).status, path).toBe(404)
    await context.close()
  } finally {
    await shop.stop()
  }
})
