import type { Hex, SqlTx } from '@causeway/core'
import { type LedgerAsset, openAccount, registerAsset } from '../transfers/accounts.ts'
import { transferId } from '../transfers/transferId.ts'
import { hexToBuffer, writeTransfer } from '../transfers/transfers.ts'

/** A wallet's request to be paid its app fees in one asset. */
export type AppFeeClaimTerms = {
  /** The 32 bytes that the wallet signed. */
  readonly claimId: Hex
  /** Lower-case wallet that the fees are owed to. */
  readonly wallet: string
  /** Account that is paid. */
  readonly recipient: string
  readonly asset: LedgerAsset
  /** Smallest units of the asset, above zero. */
  readonly amount: bigint
}

/**
 * `exists`: the claim was opened before, and may have ended since. `insufficient`: the wallet is owed less. `halted`:
 * the ledger pays nothing out while its books do not add up.
 */
export type OpenClaimOutcome = 'opened' | 'exists' | 'insufficient' | 'halted'

/**
 * Moves the amount from what the wallet can claim to `payout_clearing`, where it waits for `endAppFeeClaim`.
 * Repeating a claim changes nothing, and concurrent claims cannot spend the same balance twice.
 * @source rules L-41, L-79
 */
export async function openAppFeeClaim(tx: SqlTx, terms: AppFeeClaimTerms): Promise<OpenClaimOutcome> {
  const { claimId, wallet, recipient, asset, amount } = terms
  const assetId = await registerAsset(tx, asset)
  const accounts = await claimAccounts(tx, wallet, { ...asset, assetId })
  // The locks come first, so that an earlier claim or a halt is visible to the statements below.
  await tx.query('select ledger_lock($1)', [[accounts.owed, accounts.clearing]])
  const existingClaims = await tx.query('select 1 from app_fee_claim where claim_id = $1', [
    hexToBuffer(claimId),
  ])
  if (existingClaims.length > 0) return 'exists'
  const [halt] = await tx.query<{ halted: boolean }>('select ledger_is_halted() as halted')
  if (halt?.halted !== false) return 'halted'
  const outcome = await writeTransfer(tx, {
    id: transferId('claim', claimId),
    kind: 'posted',
    amount,
    code: 'claim',
    requestId: claimId,
    debitAccount: accounts.owed,
    creditAccount: accounts.clearing,
    actor: `claimant:${wallet}`,
  })
  if (outcome === 'insufficient') return 'insufficient'
  if (outcome !== 'done') throw new Error(`a claim could not be opened: ${outcome}`)
  await tx.query(
    `insert into app_fee_claim (claim_id, wallet, recipient, asset_id, amount) values ($1, $2, $3, $4, $5)`,
    [hexToBuffer(claimId), wallet, recipient, assetId, amount],
  )
  return 'opened'
}

/** End of a claim: its payout is final on the chain, or was given up. */
export type ClaimEnd =
  /** The payout's transaction as its chain spells it. */
  | { readonly status: 'paid'; readonly transactionHash: string }
  /** The amount returns to the wallet's balance and can be claimed again. */
  | { readonly status: 'failed'; readonly reason: string }

/**
 * Ends a pending claim. False when the claim is unknown or has ended already. A halt of the ledger does not
 * stop it: by then the payout is on its chain or was given up, and the books follow.
 * @param args.evidence proof of the end, stored with the transfer
 */
export async function endAppFeeClaim(
  tx: SqlTx,
  args: {
    claimId: Hex
    end: ClaimEnd
    actor: string
    evidence: Readonly<Record<string, unknown>>
  },
): Promise<boolean> {
  const { claimId, end, actor, evidence } = args
  const [claim] = await tx.query<PendingClaimRow>(
    `select c.wallet, c.amount, c.asset_id, s.chain_id, s.address
     from app_fee_claim c join asset s on s.id = c.asset_id
     where c.claim_id = $1 and c.status = 'pending' for update of c`,
    [hexToBuffer(claimId)],
  )
  if (claim === undefined) return false
  const { wallet, amount, asset_id: assetId, chain_id, address } = claim
  const accounts = await claimAccounts(tx, wallet, { chainId: Number(chain_id), address, assetId })
  const outcome = await writeTransfer(tx, {
    // Both ends have the same id, so a second end of one claim collides.
    id: transferId('claim_end', claimId),
    kind: 'posted',
    amount,
    requestId: claimId,
    debitAccount: accounts.clearing,
    creditAccount: end.status === 'paid' ? accounts.due : accounts.owed,
    code: `claim_${end.status}`,
    actor,
    evidence: { ...end, ...evidence },
  })
  if (outcome !== 'done') throw new Error(`a claim could not be ended: ${outcome}`)
  const [transaction, reason] = end.status === 'paid' ? [end.transactionHash, null] : [null, end.reason]
  await tx.query(
    `update app_fee_claim set status = $2, tx_hash = $3, fail_reason = $4, ended_at = clock_timestamp()
     where claim_id = $1`,
    [hexToBuffer(claimId), end.status, transaction, reason],
  )
  return true
}

type PendingClaimRow = {
  readonly wallet: string
  readonly amount: bigint
  readonly asset_id: number
  readonly chain_id: bigint
  readonly address: string
}

/**
 * `owed`: to the wallet. `clearing`: claimed, not yet paid. `due`: debited when fees accrue, credited when
 * paid.
 */
async function claimAccounts(
  tx: SqlTx,
  wallet: string,
  { chainId, address, assetId }: Pick<LedgerAsset, 'chainId' | 'address'> & { readonly assetId: number },
) {
  return {
    owed: await openAccount(tx, { kind: 'app_fee', owner: wallet, assetId }),
    clearing: await openAccount(tx, { kind: 'payout_clearing', owner: `${chainId}:${address}`, assetId }),
    due: await openAccount(tx, { kind: 'app_fee_due', owner: 'users', assetId }),
  }
}
