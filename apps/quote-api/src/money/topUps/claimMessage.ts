import type { Hex } from '@causeway/core'
import { checksumAddress } from '@causeway/core/encodings'

/** Message that the paying account signs to name the wallet that its top-up was meant for. */
export type ClaimMessage = {
  /** Host that asks, from configuration and never from a request. */
  readonly domain: string
  readonly uri: string
  readonly chainId: number
  readonly claimant: Hex
  readonly transactionHash: Hex
  /** Position of the transfer among the logs of its receipt. */
  readonly ordinal: number
  /** Wallet to credit. */
  readonly wallet: Hex
  readonly issuedAt: Date
}

/** Time to sign and send a claim. */
export const claimLifetimeMs = 600_000

/**
 * The EIP-4361 text of one claim. It names the one transfer it can ever settle, which takes the place of a
 * nonce: a copy of it changes nothing once it was used. @source EIP-4361; ledger-and-safety.md 1.7, 2.3
 */
export function writeClaimMessage(message: ClaimMessage): string {
  const { domain, uri, chainId, claimant, transactionHash, ordinal, wallet, issuedAt } = message
  const expiresAt = new Date(issuedAt.getTime() + claimLifetimeMs)
  return [
    `${domain} wants you to sign in with your Ethereum account:`,
    checksumAddress(claimant),
    '',
    `Credit my transfer ${transactionHash}, log ${ordinal}, to the sponsorship balance of ${checksumAddress(wallet)}.`,
    '',
    `URI: ${uri}`,
    'Version: 1',
    `Chain ID: ${chainId}`,
    `Nonce: ${transactionHash.slice(2)}${ordinal}`,
    `Issued At: ${issuedAt.toISOString()}`,
    `Expiration Time: ${expiresAt.toISOString()}`,
  ].join('\n')
}

/** The moment a text says it was issued at; `undefined` when it says none. Nothing else of it is believed. */
export function issuedAtOf(text: string): Date | undefined {
  const match = /^Issued At: (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)$/m.exec(text)
  const issuedAt = new Date(match?.[1] ?? '')
  return Number.isNaN(issuedAt.getTime()) ? undefined : issuedAt
}
