// Goal: an operator finds every parked request, learns why it stands and moves it on, and no command debits a sponsor
// without the evidence that the automatic rules demand. Method: requests that are parked for real, by oracles that
// deny and a solver that gives up; the commands, and the admin listener's functions.
import { Readable } from 'node:stream'
import { readCommandLine } from '@causeway/cli'
import { ConfigurationError, type Hex, Secret } from '@causeway/core'
import { createAdminListener } from '@causeway/http'
import { verifyLedger } from '@causeway/ledger'
import { createLogger } from '@causeway/service'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { parsePeppers } from '../src/access/keys/peppers.ts'
import { adminDescription } from '../src/http/admin/adminOperation.ts'
import { registerAdmin } from '../src/http/admin/registerAdmin.ts'
import { errorPolicy } from '../src/http/errorPolicy.ts'
import {
  createRequestAdministration,
  type RequestAdministration,
} from '../src/operate/admin/requestAdministration.ts'
import { statusOf } from '../src/operate/admin/status.ts'
import { createAdministration } from '../src/operate/administration.ts'
import { causeway } from '../src/operate/cli/runCli.ts'
import type { QuoteAnswer } from './serviceSupport/callService.ts'
import { bytesOf, debitOf, type RequestDriver } from './settlementSupport/requestDriver.ts'
import {
  type SettlementBed,
  type StandInOracles,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'
import { createSponsor, moneyOf, pepperText, type TestSponsor } from './sponsorSupport/sponsors.ts'

const balance = 1_000_000_000n
const amount = 60_000_000n
const deed = { actor: 'cli:operator', reason: 'looked at the chain' }
let bed: SettlementBed
let requests: RequestDriver
let oracles: StandInOracles
let sponsor: TestSponsor
let administration: RequestAdministration

beforeAll(async () => {
  oracles = await startStandInOracles()
  bed = await startSettlementBed({ blockTimeSeconds: 1, oracles: async () => oracles.setting })
  requests = bed.requests
  administration = createRequestAdministration(bed.database)
}, 120_000)
afterAll(async () => {
  await bed?.stop()
  await oracles?.stop()
})
beforeEach(async () => {
  oracles.set()
  sponsor = await createSponsor(bed.database, balance)
})

// CAST: the wire describes a request id as text.
const idOf = (quote: QuoteAnswer) => quote.requestId as Hex

/** Filled, and denied by two of three oracles. */
async function denied(): Promise<QuoteAnswer> {
  oracles.set('refuses', 'refuses', 'honest')
  const quote = await requests.quoted(sponsor, { amount })
  await requests.execute(quote)
  await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
  await requests.reaches(quote, 'success')
  await requests.contradictedBefore(quote)
  await requests.reachesStage(quote, 'parked')
  return quote
}

/** Reported, and parked as where nobody can see the fill. */
async function unseen(): Promise<QuoteAnswer> {
  const quote = await requests.quoted(sponsor, { amount })
  await requests.execute(quote)
  const fill = await requests.workFor(quote, 'fill')
  await bed.solver.report(fill.id, `0x${fill.id.replaceAll('-', '').padEnd(64, 'f')}`)
  await parkUnseen(quote)
  return quote
}

async function parkUnseen(quote: QuoteAnswer): Promise<void> {
  await bed.database.query(
    `update settlement set stage = 'parked', parked_reason = 'FILL_NOT_SEEN', next_at = now() + interval '1 hour'
     where request_id = $1`,
    [bytesOf(quote.requestId)],
  )
}

/** The solver gave the fill up, and its refund too. */
async function unrefunded(): Promise<QuoteAnswer> {
  const quote = await requests.quoted(sponsor, { amount })
  await requests.execute(quote)
  const fill = await requests.workFor(quote, 'fill')
  await bed.database.query('update work_item set attempts = 3 where id = $1', [fill.id])
  await bed.solver.fail(fill.id, 'no inventory')
  const refund = await requests.workFor(quote, 'refund')
  await bed.database.query('update work_item set attempts = 20 where id = $1', [refund.id])
  await bed.solver.fail(refund.id, 'no gas')
  await requests.reachesStage(quote, 'parked')
  return quote
}

describe('a parked request', () => {
  test('is listed with its reason, and explained with all that can be done', async () => {
    const quote = await denied()
    const listed = await administration.parked({ limit: 100 })
    expect(listed.find(({ requestId }) => requestId === quote.requestId)).toMatchObject({
      reason: 'SEEN_BUT_DENIED',
      status: 'success',
      debitMicroUsd: debitOf(quote),
    })
    expect(await administration.explain(idOf(quote))).toMatchObject({
      status: 'success',
      stage: 'parked',
      parked: { reason: 'SEEN_BUT_DENIED', retryStage: 'filled', resolutions: ['unpaid'] },
      deposits: [{ state: 'taken', amount: amount.toString() }],
      work: [{ kind: 'fill', state: 'done' }],
      holds: [{ state: 'reserved', isPinned: true, amountMicroUsd: debitOf(quote).toString() }],
      actions: [],
    })
  })

  test('L-75: is retried by the usual rules: denied again it parks again, and only evidence debits', async () => {
    const quote = await denied()
    const held = { available: balance - debitOf(quote), held: debitOf(quote) }
    expect(await administration.retry(idOf(quote), deed)).toBe('filled')
    await requests.reachesStage(quote, 'parked')
    expect(await moneyOf(bed.database, sponsor.wallet)).toEqual(held)
    oracles.set()
    await administration.retry(idOf(quote), deed)
    await requests.reachesStage(quote, 'settled')
    expect(await moneyOf(bed.database, sponsor.wallet)).toEqual({ available: held.available, held: 0n })
    expect((await requests.settlementOf(quote))?.evidence).toMatchObject({
      kind: 'solver-fill',
      threshold: 2,
    })
    const { actions } = await administration.explain(idOf(quote))
    expect(actions).toMatchObject([
      {
        actor: deed.actor,
        action: 'requests.retry',
        details: { reason: deed.reason, stage: 'filled' },
      },
      { action: 'requests.retry', details: { parkedReason: 'SEEN_BUT_DENIED' } },
    ])
  })

  test('L-75: that is filled ends unpaid: the hold is free and nothing is debited', async () => {
    const quote = await denied()
    await administration.resolve(idOf(quote), 'unpaid', deed)
    expect(await requests.stageOf(quote)).toBe('settled')
    expect(await moneyOf(bed.database, sponsor.wallet)).toEqual({ available: balance, held: 0n })
    expect((await requests.settlementOf(quote))?.evidence).toEqual({
      kind: 'operator',
      resolution: 'unpaid',
      ...deed,
    })
    expect((await requests.statusOf(quote)).status).toBe('success')
    oracles.set()
    const again = administration.retry(idOf(quote), deed)
    await expect(again).rejects.toMatchObject({ code: 'REQUEST_NOT_PARKED' })
    const other = administration.resolve(idOf(quote), 'refund', deed)
    await expect(other).rejects.toMatchObject({ code: 'REQUEST_NOT_PARKED' })
  })

  test('whose fill cannot be seen is looked at again, and refunded when an operator says so', async () => {
    const quote = await unseen()
    expect((await administration.explain(idOf(quote))).parked).toMatchObject({
      reason: 'FILL_NOT_SEEN',
      retryStage: 'filling',
      resolutions: ['refund'],
    })
    const unpaid = administration.resolve(idOf(quote), 'unpaid', deed)
    await expect(unpaid).rejects.toMatchObject({ code: 'RESOLUTION_NOT_POSSIBLE' })
    expect(await administration.retry(idOf(quote), deed)).toBe('filling')
    await parkUnseen(quote)
    await administration.resolve(idOf(quote), 'refund', deed)
    await bed.solver.carryOut(await requests.workFor(quote, 'refund'))
    await requests.reaches(quote, 'refund')
    expect(await moneyOf(bed.database, sponsor.wallet)).toEqual({ available: balance, held: 0n })
  })

  test('whose refund failed is refunded once the solver can again', async () => {
    const quote = await unrefunded()
    expect((await administration.explain(idOf(quote))).parked).toMatchObject({
      reason: 'REFUND_FAILED',
      retryStage: 'refunding',
      resolutions: ['recover'],
    })
    const refund = administration.resolve(idOf(quote), 'refund', deed)
    await expect(refund).rejects.toMatchObject({ code: 'RESOLUTION_NOT_POSSIBLE' })
    await administration.retry(idOf(quote), deed)
    await bed.solver.carryOut(await requests.workFor(quote, 'refund'))
    await requests.reaches(quote, 'refund')
    expect((await moneyOf(bed.database, sponsor.wallet)).available).toBe(balance)
  })

  test('takes one of several commands at the same moment', async () => {
    const quote = await denied()
    const outcomes = await Promise.allSettled([
      administration.resolve(idOf(quote), 'unpaid', deed),
      administration.resolve(idOf(quote), 'unpaid', deed),
      administration.resolve(idOf(quote), 'unpaid', deed),
    ])
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const { actions } = await administration.explain(idOf(quote))
    expect(actions).toHaveLength(1)
  })
})

describe('the command line and the admin listener', () => {
  const operated = () =>
    createAdministration({
      config: { environment: 'local', configDirectory: 'configs', webhooks: { allowPrivate: false } },
      database: bed.database,
      peppers: parsePeppers(new Secret(pepperText)),
    })
  const unused = () => Promise.reject(new ConfigurationError('no top-ups here'))

  /** Runs what was typed. @returns its lines */
  async function command(...words: readonly string[]): Promise<string> {
    const parsed = readCommandLine(words, causeway)
    if (parsed.kind !== 'run' || !('run' in parsed.command)) {
      throw new Error(`not understood: ${words.join(' ')}`)
    }
    const output = await parsed.command.run(
      {
        administration: operated(),
        database: bed.database,
        retention: { quotesDays: undefined, requestsDays: undefined },
        variables: {},
        actor: 'cli:operator',
        chain: unused,
        differences: unused,
        openReader: unused,
        openFillJudge: unused,
        readLines: () => Readable.from([]),
        readFile: unused,
        print: async () => {},
      },
      parsed.args,
    )
    return output?.lines.join('\n') ?? ''
  }

  test('show the same request, and what one did the other tells', async () => {
    const quote = await denied()
    const id = idOf(quote)
    expect(await command('requests', 'parked')).toContain(`${id}  SEEN_BUT_DENIED  success`)
    const app = await createAdminListener({
      logger: createLogger({ service: 'quote-api', level: 'silent' }),
      errors: errorPolicy,
      host: '127.0.0.1',
      isLocal: true,
      openApi: adminDescription,
    })
    const retention = { quotesDays: undefined, requestsDays: undefined }
    registerAdmin(app, operated(), {
      database: bed.database,
      chain: unused,
      retention,
      readStatus: async () => statusOf([]),
    })
    const headers = { host: '127.0.0.1' }
    const listed = (await app.inject({ url: '/admin/requests/parked', headers })).json()
    expect(listed.requests.map(({ requestId }: { requestId: string }) => requestId)).toContain(id)
    const shown = (await app.inject({ url: `/admin/requests/${id}`, headers })).json()
    expect(shown).toMatchObject({
      parked: { reason: 'SEEN_BUT_DENIED', retryStage: 'filled', resolutions: ['unpaid'] },
      holds: [{ amountMicroUsd: debitOf(quote).toString() }],
    })
    const payload = { resolution: 'refund', reason: 'wrong' }
    const url = `/admin/requests/${id}/resolve`
    const refused = await app.inject({ method: 'POST', url, headers, payload })
    expect([refused.statusCode, refused.json().errorCode]).toEqual([409, 'RESOLUTION_NOT_POSSIBLE'])
    expect(await command('requests', 'retry', id, '--reason', 'again')).toBe(`Request ${id} is filled again.`)
    await requests.reachesStage(quote, 'parked')
    const done = await app.inject({
      method: 'POST',
      url,
      headers,
      payload: { resolution: 'unpaid', reason: 'oracles agree' },
    })
    expect(done.json()).toEqual({ requestId: id, resolution: 'unpaid' })
    const explained = await command('requests', 'explain', id)
    expect(explained).toContain(`request ${id}: status success, stage settled\nIt moves, or has ended.`)
    expect(explained).toMatch(/actions: .*"cli:operator","action":"requests\.retry"/)
    expect(explained).toMatch(/actions: .*"admin","action":"requests\.resolve".*"reason":"oracles agree"/)
    expect(await moneyOf(bed.database, sponsor.wallet)).toEqual({ available: balance, held: 0n })
    await app.close()
  })
})

describe('a request that is not parked', () => {
  test('is explained, and refuses every command', async () => {
    const quote = await requests.quoted(sponsor, { amount })
    expect(await administration.explain(idOf(quote))).toMatchObject({ status: 'waiting', parked: undefined })
    await requests.execute(quote)
    await requests.workFor(quote, 'fill')
    for (const command of [
      () => administration.retry(idOf(quote), deed),
      () => administration.resolve(idOf(quote), 'unpaid', deed),
      () => administration.resolve(idOf(quote), 'refund', deed),
    ]) {
      await expect(command()).rejects.toMatchObject({
        code: 'REQUEST_NOT_PARKED',
        data: { stage: 'filling' },
      })
    }
    expect((await administration.explain(idOf(quote))).actions).toEqual([])
    expect((await moneyOf(bed.database, sponsor.wallet)).held).toBe(debitOf(quote))
  })

  test('that nobody made is unknown', async () => {
    const unknown: Hex = `0x${'ee'.repeat(32)}`
    for (const command of [
      () => administration.explain(unknown),
      () => administration.retry(unknown, deed),
      () => administration.resolve(unknown, 'unpaid', deed),
    ]) {
      await expect(command()).rejects.toMatchObject({ code: 'REQUEST_NOT_FOUND' })
    }
  })
})

test('the books add up behind all of this', async () => {
  expect(await bed.database.transaction((tx) => verifyLedger(tx, { depth: 'all' }))).toEqual([])
})
