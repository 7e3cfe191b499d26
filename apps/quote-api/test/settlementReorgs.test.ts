// Goal: what a chain takes back moves no money and fills nothing twice, and what it brings back counts once.
// A deposit is seen as soon as it may be. Method: real nodes that mine only when they are told to, set back to
// an earlier block; steps are counted in blocks and in looks of the service, never in time.
import type { Hex } from '@causeway/core'
import { verifyLedger } from '@causeway/ledger'
import { movePrice, waitUntil } from '@causeway/localnet'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findUnbookedLosses } from '../src/jobs/bookedDeposits.ts'
import { checkBooks } from '../src/jobs/invariants.ts'
import { insertRelease } from '../src/requests/screening/screenedRequest.ts'
import { type QuoteAnswer, send } from './serviceSupport/callService.ts'
import { type LocalRequest, nativeAddress, type UserChain } from './serviceSupport/localRequest.ts'
import { bytesOf, debitOf, type RequestDriver } from './settlementSupport/requestDriver.ts'
import {
  type SettlementBed,
  type StandInOracles,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'
import { createSponsor, moneyOf, type TestSponsor } from './sponsorSupport/sponsors.ts'

const balance = 1_000_000_000n
/** Below and above the size from which two confirmations are asked for. @source configs/quote.local.json */
const [small, large] = [60_000_000n, 2_000_000_000n]
const oneEther = 10n ** 18n
const finalityBlocks = 3
/** Reverts whatever is sent to it. */
const refusingCode = '0x60006000fd'

let bed: SettlementBed
let requests: RequestDriver
let oracles: StandInOracles
let sponsor: TestSponsor

beforeAll(async () => {
  oracles = await startStandInOracles()
  bed = await startSettlementBed({ oracles: async () => oracles.setting })
  requests = bed.requests
})
afterAll(async () => {
  await bed?.stop()
  await oracles?.stop()
})
beforeEach(async () => {
  oracles.set()
  sponsor = await createSponsor(bed.database, balance)
})

const nodeOf = (chain: UserChain) => bed.network.chains[chain].chain.node
const heightOf = (chain: UserChain) => bed.network.chains[chain].chain.client.getBlockNumber()
const freshAddress = () => privateKeyToAddress(generatePrivateKey())

/** A node that is set back keeps the time of then. */
async function mineNow(chain: UserChain): Promise<void> {
  const { timestamp } = await bed.network.chains[chain].chain.client.getBlock()
  const now = BigInt(Math.floor(Date.now() / 1_000))
  if (now > timestamp) await nodeOf(chain).setNextBlockTimestamp({ timestamp: now })
  await bed.network.mine(chain)
}

/** The market asks for recent blocks. */
async function quoted(
  amount: bigint,
  more: object = {},
  what: Partial<LocalRequest> = {},
): Promise<QuoteAnswer> {
  await Promise.all([mineNow('base'), mineNow('optimism')])
  let answer: QuoteAnswer | undefined
  await waitUntil('it is quoted', async () => {
    answer = await requests.quoted(sponsor, { ...what, amount, more }).catch(() => undefined)
    return answer !== undefined
  })
  if (answer === undefined) throw new Error('there is no quote')
  return answer
}

/** Runs what leaves the chain again. @returns what takes it away and lets another chain grow past it, from `instead` on */
async function onABranch(
  chain: UserChain,
  run: () => Promise<unknown>,
): Promise<(instead?: () => Promise<void>) => Promise<void>> {
  const id = await nodeOf(chain).snapshot()
  const before = await heightOf(chain)
  await run()
  return async (instead) => {
    const blocks = Number((await heightOf(chain)) - before) + 1
    await nodeOf(chain).revert({ id })
    await nodeOf(chain).increaseTime({ seconds: 1 })
    await instead?.()
    await bed.network.mine(chain, blocks)
  }
}

async function depositsOf({ requestId }: QuoteAnswer): Promise<readonly { state: string }[]> {
  return bed.database.query('select state from deposit_seen where request_id = $1 order by id', [
    bytesOf(requestId),
  ])
}
const hasDeposit = (quote: QuoteAnswer, state: string) =>
  waitUntil(`one is ${state}`, async () => (await depositsOf(quote)).some((row) => row.state === state))

/** The service has looked at the request so many times more, and found nothing to do. */
async function looksAgain(quote: QuoteAnswer, times = 2): Promise<void> {
  const before = (await requests.settlementOf(quote))?.attempts ?? 0
  await waitUntil('it is looked at again', async () => {
    const now = (await requests.settlementOf(quote))?.attempts ?? 0
    return Number(now) >= Number(before) + times
  })
}

async function settles(quote: QuoteAnswer): Promise<void> {
  await Promise.all([bed.network.mine('base', finalityBlocks), bed.network.mine('optimism', finalityBlocks)])
  await requests.reachesStage(quote, 'settled')
  const available = balance - (await quotedDebit(quote))
  expect(await moneyOf(bed.database, sponsor.wallet)).toEqual({ available, held: 0n })
  expect(await bed.database.transaction((tx) => verifyLedger(tx, { depth: 'all' }))).toEqual([])
}

/** In micro-USDC, whatever the fees are paid in; fixed when it was quoted. */
async function quotedDebit({ requestId }: QuoteAnswer): Promise<bigint> {
  const [row] = await bed.database.query<{ debit: bigint }>(
    'select debit_micro_usd as debit from request_sponsorship where request_id = $1',
    [bytesOf(requestId)],
  )
  return row?.debit ?? 0n
}

const resend = async (chain: UserChain, raw: Hex) =>
  bed.network.chains[chain].chain.client.request({ method: 'eth_sendRawTransaction', params: [raw] })

async function rawOf(chain: UserChain, hash: Hex): Promise<Hex> {
  const { client } = bed.network.chains[chain].chain
  const raw = await client.request<{
    Method: 'eth_getRawTransactionByHash'
    Parameters: [Hex]
    ReturnType: Hex
  }>({ method: 'eth_getRawTransactionByHash', params: [hash] })
  return raw
}

describe('a deposit', () => {
  test('is pending in the block that it is in, and a larger one in the block after', async () => {
    const quote = await quoted(small)
    await requests.execute(quote)
    const height = await heightOf('base')
    await requests.reaches(quote, 'pending')
    expect(await heightOf('base')).toBe(height)

    const other = await quoted(large)
    await requests.execute(other)
    await hasDeposit(other, 'seen')
    expect((await requests.statusOf(other)).status).toBe('waiting')
    await bed.network.mine('base')
    await requests.reaches(other, 'pending')
  })

  test('that a reorganization takes away before its pin binds nothing, and is filled once it is back', async () => {
    const quote = await quoted(large)
    const takeAway = await onABranch('base', () => requests.execute(quote))
    await hasDeposit(quote, 'seen')
    await takeAway()
    await hasDeposit(quote, 'orphaned')
    expect((await requests.statusOf(quote)).status).toBe('waiting')
    expect(await requests.settlementOf(quote)).toBeUndefined()
    expect((await moneyOf(bed.database, sponsor.wallet)).held).toBe(debitOf(quote))

    await requests.execute(quote)
    await bed.network.mine('base')
    await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
    await bed.network.mine('optimism')
    await requests.reaches(quote, 'success')
    await settles(quote)
  })

  test('that a reorganization takes away after its pin is not filled, and once it is back it is filled once', async () => {
    const quote = await quoted(small)
    const takeAway = await onABranch('base', () => requests.execute(quote))
    await requests.workFor(quote, 'fill')
    await takeAway()
    await hasDeposit(quote, 'orphaned')
    expect(await requests.openWork(quote, 'fill')).toBeUndefined()
    const [hold] = await bed.database.query('select state, pinned from hold where request_id = $1', [
      bytesOf(quote.requestId),
    ])
    expect(hold).toEqual({ state: 'reserved', pinned: false })

    await requests.execute(quote)
    await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
    await requests.reaches(quote, 'success')
    await settles(quote)
    expect((await depositsOf(quote)).map(({ state }) => state)).toEqual(['orphaned', 'taken'])
  })

  describe('that comes back after the deadline', () => {
    const end = ({ requestId }: QuoteAnswer, fromNow: string) =>
      bed.database.query(
        'update orders set deadline = clock_timestamp() + $2::interval where request_id = $1',
        [bytesOf(requestId), fromNow],
      )
    /** Its fill is asked for, then its block is gone. */
    const orphaned = async (quote: QuoteAnswer) => {
      const takeAway = await onABranch('base', async () => {
        await requests.execute(quote)
        await bed.network.mine('base')
      })
      const item = await requests.workFor(quote, 'fill')
      await takeAway()
      await hasDeposit(quote, 'orphaned')
      return item
    }
    const comesBack = async (quote: QuoteAnswer) => {
      await requests.execute(quote)
      await bed.network.mine('base')
    }

    test('L-65: pays the solver that filled meanwhile, and is not given back as well', async () => {
      const quote = await quoted(large)
      const item = await orphaned(quote)
      await bed.solver.carryOut(item)
      await requests.reaches(quote, 'submitted')
      await end(quote, '-1 second')
      await comesBack(quote)
      await hasDeposit(quote, 'taken')
      await bed.network.mine('optimism')
      await requests.reaches(quote, 'success')
      expect(await refundsOf(quote)).toEqual([])
      await settles(quote)
    })

    test('L-65, O-181: pays the solver that filled, although an operator gives back what a denied account paid', async () => {
      const quote = await quoted(large)
      const item = await orphaned(quote)
      await bed.solver.carryOut(item)
      await requests.reaches(quote, 'submitted')
      // CAST: the wire describes a request id as text.
      await bed.database.transaction((tx) => insertRelease(tx, quote.requestId as Hex, 'refund'))
      await comesBack(quote)
      await hasDeposit(quote, 'taken')
      await bed.network.mine('optimism')
      await requests.reaches(quote, 'success')
      expect(await refundsOf(quote)).toEqual([])
      await settles(quote)
    })

    test('L-65: is given back once it is sure that the reported fill never happened', async () => {
      const quote = await quoted(large)
      const item = await orphaned(quote)
      await bed.solver.report(item.id, `0x${'fe'.repeat(32)}`)
      await end(quote, '-1 second')
      await comesBack(quote)
      await hasDeposit(quote, 'taken')
      await looksAgain(quote)
      expect(await refundsOf(quote)).toEqual([])
      await end(quote, '-2 minutes')
      await bed.solver.carryOut(await requests.workFor(quote, 'refund'))
      await bed.network.mine('base', finalityBlocks)
      await requests.reaches(quote, 'refund')
      expect((await requests.statusOf(quote)).failReason).toBe('TRANSACTION_NOT_INCLUDED')
    })

    test('is given back at once where nothing was reported, and nothing can be any more', async () => {
      const quote = await quoted(large)
      const item = await orphaned(quote)
      await end(quote, '-1 second')
      await comesBack(quote)
      await bed.solver.carryOut(await requests.workFor(quote, 'refund'))
      expect((await bed.solver.report(item.id, `0x${'fd'.repeat(32)}`)).status).toBe(409)
    })

    test('pays the solver that filled although the sponsor has no money left', async () => {
      const quote = await quoted(small)
      const item = await orphaned(quote)
      await bed.solver.carryOut(item)
      await requests.reaches(quote, 'success')
      await bed.database.query(
        `update hold set expires_at = clock_timestamp() - interval '1 second' where request_id = $1`,
        [bytesOf(quote.requestId)],
      )
      await waitUntil(
        'its hold is over',
        async () => (await moneyOf(bed.database, sponsor.wallet)).held === 0n,
      )
      await bed.database.query(
        `update account set frozen = true, version = version + 1 where kind = 'sponsor' and owner = $1`,
        [sponsor.wallet],
      )
      await comesBack(quote)
      await hasDeposit(quote, 'taken')
      expect(await refundsOf(quote)).toEqual([])
    })

    const refundsOf = ({ requestId }: QuoteAnswer) =>
      bed.database.query(`select state from work_item where kind = 'refund' and request_id = $1`, [
        bytesOf(requestId),
      ])
  })

  describe('of a quote whose price the market left', () => {
    const selling = { pay: 'native', receive: 'USDC' } as const
    const moveEther = (usd: bigint) => movePrice(bed.network, { price: 'ETH/USD', answer: usd * 10n ** 8n })
    const showsEther = (usd: bigint) =>
      waitUntil(`ether is worth ${usd}`, async () => {
        await Promise.all([bed.network.mine('base'), bed.network.mine('optimism')])
        const price = bed.service.market.snapshot().price('ETH/USD')
        return !('reason' in price) && (price.usdX18 + 10n ** 12n) / 10n ** 18n === usd
      })
    const isRefunded = async (quote: QuoteAnswer) => {
      await waitUntil('it is refunded', async () => {
        await Promise.all([bed.network.mine('base'), bed.network.mine('optimism')])
        return (await requests.openWork(quote, 'refund')) !== undefined
      })
      await bed.solver.carryOut(await requests.workFor(quote, 'refund'))
      await bed.network.mine('base', finalityBlocks)
      // A fitting deposit may follow until the quote's own hold would be over.
      await expire(quote)
      await requests.reaches(quote, 'refund')
      expect((await requests.statusOf(quote)).failReason).toBe('QUOTE_EXPIRED_PRICE_MOVED')
      expect(await requests.openWork(quote, 'fill')).toBeUndefined()
      expect((await moneyOf(bed.database, sponsor.wallet)).held).toBe(0n)
    }
    const expire = ({ requestId }: QuoteAnswer) =>
      bed.database.query(
        `update orders set expires_at = clock_timestamp() - interval '1 minute' where request_id = $1`,
        [bytesOf(requestId)],
      )
    afterEach(async () => {
      await moveEther(2_500n)
      await showsEther(2_500n)
    })

    test('L-60: counts by its last block, and the fill that was asked for is withdrawn', async () => {
      const quote = await quoted(oneEther, {}, selling)
      const takeAway = await onABranch('base', async () => {
        await requests.execute(quote)
        await bed.network.mine('base')
      })
      await requests.workFor(quote, 'fill')
      await takeAway()
      await hasDeposit(quote, 'orphaned')
      await moveEther(2_300n)
      await showsEther(2_300n)
      await expire(quote)
      await requests.execute(quote)
      await isRefunded(quote)
    })

    test('L-63: is late in a block that says an earlier time than that at which it was not there', async () => {
      const quote = await quoted(oneEther, {}, selling)
      await moveEther(2_300n)
      await showsEther(2_300n)
      const beforeMs = Date.now()
      await requests.execute(quote)
      await hasDeposit(quote, 'seen')
      const [looked] = await bed.database.query<{ at: number }>(
        'select extract(epoch from mined_after)::float8 as at from deposit_seen where request_id = $1',
        [bytesOf(quote.requestId)],
      )
      expect(looked?.at).toBeGreaterThan(beforeMs / 1_000 - 60)
      expect(looked?.at).toBeLessThanOrEqual(Date.now() / 1_000)
      // As if the chain had stood still from the quote's price on, and said so of no block.
      await bed.database.query(
        `update deposit_seen d set mined_after = o.expires_at + interval '10 minutes'
         from orders o where o.request_id = d.request_id and d.request_id = $1`,
        [bytesOf(quote.requestId)],
      )
      await bed.network.mine('base', finalityBlocks)
      await isRefunded(quote)
    })
  })

  test('L-64: that never comes back ends as a failure, and its sponsor owes nothing', async () => {
    const quote = await quoted(small)
    const takeAway = await onABranch('base', () => requests.execute(quote))
    await requests.workFor(quote, 'fill')
    await takeAway()
    await hasDeposit(quote, 'orphaned')
    await bed.database.query(
      `update orders set deadline = clock_timestamp() - interval '1 second' where request_id = $1`,
      [bytesOf(quote.requestId)],
    )
    await requests.reaches(quote, 'failure')
    expect(await requests.statusOf(quote)).toMatchObject({ failReason: 'DEPOSIT_REORGED' })
    expect(await moneyOf(bed.database, sponsor.wallet)).toEqual({ available: balance, held: 0n })
  })
})

describe('a fill', () => {
  test('that a reorganization takes away before its success is waited for', async () => {
    const recipient = freshAddress()
    const quote = await quoted(large, { recipient })
    await requests.execute(quote)
    await bed.network.mine('base')
    const item = await requests.workFor(quote, 'fill')
    let raw: Hex = '0x'
    const takeAway = await onABranch('optimism', async () => {
      raw = await rawOf('optimism', await bed.solver.carryOut(item))
    })
    await requests.reaches(quote, 'submitted')
    await takeAway()
    await looksAgain(quote)
    expect(await requests.openWork(quote, 'fill')).toBeUndefined()
    await resend('optimism', raw)
    await bed.network.mine('optimism')
    await requests.reaches(quote, 'success')
    await settles(quote)
  })

  test('L-74: that a reorganization takes away after its success is not paid for before it is back and final', async () => {
    const quote = await quoted(small)
    await requests.execute(quote)
    const item = await requests.workFor(quote, 'fill')
    await bed.network.mine('base', finalityBlocks)
    let raw: Hex = '0x'
    // Honest oracles say nothing about a transaction that is not there.
    oracles.set('garbage', 'garbage', 'garbage')
    const takeAway = await onABranch('optimism', async () => {
      raw = await rawOf('optimism', await bed.solver.carryOut(item))
      await requests.reaches(quote, 'success')
    })
    await takeAway()
    await bed.network.mine('optimism', finalityBlocks)
    await looksAgain(quote)
    expect(await requests.stageOf(quote)).toBe('filled')
    expect((await moneyOf(bed.database, sponsor.wallet)).held).toBe(debitOf(quote))
    expect((await requests.statusOf(quote)).status).toBe('success')

    await resend('optimism', raw)
    await bed.network.mine('optimism', finalityBlocks)
    await looksAgain(quote)
    oracles.set()
    await settles(quote)
  })

  test('L-71: that failed is not asked for again while a reorganization may make it succeed', async () => {
    const recipient = freshAddress()
    const quote = await nativeQuote({ recipient })
    await requests.execute(quote)
    const item = await requests.workFor(quote, 'fill')
    let raw: Hex = '0x'
    const takeAway = await onABranch('optimism', async () => {
      await nodeOf('optimism').setCode({ address: recipient, bytecode: refusingCode })
      raw = await rawOf('optimism', await bed.solver.carryOut(item))
      await bed.network.mine('optimism')
    })
    await looksAgain(quote)
    expect(await workStateOf(item.id)).toMatchObject({ state: 'reported', attempts: 0 })
    await takeAway()
    await resend('optimism', raw)
    await bed.network.mine('optimism')
    await requests.reaches(quote, 'success')
    expect(await bed.network.chains.optimism.chain.client.getBalance({ address: recipient })).toBe(
      BigInt(quote.details.currencyOut.amount),
    )
    await settles(quote)
  })

  test('that failed for good is asked for again, and done once', async () => {
    const recipient = freshAddress()
    const quote = await nativeQuote({ recipient })
    await requests.execute(quote)
    const item = await requests.workFor(quote, 'fill')
    await nodeOf('optimism').setCode({ address: recipient, bytecode: refusingCode })
    await bed.solver.carryOut(item)
    await bed.network.mine('optimism', finalityBlocks)
    await waitUntil('it is open again', async () => (await workStateOf(item.id))?.state === 'open')
    expect(await workStateOf(item.id)).toEqual({ state: 'open', attempts: 1 })
    await nodeOf('optimism').setCode({ address: recipient, bytecode: '0x' })
    await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
    await requests.reaches(quote, 'success')
    await settles(quote)
  })
})

describe('a deposit that was paid for and leaves its chain', () => {
  const booked = async ({ requestId }: QuoteAnswer) =>
    (
      await bed.database.query<{ code: string; amount: bigint }>(
        `select code, amount from transfer where request_id = $1 and code in ('deposit_lost', 'deposit_found') order by seq`,
        [bytesOf(requestId)],
      )
    ).map(({ code, amount }) => `${code} ${amount}`)
  const isBooked = async (quote: QuoteAnswer, ...lines: readonly string[]) => {
    await expect.poll(() => booked(quote), { timeout: 60_000 }).toEqual(lines)
    expect(await checkBooks(bed.database, 'all')).toEqual([])
  }
  const stepsOf = async ({ requestId }: QuoteAnswer): Promise<readonly string[]> =>
    JSON.parse((await send(`${bed.url}/requests/${requestId}/timeline`)).text).steps.map(
      ({ step }: { step: string }) => step,
    )
  /** Deposits that left the chain come back in one block, where each deposit has another index among the events than before. */
  const bringBack = async (raws: readonly Hex[]) => {
    // Else it may be the same block.
    await bed.network.mine('base')
    await nodeOf('base').setAutomine(false)
    for (const raw of raws) await resend('base', raw)
    await bed.network.mine('base')
    await nodeOf('base').setAutomine(true)
  }
  const rawsSince = async (height: bigint): Promise<readonly Hex[]> => {
    const { client } = bed.network.chains.base.chain
    const raws: Hex[] = []
    for (let blockNumber = height + 1n; blockNumber <= (await heightOf('base')); blockNumber += 1n) {
      const { transactions } = await client.getBlock({ blockNumber })
      for (const hash of transactions) raws.push(await rawOf('base', hash))
    }
    return raws
  }
  const statesOf = async (quote: QuoteAnswer) => (await depositsOf(quote)).map(({ state }) => state)

  test('L-25, Q-50: is booked as a loss once it is filled, and the booking is taken back when it is back', async () => {
    const quote = await quoted(small)
    let raws: readonly Hex[] = []
    const before = await heightOf('base')
    const takeAway = await onABranch('base', async () => {
      await requests.execute(quote)
      const item = await requests.workFor(quote, 'fill')
      raws = await rawsSince(before)
      await bed.solver.carryOut(item)
    })
    await requests.reaches(quote, 'success')
    expect(await booked(quote)).toEqual([])
    await takeAway()
    await isBooked(quote, `deposit_lost ${small}`)
    expect((await stepsOf(quote)).slice(-2)).toEqual(['deposit-lost', 'loss-booked'])
    await bringBack(raws)
    await isBooked(quote, `deposit_lost ${small}`, `deposit_found ${small}`)
    expect(await stepsOf(quote)).toContain('loss-taken-back')
    await settles(quote)
  })

  test('L-26: is a finding of the audit where it is not booked, is booked and there, or with another amount', async () => {
    const quote = await quoted(small)
    const takeAway = await onABranch('base', async () => {
      await requests.execute(quote)
      await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
    })
    await requests.reaches(quote, 'success')
    await takeAway()
    await isBooked(quote, `deposit_lost ${small}`)
    const changes = [
      'loss_turns = 2',
      'amount = amount - 1',
      `loss_turns = 0, updated_at = clock_timestamp() - interval '6 minutes'`,
    ]
    for (const change of changes) {
      const changed = bed.database.transaction(async (tx) => {
        await tx.query(`update deposit_seen set ${change} where request_id = $1`, [bytesOf(quote.requestId)])
        const found = await findUnbookedLosses(tx)
        throw new Error(found.map(({ invariant }) => invariant).join())
      })
      await expect(changed, change).rejects.toThrow(/^I11$/)
    }
  })

  test('L-25, L-27: is booked once it is given back, and is not given back again when it is back', async () => {
    const quote = await quoted(small)
    const amount = small / 2n
    let raws: readonly Hex[] = []
    const before = await heightOf('base')
    // The refund stays, as one that was paid from money of the solver does.
    const takeAway = await onABranch('base', async () => {
      await requests.deposit(quote, { amount })
      const item = await requests.workFor(quote, 'refund')
      raws = await rawsSince(before)
      const refund = await bed.solver.carryOut(item)
      await waitUntil('it is done', async () => (await workStateOf(item.id))?.state === 'done')
      expect(refund).toMatch(/^0x/)
    })
    await hasDeposit(quote, 'refunded')
    await takeAway()
    await isBooked(quote, `deposit_lost ${amount}`)
    await bringBack(raws)
    await isBooked(quote, `deposit_lost ${amount}`, `deposit_found ${amount}`)
    expect(await statesOf(quote)).toEqual(['orphaned', 'refunded'])
    expect(await refundsOf(quote)).toHaveLength(1)
  })

  const refundsOf = ({ requestId }: QuoteAnswer) =>
    bed.database.query(`select subject from work_item where kind = 'refund' and request_id = $1`, [
      bytesOf(requestId),
    ])
  const goOn = () => bed.database.query('delete from chain_stop')

  /** Final blocks are looked at every half minute. */
  const isReadForGood = async ({ requestId }: QuoteAnswer) => {
    await bed.network.mine('base', 40)
    const read = async () => {
      const rows = await bed.database.query(
        `select from deposit_seen d join deposit_cursor c using (chain_id)
         where d.request_id = $1 and d.is_final and c.final_to > d.block_number and c.final_hash is not null`,
        [bytesOf(requestId)],
      )
      return rows.length > 0
    }
    await expect.poll(read, { timeout: 60_000 }).toBe(true)
  }

  /** Deposits, fills and settles where the deposit will leave the chain. */
  const settledOnABranch = async (quote: QuoteAnswer, after = async () => {}) => {
    let raws: readonly Hex[] = []
    const before = await heightOf('base')
    const takeAway = await onABranch('base', async () => {
      await requests.execute(quote)
      raws = await rawsSince(before)
      await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
      await requests.reaches(quote, 'success')
      await settles(quote)
      await after()
    })
    return { raws, takeAway }
  }

  test('L-27: is the one that was paid for when its order was settled and another block brings it back', async () => {
    const quote = await quoted(small)
    const { raws, takeAway } = await settledOnABranch(quote)
    await takeAway()
    await isBooked(quote, `deposit_lost ${small}`)
    await bringBack(raws)
    await isBooked(quote, `deposit_lost ${small}`, `deposit_found ${small}`)
    expect(await statesOf(quote)).toEqual(['orphaned', 'taken'])
    expect(await refundsOf(quote)).toEqual([])
    expect(await requests.stageOf(quote)).toBe('settled')
    await goOn()
  })

  test('L-27: is the one that was paid for when it was final, and was never seen to be gone', {
    timeout: 240_000,
  }, async () => {
    const quote = await quoted(small)
    const { raws, takeAway } = await settledOnABranch(quote, () => isReadForGood(quote))
    await takeAway(() => bringBack(raws))
    await expect.poll(() => statesOf(quote), { timeout: 60_000 }).toEqual(['orphaned', 'taken'])
    expect(await refundsOf(quote)).toEqual([])
    await isBooked(quote)
    await goOn()
  })

  test('L-27: is the one that is filled when its chain became shorter and has it in an earlier block', async () => {
    const quote = await quoted(small)
    const id = await nodeOf('base').snapshot()
    await bed.network.mine('base', 5)
    const before = await heightOf('base')
    await requests.execute(quote)
    const raws = await rawsSince(before)
    await requests.workFor(quote, 'fill')
    await nodeOf('base').revert({ id })
    await bringBack(raws)
    await expect.poll(() => statesOf(quote)).toEqual(['orphaned', 'taken'])
    expect(await refundsOf(quote)).toEqual([])
    await bed.solver.carryOut(await requests.workFor(quote, 'fill'))
    await requests.reaches(quote, 'success')
    await settles(quote)
    await isBooked(quote)
  })

  test('L-28: is booked although it was final and its request settled, and its chain stops', {
    timeout: 240_000,
  }, async () => {
    const quote = await quoted(small)
    const takeAway = await onABranch('base', async () => {
      await requests.execute(quote)
      const item = await requests.workFor(quote, 'fill')
      await bed.solver.carryOut(item)
      await requests.reaches(quote, 'success')
      await settles(quote)
      await isReadForGood(quote)
    })
    await takeAway()
    await bed.network.mine('base', 20)
    await isBooked(quote, `deposit_lost ${small}`)
    const stop = await bed.database.query(`select reason from chain_stop where told_by = 'operator'`)
    expect(stop).toMatchObject([{ reason: expect.stringMatching(/^final block [0-9]+ was 0x/) }])
    expect((await requests.statusOf(quote)).status).toBe('success')
    await goOn()
  })
})

test('L-71: a refund that failed is asked for again only once the failure is final', async () => {
  const refundTo = freshAddress()
  const quote = await nativeQuote({ refundTo })
  await requests.deposit(quote, { token: nativeAddress, amount: nativeAmount - 1n })
  const item = await requests.workFor(quote, 'refund')
  await nodeOf('base').setCode({ address: refundTo, bytecode: refusingCode })
  await bed.solver.carryOut(item)
  await bed.network.mine('base')
  await isLookedAt(item.id)
  await isLookedAt(item.id)
  expect(await workStateOf(item.id)).toEqual({ state: 'reported', attempts: 0 })
  await bed.network.mine('base', finalityBlocks)
  await waitUntil('it is open again', async () => (await workStateOf(item.id))?.state === 'open')
  await nodeOf('base').setCode({ address: refundTo, bytecode: '0x' })
  await bed.solver.carryOut(await requests.workFor(quote, 'refund'))
  await waitUntil('it is done', async () => (await workStateOf(item.id))?.state === 'done')
  expect(await bed.network.chains.base.chain.client.getBalance({ address: refundTo })).toBeGreaterThan(0n)
})

const nativeAmount = 10_000_000_000_000_000n

async function nativeQuote(more: object): Promise<QuoteAnswer> {
  return quoted(nativeAmount, { originCurrency: nativeAddress, destinationCurrency: nativeAddress, ...more })
}

async function workStateOf(id: string) {
  const [row] = await bed.database.query<{ state: string; attempts: number }>(
    'select state, attempts from work_item where id = $1',
    [id],
  )
  return row
}

/** A reported item is written at every look. */
async function isLookedAt(id: string): Promise<void> {
  const read = async () => {
    const [row] = await bed.database.query<{ at: string }>(
      'select updated_at::text as at from work_item where id = $1',
      [id],
    )
    return row?.at
  }
  const before = await read()
  await waitUntil('it is looked at', async () => (await read()) !== before)
}
