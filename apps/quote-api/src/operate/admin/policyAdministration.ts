import { randomBytes } from 'node:crypto'
import type { HoldRequest, SqlDatabase } from '@causeway/core'
import {
  explainPolicy,
  type PolicyExplanation,
  type PolicyUsage,
  readPolicy,
  readPolicyUsage,
  type StoredPolicy,
  setPolicy,
} from '@causeway/ledger'
import { recordAction } from '../../access/adminAction.ts'
import { lockKey, lockUsableKey } from '../../access/keys/keyAdministration.ts'
import { WalletNotLinkedError } from '../../access/wallets/walletErrors.ts'

/** A sponsored request that nobody made. */
export type HypotheticalRequest = Pick<
  HoldRequest,
  'apiKeyId' | 'user' | 'recipient' | 'originChainId' | 'destinationChainId' | 'amountMicroUsd' | 'components'
>

/** Operations on policies: one implementation behind the command line and the admin listener. */
export interface PolicyAdministration {
  /** @returns the version @throws ApiKeyNotFoundError, ApiKeyRevokedError, InvalidPolicyError */
  set(args: { actor: string; apiKeyId: string; rules: unknown }): Promise<number>
  /** No rule restricts the key any more. @returns the version @throws ApiKeyNotFoundError, ApiKeyRevokedError */
  remove(args: { actor: string; apiKeyId: string }): Promise<number>
  /** @throws ApiKeyNotFoundError */
  show(apiKeyId: string): Promise<{
    readonly policy: StoredPolicy | undefined
    readonly usage: readonly PolicyUsage[]
  }>
  /** Dry run; changes nothing. @throws ApiKeyNotFoundError, ApiKeyRevokedError, WalletNotLinkedError */
  explain(request: HypotheticalRequest): Promise<PolicyExplanation>
}

/** As long as a quote's hold lives. */
const lifetimeSeconds = 90

export function createPolicyAdministration(database: SqlDatabase): PolicyAdministration {
  const store = (args: { actor: string; apiKeyId: string; rules: unknown; action: string }) =>
    database.transaction(async (tx) => {
      const { actor, apiKeyId, rules, action } = args
      await lockUsableKey(tx, apiKeyId)
      const version = await setPolicy(tx, { apiKeyId, rules, actor })
      await recordAction(tx, { actor, action, subject: apiKeyId, details: { version } })
      return version
    })

  return {
    set: (args) => store({ ...args, action: 'policies.set' }),
    remove: (args) => store({ ...args, rules: {}, action: 'policies.remove' }),

    show: (apiKeyId) =>
      database.transaction(async (tx) => {
        await lockKey(tx, apiKeyId)
        return { policy: await readPolicy(tx, apiKeyId), usage: await readPolicyUsage(tx, apiKeyId) }
      }),

    explain: (request) =>
      database.transaction(async (tx) => {
        const { wallet } = await lockUsableKey(tx, request.apiKeyId)
        if (wallet === null) throw new WalletNotLinkedError()
        const unique = `0x${randomBytes(32).toString('hex')}`
        return explainPolicy(tx, {
          ...request,
          sponsor: wallet,
          requestId: unique,
          requoteKey: unique,
          lifetimeSeconds,
        })
      }),
  }
}
