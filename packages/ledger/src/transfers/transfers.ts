import type { Hex, SqlTx } from '@causeway/core'

/** A transfer to write: one debit and one credit of the same amount. */
export type TransferRequest = {
  /** From `transferId`. */
  readonly id: string
  /** `pending` counts on both accounts until `resolveTransfer`. */
  readonly kind: 'posted' | 'pending'
  readonly debitAccount: bigint
  readonly creditAccount: bigint
  /** Smallest units of the accounts' asset, above zero. */
  readonly amount: bigint
  /** Reason of the transfer, e.g. `deposit` or `claim`. */
  readonly code: string
  /** Service or operator that makes it. */
  readonly actor: string
  readonly requestId?: Hex
  /** Id of the `TopUpEvent` behind it. */
  readonly chainEventId?: bigint
  readonly evidence?: Readonly<Record<string, unknown>>
}

/**
 * Only `done` wrote something. `exists`: a transfer with this id and body is there. `conflict`: one with this id and
 * another body. `insufficient`: an account would be overdrawn. `frozen`: an account is frozen.
 */
export type TransferOutcome = 'done' | 'exists' | 'conflict' | 'insufficient' | 'frozen'

export type TransferResolution = 'done' | 'already_posted' | 'already_voided' | 'exceeds_pending' | 'unknown'

/** Writes one transfer and both counters. Locks sponsors first, then accounts by id, against deadlocks. */
export async function writeTransfer(tx: SqlTx, transfer: TransferRequest): Promise<TransferOutcome> {
  const { id, kind, debitAccount, creditAccount, amount, code, actor } = transfer
  const { requestId, chainEventId = null, evidence } = transfer
  const [row] = await tx.query<{ outcome: TransferOutcome }>(
    'select ledger_transfer($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) as outcome',
    [
      id,
      kind,
      debitAccount,
      creditAccount,
      amount,
      code,
      actor,
      requestId === undefined ? null : hexToBuffer(requestId),
      chainEventId,
      evidence === undefined ? null : JSON.stringify(evidence),
    ],
  )
  if (row === undefined) throw new Error('a transfer had no outcome')
  return row.outcome
}

/** Ends a pending transfer that is not a hold: posts at most its amount, or voids it. */
export async function resolveTransfer(
  tx: SqlTx,
  args:
    | { pendingId: string; kind: 'post'; amount: bigint; actor: string }
    | { pendingId: string; kind: 'void'; actor: string },
): Promise<TransferResolution> {
  const amount = args.kind === 'post' ? args.amount : 0n
  const [row] = await tx.query<{ outcome: TransferResolution }>(
    'select ledger_resolve($1, $2, $3, $4) as outcome',
    [args.pendingId, args.kind, amount, args.actor],
  )
  if (row === undefined) throw new Error('a resolution had no outcome')
  return row.outcome
}

/** Bytes as the SQL driver takes them. */
export function hexToBuffer(hex: Hex): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}
