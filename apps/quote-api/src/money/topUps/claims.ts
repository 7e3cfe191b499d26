import type { Hex, SqlDatabase } from '@causeway/core'
import { claimTopUp, findTopUps, type TopUpEvent } from '@causeway/ledger'
import type { ContractSignatures } from '../../access/wallets/contractSignature.ts'
import { InvalidSignatureError } from '../../access/wallets/walletErrors.ts'
import { hasSigned } from '../../access/wallets/walletOwner.ts'
import { deniedError } from '../../pricing/routes/deniedParties.ts'
import type { Screening } from '../../requests/screening/screenedRequest.ts'
import { type ClaimMessage, claimLifetimeMs, issuedAtOf, writeClaimMessage } from './claimMessage.ts'
import { ClaimRefusedError } from './operator.ts'

/** One transfer that waits in suspense, and the wallet it should be credited to. */
export type ClaimedTransfer = {
  readonly transactionHash: Hex
  /** Position among the logs of the receipt; absent: the first that waits. */
  readonly ordinal: number | undefined
  /** Lower case. */
  readonly wallet: Hex
}

/** Claims of top-ups in suspense: the account that paid names the wallet to credit, by its signature. */
export interface TopUpClaims {
  /** The text to sign. @throws ClaimRefusedError, QuoteError SANCTIONED_WALLET_ADDRESS */
  prepare(transfer: ClaimedTransfer): Promise<{ readonly message: string; readonly expiresAt: Date }>
  /**
   * Credits the transfer.
   * @throws ClaimRefusedError, QuoteError SANCTIONED_WALLET_ADDRESS, InvalidSignatureError, and what reading a contract
   * wallet throws
   */
  settle(
    transfer: ClaimedTransfer,
    signed: { message: string; signature: Hex },
  ): Promise<{ readonly amountMicroUsd: bigint }>
}

export type ClaimSite = Pick<ClaimMessage, 'domain' | 'uri' | 'chainId'>

type TopUpClaimsOptions = {
  database: SqlDatabase
  site: ClaimSite
  /** Absent: nobody is denied. */
  screening?: Pick<Screening, 'isDenied'> | undefined
  /** Absent while the chain has no endpoint: only keys can sign then. */
  contracts: ContractSignatures | undefined
  /** Milliseconds since the epoch. */
  now: () => number
}

/** @source rule Q-232 */
export function createTopUpClaims(options: TopUpClaimsOptions): TopUpClaims {
  const { database, site, contracts, screening, now } = options
  const { chainId } = site

  /** @throws QuoteError SANCTIONED_WALLET_ADDRESS */
  const claimableEvent = async (transfer: ClaimedTransfer): Promise<TopUpEvent> => {
    if (screening?.isDenied(chainId, transfer.wallet) === true) throw deniedError('wallet')
    const event = await waitingTopUp(database, chainId, transfer)
    if (screening?.isDenied(chainId, event.from) === true) throw deniedError('transactionHash')
    return event
  }
  const textOf = ({ from: claimant, transactionHash, ordinal }: TopUpEvent, wallet: Hex, issuedAt: Date) =>
    writeClaimMessage({ ...site, wallet, issuedAt, claimant, transactionHash, ordinal })

  return {
    async prepare(transfer) {
      const issuedAt = new Date(now())
      const event = await claimableEvent(transfer)
      const expiresAt = new Date(issuedAt.getTime() + claimLifetimeMs)
      return { message: textOf(event, transfer.wallet, issuedAt), expiresAt }
    },

    async settle(transfer, { message, signature }) {
      const event = await claimableEvent(transfer)
      const issuedAt = issuedAtOf(message)
      if (issuedAt === undefined) throw new InvalidSignatureError()
      const ageMs = now() - issuedAt.getTime()
      const isFresh = ageMs >= 0 && ageMs <= claimLifetimeMs
      // Only the time is taken from the message; all else is written anew, by what is stored, and compared.
      if (!isFresh || message !== textOf(event, transfer.wallet, issuedAt)) throw new InvalidSignatureError()
      const isSigned = await hasSigned({ message, wallet: event.from, signature }, contracts)
      if (!isSigned) throw new InvalidSignatureError()
      const outcome = await database.transaction((tx) =>
        claimTopUp(tx, {
          eventId: event.id,
          owner: transfer.wallet,
          actor: `claimant:${event.from}`,
          evidence: { message, signature },
        }),
      )
      if (outcome !== 'claimed') throw new ClaimRefusedError(outcome)
      return { amountMicroUsd: event.value }
    },
  }
}

/** @throws ClaimRefusedError where no such transfer waits in suspense */
async function waitingTopUp(
  database: SqlDatabase,
  chainId: number,
  { transactionHash, ordinal }: ClaimedTransfer,
): Promise<TopUpEvent> {
  const events = await database.transaction((tx) => findTopUps(tx, { chainId, transactionHash }))
  const matches = events.filter((event) => ordinal === undefined || event.ordinal === ordinal)
  const open = matches.find((event) => event.creditedOwner === undefined && event.claimedOwner === undefined)
  // If none of them waits, the first one tells why it is refused.
  const event = open ?? matches[0]
  if (event === undefined) throw new ClaimRefusedError('unknown')
  if (event.creditedOwner !== undefined) throw new ClaimRefusedError('not_suspended')
  if (event.claimedOwner !== undefined) throw new ClaimRefusedError('already_claimed')
  if (event.state !== 'final') throw new ClaimRefusedError('not_final')
  return event
}
