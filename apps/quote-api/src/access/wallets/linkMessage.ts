import { type Hex, keccak256 } from '@causeway/core'
import { checksumAddress } from '@causeway/core/encodings'

/** Message that a wallet signs to become the sponsor of a key. */
export type LinkMessage = {
  /** Public host of this service, from configuration and never from a request. */
  readonly domain: string
  /** Public URL of this service. */
  readonly uri: string
  readonly wallet: Hex
  readonly chainId: number
  readonly nonce: string
  readonly apiKeyId: string
  readonly issuedAt: Date
  readonly expiresAt: Date
}

/** Message that a wallet signs to read the requests that it sponsors. */
export type SignInMessage = Omit<LinkMessage, 'apiKeyId'>

/**
 * Writes the EIP-4361 text. Equal facts give equal bytes: a signature is checked against the text written anew, so
 * a caller can change nothing in it.
 * @source EIP-4361; rule L-88
 */
export function writeLinkMessage(message: LinkMessage): string {
  const { apiKeyId } = message
  return writeMessage(message, `Link this wallet as fee sponsor for API key ${apiKeyId}.`, [
    `Request ID: ${apiKeyId}`,
    'Resources:',
    `- urn:causeway:key:${apiKeyId}`,
  ])
}

/** Text of a sign-in. Its sentence and resource differ from those of a link, so neither text is valid as the other. */
export function writeSignInMessage(message: SignInMessage): string {
  return writeMessage(
    message,
    'Sign in to read what this wallet sponsors. This allows no payment and no change.',
    ['Resources:', '- urn:causeway:console'],
  )
}

function writeMessage(message: SignInMessage, statement: string, ending: readonly string[]): string {
  const { domain, uri, wallet, chainId, nonce, issuedAt, expiresAt } = message
  return [
    `${domain} wants you to sign in with your Ethereum account:`,
    checksumAddress(wallet),
    '',
    statement,
    '',
    `URI: ${uri}`,
    'Version: 1',
    `Chain ID: ${chainId}`,
    `Nonce: ${nonce}`,
    `Issued At: ${issuedAt.toISOString()}`,
    `Expiration Time: ${expiresAt.toISOString()}`,
    ...ending,
  ].join('\n')
}

/** The 32-byte digest that a wallet signs for a message. @source EIP-191, version 0x45 */
export function personalMessageDigest(message: string | Uint8Array): Uint8Array {
  const bytes = typeof message === 'string' ? Buffer.from(message, 'utf8') : message
  return keccak256(Buffer.concat([Buffer.from(`\x19Ethereum Signed Message:\n${bytes.length}`), bytes]))
}
