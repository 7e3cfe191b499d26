// Invariants of the timeline of every request, whatever a test did to it: every end or stop of a request is told, and
// every reason is a listed one.

import { type Hex, maxBigint } from '@causeway/core'
import type { Database } from '@causeway/database'
import {
  EthereumFees,
  type GasShape,
  gasShapes,
  gasUnits,
  type NetworkFees,
  permitKinds,
} from '@causeway/families/rules'
import type { TestNetwork } from '@causeway/localnet'
import { zeroAddress } from 'viem'
import { expect } from 'vitest'
import { isReason } from '../../src/requests/status/reasons.ts'
import { createTimelines } from '../../src/requests/timeline/readTimeline.ts'
import type { Timeline } from '../../src/requests/timeline/timeline.ts'
import type { StepName } from '../../src/requests/timeline/timelineStep.ts'
import type { WorkKind } from '../../src/requests/work/workItem.ts'

const endings: Readonly<Record<string, StepName>> = {
  success: 'succeeded',
  refund: 'refunded',
  failure: 'failed',
}
const ofDeposits: Readonly<Record<string, StepName>> = {
  seen: 'deposit-seen',
  taken: 'deposit-accepted',
  refund_due: 'deposit-to-return',
  refunded: 'deposit-returned',
  ignored: 'deposit-kept',
  held: 'deposit-stopped',
  orphaned: 'deposit-lost',
}

/** Checks every request of a database that has any event. The database must not change meanwhile. */
export async function expectStories(database: Database): Promise<void> {
  const rows = await database.query<StoredRequest>(`
    select o.request_id, o.status, o.fail_reason, s.stage, s.parked_reason,
      (select coalesce(json_agg(d.state), '[]') from deposit_seen d where d.request_id = o.request_id) as deposits,
      (select coalesce(json_agg(h.state), '[]') from hold h where h.request_id = o.request_id) as holds,
      (select count(*) from request_transaction t where t.request_id = o.request_id and t.role = 'fill') as fills,
      (select count(*) from work_item w where w.request_id = o.request_id) as work
    from orders o left join settlement s on s.request_id = o.request_id
    where o.status <> 'waiting' or exists (select 1 from request_event e where e.request_id = o.request_id)`)
  const timelines = createTimelines({ database, nameOf: () => undefined })
  for (const row of rows) holds(row, await timelines.read(`0x${row.request_id.toString('hex')}`))
}

/** Cost of a transaction, in smallest units of the native coin, and the price of its chain at that moment. */
export type Charged = { readonly cost: bigint; readonly fees: NetworkFees; readonly nativeCurrency: string }

/** Undefined where no block has the transaction. */
export type CostOf = (chainId: number, hash: Hex) => Promise<Charged | undefined>

/**
 * Nothing that a test had sent costs more than half more than was charged for it: fills and claims what their work says,
 * refunds what their deposit leaves or what a plain one costs where that is more, sweeps and permits what plain ones cost.
 * @source rule P-56
 */
export async function expectCharges(database: Database, costOf: CostOf): Promise<void> {
  const sent = await database.query<SentWork>(`
    select w.id, w.kind, w.chain_id, w.tx_hash, w.payload, (select d.amount::text from deposit_seen d
      where d.request_id = w.request_id and d.currency = w.payload ->> 'currency'
        and d.chain_id = w.chain_id and d.tx_hash = w.payload -> 'deposits' -> 0 ->> 'transactionId' limit 1) as deposited
    from work_item w where w.tx_hash is not null and w.kind <> 'recovery'`)
  for (const work of sent) {
    const paid = await costOf(Number(work.chain_id), work.tx_hash)
    const charged = paid && chargedFor(work, paid)
    if (paid !== undefined && charged !== undefined)
      expect(
        2n * paid.cost,
        `P-56: ${work.kind} ${work.id} costs ${paid.cost}, charged ${charged}`,
      ).toBeLessThanOrEqual(3n * charged)
  }
}

type SentWork = {
  readonly id: string
  readonly kind: WorkKind
  readonly chain_id: bigint
  readonly tx_hash: Hex
  readonly payload: Readonly<Record<string, unknown>>
  readonly deposited: string | null
}

/** Undefined for what an earlier release stored, and for calls whose gas nobody named. */
function chargedFor(
  { kind, payload, deposited }: SentWork,
  { fees, nativeCurrency }: Charged,
): bigint | undefined {
  const { gasCharged, currency, amount, permitKind, gasUnits: units, swap } = payload
  const isNative = currency === nativeCurrency
  switch (kind) {
    case 'fill':
    case 'claim':
      return gasCharged === undefined ? undefined : BigInt(String(gasCharged))
    case 'refund': {
      const plain = fees.costOf({ kind, isNative })
      return isNative && deposited !== null
        ? maxBigint(plain, BigInt(deposited) - BigInt(String(amount)))
        : plain
    }
    case 'sweep':
      return fees.costOf({ kind: swap === undefined ? kind : 'sweep-swap', isNative })
    case 'permit': {
      if (permitKind === 'calls' && units === undefined) return undefined
      if (permitKind === 'calls')
        return fees.costOf({ kind: 'execute-swap', isNative, overheadUnits: BigInt(String(units)) })
      const relayed =
        permitKind === 'permit2' ? 'permit2-swap' : permitKinds.find((one) => one === permitKind)
      return fees.costOf({ kind: `permit-${relayed ?? 'permit2-swap'}`, isNative: false })
    }
    case 'recovery':
      return undefined
  }
}

/** Costs by the receipts of the two EVM chains; undefined on every other chain. */
export function costOnChains({ chains }: Pick<TestNetwork, 'chains'>): CostOf {
  return async (chainId, hash) => {
    const found = Object.values(chains).find(({ chain }) => chain.client.chain?.id === chainId)
    const receipt = await found?.chain.client.getTransactionReceipt({ hash }).catch(() => undefined)
    if (receipt === undefined) return undefined
    const { gasUsed, effectiveGasPrice: expectedWei } = receipt
    const gasPrice = { expectedWei, maxFeePerGasWei: expectedWei, maxPriorityFeePerGasWei: 0n }
    // CAST: an entry for each shape.
    const l1DataFeeWei = Object.fromEntries(gasShapes.map((shape) => [shape, 0n])) as Record<GasShape, bigint>
    const fees = new EthereumFees({ gasPrice, gasUnits, l1DataFeeWei })
    return { cost: gasUsed * expectedWei, fees, nativeCurrency: zeroAddress }
  }
}

type StoredRequest = {
  readonly request_id: Buffer
  readonly status: string
  readonly fail_reason: string | null
  readonly stage: string | null
  readonly parked_reason: string | null
  readonly deposits: readonly string[]
  readonly holds: readonly string[]
  readonly fills: bigint
  readonly work: bigint
}

function holds(row: StoredRequest, timeline: Timeline): void {
  const { steps, reason } = timeline
  const names = steps.map(({ step }) => step)
  const story = JSON.stringify(
    { ...row, request_id: timeline.requestId, fills: Number(row.fills), work: Number(row.work), timeline },
    null,
    1,
  )
  const must = (isTrue: boolean, rule: string) => expect(isTrue, `${rule}: ${story}`).toBe(true)

  must(names[0] === 'quoted', 'a story begins with its quote')
  must(
    steps.every(({ text }) => !/UNKNOWN|undefined|null|earlier release/.test(text)),
    'every sentence says something',
  )
  must(
    steps.every((step) => step.reason === undefined || isReason(step.reason)),
    'every reason is in the list',
  )
  const ending = endings[row.status]
  if (ending !== undefined) must(names.includes(ending), `its end, ${row.status}, is told`)
  if (row.status === 'refund' || row.status === 'failure')
    must(row.stage === null || reason === row.fail_reason, 'the reason of its end is told')
  if (row.stage === 'parked')
    must(
      names.includes('parked') && (reason === row.parked_reason || reason === 'DEPOSIT_RECOVERABLE'),
      'why it is parked is told',
    )
  if (row.stage === 'settled')
    must(
      names.some((name) => ['attested', 'ended-by-operator', 'settled'].includes(name)),
      'who attested it is told',
    )
  for (const state of row.deposits)
    must(names.includes(ofDeposits[state] ?? 'quoted'), `a deposit that is ${state} is told`)
  must(names.filter((name) => name === 'deposit-seen').length >= row.deposits.length, 'every deposit is told')
  const over = row.holds.filter((state) => state !== 'reserved').length
  must(
    names.filter((name) => name === 'sponsor-debited' || name === 'funds-released').length === over,
    'what became of every hold is told',
  )
  must(names.filter((name) => name === 'fill-seen').length >= Number(row.fills), 'every fill is told')
  must(
    names.filter((name) => name === 'asked-solver').length >= Number(row.work),
    'everything that the solver was asked for is told',
  )
}
