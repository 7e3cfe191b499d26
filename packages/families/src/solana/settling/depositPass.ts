import type { EndpointView } from '@causeway/rpc'
import { MalformedAnswerError } from '@causeway/rpc'
import type { BlockMark, PassRange, SettlingPass } from '../../shared/settlingChain.ts'
import { type ListedTransaction, parseBlockAt, parseHead, parseSignatures } from '../reading/answers.ts'
import { blockCall, headCall, signaturesCall, signaturesMax } from '../reading/requests.ts'

/** Stands for the hash of a slot without a block; no real hash is spelled so. */
const noBlock = 'skipped'

/**
 * Positions in each endpoint's list of the program's transactions, by the endpoint's alias. Lists begin with the newest
 * entry, so slots that were not read for long are many pages behind. Only final transactions are kept as positions,
 * because no endpoint forgets them.
 */
export type PageMarks = Map<string, readonly Pick<ListedTransaction, 'transactionId' | 'slot'>[]>

const marksMax = 10_000

/**
 * One endpoint's view of a range of slots: the blocks at both of its ends, and all successful transactions that name
 * the program, by slot and then by id. The last block is read before the list: a node that shows it lists all of the
 * range. An endpoint that has not reached the range returns no last block, and nothing is compared.
 * @throws MalformedAnswerError, also where the node has dropped a block of the ends
 */
export async function readDepositPass(
  view: EndpointView,
  question: PassRange & { readonly program: string; readonly marks: PageMarks },
  signal: AbortSignal,
): Promise<SettlingPass> {
  const { known, to } = question
  const [head, ...blocks] = await view.ask([headCall(), blockCall(known), blockCall(to)], signal)
  const reached = parseHead(head)
  const [knownMark, last] = [known, to].map((slot, index) =>
    slot > reached ? undefined : markAt(slot, blocks[index]),
  )
  if (last === undefined) return { known: knownMark, last, transactions: [] }
  const listed = await listTransactions(view, question, signal)
  return { known: knownMark, last, transactions: listed.map(({ transactionId }) => transactionId) }
}

/** Blocks by slot, where the endpoint has reached them. @throws MalformedAnswerError */
export async function readBlockMarks(
  view: EndpointView,
  slots: readonly bigint[],
  signal: AbortSignal,
): Promise<readonly (BlockMark | undefined)[]> {
  const calls = slots.map((slot) => blockCall(slot))
  const [head, ...blocks] = await view.ask([headCall(), ...calls], signal)
  const reached = parseHead(head)
  return slots.map((slot, index) => (slot > reached ? undefined : markAt(slot, blocks[index])))
}

function markAt(slot: bigint, answer: Parameters<typeof parseBlockAt>[0]): BlockMark {
  return { number: slot, hash: parseBlockAt(answer)?.hash ?? noBlock }
}

/** Reads the list from the newest position above the range back to its first slot, and remembers new positions. */
async function listTransactions(
  view: EndpointView,
  { program, from, to, marks }: PassRange & { readonly program: string; readonly marks: PageMarks },
  signal: AbortSignal,
): Promise<readonly ListedTransaction[]> {
  const transactions = new Map<string, ListedTransaction>()
  let positions = (marks.get(view.alias) ?? []).filter(({ slot }) => slot > to)
  let before = positions.at(-1)?.transactionId
  let isDone = false
  while (!isDone) {
    const [answer] = await view.ask([signaturesCall(program, { before })], signal)
    const page = parseSignatures(answer)
    for (const entry of page) {
      const isInRange = entry.slot >= from && entry.slot <= to
      if (entry.succeeded && isInRange) transactions.set(entry.transactionId, entry)
    }
    const oldest = page.at(-1)
    isDone = oldest === undefined || page.length < signaturesMax || oldest.slot < from
    // An endpoint that repeats a page would be asked forever.
    if (!isDone && oldest?.transactionId === before) throw new MalformedAnswerError('getSignaturesForAddress')
    before = oldest?.transactionId
    if (!isDone && oldest?.isFinal === true && oldest.slot > to)
      positions = [...positions, oldest].slice(-marksMax)
    marks.set(view.alias, positions)
  }
  return [...transactions.values()].toSorted((one, other) => {
    if (one.slot !== other.slot) return one.slot < other.slot ? -1 : 1
    return one.transactionId < other.transactionId ? -1 : 1
  })
}
