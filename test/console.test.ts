// Goal: the console shows an operator and a sponsor what is theirs, to keyboard and screen reader alike, and nobody
// else anything: no foreign text becomes code, no secret leaves the page, no other host is asked. Method: the service
// as a process over real nodes, its pages in Chromium, hostile labels, and every request and answer looked through.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Hex } from '@causeway/core'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { type Browser, chromium, type Page } from 'playwright-core'
import { createWalletClient, erc20Abi, hexToString, http, isHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { statusSchema } from '../apps/quote-api/src/operate/admin/status.ts'
import { serviceEnvironment } from '../apps/quote-api/test/fixtures/service.ts'
import {
  type ServiceProcess,
  type ServiceUrls,
  spawnService,
} from '../apps/quote-api/test/serviceSupport/serviceProcess.ts'
import { holdFor, moneyOf, topUp } from '../apps/quote-api/test/sponsorSupport/sponsors.ts'
import { accessProblems, focused, focusProblems } from './support/accessTree.ts'
import { findChromium } from './support/widgetPage.ts'

const pictures = fileURLToPath(new URL('../node_modules/.cache/console-pictures/', import.meta.url))
const adminSecret = 'an-admin-secret-of-this-test'
const explorer = 'https://explorer.example'
const pageBytesMax = 100_000
/** Told, never asserted: a machine that others use takes any time. */
const interactiveMsGoal = 1_000

/** Hostile labels of a key that the routes accept. */
const hostileLabels = [
  '<img src=x onerror="window.pwned=1">',
  '"><script>window.pwned=1</script>',
  "javascript:window.pwned=1//'",
]
/** Hostile text that is in the database all the same: from an older release, or from direct writes to it. */
const turnedLabel = 'shop\u202Egnp.exe'
const longReason = `<img src=x onerror="window.pwned=1">${'A'.repeat(10_000)}`

let network: TestNetwork
let database: TestDatabase
let directory: string
let service: ServiceProcess
let urls: ServiceUrls
let browser: Browser
let sponsor: Awaited<ReturnType<typeof newSponsor>>

beforeAll(async () => {
  await mkdir(pictures, { recursive: true })
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  database = await startTestDatabase()
  directory = await mkdtemp(join(tmpdir(), 'causeway-console-'))
  const variables = {
    LOG_LEVEL: 'info',
    ADMIN_API_KEY: adminSecret,
    DATABASE_URL: database.connectionString,
    CUSTODY_ADDRESS: network.keys.custody.address,
  }
  const environment = await serviceEnvironment(network, directory, variables)
  await nameExplorer(environment['CONFIG_DIR'] ?? '')
  service = spawnService(environment)
  urls = await service.listening()
  browser = await chromium.launch({ executablePath: await findChromium(), args: ['--no-sandbox'] })
  sponsor = await newSponsor()
}, 240_000)
afterAll(async () => {
  await browser?.close()
  await service?.stop()
  await database?.stop()
  await network?.stop()
  if (directory !== undefined) await rm(directory, { recursive: true, force: true })
}, 60_000)

/** A local network has no explorer of its own. */
async function nameExplorer(configs: string): Promise<void> {
  const path = join(configs, 'quote.local.json')
  const named = z.looseObject({ chains: z.record(z.string(), z.looseObject({})) })
  const file = named.parse(JSON.parse(await readFile(path, 'utf8')))
  Object.assign(file.chains['base'] ?? {}, { explorerUrl: explorer })
  await writeFile(path, JSON.stringify(file))
}

async function admin(path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${urls.adminUrl}/admin/${path}`, {
    headers: { 'x-api-key': adminSecret, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  })
  expect(response.status, path).toBeLessThan(300)
  return response.json()
}

const issuedSchema = z.object({ id: z.string(), apiKey: z.string() })
const newKey = async (label: string) => issuedSchema.parse(await admin('keys', { label }))

type Opened = {
  readonly page: Page
  /** Addresses asked for, all answers, what the console said and threw. */
  readonly asked: readonly string[]
  readonly problems: readonly string[]
  texts(): Promise<readonly string[]>
  readonly bytes: () => Promise<number>
  readonly interactiveMs: number
  close(): Promise<void>
}

/** @param wallet what the browser has as its wallet */
async function open(url: string, scheme: 'light' | 'dark', wallet?: Wallet): Promise<Opened> {
  const context = await browser.newContext({ colorScheme: scheme, viewport: { width: 1_200, height: 900 } })
  const page = await context.newPage()
  const asked: string[] = []
  const problems: string[] = []
  const bodies: Promise<string>[] = []
  if (wallet !== undefined) {
    await page.exposeFunction('askWallet', wallet)
    await page.addInitScript('window.ethereum = { request: (call) => window.askWallet(call) }')
  }
  page.on('request', (request) => asked.push(request.url()))
  page.on('response', (response) => bodies.push(response.text().catch(() => '')))
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  const loadMs = async () => {
    await page.goto(url, { waitUntil: 'load' })
    // Modules run before the load event, so from then on forms answer.
    const end = await page.evaluate('performance.getEntriesByType("navigation")[0].loadEventEnd')
    return z.number().parse(end)
  }
  const first = await loadMs()
  const loaded = bodies.slice()
  // Nothing is cached, so each load is whole; the quickest one is least of what else the machine does.
  const interactiveMs = Math.min(first, await loadMs(), await loadMs())
  return {
    page,
    asked,
    problems,
    interactiveMs,
    texts: () => Promise.all(bodies),
    bytes: async () => (await Promise.all(loaded)).reduce((sum, text) => sum + Buffer.byteLength(text), 0),
    close: () => context.close(),
  }
}

/** Presses Tab until the element with this accessible name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 120; presses += 1) {
    await page.keyboard.press('Tab')
    const label = z
      .string()
      .parse(
        await page.evaluate(
          '(() => { const e = document.activeElement; return (e.labels?.[0] ?? e).textContent.trim() })()',
        ),
      )
    if (label === name) return
  }
  throw new Error(`no Tab leads to ${name}`)
}

const status = (page: Page) => page.getByRole('status').textContent()

/** No colour of text on its ground is below the contrast of WCAG 2.2 AA. */
const lowestContrast = `(() => {
  const rgb = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number)
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0)
  const ground = (e) => {
    for (let at = e; at !== null; at = at.parentElement) {
      const found = rgb(getComputedStyle(at).backgroundColor)
      if (found.length === 3) return found
    }
    return [255, 255, 255]
  }
  const ratios = [...document.body.querySelectorAll('*')]
    .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim() !== ''))
    .map((e) => [light(rgb(getComputedStyle(e).color)), light(ground(e))].sort((a, b) => b - a))
    .map(([high, low]) => (high + 0.05) / (low + 0.05))
  return Math.min(...ratios)
})()`

/** None, then one fault each, beside what is otherwise told. */
const plantedFaults: readonly (readonly [string, string])[] = [
  ['', ''],
  ['<button></button>', 'a button has no name'],
  ['<svg role="img" width="9" height="9"></svg>', 'has no name'],
  ['<input aria-invalid="true" aria-label="Amount">', 'Amount is wrong, and nothing says why'],
  ['<button>Show</button><button>Show</button>', 'two of: button Show'],
  ['<h3>Deep</h3>', 'a heading of 3 after one of 1'],
  [
    '<table><tr><th scope="col">A</th><th scope="col">B</th></tr><tr><th scope="row">1</th><td>2</td></tr></table>',
    'has no caption',
  ],
  [
    '<table><caption>T</caption><tr><th scope="col">A</th><th scope="col">B</th></tr><tr><td>1</td><td>2</td></tr></table>',
    'rows of T have no headings',
  ],
  [
    '<style>a { outline: none !important }</style><a href="#a">one</a> <a href="#b">two</a> <a href="#c">three</a>',
    'the focus on A one is not seen',
  ],
]

describe('the look through the accessible tree', () => {
  const page = (inner: string) =>
    `<!doctype html><html lang="en"><title>t</title><h1>t</h1><p role="status"></p>
     <main>${inner}<a href="#x">x</a> <a href="#y">y</a> <a href="#z">z</a></main></html>`

  test.each(plantedFaults)('finds a fault that is planted: %s', async (inner, expected) => {
    const shown = await browser.newPage()
    await shown.setContent(
      page(inner).replace('</title>', '</title><style>:focus-visible { outline: 3px solid }</style>'),
    )
    const problems = [...(await accessProblems(shown)), ...(await focusProblems(shown))]
    if (expected === '') expect(problems).toEqual([])
    else expect(problems.join('; ')).toContain(expected)
    await shown.close()
  })
})

describe('files of the pages', () => {
  test('are open without the secret, under a policy that lets nothing else in', async () => {
    const answer = await fetch(`${urls.adminUrl}/console/`)
    expect(answer.status).toBe(200)
    const policy = answer.headers.get('content-security-policy') ?? ''
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ])
      expect(policy).toContain(rule)
    expect(policy).not.toContain('unsafe')
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(await answer.text()).not.toMatch(/<script(?![^>]*src=)|style=|\son\w+=/)
  })

  test('O-207: open nothing else: data needs the secret, and no path leads to a disk', async () => {
    for (const path of ['/admin/keys', '/admin/health', '/admin/overview', '/admin/audit'])
      expect((await fetch(`${urls.adminUrl}${path}`)).status, path).toBe(401)
    for (const path of [
      '/console/..%2fpackage.json',
      '/console/operator/..%2f..%2fpackage.json',
      '/console/x',
    ])
      expect([401, 404], path).toContain((await fetch(`${urls.adminUrl}${path}`)).status)
    expect((await fetch(`${urls.publicUrl}/console/`)).status).toBe(404)
  })
})

/** Nothing is wider than a phone or a desk's screen; a picture of each is kept to be looked at. */
async function fitsScreens(page: Page, name: string): Promise<void> {
  const before = page.viewportSize()
  for (const width of [390, 1_280]) {
    await page.setViewportSize({ width, height: 844 })
    await page.screenshot({ path: `${pictures}${name}-${width}.png`, fullPage: true })
    expect([name, width, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([
      ...[name, width, width],
    ])
  }
  if (before !== null) await page.setViewportSize(before)
}

const overviewSchema = z.object({
  ledger: z.array(z.object({ account: z.string(), amount: z.string() })),
})

/** whether money moves, what is stuck, what was earned: as metrics and readiness tell it. */
async function tellsWhetherMoneyMoves(page: Page): Promise<void> {
  const textOfSection = async (id: string) => (await page.locator(`#${id}`).textContent()) ?? ''
  const moving = await textOfSection('moving')
  expect(moving).toContain('Readyyes')
  const { problems } = statusSchema.parse(await admin('status'))
  const webhook = problems.find(({ parts }) => parts.includes('webhooks'))
  expect([webhook?.what, moving]).toEqual([expect.any(String), expect.stringContaining(webhook?.what ?? '')])
  expect(moving).toContain('Filled, not attested$0.990000')
  expect(moving).toMatch(/filled, not attested yet1\$0\.990000/)
  const stuck = await textOfSection('stuck')
  // against the caps that solvers tell.
  expect(stuck).toMatch(/all\$1\.250000\$2\.00000063 %Base \(local\)\$0\.990000\$1\.00000099 %/)
  expect(stuck).toContain(`shop.example11${hostileLabels[0]}`)
  expect(stuck).not.toContain(receiverToken)
  expect(await textOfSection('earned')).toMatch(/20\d\d-\d\d-\d\d1\$1\.000000\$0\.001000\$0\.002000/)
  const holdings = await textOfSection('holdings')
  expect(holdings).toMatch(/Base \(local\)ETH[0-9.]+\$[0-9.]+gas/)
  expect(holdings).toMatch(/OP Mainnet \(local\)|Optimism \(local\)/)
  expect(holdings).toMatch(/1\$[0-9.]+\$1\.500000moves/)
  // One source: what the page says of the books is what is scraped.
  const { ledger } = overviewSchema.parse(await admin('overview'))
  const metrics = await (await fetch(`${urls.opsUrl}/metrics`)).text()
  const scraped = /^ledger_balance\{[^}]*account="sponsor"[^}]*\} (\d+)$/m.exec(metrics)?.[1]
  const shown = ledger.find(({ account }) => account === 'sponsor')?.amount ?? ''
  expect(Math.round(Number(shown) * 1_000_000)).toBe(Number(scraped))
}

/** by request or transaction, in whichever case; a refused look-up leaves nothing of the one before. */
async function looksUp(page: Page): Promise<void> {
  const form = page.getByRole('form', { name: 'One request' })
  const shown = page.locator('#request')
  for (const named of [failedRequest, depositHash, depositHash.toUpperCase().replace('0X', '0x')]) {
    await form.getByLabel('Request, order or transaction').fill(named)
    await form.getByRole('button').click()
    await expect.poll(() => status(page)).toBe('Request loaded.')
    expect(await shown.textContent()).toContain('Base (local)')
    expect(await shown.textContent()).toContain(
      named === failedRequest ? 'Found asrequest' : 'Found astransaction',
    )
    await form.getByLabel('Request, order or transaction').fill(`0x${'ee'.repeat(32)}`)
    await form.getByRole('button').click()
    await expect.poll(() => status(page)).toContain('REQUEST_NOT_FOUND')
    expect(await shown.textContent()).toBe('')
  }
  await form.getByLabel('Request, order or transaction').fill(failedRequest)
  await form.getByRole('button').click()
  await expect.poll(() => status(page)).toBe('Request loaded.')
  // Amounts are told in their currencies, and a transaction leads to its explorer, which learns nothing of this page.
  expect(await shown.textContent()).toContain('USDC')
  const link = shown.getByRole('link', { name: /explorer/ }).first()
  expect([await link.getAttribute('href'), await link.getAttribute('rel')]).toEqual([
    ...[`${explorer}/tx/${depositHash}`, 'noopener noreferrer'],
  ])
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await shown
    .getByRole('button', { name: /^Copy request/ })
    .first()
    .click()
  await expect.poll(() => status(page)).toMatch(/^Copied request 0x/)
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(failedRequest)
  expect(await accessProblems(page)).toEqual([])
}

/** a key is shown once, to whoever makes it, however often he presses. @returns its id and text */
async function makesKey(opened: Opened, label: string): Promise<{ id: string; apiKey: string }> {
  const { page } = opened
  const form = page.getByRole('form', { name: 'New key' })
  await form.getByLabel('Label of the new key').fill(label)
  await page.evaluate(
    "(() => { const form = document.getElementById('create-form'); form.requestSubmit(); form.requestSubmit() })()",
  )
  await expect.poll(() => status(page)).toMatch(/^Key [a-z2-7]{10} is made/)
  const [made, second] = await database.database.query<{ id: string }>(
    'select id from api_key where label = $1',
    [label],
  )
  expect(second).toBeUndefined()
  const id = made?.id ?? ''
  const apiKey = (await page.locator('.secret code').textContent()) ?? ''
  expect(await accessProblems(page)).toEqual([])
  await page.getByRole('button', { name: 'Copy text of the key' }).click()
  await expect.poll(() => status(page)).toBe('Copied text of the key.')
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(apiKey)
  await fitsScreens(page, 'operator-new-key')
  await page.getByRole('button', { name: 'I have kept it' }).click()
  expect(await focused(page)).toBe('keys-title')
  expect(await page.content()).not.toContain(apiKey)
  // The listed key is no text: one answer had it, and none since.
  await expect.poll(() => page.locator('#keys').textContent()).toContain(id)
  expect((await opened.texts()).filter((text) => text.includes(apiKey))).toHaveLength(1)
  expect((await withKey(apiKey)).status).toBe(200)
  return { id, apiKey }
}

const withKey = (apiKey: string) =>
  fetch(`${urls.publicUrl}/requests/v3`, { headers: { 'x-api-key': apiKey } })

/** only what the owner of the wallet signed links it, for one try. */
async function linksWallet(page: Page, id: string): Promise<void> {
  const owner = privateKeyToAccount(generatePrivateKey())
  // This browser has no wallet.
  expect(await page.getByRole('button', { name: /this browser/ }).count()).toBe(0)
  const makesText = async () => {
    await page.getByLabel('Link key').selectOption(id)
    await page.getByLabel('To wallet').fill(owner.address)
    await page.getByRole('button', { name: 'Make the text to sign' }).click()
    await expect.poll(() => status(page)).toMatch(/^The owner of the wallet signs/)
    return (await page.getByLabel('Text to sign', { exact: true }).textContent()) ?? ''
  }
  const sends = async (signature: Hex) => {
    await page.getByLabel('Signature of the owner').fill(signature)
    await page.getByRole('button', { name: 'Link wallet' }).click()
  }
  const thief = privateKeyToAccount(generatePrivateKey())
  await sends(await thief.signMessage({ message: await makesText() }))
  await expect.poll(() => status(page)).toContain('INVALID_SIGNATURE')
  expect(await page.getByRole('button', { name: 'Link wallet' }).isVisible()).toBe(false)
  const message = await makesText()
  expect(message).toContain(id)
  // The fault of the text before is not said of this one.
  expect(await page.locator('#signed-form-problem').count()).toBe(0)
  await fitsScreens(page, 'operator-link')
  await sends(await owner.signMessage({ message }))
  await expect.poll(() => status(page)).toMatch(/pays for [a-z2-7]{10} from now on/)
  const rows = await database.database.query('select wallet from api_key where id = $1', [id])
  expect(rows).toEqual([{ wallet: owner.address.toLowerCase() }])
}

/** a key ends where its id was typed too. */
async function revokesKey(page: Page, { id, apiKey }: { id: string; apiKey: string }): Promise<void> {
  const form = page.getByRole('form', { name: 'End of a key' })
  await form.getByLabel('Revoke key').selectOption(id)
  await form.getByLabel('Its id once more').fill('aaaaaaaaaa')
  await form.getByRole('button').click()
  await expect.poll(() => status(page)).toMatch(/^It ends for good/)
  expect([await focused(page), (await withKey(apiKey)).status]).toEqual(['again', 200])
  await form.getByLabel('Its id once more').fill(id)
  await form.getByRole('button').click()
  await expect.poll(() => status(page)).toContain('is revoked')
  await expect.poll(async () => (await withKey(apiKey)).status, { timeout: 30_000 }).toBe(401)
  await expect.poll(() => page.locator('#revoke-key').textContent()).not.toContain(id)
}

test('Q-127, Q-128: without the admin secret no key of the operator is made, linked or ended', async () => {
  const { id } = await newKey('of somebody')
  const count = async () => (await database.database.query('select id from api_key')).length
  const before = await count()
  const wallet = `0x${'1'.repeat(40)}`
  const tries: readonly (readonly [string, object])[] = [
    ['keys', { label: 'x' }],
    [`keys/${id}/link-text`, { wallet }],
    [`keys/${id}/link-wallet`, { wallet, nonce: 'a', signature: '0x00' }],
    [`keys/${id}/revoke`, {}],
  ]
  for (const [path, body] of tries)
    for (const secret of [{}, { 'x-api-key': 'a guess' }]) {
      const answer = await fetch(`${urls.adminUrl}/admin/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...secret },
        body: JSON.stringify(body),
      })
      expect(answer.status, path).toBe(401)
    }
  expect(await count()).toBe(before)
  const rows = await database.database.query('select revoked_at, wallet from api_key where id = $1', [id])
  expect(rows).toEqual([{ revoked_at: null, wallet: null }])
})

test('Q-134: the wallet of the browser is linked by one press, and by no signature of another', async () => {
  const { id } = await newKey('of a browser')
  const owner = privateKeyToAccount(generatePrivateKey())
  let signer = privateKeyToAccount(generatePrivateKey())
  const wallet: Wallet = async (call) => {
    const { method, params } = callSchema.parse(call)
    if (method === 'eth_requestAccounts') return [owner.address]
    if (method !== 'personal_sign') throw new Error(`the wallet knows no ${method}`)
    return signer.signMessage({ message: hexToString(z.custom<Hex>(isHex).parse(params[0])) })
  }
  const rows = (sql: string) => database.database.query(sql, [id])
  const linked = () => rows('select wallet from api_key where id = $1')
  const { page, close } = await open(`${urls.adminUrl}/console/`, 'light', wallet)
  try {
    await page.getByLabel('Admin secret').fill(adminSecret)
    await page.getByLabel('Admin secret').press('Enter')
    await expect.poll(() => status(page)).toMatch(/^Loaded/)
    await page.getByLabel('Link key').selectOption(id)
    const press = () => page.getByRole('button', { name: 'Link this browser’s wallet' }).click()
    await press()
    await expect.poll(() => status(page)).toContain('INVALID_SIGNATURE')
    expect(await linked()).toEqual([{ wallet: null }])
    signer = owner
    await press()
    await expect.poll(() => status(page)).toMatch(/pays for [a-z2-7]{10} from now on/)
    expect(await linked()).toEqual([{ wallet: owner.address.toLowerCase() }])
    expect(
      await rows(
        "select actor, outcome from admin_action where subject = $1 and action = 'wallets.link' order by id",
      ),
    ).toEqual([
      { actor: 'admin', outcome: 'INVALID_SIGNATURE' },
      { actor: 'admin', outcome: 'done' },
    ])
    expect(await accessProblems(page)).toEqual([])
    await fitsScreens(page, 'operator-browser-wallet')
  } finally {
    await close()
  }
})

/** the page shows what came since by itself, and takes neither the focus nor what somebody types. */
async function refreshesItself(page: Page): Promise<void> {
  await page.getByLabel('Wallet', { exact: true }).fill('half an addr')
  const id = (await newKey('made meanwhile')).id
  await expect.poll(() => page.locator('#keys').textContent(), { timeout: 30_000 }).toContain(id)
  expect([await focused(page), await page.getByLabel('Wallet', { exact: true }).inputValue()]).toEqual([
    'wallet',
    'half an addr',
  ])
  await page.getByLabel('Wallet', { exact: true }).fill('')
  // Old figures do not pass for new once nothing new comes.
  await page.context().setOffline(true)
  await expect
    .poll(() => page.locator('#asof').textContent(), { timeout: 30_000 })
    .toMatch(/^Not refreshed: .* what was so at/)
  await page.context().setOffline(false)
  await expect.poll(() => page.locator('#asof').textContent(), { timeout: 30_000 }).toMatch(/^As of /)
}

describe('the operator', () => {
  test.each(['light', 'dark'] as const)(
    'Q-119, Q-124, Q-125, Q-126, Q-127, Q-128, Q-129, Q-136: sees, finds, makes keys, in %s',
    async (scheme) => {
      for (const label of hostileLabels) await newKey(label)
      const { id } = await newKey('turned')
      await database.database.query('update api_key set label = $2 where id = $1', [id, turnedLabel])
      const opened = await open(`${urls.adminUrl}/console/`, scheme)
      const { page, asked, problems, interactiveMs } = opened
      try {
        const bytes = await opened.bytes()
        console.log(
          `operator page, ${scheme}: ${bytes} bytes, interactive after ${Math.round(interactiveMs)} ms, goal ${interactiveMsGoal}`,
        )
        expect(bytes).toBeLessThan(pageBytesMax)

        expect(await accessProblems(page)).toEqual([])
        await tabTo(page, 'Admin secret')
        await page.keyboard.type('not the secret at all')
        await page.keyboard.press('Enter')
        await expect.poll(() => status(page)).toMatch(/not valid/)
        // The error is announced for the field, and the field has the focus.
        const secret = page.getByLabel('Admin secret')
        expect(await secret.getAttribute('aria-invalid')).toBe('true')
        expect(await secret.getAttribute('aria-describedby')).toBe('secret-note enter-problem')
        expect(await page.locator('#enter-problem').textContent()).toBe(await status(page))
        expect([await focused(page), await accessProblems(page)]).toEqual(['secret', []])
        await page.keyboard.press('ControlOrMeta+A')
        await page.keyboard.type(adminSecret)
        await page.keyboard.press('Enter')
        await expect.poll(() => status(page)).toMatch(/^Loaded/)

        const keys = page.getByRole('table', { name: 'API keys' })
        await expect.poll(() => keys.textContent()).toContain(hostileLabels[0])
        // The override is shown, and turns nothing around.
        expect(await keys.textContent()).toContain('shop⟨U+202E⟩gnp.exe')
        expect(await page.locator('main img, main script').count()).toBe(0)
        expect(await page.evaluate('window.pwned')).toBeUndefined()
        expect(await page.getByRole('table', { name: 'Chains', exact: true }).textContent()).toContain('base')
        expect(await page.evaluate(lowestContrast)).toBeGreaterThanOrEqual(4.5)
        expect(await secret.getAttribute('aria-invalid')).toBeNull()
        expect(await accessProblems(page)).toEqual([])
        expect(await focusProblems(page)).toEqual([])
        await fitsScreens(page, `operator-${scheme}`)
        await tellsWhetherMoneyMoves(page)
        await looksUp(page)
        if (scheme === 'light') await refreshesItself(page)
        const made = await makesKey(opened, `made in ${scheme} <script>window.pwned=1</script>`)
        await linksWallet(page, made.id)
        await revokesKey(page, made)
        expect(await page.getByRole('table', { name: 'Chains', exact: true }).textContent()).toMatch(
          /[0-9]\.[0-9] s/,
        )
        // A section that is chosen has the focus, so that reading goes on there.
        await page.getByRole('link', { name: 'Audit' }).press('Enter')
        await expect.poll(() => focused(page)).toBe('audit-title')
        await page.screenshot({ path: `${pictures}operator-${scheme}.png`, fullPage: true })

        const origin = new URL(urls.adminUrl).origin
        expect(asked.filter((url) => !url.startsWith(origin) && url !== 'data:,')).toEqual([])
        expect(asked.filter((url) => url.includes(adminSecret))).toEqual([])
        // The browser complains of refusals and of the network that was gone, and of nothing else.
        expect(problems.filter((problem) => !/ 40[014] |ERR_INTERNET_DISCONNECTED/.test(problem))).toEqual([])
        for (const text of await opened.texts()) expect(text).not.toContain(adminSecret)
        expect(
          await page.evaluate('JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])'),
        ).toBe('[{},{},""]')
      } finally {
        await opened.close()
      }
      expect(service.output()).not.toContain(adminSecret)
    },
  )
})

type Wallet = (call: unknown) => Promise<unknown>
const callSchema = z.object({ method: z.string(), params: z.array(z.unknown()).default([]) })
const sentSchema = z.object({ to: z.custom<Hex>(isHex), data: z.custom<Hex>(isHex) })

/** Stored facts of a request's quote, as far as its timeline needs them. */
function quotedOf({ deployment }: TestNetwork) {
  const dollar = { decimals: 6, usdX18: '1000000000000000000' }
  const fees = { relayerService: '1000', relayerGas: '2000' }
  return {
    originCurrency: deployment.base.tokens.USDC,
    destinationCurrency: deployment.base.tokens.USDC,
    ...fees,
    amountIn: '1000000',
    amountOut: '990000',
    units: { in: dollar, out: dollar, fee: dollar },
  }
}

const failedRequest: Hex = `0x${'11'.repeat(32)}`
const depositHash: Hex = `0x${'ab'.repeat(32)}`

/** The path of a receiver may hold a secret of his. */
const receiverToken = 'token-of-the-receiver'

/** One request that was settled, and one that is filled and that nobody attested yet; no job looks at them. */
async function settledAndFilled(wallet: Hex, apiKeyId: string): Promise<void> {
  for (const [digits, stage] of [
    ['33', 'settled'],
    ['44', 'filled'],
  ]) {
    const id = Buffer.from(digits?.repeat(32) ?? '', 'hex')
    await database.database.query(
      `with ordered as (insert into orders (request_id, user_address, recipient, origin_chain_id, destination_chain_id,
           api_key_id, quoted, steps_digest, expires_at, deadline, keep_until, status)
         values ($1, $2, $2, 8453, 10, $3, $4, $1, now(), now(), now() + interval '1 day', 'success') returning request_id),
       seen as (insert into deposit_seen (chain_id, tx_hash, onchain_index, block_number, block_hash, block_time, order_id,
           request_id, depositor, currency, amount, state, is_final)
         select 8453, encode($1, 'hex'), '0', 1, '0xb', now(), $1, request_id, $2, '0xc', 1, 'taken', true from ordered
         returning id, request_id)
       insert into settlement (request_id, deposit_id, stage, is_bound, next_at)
       select request_id, id, $5, true, now() + interval '1 day' from seen`,
      [id, wallet, apiKeyId, JSON.stringify(quotedOf(network)), stage],
    )
  }
}

/** A webhook that one message waits for and that another one was given up for. */
async function failingWebhook(apiKeyId: string): Promise<void> {
  await database.database.query(
    "insert into webhook_endpoint (api_key_id, url, sealed, pepper_id) values ($1, $2, '', 'v1')",
    [apiKeyId, `https://shop.example/hook?key=${receiverToken}`],
  )
  await database.database.query(
    `insert into webhook_delivery (event_id, api_key_id, request_id, body, state, problem, next_at, finished_at)
     select gen_random_uuid(), $1, decode(repeat('11', 32), 'hex'), '{}', state, $2, now() + interval '1 day', ended
     from (values ('waiting', null::timestamptz), ('failed', now())) each (state, ended)`,
    [apiKeyId, hostileLabels[0]],
  )
}

/** The first user of the network, who pays for a key: money, a spent hold, an open one, and a request that failed. */
async function newSponsor() {
  const [user] = network.keys.users
  if (user === undefined) throw new Error('the network has no user')
  const owner = privateKeyToAccount(user.privateKey)
  // CAST: an address in lower case stays hex.
  const wallet = owner.address.toLowerCase() as Hex
  const { id, apiKey } = await newKey(hostileLabels[0] ?? '')
  const sql = database.database
  await sql.query('update api_key set wallet = $2, wallet_linked_at = clock_timestamp() where id = $1', [
    id,
    wallet,
  ])
  await topUp(sql, wallet, 50_000_000n)
  await holdFor(sql, { keyId: id, wallet }, [
    { requestId: failedRequest, heldMicroUsd: 1_500_000n, debitMicroUsd: 1_250_000n },
    { requestId: `0x${'22'.repeat(32)}`, heldMicroUsd: 1_500_000n },
  ])
  await sql.query(
    `insert into orders (request_id, user_address, recipient, origin_chain_id, destination_chain_id, api_key_id, quoted,
       steps_digest, expires_at, deadline, keep_until, status, fail_reason)
     values (decode(repeat('11', 32), 'hex'), $1, $1, 8453, 10, $2, $4, decode(repeat('11', 32), 'hex'),
       now(), now(), now() + interval '1 day', 'failure', $3)`,
    [wallet, id, longReason, JSON.stringify(quotedOf(network))],
  )
  await sql.query(
    `insert into request_sponsorship (request_id, sponsor, debit_micro_usd, quoted)
     values (decode(repeat('11', 32), 'hex'), $1, 1250000, '{}')`,
    [wallet],
  )
  await sql.query(
    `insert into request_transaction (request_id, role, chain_id, tx_hash, block_number)
     values (decode(repeat('11', 32), 'hex'), 'deposit', 8453, $1, 5)`,
    [depositHash],
  )
  await settledAndFilled(wallet, id)
  await sql.query(
    `insert into solver_exposure (chain_id, paid_micro_usd, max_micro_usd, told_at)
     values (0, 1250000, 2000000, now() + interval '1 hour'), (8453, 990000, 1000000, now() + interval '1 hour')`,
  )
  await failingWebhook(id)
  const { url } = network.chains.base
  const client = createWalletClient({ account: owner, transport: http(url) })
  const asked: string[] = []
  const answer: Wallet = async (call) => {
    const { method, params } = callSchema.parse(call)
    asked.push(method)
    switch (method) {
      case 'eth_requestAccounts':
        return [owner.address]
      case 'personal_sign':
        return owner.signMessage({ message: hexToString(z.custom<Hex>(isHex).parse(params[0])) })
      case 'wallet_switchEthereumChain':
        return null
      case 'eth_sendTransaction':
        return client.sendTransaction({ ...sentSchema.parse(params[0]), chain: null })
      default:
        throw new Error(`the wallet knows no ${method}`)
    }
  }
  return { id, apiKey, wallet, answer, asked }
}

describe('the sponsor', () => {
  test.each(['light', 'dark'] as const)(
    'Q-119, Q-122, Q-123: signs in, reads and tops up by keyboard alone, in %s',
    async (scheme) => {
      const { id, apiKey, wallet, answer } = sponsor
      const opened = await open(`${urls.publicUrl}/sponsor/`, scheme, answer)
      const { page, asked, problems, interactiveMs } = opened
      try {
        const bytes = await opened.bytes()
        console.log(
          `sponsor page, ${scheme}: ${bytes} bytes, interactive after ${Math.round(interactiveMs)} ms, goal ${interactiveMsGoal}`,
        )
        expect(bytes).toBeLessThan(pageBytesMax)
        expect(await accessProblems(page)).toEqual([])
        // Nothing leads to sections that are not there yet.
        expect(await page.getByRole('link').count()).toBe(0)
        await tabTo(page, 'Sign in with wallet')
        await page.keyboard.press('Enter')
        await expect.poll(() => status(page)).toMatch(/^Signed in/)

        expect(await page.locator('#balance').textContent()).toContain(
          scheme === 'light' ? '$47.250000' : '$49.750000',
        )
        const holds = page.getByRole('table', { name: 'Open holds' })
        expect(await holds.textContent()).toContain('$1.500000')
        const chart = page.getByRole('img', { name: /^Spending per day from .* together \$1\.250000$/ })
        expect(await chart.locator('rect[height="1"], rect:not([height="0.0"])').count()).toBe(1)
        expect(await page.getByRole('table', { name: 'Spending per day' }).textContent()).toContain(
          '$1.250000',
        )
        expect(await page.getByRole('table', { name: /^Keys/ }).textContent()).toContain(hostileLabels[0])
        const requests = page.getByRole('table', { name: /newest requests$/ })
        const listed = (await requests.textContent()) ?? ''
        expect(listed).toContain('failure: <img src=x')
        expect(listed.length).toBeLessThan(1_000)

        const webhooks = page.getByRole('table', { name: 'Webhooks' })
        expect(await webhooks.textContent()).toContain(`${id}shop.example11${hostileLabels[0]}`)

        await fitsScreens(page, `sponsor-${scheme}`)
        await tabTo(page, 'Show policy')
        await page.keyboard.press('Enter')
        await expect
          .poll(() => page.locator('#policy').textContent())
          .toContain('No rule restricts this key.')
        await tabTo(page, 'User')
        await page.keyboard.type(wallet)
        await page.keyboard.press('Enter')
        await expect.poll(() => page.locator('#explanation').textContent()).toContain('Outcome')

        const usdc = {
          address: network.deployment.base.tokens.USDC,
          abi: erc20Abi,
          functionName: 'balanceOf',
          args: [network.keys.custody.address],
        } as const
        const { client } = network.chains.base.chain
        const before = await client.readContract(usdc)
        expect(await accessProblems(page)).toEqual([])
        expect(await focusProblems(page)).toEqual([])
        await tabTo(page, 'Amount in dollars')
        await page.keyboard.type('much')
        await page.keyboard.press('Enter')
        await expect.poll(() => status(page)).toMatch(/^An amount is digits/)
        expect(await page.getByLabel('Amount in dollars').getAttribute('aria-describedby')).toBe(
          'topup-form-problem',
        )
        expect([await focused(page), await accessProblems(page)]).toEqual(['amount', []])
        await page.keyboard.press('ControlOrMeta+A')
        await page.keyboard.type('2.5')
        await page.keyboard.press('Enter')
        const calldata = page.getByLabel('Calldata')
        await expect
          .poll(() => calldata.textContent())
          .toContain(`012345abcdef${wallet.slice(2)}012345abcdef`)
        // The fault before is not said any more.
        expect(await status(page)).toMatch(/^Nothing is sent yet/)
        await fitsScreens(page, `sponsor-top-up-${scheme}`)
        await tabTo(page, 'Send with wallet')
        await page.keyboard.press('Enter')
        await expect.poll(() => status(page)).toMatch(/^Sent: 0x/)
        // The button is gone, and the focus stays where it was.
        expect([await focused(page), await accessProblems(page)]).toEqual(['topup-title', []])
        await expect.poll(async () => (await client.readContract(usdc)) - before).toBe(2_500_000n)

        await tabTo(page, 'Show timeline')
        await page.keyboard.press('Enter')
        // The status text gives the reason when nothing is shown.
        const shown = async () =>
          [await status(page), await page.locator('#request').textContent()].join(' | ')
        await expect.poll(shown).toMatch(/ \| .{6,}/)
        expect(await page.evaluate(lowestContrast)).toBeGreaterThanOrEqual(4.5)
        expect(await page.evaluate('window.pwned')).toBeUndefined()
        expect(await page.locator('main img, main script').count()).toBe(0)

        const origin = new URL(urls.publicUrl).origin
        expect(asked.filter((url) => !url.startsWith(origin) && url !== 'data:,')).toEqual([])
        // A missing timeline is a 404, which the browser reports.
        expect(problems.filter((problem) => !problem.includes('404'))).toEqual([])
        const texts = (await opened.texts()).join('\n')
        expect(texts).toContain(id)
        expect(texts).not.toContain(apiKey)
        const { token } = z
          .object({ token: z.string() })
          .parse(JSON.parse(/\{"token".*?\}/.exec(texts)?.[0] ?? '{}'))
        expect(asked.filter((url) => url.includes(token))).toEqual([])
        expect(await page.content()).not.toContain(token)
        expect(
          await page.evaluate('JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])'),
        ).toBe('[{},{},""]')
        expect(service.output()).not.toContain(token)

        await tabTo(page, 'Sign out')
        await page.keyboard.press('Enter')
        await expect.poll(() => status(page)).toBe('Signed out.')
        expect(await page.locator('main').isVisible()).toBe(false)
        expect([await focused(page), await accessProblems(page)]).toEqual(['sign-in', []])
        const over = await fetch(`${urls.publicUrl}/sponsor/api/overview`, {
          headers: { 'x-sponsor-session': token },
        })
        expect(over.status).toBe(401)
        // The top-up is credited before the next sign-in.
        const paid = scheme === 'light' ? 49_750_000n : 52_250_000n
        const available = async () => (await moneyOf(database.database, wallet)).available
        await expect.poll(available, { timeout: 60_000 }).toBe(paid)
        await page.getByRole('button', { name: 'Sign in with wallet' }).click()
        await expect.poll(() => status(page)).toMatch(/^Signed in/)
        expect(await page.getByRole('table', { name: 'The newest top-ups' }).textContent()).toMatch(
          /0x[0-9a-f]{8}….{6}\$2\.500000creditedBase \(local\), block [0-9]+/,
        )
        const downloading = page.waitForEvent('download')
        await page.getByRole('button', { name: 'Download CSV' }).click()
        const file = await downloading
        expect(file.suggestedFilename()).toMatch(/^20.*\.csv$/)
        expect(await readFile(await file.path(), 'utf8')).toMatch(/^row,day,user.*[\s\S]*\nclosing,/)
        expect((await opened.texts()).join('\n')).not.toContain(receiverToken)
      } finally {
        await opened.close()
      }
    },
  )
})
