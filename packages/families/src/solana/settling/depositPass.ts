import type { EndpointView } from '@causeway/rpc'
import { MalformedAnswerError } from '@causeway/rpc'
import type { BlockRef, PassRange, SettlingPass } from '../../shared/settlingChain.ts'
import { type ListedTransaction, parseBlockAt, parseHead, parseSignatures } from '../reading/answers.ts'
import { blockCall, headCall, signaturesCall, signaturesMax } from '../reading/requests.ts'

/** Stands for the hash of a slot without a block; no real hash is spelled so. */
const noBlock = 'skipped'

/**
 * Positions in each endpoint's list of the program's transactions, by the endpoint's alias. Lists begin with the newest
 * entry, so slots that were not read for long are many pages behind. Only final transactions are kept as positions,
 * because no endpoint forgets them.
 */
export type ListPositions = Map<string, readonly Pick<ListedTransaction, 'transactionId' | 'slot'>[]>

/** Limit of positions in one endpoint's list; those farthest above the range are dropped. */
const positionsMax = 10_000

/** A range of slots, and the depository's program whose transactions are listed. */
type ListQuestion = PassRange & { readonly program: string; readonly listPositions: ListPositions }

/**
 * One endpoint's view of a range of slots: the blocks at both of its ends, and all successful transactions that name
 * the program, by slot and then by id. The last block is read before the list: a node that shows it lists all of the
 * range. An endpoint that has not reached the end of the range returns no last block and no transactions.
 * @throws MalformedAnswerError, also where the node has dropped a block of the ends
 */
export async function readDepositPass(
  view: EndpointView,
  question: ListQuestion,
  signal: AbortSignal,
): Promise<SettlingPass> {
  const { known, to } = question
  const [head, ...blocks] = await view.ask([headCall(), blockCall(known), blockCall(to)], signal)
  const reached = parseHead(head)
  const [knownBlock, last] = [known, to].map((slot, index) =>
    slot > reached ? undefined : blockRefOf(slot, blocks[index]),
  )
  if (last === undefined) return { known: knownBlock, last, transactions: [] }
  const listed = await listTransactions(view, question, signal)
  return { known: knownBlock, last, transactions: listed.map(({ transactionId }) => transactionId) }
}

/** Blocks by slot, where the endpoint has reached them. @throws MalformedAnswerError */
export async function readBlockRefs(
  view: EndpointView,
  slots: readonly bigint[],
  signal: AbortSignal,
): Promise<readonly (BlockRef | undefined)[]> {
  const calls = slots.map((slot) => blockCall(slot))
  const [head, ...blocks] = await view.ask([headCall(), ...calls], signal)
  const reached = parseHead(head)
  return slots.map((slot, index) => (slot > reached ? undefined : blockRefOf(slot, blocks[index])))
}

function blockRefOf(slot: bigint, answer: Parameters<typeof parseBlockAt>[0]): BlockRef {
  return { number: slot, hash: parseBlockAt(answer)?.hash ?? noBlock }
}

/**
 * Successful transactions of the range. The list is read page by page from the remembered position nearest above the
 * range, or from its newest entry, back to the first slot of the range. Page ends above the range are remembered.
 */
async function listTransactions(
  view: EndpointView,
  { program, from, to, listPositions }: ListQuestion,
  signal: AbortSignal,
): Promise<readonly ListedTransaction[]> {
  const transactions = new Map<string, ListedTransaction>()
  let positionsAbove = (listPositions.get(view.alias) ?? []).filter(({ slot }) => slot > to)
  let before = positionsAbove.at(-1)?.transactionId
  for (;;) {
    const [answer] = await view.ask([signaturesCall(program, { before })], signal)
    const page = parseSignatures(answer)
    for (const entry of page) {
      const isInRange = entry.slot >= from && entry.slot <= to
      if (entry.succeeded && isInRange) transactions.set(entry.transactionId, entry)
    }
    const pageEnd = page.at(-1)
    const isLastPage = pageEnd === undefined || page.length < signaturesMax || pageEnd.slot < from
    // An endpoint that repeats a page would be asked forever.
    if (!isLastPage && pageEnd.transactionId === before)
      throw new MalformedAnswerError('getSignaturesForAddress')
    if (!isLastPage && pageEnd.isFinal && pageEnd.slot > to)
      positionsAbove = [...positionsAbove, pageEnd].slice(-positionsMax)
    listPositions.set(view.alias, positionsAbove)
    if (isLastPage) return [...transactions.values()].toSorted(bySlotAndId)
    before = pageEnd.transactionId
  }
}

function bySlotAndId(one: ListedTransaction, other: ListedTransaction): number {
  if (one.slot !== other.slot) return one.slot < other.slot ? -1 : 1
  return one.transactionId < other.transactionId ? -1 : 1
}
