import type { ChainDesk, Subject } from '../wallet/chainDesk.ts'
import { fillTransaction, needsOf, type PlannedTransaction } from '../wallet/fillTransaction.ts'
import type { Inventory } from '../wallet/inventory.ts'
import type { Outbox } from '../wallet/outbox.ts'
import type { Relay } from '../work/relays.ts'
import type { SignedRecord } from '../wallet/signedRecord.ts'
import type { SolverChainConfig } from './solverConfig.ts'
import { type PaidOrder, readItem, type WorkItem } from '../work/workItems.ts'

export type SolverChain = {
  readonly config: SolverChainConfig
  readonly desk: ChainDesk
  readonly inventory: Inventory
}

/** `signed` may be sent when the service agrees; `refused` is told to it; `later` looks again. */
export type Handled =
  | { readonly kind: 'signed'; readonly record: SignedRecord }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'later' }

const later: Handled = { kind: 'later' }
/** Less time than this is too little to be mined in. */
const minedWithinSeconds = 15

/** Works on an open item once, or finds that it was worked on. */
export async function handleItem(
  item: WorkItem,
  { chains, outbox }: { readonly chains: readonly SolverChain[]; readonly outbox: Outbox },
): Promise<Handled> {
  const record = outbox.latest(item.id)
  if (record !== undefined && !mayTryAgain(record)) return later
  const reading = readItem(item)
  if (reading.kind === 'other') return later
  if (reading.kind === 'broken') return refused(reading.reason)
  if (reading.kind === 'relay') return relay(item.id, reading.relay, chains)
  const { order } = reading
  const chain = chains.find(({ config }) => config.chainId === order.chainId)
  if (chain === undefined) return refused(`chain ${order.chainId} is none of this solver's`)
  if (chain.config.fillContract !== order.fillContract) return refused('the fill contract is another one')
  if (order.kind !== 'refund' && isPaidByAnother(item.id, order, outbox.all()))
    return refused(`another item ${order.kind === 'fill' ? 'filled the order' : 'paid the claim'}`)
  const replaced = outbox.all().find(({ transaction }) => transaction.hash === order.replaces)
  if (replaced !== undefined && !hasFailed(replaced)) {
    if (replaced.outcome === 'done') return refused('the fill that it replaces was mined')
    await chains.find(({ config }) => config.chainId === replaced.chainId)?.desk.cancel(replaced)
    return later
  }
  return pay(item.id, order, chain)
}

async function pay(id: string, order: PaidOrder, { desk, inventory }: SolverChain): Promise<Handled> {
  if (await isTooLate(desk, order)) return refused('the deadline has passed')
  for (const [currency, amount] of needsOf(order)) {
    if (!(await inventory.has(currency, amount))) return later
  }
  const { kind, orderId, deadline } = order
  return begin(desk, { id, kind, orderId, deadline }, fillTransaction(order))
}

async function relay(
  id: string,
  { kind, chainId, contract, deadline, transaction }: Relay,
  chains: readonly SolverChain[],
): Promise<Handled> {
  const chain = chains.find(({ config }) => config.chainId === chainId)
  if (chain === undefined) return refused(`chain ${chainId} is none of this solver's`)
  const { depositAddresses, permitRouter } = chain.config
  const own = kind === 'sweep' ? depositAddresses : permitRouter
  if (contract !== own) return refused('the contract is another one')
  if (await isTooLate(chain.desk, { deadline })) return refused('the deadline has passed')
  return begin(chain.desk, { id, kind, deadline }, transaction)
}

async function isTooLate(desk: ChainDesk, { deadline }: { readonly deadline: number }): Promise<boolean> {
  const { chainTime } = await desk.wallet.counts()
  return chainTime + minedWithinSeconds > deadline
}

async function begin(desk: ChainDesk, subject: Subject, transaction: PlannedTransaction): Promise<Handled> {
  const simulation = await desk.wallet.simulate(transaction)
  if (!simulation.succeeds) return refused(simulation.reason)
  return { kind: 'signed', record: await desk.begin(subject, { ...transaction, gas: simulation.gas }) }
}

const refused = (reason: string): Handled => ({ kind: 'refused', reason })

export const hasFailed = ({ outcome }: SignedRecord) => outcome !== 'open' && outcome !== 'done'

/** After the service was told of a final failure and still lists the item, it wants another attempt. */
const mayTryAgain = (record: SignedRecord) => hasFailed(record) && record.failureReported

/** The fill contract has no guard of its own: an order is filled, and a claim paid, by one item alone. */
function isPaidByAnother(id: string, order: PaidOrder, records: readonly SignedRecord[]): boolean {
  return records.some(
    (record) =>
      record.kind === order.kind &&
      record.orderId === order.orderId &&
      record.id !== id &&
      !hasFailed(record),
  )
}
