import type { WithdrawalStatus } from '@causeway/core'
import type { ChainQuestion, Sighting } from '@causeway/rpc'
import { MalformedAnswerError } from '@causeway/rpc'
import { isSameOutput, type OutPoint } from '../rules/transaction.ts'
import type { BitcoinView, SeenTransaction, Spending } from './bitcoinView.ts'
import { type Confirmations, secondsToFinality } from './finality.ts'
import { pinHeight } from './readFinalTransaction.ts'
import { judgeSpender, type WithdrawalTerms } from './withdrawals.ts'

export type WithdrawalReading = {
  readonly terms: WithdrawalTerms
  /** Transactions that may have spent the inputs, named by the caller or by a look-up service. */
  readonly candidates: readonly string[]
  readonly confirmations: Confirmations
  readonly threshold: number
}

/**
 * State of a withdrawal at the final height, beside the states that an attestation names:
 * - `contradicted`: an input spends another output than the PSBT claims
 * - `unresolved`: an output is spent by a transaction that no endpoint names
 */
export type FinalWithdrawal = {
  readonly status: WithdrawalStatus | 'contradicted' | 'unresolved'
  /** Transaction that executed it; undefined for every other status. */
  readonly transactionId: string | undefined
  readonly finalBlock: { readonly height: bigint; readonly hash: string }
}

/** First answer of one endpoint. */
type FirstAnswer = {
  readonly tipHeight: bigint
  /** Transactions that made the outputs which the PSBT spends, in the order of its inputs, as `spendings`. */
  readonly funding: readonly (SeenTransaction | undefined)[]
  readonly spendings: readonly Spending[]
  readonly candidates: readonly SeenTransaction[]
}

/**
 * Asks each endpoint in two rounds. First: its tip, the transactions that made the outputs which the PSBT spends,
 * whether these are spent, and the candidates. Second: the blocks of the spenders.
 */
export function withdrawalQuestion(
  reading: WithdrawalReading,
): Omit<ChainQuestion<FirstAnswer, bigint, FinalWithdrawal, BitcoinView>, 'signal'> {
  const { inputs } = reading.terms.psbt
  return {
    async first(view, signal) {
      const [tipHeight, funding, spendings, candidates] = await Promise.all([
        view.readTipHeight(signal),
        Promise.all(inputs.map(({ txid }) => view.readTransaction(txid, signal))),
        Promise.all(inputs.map((input) => view.readSpending(input, signal))),
        Promise.all(reading.candidates.map((candidate) => view.readTransaction(candidate, signal))),
      ])
      const knownCandidates = candidates.filter((candidate) => candidate !== undefined)
      return { tipHeight, funding, spendings, candidates: knownCandidates }
    },
    pin: (views) => pinHeight(reading, views),
    second: (view, own, height, signal) => judge(view, { ...reading, own, height }, signal),
  }
}

/** `height`: the final height that enough endpoints have reached. */
type Judging = WithdrawalReading & { readonly own: FirstAnswer; readonly height: bigint }

/**
 * The state by one endpoint's answers, decided in this order (only spenders in blocks up to `height` count):
 * 1. A funding transaction is unknown: the endpoint has no vote on the state.
 * 2. An output is not as the PSBT claims: `contradicted`.
 * 3. No spender is known: `unresolved` if an input is spent nevertheless, else `pending`.
 * 4. Several spenders share the inputs: `expired`, as the PSBT's own transaction would spend all of them.
 * 5. One spender: `executed` if its inputs and outputs are those of the PSBT, else `expired`.
 */
async function judge(
  view: BitcoinView,
  judging: Judging,
  signal: AbortSignal,
): Promise<Sighting<FinalWithdrawal>> {
  const { terms, own, height } = judging
  // A chain younger than its own finality: nothing can be said about it.
  if (height < 0n) return { kind: 'not_final', waitSeconds: secondsToFinality(1n) }
  if (own.funding.some((transaction) => transaction === undefined))
    return { kind: 'refused', reason: 'missing' }
  const [hash, { spenders, isUnresolved }] = await Promise.all([
    view.readBlockHash(height, signal),
    readSpenders(view, judging, signal),
  ])
  if (hash === undefined) throw new MalformedAnswerError('block at final height')
  const sightingOf = (
    status: FinalWithdrawal['status'],
    transactionId?: string,
  ): Sighting<FinalWithdrawal> => ({
    kind: 'final',
    facts: { status, transactionId, finalBlock: { height, hash } },
  })
  if (!claimsHold(terms, own)) return sightingOf('contradicted')
  const [first, ...others] = spenders
  if (first === undefined) return sightingOf(isUnresolved ? 'unresolved' : 'pending')
  if (others.length > 0) return sightingOf('expired')
  // It decides even beside an unresolved input: it is the PSBT's own transaction or excludes it.
  const verdict = judgeSpender(terms, first.transaction)
  return sightingOf(verdict, verdict === 'executed' ? first.transactionId : undefined)
}

/**
 * True if the transactions that made the inputs confirm the PSBT's claims: the spent output decides whose money it is.
 */
function claimsHold({ psbt }: WithdrawalTerms, { funding }: FirstAnswer): boolean {
  return psbt.inputs.every(({ vout, spent }, index) =>
    isSameOutput(spent, funding[index]?.transaction.outputs[vout]),
  )
}

/**
 * The distinct final transactions that spend inputs of the PSBT. `isUnresolved`: an input is spent by a transaction
 * that neither the endpoint nor a candidate names.
 */
async function readSpenders(
  view: BitcoinView,
  { terms, own, height }: Judging,
  signal: AbortSignal,
): Promise<{ readonly spenders: readonly SeenTransaction[]; readonly isUnresolved: boolean }> {
  const spenderOfEach = await Promise.all(
    terms.psbt.inputs.map((input, index) => readSpender(view, own, { input, index }, signal)),
  )
  const distinctSpenders = new Map(
    spenderOfEach.flatMap((spender) =>
      spender === undefined || spender === 'unresolved' ? [] : [[spender.transactionId, spender]],
    ),
  )
  const finalSpenders = await Promise.all(
    [...distinctSpenders.values()].map(async (spender) => {
      const block = await view.readBlockOf(spender, signal)
      return block !== undefined && block.height <= height ? [spender] : []
    }),
  )
  return { spenders: finalSpenders.flat(), isUnresolved: spenderOfEach.includes('unresolved') }
}

/** The transaction that spends an input of the PSBT; undefined if none does, `unresolved` if nobody names it. */
async function readSpender(
  view: BitcoinView,
  { funding, spendings, candidates }: FirstAnswer,
  { input, index }: { readonly input: OutPoint; readonly index: number },
  signal: AbortSignal,
): Promise<SeenTransaction | 'unresolved' | undefined> {
  const spending = spendings[index]
  // Nodes report an unconfirmed output like a spent one, so only confirmed outputs count as spent.
  const isConfirmed = funding[index]?.block !== undefined
  if (!isConfirmed || spending?.kind !== 'spent') return undefined
  const { by } = spending
  const candidate = candidates.find(({ transaction }) => spends(transaction.inputs, input))
  if (by === undefined) return candidate ?? 'unresolved'
  // The candidate that the endpoint names was read in the first round.
  if (candidate?.transactionId === by) return candidate
  const spender = await view.readTransaction(by, signal)
  if (spender === undefined || !spends(spender.transaction.inputs, input))
    throw new MalformedAnswerError('spending transaction')
  return spender
}

function spends(inputs: readonly OutPoint[], { txid, vout }: OutPoint): boolean {
  return inputs.some((input) => input.txid === txid && input.vout === vout)
}
