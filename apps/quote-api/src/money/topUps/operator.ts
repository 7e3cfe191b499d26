import { DomainError, formatAmount, type Hex, type SqlDatabase } from '@causeway/core'
import { encodeTopUp, parseCasedAddress } from '@causeway/families/rules'
import {
  type ClaimOutcome,
  claimTopUp,
  findTopUps,
  listHaltedTopUps,
  listSuspendedTopUps,
  resumeTopUps,
  reverseTopUp,
  type TopUpEvent,
} from '@causeway/ledger'
import { recordAction } from '../../access/adminAction.ts'

/** Destination of a top-up: the custody account, and the token. */
export type TopUpDestination = { readonly chainId: number; readonly token: string; readonly custody: string }

const usdcDecimals = 6

/**
 * Instructions for topping up with any wallet, as lines of text. Without `owner` the sender is credited.
 * @throws RangeError naming the wrong argument
 */
export function topUpCalldata(
  destination: TopUpDestination,
  args: { amountMicroUsd: bigint; owner?: string },
): string {
  const { chainId, token, custody } = destination
  const call = encodeTopUp({ token, custody, ...args })
  return [
    `Send this transaction on chain ${chainId} from an ordinary account:`,
    `to:    ${call.to}`,
    'value: 0',
    `data:  ${call.data}`,
    `It moves ${formatAmount(args.amountMicroUsd, usdcDecimals)} USDC and credits ${args.owner ?? 'the sender'}.`,
  ].join('\n')
}

/** Money that arrived and waits for a claim, oldest first. */
export async function listSuspense(
  database: SqlDatabase,
  page: { after?: bigint; limit: number },
): Promise<readonly TopUpEvent[]> {
  return database.transaction((tx) => listSuspendedTopUps(tx, page))
}

/** Top-ups of a transaction that are not orphaned, in receipt order. */
export async function findTransactionTopUps(
  database: SqlDatabase,
  transaction: Parameters<typeof findTopUps>[1],
): Promise<readonly TopUpEvent[]> {
  return database.transaction((tx) => findTopUps(tx, transaction))
}

/** Custody accounts whose top-ups are no longer read, because a final block changed, and why. */
export async function haltedTopUps(database: SqlDatabase): ReturnType<typeof listHaltedTopUps> {
  return database.transaction(listHaltedTopUps)
}

/**
 * An operator gives suspended money to a wallet; `actor` and `reason` are stored with the transfer.
 * @throws ClaimRefusedError, RangeError when the wallet is no address
 */
export async function creditSuspense(
  database: SqlDatabase,
  args: { eventId: bigint; wallet: string; actor: string; reason: string },
): Promise<void> {
  const owner = parseCasedAddress(args.wallet)
  if (owner === undefined) throw new RangeError('the wallet must be 0x and 40 hex digits')
  const { eventId, actor, reason } = args
  await database.transaction(async (tx) => {
    const outcome = await claimTopUp(tx, { eventId, owner, actor, evidence: { reason } })
    if (outcome !== 'claimed') throw new ClaimRefusedError(outcome)
    const details = { reason, wallet: owner }
    await recordAction(tx, { actor, action: 'suspense.credit', subject: String(eventId), details })
  })
}

/**
 * Takes a final top-up back; who, why and what could not be recovered stay in the books.
 * @throws ClaimRefusedError when it is not final
 */
export async function reverseFinal(
  database: SqlDatabase,
  args: { eventId: bigint; actor: string; reason: string },
): Promise<void> {
  const { eventId, actor, reason } = args
  await database.transaction(async (tx) => {
    const isReversed = await reverseTopUp(tx, { eventId, actor, evidence: { reason } })
    if (!isReversed) throw new ClaimRefusedError('not_final')
    await recordAction(tx, { actor, action: 'topup.reverse', subject: String(eventId), details: { reason } })
  })
}

/** Reads top-ups of a chain's halted accounts again, from the block after `finalTo` on. @returns number of accounts */
export async function resumeHalted(
  database: SqlDatabase,
  args: { chainId: number; finalTo: bigint; finalHash: Hex; actor: string; reason: string },
): Promise<number> {
  const { chainId, ...resumption } = args
  return database.transaction(async (tx) => {
    const halted = (await listHaltedTopUps(tx)).filter(({ account }) => account.chainId === chainId)
    for (const { account } of halted) await resumeTopUps(tx, account, resumption)
    const { actor, reason, finalTo, finalHash } = resumption
    const details = { reason, block: String(finalTo), hash: finalHash }
    const outcome = halted.length === 0 ? 'unchanged' : 'done'
    await recordAction(tx, { actor, action: 'topup.resume', subject: String(chainId), details, outcome })
    return halted.length
  })
}

/** A transfer cannot be credited or taken back: it is unknown, not final yet, or credited already. */
export class ClaimRefusedError extends DomainError {
  readonly code: 'CLAIM_NOT_FOUND' | 'CLAIM_NOT_FINAL' | 'CLAIM_ALREADY_SETTLED'
  readonly kind: 'not_found' | 'not_final' | 'conflict'

  constructor(outcome: Exclude<ClaimOutcome, 'claimed'>) {
    const [code, kind, message] = refusals[outcome]
    super(message)
    this.code = code
    this.kind = kind
  }
}

const refusals = {
  unknown: ['CLAIM_NOT_FOUND', 'not_found', 'There is no such transfer to claim.'],
  not_suspended: ['CLAIM_ALREADY_SETTLED', 'conflict', 'The transfer was credited when it arrived.'],
  already_claimed: ['CLAIM_ALREADY_SETTLED', 'conflict', 'The transfer has been claimed.'],
  not_final: ['CLAIM_NOT_FINAL', 'not_final', 'The transfer is not final yet; claim it later.'],
} as const
