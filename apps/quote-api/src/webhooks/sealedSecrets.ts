import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Peppers } from '../access/keys/peppers.ts'
import { UnreadableSecretsError } from './webhookErrors.ts'

/** Secrets that sign and authorize messages. They are encrypted, not hashed as API keys are, because each message needs them. */
export type WebhookSecrets = {
  /** Key of the signature, as text. */
  readonly signingSecret: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
}

/** Encrypted secrets: nonce, ciphertext and tag of AES-256-GCM, and the id of the pepper that the key is derived from. */
export type SealedSecrets = { readonly sealed: Buffer; readonly pepperId: string }

const cipher = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16
const secretsSchema = z.object({ signingSecret: z.string(), headers: z.record(z.string(), z.string()) })

/** Encrypts under the current pepper; the result can be opened only as that of the same API key. */
export function sealSecrets(peppers: Peppers, apiKeyId: string, secrets: WebhookSecrets): SealedSecrets {
  const { currentId: pepperId } = peppers
  const nonce = randomBytes(nonceBytes)
  const encryption = createCipheriv(cipher, keyOf(peppers, pepperId), nonce)
  encryption.setAAD(Buffer.from(apiKeyId))
  const text = Buffer.concat([encryption.update(JSON.stringify(secrets), 'utf8'), encryption.final()])
  return { sealed: Buffer.concat([nonce, text, encryption.getAuthTag()]), pepperId }
}

/** Decrypts. @throws UnreadableSecretsError if the pepper is not configured, or the secrets are another key's */
export function openSecrets(
  peppers: Peppers,
  apiKeyId: string,
  { sealed, pepperId }: SealedSecrets,
): WebhookSecrets {
  try {
    const nonce = sealed.subarray(0, nonceBytes)
    const key = keyOf(peppers, pepperId)
    const decryption = createDecipheriv(cipher, key, nonce, { authTagLength: tagBytes })
    decryption.setAAD(Buffer.from(apiKeyId))
    decryption.setAuthTag(sealed.subarray(-tagBytes))
    const text = decryption.update(sealed.subarray(nonceBytes, -tagBytes))
    return secretsSchema.parse(JSON.parse(Buffer.concat([text, decryption.final()]).toString()))
  } catch (error) {
    throw new UnreadableSecretsError({ cause: error })
  }
}

/** Encryption key derived from the pepper, independent of the HMAC that API keys are stored under. */
function keyOf({ byId }: Peppers, pepperId: string): Buffer {
  const pepper = byId.get(pepperId)
  if (pepper === undefined) throw new UnreadableSecretsError()
  return Buffer.from(hkdfSync('sha256', pepper, '', 'causeway webhook secrets', 32))
}
