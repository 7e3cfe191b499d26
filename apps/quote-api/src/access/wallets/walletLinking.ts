import type { Hex, SqlDatabase } from '@causeway/core'
import { type Challenge, createChallenges } from './challenges.ts'
import type { ContractSignatures } from './contractSignature.ts'
import { type LinkMessage, writeLinkMessage } from './linkMessage.ts'
import { linkWallet } from './walletAdministration.ts'
import { InvalidNonceError, InvalidSignatureError } from './walletErrors.ts'
import { hasSigned } from './walletOwner.ts'

/** A wallet becomes the sponsor of a key by signing that it wants to. */
export interface WalletLinking {
  /** The text to sign, good for one try within ten minutes. @throws ApiKeyRevokedError */
  challenge(args: {
    apiKeyId: string
    wallet: Hex
  }): Promise<{ readonly message: string; readonly nonce: string; readonly expiresAt: Date }>
  /**
   * Links the wallet in place of the one before. A refusal uses the nonce up.
   * @param args.actor who asked for it, for the audit; default: the key itself
   * @throws InvalidNonceError, InvalidSignatureError, ApiKeyRevokedError, and what reading a contract
   * wallet throws
   */
  link(args: { apiKeyId: string; wallet: Hex; nonce: string; signature: Hex; actor?: string }): Promise<void>
}

/** Site named in the messages that wallets sign, and the chain on which contract wallets are asked. */
export type LinkingSite = Pick<LinkMessage, 'domain' | 'uri' | 'chainId'>

const nonceBytes = 16

/** @source rule L-88 */
export function createWalletLinking(options: {
  database: SqlDatabase
  site: LinkingSite
  /** Absent while that chain has no endpoint: only keys can sign then. */
  contracts: ContractSignatures | undefined
  randomBytes: (length: number) => Uint8Array
  /** Called when a key gets another sponsor. */
  onLinked: (apiKeyId: string) => void
}): WalletLinking {
  const { database, site, contracts, randomBytes, onLinked } = options
  const challenges = createChallenges(database)
  const textOf = (apiKeyId: string, nonce: string, challenge: Challenge) =>
    writeLinkMessage({ ...site, ...challenge, apiKeyId, nonce })

  return {
    async challenge({ apiKeyId, wallet }) {
      const nonce = Buffer.from(randomBytes(nonceBytes)).toString('hex')
      const challenge = await challenges.open({ apiKeyId, wallet, nonce })
      return { message: textOf(apiKeyId, nonce, challenge), nonce, expiresAt: challenge.expiresAt }
    },

    async link({ apiKeyId, wallet, nonce, signature, actor }) {
      const challenge = await challenges.take({ apiKeyId, nonce })
      if (challenge === undefined || challenge.wallet !== wallet) throw new InvalidNonceError()
      const text = textOf(apiKeyId, nonce, challenge)
      if (!(await hasSigned({ message: text, wallet, signature }, contracts)))
        throw new InvalidSignatureError()
      await database.transaction((tx) => linkWallet(tx, { apiKeyId, wallet, actor }))
      onLinked(apiKeyId)
    },
  }
}
