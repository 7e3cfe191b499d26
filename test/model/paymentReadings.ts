// Readings of chains by the quote service: at the newest block, and at the final one.
import { DomainError, type Hex } from '@causeway/core'
import { ethereumCodec } from '@causeway/core/encodings'
import { createEthereumFactsReader, type EthereumFactsReader } from '@causeway/families'
import type { FillReading } from '../../apps/quote-api/src/requests/settlement/fills/fillStep.ts'
import type { OwnReading } from '../../apps/quote-api/src/requests/settlement/fills/settleDecision.ts'
import { fillProblem } from '../../apps/quote-api/src/requests/settlement/payments/fillCheck.ts'
import { endpointsOf, type Liar } from './endpoints.ts'
import type { Network, UserChainId } from './network.ts'
import { finalityBlocks, readerEntry, recordsPayments } from './oracles.ts'
import type { Rules } from './rules.ts'
import { pinConfirmations, type WorkItem } from './serviceRequest.ts'
import type { KnownOrder } from './world.ts'

export type ReadChain = {
  readonly shallow: EthereumFactsReader
  readonly deep: EthereumFactsReader
  readonly liar: Liar
}

export function openReadChain(network: Network, rules: Rules, id: UserChainId, service = 'quote'): ReadChain {
  const { quorum, liar } = endpointsOf(service, network.chains[id])
  // Nothing is remembered, since what is not final may change.
  const limits = { finalEntriesMax: 0 }
  const reader = (blocks: number) => {
    const chain = readerEntry(network, id, blocks)
    const shipped = createEthereumFactsReader({ chain, quorum, limits, recordsPayments })
    return rules.readerOf(shipped, network.chains[id])
  }
  return { shallow: reader(0), deep: reader(finalityBlocks), liar }
}

export const reading = () => ({ signal: new AbortController().signal })

export async function fillReading(
  { shallow, deep }: ReadChain,
  { state, transaction, request: { known } }: WorkItem,
): Promise<FillReading> {
  if (state !== 'reported' || transaction === undefined) return { state: 'none' }
  const question = questionOf(known, transaction)
  const now = await refusalOr(shallow.readPayment(question, reading()))
  if (now.refused === 'TRANSACTION_MISSING') return { state: 'missing', isLapsed: false }
  const final = await refusalOr(deep.readPayment(question, reading()))
  if (now.facts === undefined) return { state: 'reverted', isFinal: final.refused === now.refused }
  const head = (await shallow.finalBlocks.readNewest(reading())).number
  return {
    state: 'included',
    isDeep: Number(head - now.facts.evidence.blockNumber) + 1 >= pinConfirmations,
    problem: fillProblem(known, now.facts, ethereumCodec),
    isFinal: final.facts !== undefined && fillProblem(known, final.facts, ethereumCodec) !== undefined,
  }
}

export async function ownReading(
  { deep }: Pick<ReadChain, 'deep'>,
  known: KnownOrder,
  transaction: Hex,
): Promise<OwnReading> {
  const { facts, refused } = await refusalOr(deep.readPayment(questionOf(known, transaction), reading()))
  if (refused === 'TRANSACTION_NOT_FINAL') return 'not_yet'
  return facts !== undefined && fillProblem(known, facts, ethereumCodec) === undefined ? 'paid' : 'not_paid'
}

/** About the transaction that is said to fill an order. */
export function questionOf({ order, orderId }: KnownOrder, transactionId: Hex) {
  const { extraData, payments, calls } = order.output
  return { transactionId, orderId, extraData, payments, calls }
}

const refusals = ['TRANSACTION_MISSING', 'TRANSACTION_REVERTED', 'TRANSACTION_NOT_FINAL']

/** Facts, or why the chain has none. @throws DomainError of endpoints that cannot be relied on */
export async function refusalOr<Facts extends { readonly evidence: { readonly blockNumber: bigint } }>(
  facts: Promise<Facts>,
): Promise<{ readonly facts?: Facts; readonly refused?: string }> {
  try {
    return { facts: await facts }
  } catch (error) {
    if (error instanceof DomainError && refusals.includes(error.code)) return { refused: error.code }
    throw error
  }
}

export async function unlessRefused<Facts extends { readonly evidence: { readonly blockNumber: bigint } }>(
  facts: Promise<Facts>,
): Promise<Facts | undefined> {
  return (await refusalOr(facts)).facts
}
