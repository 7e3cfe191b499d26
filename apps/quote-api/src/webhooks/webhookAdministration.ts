import { randomBytes } from 'node:crypto'
import type { SqlDatabase, SqlTx } from '@causeway/core'
import { recordAction } from '../access/adminAction.ts'
import { lockKey, lockUsableKey } from '../access/keys/keyAdministration.ts'
import type { Peppers } from '../access/keys/peppers.ts'
import { lockEndpoint, putEndpoint, type StoredEndpoint } from './endpointStore.ts'
import { openSecrets } from './sealedSecrets.ts'
import { WebhookNotFoundError } from './webhookErrors.ts'
import { checkWebhookUrl } from './webhookFields.ts'

/** A webhook that was set. */
export type SetWebhook = {
  readonly id: string
  readonly url: string
  /** Only when the webhook is new: shown this once. */
  readonly secret?: string
}

/** A webhook and its figures, without secrets. */
export type ShownWebhook = {
  readonly id: string
  readonly url: string
  /** Names only; values are secret. */
  readonly headerNames: readonly string[]
  readonly createdAt: Date
  readonly updatedAt: Date
  /** Messages that are not delivered yet. */
  readonly waiting: number
  /** Messages given up after the last retry, as long as they are kept. */
  readonly failed: number
  /** Last error of the newest message that failed and is not delivered. */
  readonly problem: string | undefined
}

type KeyAttribution = { readonly actor: string; readonly apiKeyId: string }

/** Operations on webhooks: one implementation behind the command line and the admin listener. */
export interface WebhookAdministration {
  /**
   * Sets the URL and the headers; the secret of a webhook that exists stays.
   * @throws ApiKeyNotFoundError, ApiKeyRevokedError, InvalidWebhookUrlError, UnreadableSecretsError
   */
  set(args: KeyAttribution & { url: string; headers: Readonly<Record<string, string>> }): Promise<SetWebhook>
  /**
   * Signs with a new secret from the next attempt on.
   * @throws ApiKeyNotFoundError, ApiKeyRevokedError, WebhookNotFoundError, UnreadableSecretsError
   */
  rotateSecret(args: KeyAttribution): Promise<{ readonly id: string; readonly secret: string }>
  /** Removes the webhook and its waiting messages. @throws ApiKeyNotFoundError, WebhookNotFoundError */
  remove(args: KeyAttribution): Promise<void>
  /** @throws ApiKeyNotFoundError, WebhookNotFoundError, UnreadableSecretsError */
  show(apiKeyId: string): Promise<ShownWebhook>
  /**
   * Sends messages again that were given up, under the same event ids.
   * @returns how many messages @throws ApiKeyNotFoundError, ApiKeyRevokedError, WebhookNotFoundError
   */
  replay(args: KeyAttribution): Promise<number>
}

/** Marks a text as the secret of a webhook, for people and for secret scanners. */
const secretPrefix = 'whsec_'

type WebhookAdministrationOptions = {
  database: SqlDatabase
  peppers: Peppers
  /** Lets plain HTTP and addresses of the own network through. */
  allowPrivate: boolean
}

export function createWebhookAdministration(options: WebhookAdministrationOptions): WebhookAdministration {
  const { database, peppers, allowPrivate } = options
  return {
    set: ({ actor, apiKeyId, url: text, headers }) =>
      database.transaction(async (tx) => {
        const url = checkWebhookUrl(text, allowPrivate)
        await lockUsableKey(tx, apiKeyId)
        const endpoint = await lockEndpoint(tx, apiKeyId)
        const signingSecret =
          endpoint === undefined ? newSecret() : openSecrets(peppers, apiKeyId, endpoint).signingSecret
        await putEndpoint(tx, peppers, { apiKeyId, url, secrets: { signingSecret, headers } })
        // Only the host: the path may hold a token of the receiver.
        const details = { host: new URL(url).host }
        await recordAction(tx, { actor, action: 'webhooks.set', subject: apiKeyId, details })
        return { id: apiKeyId, url, ...(endpoint === undefined && { secret: signingSecret }) }
      }),

    rotateSecret: ({ actor, apiKeyId }) =>
      database.transaction(async (tx) => {
        await lockUsableKey(tx, apiKeyId)
        const endpoint = await requireEndpoint(tx, apiKeyId)
        const { headers } = openSecrets(peppers, apiKeyId, endpoint)
        const secret = newSecret()
        const secrets = { signingSecret: secret, headers }
        await putEndpoint(tx, peppers, { apiKeyId, url: endpoint.url, secrets })
        await recordAction(tx, { actor, action: 'webhooks.rotate-secret', subject: apiKeyId })
        return { id: apiKeyId, secret }
      }),

    remove: ({ actor, apiKeyId }) =>
      database.transaction(async (tx) => {
        await lockKey(tx, apiKeyId)
        await requireEndpoint(tx, apiKeyId)
        // The deliveries refer to the endpoint and are deleted with it.
        await tx.query('delete from webhook_endpoint where api_key_id = $1', [apiKeyId])
        await recordAction(tx, { actor, action: 'webhooks.remove', subject: apiKeyId })
      }),

    show: (apiKeyId) =>
      database.transaction(async (tx) => {
        await lockKey(tx, apiKeyId)
        const endpoint = await requireEndpoint(tx, apiKeyId)
        const { url, createdAt, updatedAt } = endpoint
        const headerNames = Object.keys(openSecrets(peppers, apiKeyId, endpoint).headers)
        return { id: apiKeyId, url, headerNames, createdAt, updatedAt, ...(await readFigures(tx, apiKeyId)) }
      }),

    replay: ({ actor, apiKeyId }) =>
      database.transaction(async (tx) => {
        await lockUsableKey(tx, apiKeyId)
        await requireEndpoint(tx, apiKeyId)
        const messages = await renewFailed(tx, apiKeyId)
        const action = 'webhooks.replay'
        await recordAction(tx, { actor, action, subject: apiKeyId, details: { messages } })
        return messages
      }),
  }
}

/** A new signing secret of 256 bits. */
function newSecret(): string {
  return `${secretPrefix}${randomBytes(32).toString('base64url')}`
}

async function requireEndpoint(tx: SqlTx, apiKeyId: string): Promise<StoredEndpoint> {
  const endpoint = await lockEndpoint(tx, apiKeyId)
  if (endpoint === undefined) throw new WebhookNotFoundError()
  return endpoint
}

/** Makes given-up messages wait again, with all retries. @returns how many */
async function renewFailed(tx: SqlTx, apiKeyId: string): Promise<number> {
  const rows = await tx.query(
    `update webhook_delivery set state = 'waiting', attempts = 0, finished_at = null,
       next_at = clock_timestamp()
     where api_key_id = $1 and state = 'failed' returning 1`,
    [apiKeyId],
  )
  return rows.length
}

async function readFigures(
  tx: SqlTx,
  apiKeyId: string,
): Promise<Pick<ShownWebhook, 'waiting' | 'failed' | 'problem'>> {
  const [row] = await tx.query<{ waiting: bigint; failed: bigint; problem: string | null }>(
    `select count(*) filter (where state = 'waiting')::bigint as waiting,
       count(*) filter (where state = 'failed')::bigint as failed,
       (array_agg(problem order by seq desc) filter (where problem is not null))[1] as problem
     from webhook_delivery where api_key_id = $1 and state <> 'delivered'`,
    [apiKeyId],
  )
  return {
    waiting: Number(row?.waiting ?? 0n),
    failed: Number(row?.failed ?? 0n),
    problem: row?.problem ?? undefined,
  }
}
