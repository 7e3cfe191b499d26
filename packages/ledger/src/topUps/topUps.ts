import type { Hex, SqlTx } from '@causeway/core'
import type { ClassifiedTransfer } from '@causeway/families/rules'
import { hexToBuffer } from '../transfers/transfers.ts'

/**
 * One transfer to custody in one block, and the wallet that it credits, if the calldata's end (`tail`) names
 * one.
 */
export type ObservedTopUp = ClassifiedTransfer & {
  readonly chainId: number
  readonly transactionHash: Hex
  readonly blockNumber: bigint
  readonly blockHash: Hex
  readonly token: Hex
  readonly custody: Hex
}

/**
 * `seen`: stored now, its amount is pending. `known`: stored before. `elsewhere`: the same transfer is stored for
 * another block, and counts there. `differs`: it is stored with other content.
 */
export type SightingOutcome = {
  readonly answer: 'seen' | 'known' | 'elsewhere' | 'differs'
  /** The stored event that counts; undefined when another process is storing it at this moment. */
  readonly eventId: bigint | undefined
}

export type ClaimOutcome = 'claimed' | 'already_claimed' | 'not_suspended' | 'not_final' | 'unknown'

/**
 * Stores one observed top-up as `seen`. If it names a wallet its amount becomes pending there, not spendable.
 * With `replace`, for one that a quorum read in a final block, it replaces an earlier event of the same
 * transfer, unless that is final. Repeating it changes nothing. `finalizeTopUp` then makes it `final`, or
 * `orphanTopUp` drops it.
 */
export async function recordTopUp(
  tx: SqlTx,
  topUp: ObservedTopUp,
  options: { replace: boolean },
): Promise<SightingOutcome> {
  const { log, verdict, tail } = topUp
  const [row] = await tx.query<{ answer: SightingOutcome['answer']; event_id: bigint | null }>(
    `select answer, event_id from
       credit_event($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    [
      topUp.chainId,
      hexToBuffer(topUp.transactionHash),
      log.logIndex,
      log.ordinal,
      topUp.blockNumber,
      hexToBuffer(topUp.blockHash),
      hexToBuffer(topUp.token),
      hexToBuffer(log.from),
      hexToBuffer(topUp.custody),
      log.value,
      tail === undefined ? null : hexToBuffer(tail),
      verdict.parse,
      verdict.kind === 'credit' ? verdict.owner : null,
      options.replace,
    ],
  )
  if (row === undefined) throw new Error('a sighting had no outcome')
  return { answer: row.answer, eventId: row.event_id ?? undefined }
}

/** Makes a seen event final, which credits its wallet or suspends the money. False when it is not `seen`. */
export async function finalizeTopUp(
  tx: SqlTx,
  eventId: bigint,
  evidence: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  return (await answerOf(tx, 'finalize_event($1, $2)', [eventId, JSON.stringify(evidence)])) === 'final'
}

/** Drops a seen event whose block is no longer canonical; a final one stays. False when nothing was dropped. */
export async function orphanTopUp(tx: SqlTx, eventId: bigint): Promise<boolean> {
  return (await answerOf(tx, 'orphan_event($1)', [eventId])) === 'orphaned'
}

/** Gives suspended money to a lower-case wallet, once. `evidence` is stored with the transfer. */
export async function claimTopUp(
  tx: SqlTx,
  args: { eventId: bigint; owner: Hex; actor: string; evidence: Readonly<Record<string, unknown>> },
): Promise<ClaimOutcome> {
  const { eventId, owner, actor, evidence } = args
  // CAST: the SQL function answers one of these texts.
  return (await answerOf(tx, 'claim_event($1, $2, $3, $4)', [
    eventId,
    owner,
    actor,
    JSON.stringify(evidence),
  ])) as ClaimOutcome
}

/**
 * Takes a final top-up back that its chain dropped after all: from the wallet that has it, as far as its balance is
 * available; the rest is booked as a loss. Only an operator calls it. False when the event is not final.
 */
export async function reverseTopUp(
  tx: SqlTx,
  args: { eventId: bigint; actor: string; evidence: Readonly<Record<string, unknown>> },
): Promise<boolean> {
  const values = [args.eventId, args.actor, JSON.stringify(args.evidence)]
  return (await answerOf(tx, 'reverse_event($1, $2, $3)', values)) === 'reversed'
}

async function answerOf(tx: SqlTx, call: string, values: readonly unknown[]): Promise<string> {
  const [row] = await tx.query<{ answer: string }>(`select ${call} as answer`, values)
  if (row === undefined) throw new Error('a function of the ledger did not answer')
  return row.answer
}
