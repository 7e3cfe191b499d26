import type { Hex } from '@causeway/core'
import { checksumAddress } from '@causeway/core/encodings'

/** Message by which the account that paid a top-up names the wallet that it was meant for. */
export type ClaimMessage = {
  /** Public host of this service, from configuration and never from a request. */
  readonly domain: string
  readonly uri: string
  readonly chainId: number
  /** Account that paid. */
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
 * The EIP-4361 text of one claim. The transfer takes the place of a nonce: it can be credited once, so a signed text that
 * is sent again changes nothing. @source EIP-4361
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

/** Time of issue that a text names; `undefined` if it names none. The caller then compares the text with one written anew. */
export function issuedAtOf(text: string): Date | undefined {
  const match = /^Issued At: (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)$/m.exec(text)
  const issuedAt = new Date(match?.[1] ?? '')
  return Number.isNaN(issuedAt.getTime()) ? undefined : issuedAt
}
