// What must hold of the story of every request, whatever a test did to it: nothing that ends or stops it goes untold,
// and no reason is one that no list has.
import type { Hex } from '@causeway/core'
import type { Database } from '@causeway/database'
import type { TestNetwork } from '@causeway/localnet'
import { expect } from 'vitest'
import { isReason } from '../../src/requests/status/reasons.ts'
import { createTimelines } from '../../src/requests/timeline/readTimeline.ts'
import type { StepName, Timeline } from '../../src/requests/timeline/timeline.ts'

const endings: Readonly<Record<string, StepName>> = {
  success: 'succeeded',
  refund: 'refunded',
  failure: 'failed',
}
const ofDeposits: Readonly<Record<string, StepName>> = {
  ...{ seen: 'deposit-seen', taken: 'deposit-accepted', refund_due: 'deposit-to-return' },
  ...{
    refunded: 'deposit-returned',
    ignored: 'deposit-kept',
    held: 'deposit-stopped',
    orphaned: 'deposit-lost',
  },
}

/** Of every request of a database that something happened to. Nothing may change it meanwhile. */
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

/** Cost of a transaction, in smallest units of the native coin; undefined where no block has it. */
export type CostOf = (chainId: number, hash: Hex) => Promise<bigint | undefined>

/** No fill that a test made costs more than half more than was charged for its gas. @source rule P-56 */
export async function expectCharges(database: Database, costOf: CostOf): Promise<void> {
  const fills = await database.query<{ chain_id: bigint; tx_hash: Hex; charged: string; id: string }>(`
    select id, chain_id, tx_hash, payload ->> 'gasCharged' as charged from work_item
    where kind = 'fill' and tx_hash is not null and payload ->> 'gasCharged' is not null`)
  for (const { id, chain_id, tx_hash, charged } of fills) {
    const cost = await costOf(Number(chain_id), tx_hash)
    if (cost !== undefined)
      expect(2n * cost, `P-56: fill ${id} costs ${cost}, charged ${charged}`).toBeLessThanOrEqual(
        3n * BigInt(charged),
      )
  }
}

/** Costs by the receipts of the two EVM chains; undefined on every other chain. */
export function costOnChains({ chains }: Pick<TestNetwork, 'chains'>): CostOf {
  return async (chainId, hash) => {
    const found = Object.values(chains).find(({ chain }) => chain.client.chain?.id === chainId)
    const receipt = await found?.chain.client.getTransactionReceipt({ hash }).catch(() => undefined)
    return receipt && receipt.gasUsed * receipt.effectiveGasPrice
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
