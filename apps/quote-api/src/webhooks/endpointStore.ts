import type { SqlTx } from '@causeway/core'
import type { Peppers } from '../access/keys/peppers.ts'
import { openSecrets, type SealedSecrets, sealSecrets, type WebhookSecrets } from './sealedSecrets.ts'
import { UnreadableSecretsError } from './webhookErrors.ts'

/** Receiver of the messages of an API key. Its secrets are encrypted. */
export type StoredEndpoint = SealedSecrets & {
  readonly url: string
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** Reads and locks an endpoint until the transaction ends, so that its changes follow each other; undefined without one. */
export async function lockEndpoint(tx: SqlTx, apiKeyId: string): Promise<StoredEndpoint | undefined> {
  const [row] = await tx.query<EndpointRow>(
    `select url, sealed, pepper_id, created_at, updated_at from webhook_endpoint
     where api_key_id = $1 for update`,
    [apiKeyId],
  )
  if (row === undefined) return undefined
  const { url, sealed, pepper_id: pepperId, created_at: createdAt, updated_at: updatedAt } = row
  return { url, sealed, pepperId, createdAt, updatedAt }
}

/** Sets or replaces the endpoint of a key. */
export async function putEndpoint(
  tx: SqlTx,
  peppers: Peppers,
  endpoint: { readonly apiKeyId: string; readonly url: string; readonly secrets: WebhookSecrets },
): Promise<void> {
  const { apiKeyId, url } = endpoint
  const { sealed, pepperId } = sealSecrets(peppers, apiKeyId, endpoint.secrets)
  await tx.query(
    `insert into webhook_endpoint (api_key_id, url, sealed, pepper_id) values ($1, $2, $3, $4)
     on conflict (api_key_id) do update set url = $2, sealed = $3, pepper_id = $4, updated_at = clock_timestamp()`,
    [apiKeyId, url, sealed, pepperId],
  )
}

/**
 * Seals secrets anew under the current pepper, so that older peppers can be removed. Secrets that cannot be read stay as
 * they are; deliveries fail with `secrets_unreadable`.
 */
export async function resealEndpoints(tx: SqlTx, peppers: Peppers): Promise<void> {
  const rows = await tx.query<{ api_key_id: string; sealed: Buffer; pepper_id: string }>(
    'select api_key_id, sealed, pepper_id from webhook_endpoint where pepper_id <> $1 for update',
    [peppers.currentId],
  )
  for (const { api_key_id: apiKeyId, sealed, pepper_id: pepperId } of rows) {
    const secrets = openIfReadable(peppers, apiKeyId, { sealed, pepperId })
    if (secrets === undefined) continue
    const sealedSecrets = sealSecrets(peppers, apiKeyId, secrets)
    await tx.query('update webhook_endpoint set sealed = $2, pepper_id = $3 where api_key_id = $1', [
      apiKeyId,
      sealedSecrets.sealed,
      sealedSecrets.pepperId,
    ])
  }
}

function openIfReadable(
  peppers: Peppers,
  apiKeyId: string,
  stored: SealedSecrets,
): WebhookSecrets | undefined {
  try {
    return openSecrets(peppers, apiKeyId, stored)
  } catch (error) {
    if (error instanceof UnreadableSecretsError) return undefined
    throw error
  }
}

type EndpointRow = {
  readonly url: string
  readonly sealed: Buffer
  readonly pepper_id: string
  readonly created_at: Date
  readonly updated_at: Date
}
