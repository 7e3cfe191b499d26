// Goal: whatever happens in whatever order, the ledger answers and holds what a second, independent telling
// of its rules does. Method: random commands against both; after each the balances and the cheap
// invariants, at the end of a run all of them. CAUSEWAY_FAULTS=1 runs the long form.
import type { HoldRequest, SqlWriteTx } from '@causeway/core'
import type { TestDatabase } from '@causeway/database'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createLedger,
  finalizeTopUp,
  type ObservedTopUp,
  openAccount,
  orphanTopUp,
  recordTopUp,
  setPolicy,
  setSponsorFrozen,
  verifyLedger,
} from '../src/index.ts'
import { byTest, fund, holdNamed, requestIdOf, startLedgerBed } from './support/ledgerBed.ts'
import { LedgerModel } from './support/ledgerModel.ts'

const isLongForm = process.env['CAUSEWAY_FAULTS'] === '1'
const runs = isLongForm ? 1_000 : 100
const stepsPerRun = 50

let bed: TestDatabase
const ledger = createLedger({
  caps: { holdsPerUser: 2, holdsPerKey: 1_000, unsettledShareBps: 5_000n },
})
const limits = { holdsPerUser: 2, unsettledShareBps: 5_000n }

beforeAll(async () => {
  bed = await startLedgerBed()
})
afterAll(() => bed?.stop())

const name = (prefix: string, count: number) => fc.nat(count - 1).map((n) => `${prefix}${n}`)
const requestOf = fc.record({
  id: name('r', 12),
  sponsor: name('sponsor', 2),
  apiKeyId: name('key', 2),
  user: name('u', 3),
  recipient: name('u', 3),
  requoteKey: name('q', 5),
  amountMicroUsd: fc.bigInt(1n, 40n),
})
const id = name('r', 12)
const command = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('fund' as const),
      sponsor: name('sponsor', 2),
      amount: fc.bigInt(1n, 300n),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('see' as const),
      topUp: fc.nat(3),
      sponsor: name('sponsor', 2),
      amount: fc.bigInt(1n, 300n),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('final' as const, 'orphan' as const),
      topUp: fc.nat(3),
    }),
  },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('reserve' as const), request: requestOf }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('batch' as const, 'free' as const),
      requests: fc.array(requestOf, { minLength: 1, maxLength: 5 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('again' as const), id }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pin' as const), id }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('unpin' as const), id }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('post' as const), id, amount: fc.bigInt(0n, 45n) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('void' as const), id }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pass' as const), id }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('sweep' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('freeze' as const),
      sponsor: name('sponsor', 2),
      frozen: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('policy' as const),
      apiKeyId: name('key', 2),
      maxTotal: fc.option(fc.bigInt(0n, 200n), { nil: undefined }),
      maxCountPerUser: fc.option(fc.nat(4), { nil: undefined }),
    }),
  },
)
type Drawn = typeof requestOf extends fc.Arbitrary<infer Value> ? Value : never
type Command = typeof command extends fc.Arbitrary<infer Value> ? Value : never

/** One transfer in one block: seen again it is the same, or a second sighting after it was dropped. */
function topUpOf(topUp: string, sponsor: string, value: bigint): ObservedTopUp {
  const address = (digit: string) => `0x${digit.repeat(40)}` as const
  return {
    chainId: 8_453,
    transactionHash: requestIdOf(topUp),
    blockNumber: 5n,
    blockHash: requestIdOf('block'),
    token: address('d'),
    custody: address('c'),
    log: { logIndex: 0, ordinal: 0, from: address('f'), value },
    // CAST: the ledger takes any name as owner; the model's names are shorter than addresses.
    verdict: { kind: 'credit', parse: 'ok', owner: sponsor as `0x${string}` },
    tail: undefined,
  }
}

const inAnHour = () => new Date(Date.now() + 3_600_000)

/** One run: names of its own, the model beside the ledger. */
class Run {
  readonly #model = new LedgerModel(limits)
  readonly #tx: SqlWriteTx
  readonly #prefix: string
  readonly #events = new Map<string, bigint>()
  #funds = 0

  constructor(tx: SqlWriteTx, prefix: string) {
    this.#tx = tx
    this.#prefix = prefix
  }

  async step(step: Command): Promise<void> {
    const [ours, theirs] = (await this.#both(step)).map(endedWithoutDebit)
    expect(
      ours,
      JSON.stringify(step, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
    ).toEqual(theirs)
    for (const sponsor of ['sponsor0', 'sponsor1'].map((own) => this.#named(own))) {
      expect(await ledger.balance(this.#tx, sponsor)).toMatchObject({
        availableMicroUsd: this.#model.available(sponsor),
        heldMicroUsd: this.#model.held(sponsor),
        pendingMicroUsd: this.#model.pending(sponsor),
      })
    }
    expect(await verifyLedger(this.#tx, { depth: 'cheap' })).toEqual([])
  }

  async #both(step: Command): Promise<readonly [unknown, unknown]> {
    const model = this.#model
    const tx = this.#tx
    switch (step.do) {
      case 'fund': {
        this.#funds += 1
        const sponsor = this.#named(step.sponsor)
        await fund(tx, sponsor, step.amount, `${sponsor} ${this.#funds}`)
        return [undefined, model.fund(sponsor, step.amount)]
      }
      case 'see': {
        const topUp = this.#topUp(step.topUp)
        const sponsor = this.#named(step.sponsor)
        const { eventId } = await recordTopUp(tx, topUpOf(topUp, sponsor, step.amount), { replace: false })
        this.#events.set(topUp, eventId ?? 0n)
        return [undefined, model.see(topUp, sponsor, step.amount)]
      }
      case 'final': {
        const topUp = this.#topUp(step.topUp)
        return [await finalizeTopUp(tx, this.#events.get(topUp) ?? 0n, {}), model.settle(topUp, 'final')]
      }
      case 'orphan': {
        const topUp = this.#topUp(step.topUp)
        return [await orphanTopUp(tx, this.#events.get(topUp) ?? 0n), model.settle(topUp, 'orphaned')]
      }
      case 'reserve':
        return this.#reserve([step.request])
      case 'batch':
        return this.#reserve(step.requests)
      case 'free':
        return this.#reserveFree(step.requests)
      case 'again': {
        const requestId = this.#id(step.id)
        const { status } = await ledger.reserveAgain(tx, { requestId, until: inAnHour() })
        return [status, model.reserveAgain(requestId)]
      }
      case 'pin': {
        const requestId = this.#id(step.id)
        return [(await ledger.pin(tx, { requestId, until: inAnHour() })).status, model.pin(requestId)]
      }
      case 'unpin': {
        const requestId = this.#id(step.id)
        return [(await ledger.unpin(tx, { requestId, expiresAt: inAnHour() })).status, model.unpin(requestId)]
      }
      case 'post': {
        const post = { requestId: this.#id(step.id), amountMicroUsd: step.amount, evidence: {} }
        return [(await ledger.post(tx, post)).status, model.post(post.requestId, step.amount)]
      }
      case 'void': {
        const requestId = this.#id(step.id)
        return [(await ledger.void(tx, { requestId, reason: 'test' })).status, model.void(requestId)]
      }
      case 'pass':
        await tx.query(
          `update hold set expires_at = created_at where request_id = $1 and state = 'reserved'`,
          [Buffer.from(this.#id(step.id).slice(2), 'hex')],
        )
        return [undefined, model.letPass(this.#id(step.id))]
      case 'sweep':
        return [await ledger.expireDue(tx, { limit: 1_000 }), model.sweep()]
      case 'freeze': {
        const sponsor = this.#named(step.sponsor)
        await openAccount(tx, { kind: 'sponsor', owner: sponsor })
        await setSponsorFrozen(tx, { sponsor, frozen: step.frozen, ...byTest })
        if (step.frozen) model.frozen.add(sponsor)
        else model.frozen.delete(sponsor)
        return [undefined, undefined]
      }
      case 'policy': {
        const { maxTotal, maxCountPerUser } = step
        const rules = {
          ...(maxTotal !== undefined && { maxTotal }),
          ...(maxCountPerUser !== undefined && { maxCountPerUser }),
        }
        const apiKeyId = this.#named(step.apiKeyId)
        const written = { ...rules, ...(maxTotal !== undefined && { maxTotal: maxTotal.toString() }) }
        await setPolicy(tx, { apiKeyId, rules: written, actor: 'test' })
        model.policies.set(apiKeyId, rules)
        return [undefined, undefined]
      }
    }
  }

  async #reserve(drawn: readonly Drawn[]) {
    const requests = this.#requests(drawn)
    const outcomes = await ledger.reserveBatch(this.#tx, requests)
    return [outcomes.map(({ status }) => status), this.#expected(requests)] as const
  }

  /** First whoever needs to wait for nobody, then the others. */
  async #reserveFree(drawn: readonly Drawn[]) {
    const requests = this.#requests(drawn)
    const outcomes = await ledger.reserveFree(this.#tx, requests)
    const [free, busy] = [false, true].map((isBusy) =>
      requests.filter((_, index) => (outcomes[index]?.status === 'busy') === isBusy),
    )
    const freeStatuses = outcomes.map(({ status }) => status).filter((status) => status !== 'busy')
    const expected = this.#expected(free ?? [])
    const later = await ledger.reserveBatch(this.#tx, busy ?? [])
    return [
      [...freeStatuses, ...later.map(({ status }) => status)],
      [...expected, ...this.#expected(busy ?? [])],
    ] as const
  }

  #requests(drawn: readonly Drawn[]): readonly HoldRequest[] {
    return drawn.map((request): HoldRequest => {
      const { id: own, sponsor, apiKeyId, ...rest } = request
      return {
        ...holdNamed(`${this.#prefix} ${own}`, rest),
        sponsor: this.#named(sponsor),
        apiKeyId: this.#named(apiKeyId),
        // Quotes with one re-quote key have one route.
        destinationChainId: rest.requoteKey < 'q2' ? 10 : 42_161,
      }
    })
  }

  /** Sponsors are decided one after the other; each sees its own requests in order. */
  #expected(requests: readonly HoldRequest[]): readonly (string | undefined)[] {
    const expected = new Map<HoldRequest, string>()
    for (const sponsor of [...new Set(requests.map((request) => request.sponsor))].toSorted()) {
      for (const request of requests.filter((one) => one.sponsor === sponsor)) {
        expected.set(request, this.#model.reserve(request))
      }
    }
    return requests.map((request) => expected.get(request))
  }

  #topUp(n: number): string {
    return `${this.#prefix} top-up ${n}`
  }

  #named(own: string): string {
    return `${this.#prefix}-${own}`
  }

  #id(own: string) {
    return requestIdOf(`${this.#prefix} ${own}`)
  }
}

test(
  'the ledger answers and holds what its model does',
  async () => {
    let run = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(command, { minLength: stepsPerRun, maxLength: stepsPerRun }),
        async (steps) => {
          run += 1
          // Taken back at its end, so that a run never looks at the holds of another.
          const taken = bed.database.transaction(async (tx) => {
            const one = new Run(tx, `run${run}`)
            for (const step of steps) await one.step(step)
            expect(await verifyLedger(tx)).toEqual([])
            throw new TakenBack()
          })
          await expect(taken).rejects.toBeInstanceOf(TakenBack)
        },
      ),
      { numRuns: runs, endOnFailure: true },
    )
  },
  isLongForm ? 3_600_000 : 240_000,
)

/**
 * Either a re-quote voids a hold that is due, or the sweep that the re-quote started expires it before: both end it
 * without a debit.
 */
function endedWithoutDebit(status: unknown): unknown {
  return status === 'already_voided' ? 'expired' : status
}

class TakenBack extends Error {}
