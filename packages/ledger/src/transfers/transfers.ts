import type { Hex, SqlTx } from '@causeway/core'

export type TransferRequest = {
  /** From `transferId`. */
  readonly id: string
  /** `pending` counts on both accounts until `resolveTransfer`. */
  readonly kind: 'posted' | 'pending'
  readonly debitAccount: bigint
  readonly creditAccount: bigint
  /** Smallest units of the accounts' asset, above zero. */
  readonly amount: bigint
  /** Why, e.g. `deposit` or `claim`. */
  readonly code: string
  readonly actor: string
  readonly requestId?: Hex
  readonly chainEventId?: bigint
  readonly evidence?: Readonly<Record<string, unknown>>
}

/** `exists`: equal id and body, nothing written. `conflict`: equal id, other body, nothing written. */
export type TransferOutcome = 'done' | 'exists' | 'conflict' | 'insufficient' | 'frozen'

export type TransferResolution = 'done' | 'already_posted' | 'already_voided' | 'exceeds_pending' | 'unknown'

/** Writes one transfer and both counters. Locks sponsors first, then accounts by id. */
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

/** Ends a pending transfer that is no hold: posts at most its amount, or voids it. */
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
