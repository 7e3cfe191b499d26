// Goal: somebody with a phone reads the reference page and tries an operation. Adversaries: a part that is wider than
// the screen, a page that a phone draws as wide as a desk's, one that asks other hosts, an error on the console, an
// example that the page cannot send, a reference that is put in its place otherwise than Swagger UI would. Method: the
// page of the public listener in Chromium without a screen, as a phone of 360 px.
import type { HttpApp } from '@causeway/http'
import { describedOperations } from '@causeway/localnet'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { testApp } from '../apps/quote-api/test/fixtures/app.ts'
import { marketWithPools } from '../apps/quote-api/test/fixtures/market.ts'
import { startBrowser } from './support/widgetPage.ts'

const screen = { width: 360, height: 740 }
const desk = { width: 1_280, height: 900 }
let browser: Awaited<ReturnType<typeof startBrowser>>
let app: HttpApp
let url: string

beforeAll(async () => {
  browser = await startBrowser()
  // As the local network has it: the page asks the service that it came from.
  const servers = [{ url: '/', description: 'This service' }]
  app = await testApp({ market: { current: marketWithPools() }, servers })
  url = await app.listen({ host: '127.0.0.1', port: 0 })
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await app?.close()
})

type Opened = { readonly page: Page; readonly asked: URL[]; readonly said: string[]; readonly tookMs: number }

/** The page with its list of operations. */
async function openList(origin: string, withoutOurScript = false, viewport = screen): Promise<Opened> {
  const isPhone = viewport === screen
  // A phone draws what names no viewport as wide as a desk's screen.
  const page = await browser.newPage({ viewport, isMobile: isPhone, hasTouch: isPhone })
  if (withoutOurScript)
    await page.route('**/static/theme/reference.js', (route) =>
      route.fulfill({ contentType: 'text/javascript', body: '' }),
    )
  const asked: URL[] = []
  const said: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url())))
  page.on('console', (message) => message.type() === 'error' && said.push(message.text()))
  page.on('pageerror', (error) => said.push(error.message))
  const begun = performance.now()
  await page.goto(`${origin}/documentation`)
  await page.locator('#operation-list li').last().waitFor({ timeout: 30_000 })
  return { page, asked, said, tookMs: performance.now() - begun }
}

/** Opens the page and expands and collapses its first operation once. */
async function open(origin: string, withoutOurScript = false): Promise<Opened> {
  const opened = await openList(origin, withoutOurScript)
  const { page } = opened
  await page.locator('#operation-list li a').first().click()
  const first = page.locator('.opblock').first()
  await first.locator('.opblock-body').waitFor({ timeout: 60_000 })
  await page.locator('#operation-list').waitFor({ state: 'detached' })
  await first.locator('.opblock-summary-control').click()
  return opened
}

const widthOf = (page: Page) => page.evaluate('document.documentElement.scrollWidth')

test('the list names every operation, fits a phone, needs no script and is read by its parts', async () => {
  const { page, asked, said, tookMs } = await openList(url)
  console.info(`reference page: ${asked.length} requests, listed in ${Math.round(tookMs)} ms`)
  expect(await widthOf(page)).toBe(screen.width)
  const operations = describedOperations((await app.inject({ url: '/documentation/json' })).body)
  const links = page.locator('#operation-list').getByRole('listitem').getByRole('link')
  expect(await links.count()).toBe(operations.length)
  expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1)
  expect(said).toEqual([])
  await page.close()
  const plain = await browser.newPage({ viewport: screen, javaScriptEnabled: false })
  await plain.goto(`${url}/documentation`)
  expect(await plain.locator('#operation-list li').count()).toBe(operations.length)
  await plain.close()
})

test('an operation opens by a tap, by the keyboard and by its address, each alone', async () => {
  const opens: Record<string, (page: Page) => Promise<unknown>> = {
    tap: (page) => page.locator('#operation-list a[href="#/quotes/price"]').tap(),
    keyboard: async (page) => {
      await page.locator('#operation-list a[href="#/quotes/price"]').focus()
      await page.keyboard.press('Enter')
    },
    address: (page) => page.goto(`${url}/documentation/#/quotes/price`),
  }
  for (const [way, act] of Object.entries(opens)) {
    const { page, said } = await openList(url)
    await act(page)
    await page.locator('.opblock[id$="-price"] .opblock-body').waitFor({ timeout: 60_000 })
    expect([way, await page.locator('.opblock-body').count()]).toEqual([way, 1])
    expect([way, await page.locator('#operation-list').count(), said]).toEqual([way, 0, []])
    await page.close()
  }
}, 120_000)

test('what does not come is told, and comes when it is asked for again', async () => {
  const { page } = await openList(url)
  const bundle = '**/static/swagger-ui-bundle.js*'
  await page.route(bundle, (route) => route.abort())
  await page.locator('#operation-list li a').first().click()
  await page.getByRole('status').filter({ hasText: 'could not be loaded' }).waitFor()
  await page.unroute(bundle)
  await page.locator('#operation-list li a').last().click()
  await page.locator('.opblock-body').waitFor({ timeout: 60_000 })
  await page.close()
}, 120_000)

test('the page fits a phone, opened or not, asks nobody else and complains of nothing', async () => {
  const { page, asked, said } = await open(url)
  expect(await widthOf(page)).toBe(screen.width)
  const count = describedOperations((await app.inject({ url: '/documentation/json' })).body).length
  expect(await page.locator('.opblock').count()).toBe(count)
  for (const title of await page.locator('.opblock-summary-description').all()) {
    // Widths differ by font: what a person reads is words in lines, not one word below the other.
    const lines = await title.evaluate((shown) => {
      const range = shown.ownerDocument.createRange()
      range.selectNodeContents(shown)
      return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size
    })
    const text = (await title.textContent()) ?? ''
    expect(lines, text).toBeGreaterThan(0)
    expect(lines, text).toBeLessThanOrEqual(Math.ceil(text.length / 12))
  }
  for (const id of ['quotes-quote', 'discovery-listChains', 'history-getStatement']) {
    const block = page.locator(`[id="operations-${id}"]`)
    await block.locator('.opblock-summary-control').click()
    await block.locator('.responses-wrapper').waitFor()
    expect([id, await widthOf(page)]).toEqual([id, screen.width])
  }
  const fees = page.locator('[id="operations-quotes-quote"] .opblock-description table')
  expect(await fees.getByRole('row').count()).toBeGreaterThan(5)
  expect(asked.filter(({ origin, protocol }) => protocol !== 'data:' && origin !== url)).toEqual([])
  expect(said).toEqual([])
  await page.close()
}, 120_000)

/** Text of an operation with opened schemas, without the ids that are generated at each opening. */
async function shownOf(page: Page, operationId: string): Promise<string> {
  const block = page.locator(`.opblock[id$="-${operationId}"]`)
  await block.locator('.opblock-summary-control').click()
  await block.locator('.responses-wrapper').waitFor({ timeout: 60_000 })
  for (const tab of await block.getByRole('tab', { name: 'Schema', exact: true }).all()) await tab.click()
  await block.locator('.json-schema-2020-12').first().waitFor({ timeout: 60_000 })
  // All at once, as they stand: each opens what is beneath it.
  await page.evaluate(`for (const button of document.querySelectorAll('.opblock[id$="-${operationId}"] button'))
    if (button.textContent.trim() === 'Expand all') button.click()`)
  let shown = ''
  const grew = async () => {
    const before = shown
    await page.waitForTimeout(1_000)
    shown = (await block.innerHTML()).replace(/ (id|for|aria-[a-z]+)="[^"]*"/g, '')
    return shown.length - before.length
  }
  await expect.poll(grew, { timeout: 120_000 }).toBe(0)
  return shown
}

test('an operation shows what Swagger UI shows of it when it resolves references itself', async () => {
  const ours = await open(url)
  const theirs = await open(url, true)
  // With a body, with a list of nested schemas, with nothing but an answer.
  for (const operationId of ['submitCalls', 'getTimeline', 'getLiveness']) {
    const shown = await shownOf(ours.page, operationId)
    expect(shown.length).toBeGreaterThan(5_000)
    expect([operationId, shown]).toEqual([operationId, await shownOf(theirs.page, operationId)])
  }
  await ours.page.close()
  await theirs.page.close()
}, 600_000)

test('every example is sent by the page as the description has it', async () => {
  const { page } = await open(url)
  const operations = describedOperations((await app.inject({ url: '/documentation/json' })).body)
  const answered: Record<string, number> = {}
  for (const { operationId, method, url: path } of operations) {
    const block = page.locator(`.opblock[id$="-${operationId}"]`)
    await block.locator('.opblock-summary-control').click()
    await block.getByRole('button', { name: 'Try it out', exact: true }).click()
    const wanted = new URL(path, url)
    const sent = page.waitForResponse(
      (response) =>
        response.request().method() === method && new URL(response.url()).pathname === wanted.pathname,
      { timeout: 60_000 },
    )
    await block.getByRole('button', { name: 'Execute', exact: true }).click()
    const response = await sent.catch((error: unknown) => {
      throw new Error(`the page sends nothing for ${operationId}`, { cause: error })
    })
    answered[operationId] = response.status()
    // The page adds defaults of its own.
    const { searchParams } = new URL(response.url())
    for (const [name, value] of wanted.searchParams)
      expect([operationId, name, searchParams.getAll(name)]).toEqual([operationId, name, [value]])
    expect([operationId, await widthOf(page)]).toEqual([operationId, screen.width])
    expect([operationId, response.status()]).not.toEqual([operationId, 500])
    await block.locator('.opblock-summary-control').click()
  }
  console.info(JSON.stringify(answered))
  expect(answered).toMatchObject({ quote: 200, price: 200, getTokenPrice: 200, findCurrencies: 200 })
  await page.close()
}, 900_000)

test('Q-118: no text shows its backticks, and no example a bound of integers', async () => {
  const { page } = await openList(url)
  const texts = async () => z.string().parse(await page.evaluate('document.body.innerText'))
  expect(await texts()).not.toContain('`')
  await page.locator('#operation-list li a').first().click()
  await page.locator('.opblock-body').first().waitFor({ timeout: 60_000 })
  for (const id of ['quotes-price', 'history-getStatement']) {
    const block = page.locator(`[id="operations-${id}"]`)
    if ((await block.locator('.opblock-body').count()) === 0)
      await block.locator('.opblock-summary-control').click()
    await block.locator('.responses-wrapper').waitFor()
    const shown = [await block.innerText()]
    for (const tab of await block.getByRole('tab', { name: 'Schema' }).all()) await tab.click()
    shown.push(await block.innerText())
    expect(shown[0]).toContain('statusCode')
    expect(
      shown
        .join('\n')
        .split('\n')
        .filter((line) => /`|9007199254740991/.test(line)),
    ).toEqual([])
  }
  await page.close()
}, 120_000)

test.each([
  ['a phone', screen],
  ['a desk', desk],
])(
  'Q-118: the search leaves what has all its words, in the list and when an operation is open, on %s',
  async (_, viewport) => {
    const { page, said } = await openList(url, false, viewport)
    const search = page.getByRole('searchbox', { name: 'Search' })
    const listed = page.locator('#operation-list li:visible')
    const count = await listed.count()
    await search.fill('statement sponsor')
    await expect.poll(() => listed.count()).toBe(1)
    expect(await listed.textContent()).toContain('/sponsorship/statements/')
    await search.fill('no such word')
    await expect.poll(() => listed.count()).toBe(0)
    await search.fill('')
    await expect.poll(() => listed.count()).toBe(count)
    await search.fill('/price')
    await listed.first().locator('a').click()
    await page.locator('.opblock-body').first().waitFor({ timeout: 60_000 })
    const blocks = page.locator('.opblock:visible')
    await expect.poll(async () => (await blocks.count()) > 0 && (await blocks.count()) < 8).toBe(true)
    await search.fill('')
    await expect.poll(() => blocks.count()).toBe(count)
    expect(await widthOf(page)).toBe(viewport.width)
    expect(said).toEqual([])
    await page.close()
  },
  120_000,
)
