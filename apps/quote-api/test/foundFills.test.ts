// Goal: what a database lost behind the moment of its recovery is found on the chains, and each sponsor pays once for
// what was filled. Attackers: a solver that names another sponsor, another amount, a fill that nobody paid or that no
// oracle signs, or the same fill again and again. Method: the service over real nodes, a backup by a command, sponsored
// fills behind it, and the commands on the database that the backup filled.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onchainId } from '@causeway/core'
import { createDatabase, type Database } from '@causeway/database'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadConfig } from '../src/config/config.ts'
import { runCli } from '../src/operate/cli/runCli.ts'
import { repositoryRoot, serviceEnvironment } from './fixtures/service.ts'
import type { QuoteAnswer } from './serviceSupport/callService.ts'
import { bytesOf, debitOf, orderIdOf } from './settlementSupport/requestDriver.ts'
import {
  type SettlementBed,
  type StandInOracles,
  serviceSettings,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'
import { createSponsor, moneyOf, type TestSponsor } from './sponsorSupport/sponsors.ts'

const amount = 60_000_000n
const balance = 1_000_000_000n
let bed: SettlementBed
let oracles: StandInOracles
let directory: string
let restored: Database
let restoredUrl: string
let sponsor: TestSponsor
let late: TestSponsor

beforeAll(async () => {
  oracles = await startStandInOracles()
  directory = await mkdtemp(join(tmpdir(), 'causeway-found-'))
  bed = await startSettlementBed({
    blockTimeSeconds: 1,
    oracles: async () => oracles.setting,
    environment: async ({ keys }) => ({ CUSTODY_ADDRESS: keys.custody.address }),
  })
  await bed.database.query('create database restored')
  const url = new URL(bed.connectionString)
  url.pathname = '/restored'
  restoredUrl = url.toString()
  restored = createDatabase({ connectionString: restoredUrl, poolSize: 2 })
}, 240_000)
afterAll(async () => {
  await restored?.close()
  await bed?.stop()
  await oracles?.stop()
  await rm(directory, { recursive: true, force: true })
})

async function command(databaseUrl: string, ...words: readonly string[]) {
  const lines: string[] = []
  const keep = async (line: string) => void lines.push(line)
  const variables = await serviceEnvironment(bed.network, bed.service.directory, {
    ...serviceSettings(databaseUrl, oracles.setting),
    CUSTODY_ADDRESS: bed.network.keys.custody.address,
  })
  const code = await runCli({
    words,
    actor: 'cli:operator',
    signal: new AbortController().signal,
    print: keep,
    complain: keep,
    config: async () => ({ config: loadConfig(variables, repositoryRoot), variables }),
  })
  return { code, output: lines.join('\n') }
}

/** Pays for a quote, and keeps what a solver keeps of it. */
async function filled(quote: QuoteAnswer) {
  const { requests, solver, database } = bed
  await requests.execute(quote)
  const { payload, ...item } = await requests.workFor(quote, 'fill')
  if (!('payments' in payload)) throw new Error('no fill')
  const transactionId = await solver.carryOut({ ...item, kind: 'fill', payload })
  await requests.reachesStage(quote, 'settled')
  const [deposit] = await database.query<{ tx_hash: string; onchain_index: string; amount: bigint }>(
    'select tx_hash, onchain_index, amount from deposit_seen where request_id = $1',
    [bytesOf(quote.requestId)],
  )
  if (deposit === undefined) throw new Error('no deposit')
  const { tx_hash: deposited, onchain_index: onchainIndex } = deposit
  const input = onchainId({ chainId: 'base', transactionId: deposited, onchainIndex })
  const { order, orderSignature, booking, orderId, chainId } = payload
  return {
    orderId,
    chainId,
    transactionId,
    order,
    orderSignature,
    booking,
    inputs: [{ transactionId: deposited, onchainId: input, inputIndex: 0 }],
    deposited: deposit.amount.toString(),
  }
}
type Kept = Awaited<ReturnType<typeof filled>>

async function fileOf(...kept: readonly Kept[]): Promise<string> {
  const path = join(directory, `fills-${kept.length}-${Math.random()}.jsonl`)
  await writeFile(path, kept.map((one) => `${JSON.stringify(one)}\n`).join(''))
  return path
}

const fills = async (...kept: readonly Kept[]) =>
  command(restoredUrl, 'ledger', 'fills', await fileOf(...kept))
const book = async (...kept: readonly Kept[]) =>
  command(restoredUrl, 'ledger', 'fills', await fileOf(...kept), '--book', '--reason', 'the disk was lost')
const reconcile = (url: string) => command(url, 'ledger', 'reconcile')

test('L-30: fills behind the moment of a recovery are found, and each is booked once', async () => {
  sponsor = await createSponsor(bed.database, balance)
  late = await createSponsor(bed.database, 0n)
  const quoted = (by: TestSponsor, more: object = {}) => bed.requests.quoted(by, { amount, more })
  await expect.poll(async () => (await reconcile(bed.connectionString)).code, { timeout: 60_000 }).toBe(0)
  // Known before the moment, and filled behind it.
  const known = await quoted(sponsor)
  const backup = join(directory, 'backup')
  await writeFile(backup, (await command(bed.connectionString, 'ledger', 'backup')).output)

  const keptKnown = await filled(known)
  const lost = await quoted(sponsor)
  const kept = await filled(lost)
  const plain = await filled(await quoted(sponsor, { subsidizeFees: false }))
  expect((await moneyOf(bed.database, sponsor.wallet)).available).toBe(
    balance - debitOf(known) - debitOf(lost),
  )
  expect(debitOf(lost)).toBeGreaterThan(0n)
  expect((await reconcile(bed.connectionString)).code).toBe(0)

  expect((await command(restoredUrl, 'ledger', 'restore', backup)).code).toBe(0)
  expect((await command(restoredUrl, 'ledger', 'verify')).output).toContain('The books add up.')
  const before = (await moneyOf(restored, sponsor.wallet)).available
  await expect
    .poll(async () => (await reconcile(restoredUrl)).output, { timeout: 60_000 })
    .toContain('no request here explains: 2.')
  const red = await reconcile(restoredUrl)
  expect(red.code).toBe(1)
  for (const { orderId, transactionId } of [kept, plain])
    expect(red.output).toContain(`unknown: ${transactionId} on optimism, order ${orderId}`)
  expect(red.output).not.toContain(keptKnown.orderId)

  // Nothing is booked by looking, and nothing that is not proven.
  const listed = await fills(keptKnown, kept, plain)
  expect(listed.code).toBe(1)
  expect(listed.output).toContain('Fills in the file: 3. Of unknown orders: 2.')
  expect(listed.output).toMatch(new RegExp(`${kept.orderId}.*${sponsor.wallet} +${debitOf(lost)} +BOOKABLE`))
  expect(listed.output).toMatch(new RegExp(`${plain.orderId}.*NOTHING_OWED`))
  const { booking = '' } = kept
  const forged: readonly [string, Kept][] = [
    ['UNKNOWN_SPONSOR', { ...kept, booking: booking.replace(sponsor.wallet, late.wallet) }],
    ['UNKNOWN_SPONSOR', { ...kept, booking: booking.replace(`.${debitOf(lost)}.`, '.1.') }],
    ['UNKNOWN_SPONSOR', { ...kept, booking: plain.booking }],
    ['UNKNOWN_SPONSOR', { ...kept, booking: undefined }],
    ['NOT_PAID', { ...kept, transactionId: plain.transactionId }],
    ['NOT_PAID', { ...kept, chainId: 8_453 }],
    ['NOT_PAID', { ...kept, chainId: 77 }],
  ]
  for (const [standing, one] of forged) {
    const refused = await book(one)
    expect([refused.code, refused.output]).toEqual([1, expect.stringContaining(`${standing}: `)])
  }
  oracles.set('honest', 'garbage', 'refuses')
  expect(await book(kept)).toMatchObject({ code: 1, output: expect.stringContaining('NOT_ATTESTED: ') })
  oracles.set()
  expect((await moneyOf(restored, sponsor.wallet)).available).toBe(before)
  expect((await reconcile(restoredUrl)).code).toBe(1)
  expect((await command(restoredUrl, 'ledger', 'fills', await fileOf(kept), '--book')).code).toBe(2)

  // Booked by two operators at once, and once more.
  const both = await Promise.all([book(keptKnown, kept, plain), book(keptKnown, kept, plain)])
  expect(both.map(({ code }) => code)).toEqual([0, 0])
  expect((await moneyOf(restored, sponsor.wallet)).available).toBe(before - debitOf(lost))
  expect(await book(kept)).toMatchObject({
    code: 0,
    output: expect.stringContaining('Of unknown orders: 0.'),
  })
  expect((await moneyOf(restored, sponsor.wallet)).available).toBe(before - debitOf(lost))
  expect((await reconcile(restoredUrl)).code).toBe(0)
  expect((await command(restoredUrl, 'ledger', 'verify')).output).toBe('The books add up.')
  const deeds = await restored.query<{ subject: string; details: { reason: string } }>(
    `select distinct subject, details from admin_action where action = 'ledger.fills' and outcome = 'done'`,
  )
  expect(deeds.map(({ subject }) => subject).sort()).toEqual([kept.orderId, plain.orderId].sort())
  expect(deeds[0]?.details.reason).toBe('the disk was lost')
  expect(orderIdOf(lost)).toBe(kept.orderId)
}, 300_000)

test('L-30: a sponsor whose balance is too low is named, nothing is booked, and the books are not called green', async () => {
  const poor = await createSponsor(bed.database, balance)
  const quote = await bed.requests.quoted(poor, { amount })
  const kept = await filled(quote)
  await expect
    .poll(async () => (await reconcile(restoredUrl)).output, { timeout: 60_000 })
    .toContain(kept.orderId)
  expect(await book(kept)).toMatchObject({ code: 1, output: expect.stringContaining('INSUFFICIENT: ') })
  expect(await moneyOf(restored, poor.wallet)).toEqual({ available: 0n, held: 0n })
  expect((await reconcile(restoredUrl)).code).toBe(1)
}, 120_000)
