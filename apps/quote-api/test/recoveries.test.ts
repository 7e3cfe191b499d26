// Goal: an order that an operator gives up is filled and refunded by nobody any more, its promise is signed only when
// nothing was paid and nothing can be, and its owner is told. Method: requests that are parked for real, a scripted
// solver that disobeys, and the records of the fill contracts.
import { fillContractAbi } from '@causeway/contracts'
import { type Hex, noFillOrRefundDigest } from '@causeway/core'
import { waitUntil } from '@causeway/localnet'
import { recoverSigner } from '@causeway/signer'
import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  createRequestAdministration,
  type RequestAdministration,
} from '../src/operate/admin/requestAdministration.ts'
import type { QuoteAnswer } from './serviceSupport/callService.ts'
import { bytesOf, type RequestDriver } from './settlementSupport/requestDriver.ts'
import { type OpenWork, refundIdOf } from './settlementSupport/scriptedSolver.ts'
import {
  type SettlementBed,
  type StandInOracles,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'
import { createSponsor, moneyOf, type TestSponsor } from './sponsorSupport/sponsors.ts'

const balance = 1_000_000_000n
const amount = 60_000_000n
const deed = { actor: 'cli:operator', reason: 'no refund can land' }
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
  sponsor = await createSponsor(bed.database, balance)
})

// CAST: the wire describes a request id as text.
const idOf = (quote: QuoteAnswer) => quote.requestId as Hex
type Recovery = Extract<OpenWork, { kind: 'recovery' }>
type Stuck = { readonly quote: QuoteAnswer; readonly fill: OpenWork; readonly refund: OpenWork }

/** The solver gave the fill up, and its refund too. */
async function stuck(): Promise<Stuck> {
  const quote = await requests.quoted(sponsor, { amount })
  await requests.execute(quote)
  const fill = await requests.workFor(quote, 'fill')
  await bed.database.query('update work_item set attempts = 3 where id = $1', [fill.id])
  await bed.solver.fail(fill.id, 'no inventory')
  const refund = await requests.workFor(quote, 'refund')
  await bed.database.query('update work_item set attempts = 20 where id = $1', [refund.id])
  await bed.solver.fail(refund.id, 'the recipient takes nothing')
  await requests.reachesStage(quote, 'parked')
  return { quote, fill, refund }
}

const resolve = ({ quote }: Stuck) => administration.resolve(idOf(quote), 'recover', deed)
async function recoveryWork({ quote }: Stuck): Promise<Recovery | undefined> {
  const item = await requests.openWork(quote, 'recovery')
  return item?.kind === 'recovery' ? item : undefined
}
const waitsFor = async ({ quote }: Stuck) =>
  (await administration.explain(idOf(quote))).recovery[0]?.['waitsFor']
async function promised(of: Stuck): Promise<Recovery & { payload: { promise: Hex } }> {
  let found: Recovery | undefined
  await waitUntil('the promise is signed', async () => {
    found = await recoveryWork(of)
    return found?.payload.promise !== undefined
  })
  // CAST: it was waited for.
  return found as Recovery & { payload: { promise: Hex } }
}

async function close(chain: 'base' | 'optimism', id: Hex): Promise<void> {
  const data = encodeFunctionData({ abi: fillContractAbi, functionName: 'close', args: [id] })
  const { walletClient, publicClient } = bed.network.chains[chain].chain.as(bed.network.keys.fillWallet)
  const hash = await walletClient.sendTransaction({ to: bed.network.deployment[chain].fillContract, data })
  await publicClient.waitForTransactionReceipt({ hash })
}

/** Closes the order and its refund, as a solver does before the promise is signed. */
async function closed(of: Stuck): Promise<void> {
  const { payload } = (await recoveryWork(of)) ?? {}
  if (payload === undefined) throw new Error('no recovery')
  await close('optimism', payload.orderId)
  await close('base', await refundIdOf(bed.network, payload.orderId, payload))
}

describe('an order that an operator gives up', () => {
  test('P-71: is offered to nobody for a fill or a refund, whatever an operator or a process asks for', async () => {
    const of = await stuck()
    expect((await administration.explain(idOf(of.quote))).parked?.resolutions).toEqual(['recover'])
    await resolve(of)
    const refused = { code: 'ORDER_RECOVERED' }
    const id = idOf(of.quote)
    await expect(administration.retry(id, deed)).rejects.toMatchObject(refused)
    for (const resolution of ['refund', 'unpaid', 'release', 'recover'] as const)
      await expect(administration.resolve(id, resolution, deed)).rejects.toMatchObject(refused)
    // A process of an earlier release would write this.
    for (const item of [of.fill, of.refund]) {
      const again = bed.database.query(`update work_item set state = 'open' where id = $1`, [item.id])
      await expect(again).rejects.toThrow('recovered on the hub')
      expect((await bed.solver.report(item.id, `0x${'ab'.repeat(32)}`)).status).toBe(409)
    }
    const more = bed.database.query(
      `insert into work_item (kind, request_id, subject, chain_id, payload) values ('refund', $1, 'more', 8453, '{}')`,
      [bytesOf(of.quote.requestId)],
    )
    await expect(more).rejects.toThrow('recovered on the hub')
    const kinds = (await bed.solver.work()).filter(({ requestId }) => requestId === of.quote.requestId)
    expect(kinds.map(({ kind }) => kind)).toEqual(['recovery'])
    expect(await moneyOf(bed.database, sponsor.wallet)).toEqual({ available: balance, held: 0n })
  })

  test('Q-71: is given up once, by one of several commands at the same moment', async () => {
    const of = await stuck()
    const outcomes = await Promise.allSettled([
      resolve(of),
      administration.retry(idOf(of.quote), deed),
      resolve(of),
      resolve(of),
    ])
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('Q-71: is none while a fill is sent', async () => {
    const quote = await requests.quoted(sponsor, { amount })
    await requests.execute(quote)
    const fill = await requests.workFor(quote, 'fill')
    await bed.solver.report(fill.id, `0x${fill.id.replaceAll('-', '').padEnd(64, 'f')}`)
    await bed.database.query(
      `update settlement set stage = 'parked', parked_reason = 'FILL_NOT_SEEN' where request_id = $1`,
      [bytesOf(quote.requestId)],
    )
    const given = administration.resolve(idOf(quote), 'recover', deed)
    await expect(given).rejects.toMatchObject({ code: 'RESOLUTION_NOT_POSSIBLE' })
  })
})

describe('the promise', () => {
  test('P-70, Q-72: is signed once fill and refund are closed at final blocks, and a report alone moves nothing', async () => {
    const of = await stuck()
    await resolve(of)
    await waitUntil('it waits', async () => (await waitsFor(of)) === 'MAY_BE_PAID')
    expect((await recoveryWork(of))?.payload.promise).toBeUndefined()
    const [recovery] = (await administration.explain(idOf(of.quote))).recovery
    const deadline = of.refund.kind === 'refund' ? of.refund.payload.deadline : 0
    expect(Date.parse(String(recovery?.['payableUntil']))).toBe(deadline * 1_000)
    await closed(of)
    const { payload, id } = await promised(of)
    const solver = payload.order?.solver.toLowerCase() as Hex // CAST: orders of EVM chains name EVM accounts.
    const promise = { orderId: payload.orderId, solver, solverChainId: payload.order?.solverChainId ?? '' }
    expect(recoverSigner(noFillOrRefundDigest(promise, 8_453), payload.promise)).toBe(solver)

    // Whoever has the solver's key tells nobody that the hub has it.
    expect((await bed.solver.report(id, `0x${'cd'.repeat(32)}`)).status).toBe(200)
    await waitUntil('it is offered again', async () => {
      const { work } = await administration.explain(idOf(of.quote))
      return work.some(
        ({ kind, reason }) => kind === 'recovery' && String(reason).startsWith('the hub does not'),
      )
    })
    expect(await requests.statusOf(of.quote)).toMatchObject({
      status: 'pending',
      refundFailReason: 'DEPOSIT_RECOVERABLE',
    })
    const listed = await administration.parked({ limit: 1_000 })
    expect(listed.map(({ requestId }) => requestId)).toContain(of.quote.requestId)
  })

  test('P-70: is not signed for a refund that landed and was never reported', async () => {
    const of = await stuck()
    await bed.solver.payInSecret(of.refund)
    await resolve(of)
    await waitUntil('it waits', async () => (await waitsFor(of)) === 'PAID_OUT')
    await close('optimism', (await recoveryWork(of))?.payload.orderId ?? '0x')
    await new Promise((pass) => setTimeout(pass, 5_000))
    expect((await recoveryWork(of))?.payload.promise).toBeUndefined()
  })

  test('P-71: frees a deposit that comes late as well, which nobody refunds', async () => {
    const of = await stuck()
    await resolve(of)
    await closed(of)
    await promised(of)
    await requests.execute(of.quote)
    await waitUntil('it is another item', async () => {
      const items = (await bed.solver.work()).filter(({ requestId }) => requestId === of.quote.requestId)
      return items.length === 2
    })
    const items = (await bed.solver.work()).filter(({ requestId }) => requestId === of.quote.requestId)
    const [first, second] = items
    expect(items.map(({ kind }) => kind)).toEqual(['recovery', 'recovery'])
    expect(second?.kind === 'recovery' && second.payload.promise).toBe(
      first?.kind === 'recovery' && first.payload.promise,
    )
  })
})
