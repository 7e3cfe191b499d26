// Goal: `npm start` shows every chain, each is quoted both ways and its orders are filled, each oracle reads it like any other,
// a chain that cannot be opened or falls silent takes no other away, and a second start goes on where the first ended.
// Adversaries: none but the faults. Method: the session of `npm start` with every service, users who know the network's URLs
// and their keys alone, then a second start in the same folder.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tronAddress } from '@causeway/core/encodings'
import {
  attachLocalNetwork,
  type FamilyFacts,
  type FamilyKey,
  familyKeys,
  familyPlans,
  parseOperatorCommand,
  runOperatorCommand,
  type Session,
  waitUntil,
} from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { post, quote } from '../apps/quote-api/test/serviceSupport/callService.ts'
import { type Family, families, type LocalWallet, localWallets } from './support/localWallets.ts'
import { firstFamilyPort, startSessionIn } from './support/sessionBed.ts'

let folder: string
let directory: string
let session: Session
let facts: Readonly<Record<FamilyKey, FamilyFacts>>
const lines: string[] = []

async function start(into = directory): Promise<Session> {
  return startSessionIn(into, {
    firstFamilyPort,
    environment: {
      PATH: process.env['PATH'],
      LOG_LEVEL: 'warn',
      FINALITY_CHECK_INTERVAL_MS: '200',
      UNAUTHENTICATED_RATE_LIMIT_MAX: '0',
    },
    report: (line) => lines.push(line),
    stageDone: (name, about) => lines.push(`${name}: ${about}`),
  })
}

async function factsOf({ families: others }: Session): Promise<typeof facts> {
  if (others === undefined) throw new Error('no families run')
  const found = await Promise.all(familyKeys.map(async (key) => [key, await others.opened[key]] as const))
  // CAST: every family is among the keys.
  return Object.fromEntries(found) as typeof facts
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'causeway-families-'))
  directory = join(folder, '.local')
  session = await start()
  facts = await factsOf(session)
}, 400_000)
afterAll(async () => {
  await session?.stop()
  await rm(folder, { recursive: true, force: true })
}, 60_000)

const chainsSchema = z.object({
  chains: z.array(z.object({ id: z.string(), vmType: z.string(), ready: z.boolean(), halted: z.boolean() })),
})

const urlOf = (name: string) =>
  `http://127.0.0.1:${session.services.find(({ plan }) => plan.name === name)?.ports['http']}`

async function listChains() {
  return chainsSchema.parse(await (await fetch(`${urlOf('oracle-1')}/chains/v1`)).json()).chains
}

async function readyChains(): Promise<readonly string[]> {
  return (await listChains()).flatMap(({ id, ready }) => (ready ? [id] : []))
}

async function attest(
  chainId: string,
  transactionId: string,
  switches: object = {},
): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${urlOf('oracle-1')}/attestations/depository-deposits/v1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ chainId, transactionId, ...switches }),
  })
  return { status: response.status, body: await response.json() }
}

async function operate(line: string): Promise<string> {
  return runOperatorCommand(await attachLocalNetwork(directory), parseOperatorCommand(line.split(' ')))
}

/** Sender of the first deposit; on Tron an account of this network. */
const depositors = {
  solana: 'DYDWFbzDZ2D73Yo4dX1JKKhiGRd6J1Y7wSNVk9Hpmt2s',
  bitcoin: 'bcrt1qy26l74q6xatancu6s3am05trs4z0x3nghgjy6w',
  hyperliquid: '0x22b5ff541a3757d9e39a847bb7d1638544f34668',
  lighter: '630347903',
}
const currencies = {
  solana: '11111111111111111111111111111111',
  bitcoin: 'bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8',
  tron: 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb',
  hyperliquid: '0x00000000000000000000000000000000',
  lighter: '0',
}

test('O-33: the first quote waited for no chain but Solana, and every other was told of when it was quoted', async () => {
  const order = lines.filter((line) => line.includes(': ')).map((line) => line.split(':')[0])
  expect(order.indexOf('quote-api')).toBeLessThan(order.indexOf('bitcoin'))
  expect(order.filter((name) => familyKeys.some((key) => key === name)).sort()).toEqual(
    [...familyKeys].sort(),
  )
  const network = JSON.parse(await readFile(join(directory, 'network.json'), 'utf8'))
  expect(network.chains.map(({ name }: { name: string }) => name)).toEqual([
    'base',
    'optimism',
    ...familyKeys,
  ])
  expect(network.families.map(({ id }: { id: string }) => id).sort()).toEqual([...familyKeys].sort())
})

test('every chain is listed and ready', async () => {
  const listed = [
    ...['base', 'optimism'].map((id) => ({ id, vmType: 'ethereum-vm', ready: true, halted: false })),
    ...familyKeys.map((id) => ({ id, vmType: familyPlans[id].vmType, ready: true, halted: false })),
  ]
  await waitUntil('oracles have taken each up', async () => (await readyChains()).length === listed.length)
  expect(await listChains()).toEqual(listed)
})

test.each(familyKeys)('the first deposit on %s is attested as it was made', async (key) => {
  const { depository, firstDeposit } = facts[key]
  const user = session.network.keys.users.at(-1)?.address ?? ''
  const depositor = { ...depositors, tron: tronAddress(user) }[key]
  const { status, body } = await attest(key, firstDeposit.transactionId)
  expect(status, JSON.stringify(body)).toBe(200)
  const result = { depository, depositor, currency: currencies[key], amount: firstDeposit.amount }
  expect(body).toMatchObject({
    messages: [{ data: { chainId: key }, result: { ...result, depositId: `0x${'0'.repeat(64)}` } }],
    execution: { signatures: [{}] },
  })
  expect(BigInt(firstDeposit.amount)).toBe(familyPlans[key].firstAmount)
})

test.each(familyKeys)('an operator deposits twice on %s, and both are attested', async (key) => {
  const ids = await Promise.all(
    ['1.5', '1.5'].map(async (amount) => (await operate(`deposit ${key} ${amount}`)).split(' ')[0] ?? ''),
  )
  expect(new Set([...ids, facts[key].firstDeposit.transactionId]).size).toBe(3)
  const amount = ((3n * 10n ** BigInt(familyPlans[key].decimals)) / 2n).toString()
  for (const id of ids) {
    const { status, body } = await attest(key, id)
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body).toMatchObject({ messages: [{ result: { amount } }] })
  }
})

test.each(familyKeys)('the hub executes what two oracles signed of %s, once', async (key) => {
  const { transactionId } = facts[key].firstDeposit
  const { body } = await attest(key, transactionId, { requestPeerSignatures: true })
  const file = join(folder, `${key}.json`)
  await writeFile(file, JSON.stringify(body))
  expect(await operate(`submit ${file}`)).toMatch(/^The hub executed the attestation in 0x[0-9a-f]{64}\.$/)
  await expect(operate(`submit ${file}`)).rejects.toThrow('The hub refuses the execution')
})

test('what is no deposit is refused, and the stand-ins go on', async () => {
  const { familyControlUrl } = await attachLocalNetwork(directory)
  for (const body of ['{', '{}', '{"family":"solana","amount":"0"}', '{"family":"moon","amount":"1"}']) {
    const { status } = await fetch(`${familyControlUrl}/deposit`, { method: 'POST', body })
    expect(status, body).toBe(400)
  }
  const told = await operate('families')
  for (const key of familyKeys) expect(told).toContain(facts[key].firstDeposit.transactionId)
})

const bodyOf = (from: LocalWallet, to: LocalWallet) => ({
  user: from.account,
  recipient: to.account,
  refundTo: from.account,
  tradeType: 'EXACT_INPUT',
  originChainId: from.chainId,
  originCurrency: from.currency,
  amount: from.amount,
  destinationChainId: to.chainId,
  destinationCurrency: to.currency,
})

const runSchema = z.object({ children: z.array(z.object({ name: z.string(), pid: z.number() })) })
const statusSchema = z.looseObject({ status: z.string() })

/** A user quotes, signs and sends; the order is filled by the solver, and oracles have attested it, when it resolves. */
async function bridge(from: LocalWallet, to: LocalWallet): Promise<void> {
  const url = urlOf('quote-api')
  const quoted = await quote(url, bodyOf(from, to))
  await from.pay(quoted)
  const requestId = quoted.steps[0]?.requestId
  await expect
    .poll(
      async () =>
        statusSchema.parse(await (await fetch(`${url}/intents/status/v3?requestId=${requestId}`)).json()),
      { timeout: 120_000, interval: 500 },
    )
    .toMatchObject({ status: 'success' })
}

/** Each family pays once and is paid once. */
const routes = families.map((from, index): readonly [Family, Family] => [
  from,
  families[(index + 1) % families.length] ?? 'evm',
])

test.each(routes)(
  'O-34: an order from %s to %s is quoted, paid and filled',
  async (from, to) => {
    await bridge(localWallets(session, 0)[from], localWallets(session, 1)[to])
  },
  180_000,
)

test('O-35: a second start has the first deposits again, and chains, lines and nonces go on where they were', async () => {
  const before = facts
  await session.stop()
  session = await start()
  facts = await factsOf(session)
  for (const key of familyKeys) expect(facts[key].firstDeposit).toEqual(before[key].firstDeposit)
  const [payer, payee] = [localWallets(session, 0), localWallets(session, 1)]
  for (const to of ['bitcoin', 'tron', 'lighter', 'hyperliquid'] as const) await bridge(payer.evm, payee[to])
  for (const from of ['bitcoin', 'lighter'] as const) await bridge(payer[from], payee.evm)
}, 600_000)

test.each(['solana', 'lighter'] as const)('%s falls silent alone', async (key) => {
  await waitUntil('oracles have taken each up', async () => (await readyChains()).includes(key))
  const before = await readyChains()
  await operate(`silence ${key}`)
  await waitUntil(`${key} is not ready`, async () => !(await readyChains()).includes(key))
  expect(await readyChains()).toEqual(before.filter((id) => id !== key))
  const other = await operate('deposit bitcoin')
  expect((await attest('bitcoin', other.split(' ')[0] ?? '')).status).toBe(200)
  expect((await attest(key, 'f'.repeat(80))).status).toBeGreaterThanOrEqual(400)
  const wallets = localWallets(session, 0)
  await waitUntil('nothing is priced there', async () => {
    const { status } = await post(`${urlOf('quote-api')}/price`, bodyOf(wallets.evm, wallets[key]))
    return status === 503
  })
  const { status } = await post(`${urlOf('quote-api')}/price`, bodyOf(wallets.evm, wallets.bitcoin))
  expect(status).toBe(200)
})

test('O-36: a chain that cannot be opened says so, and the rest goes on', async () => {
  await session.stop()
  const state = join(directory, 'families', 'bitcoin.jsonl')
  await rm(state)
  await mkdir(state)
  lines.length = 0
  session = await start()
  await expect(session.families?.opened.bitcoin).rejects.toThrow(/^bitcoin cannot be opened: EISDIR/)
  for (const key of ['solana', 'tron', 'hyperliquid', 'lighter'] as const) await session.families?.opened[key]
  expect(lines.filter((line) => line.includes('cannot be opened'))).toHaveLength(1)
  const wallets = localWallets(session, 0)
  const refused = await post(`${urlOf('quote-api')}/price`, bodyOf(wallets.evm, wallets.bitcoin))
  expect([refused.status, refused.text]).toEqual([503, expect.stringContaining('is starting')])
}, 300_000)

test('O-36: without the process of the stand-ins, services and the chains of the EVM go on', async () => {
  const { children } = runSchema.parse(JSON.parse(await readFile(join(directory, 'run.json'), 'utf8')))
  process.kill(children.find(({ name }) => name === 'families')?.pid ?? 0, 'SIGKILL')
  await waitUntil('its end is told', () => lines.some((line) => line.startsWith('families ended with')))
  const { evm } = localWallets(session, 0)
  const { optimism } = session.network.deployment
  const other = { ...evm, chainId: optimism.chainId, currency: optimism.tokens.USDC }
  expect((await post(`${urlOf('quote-api')}/price`, bodyOf(evm, other))).status).toBe(200)
  expect(await Promise.race([session.failed, 'nothing failed'])).toBe('nothing failed')
})
