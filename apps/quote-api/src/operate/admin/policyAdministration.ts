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

/** A made-up sponsored request, to be tried against a policy. */
export type HypotheticalRequest = Pick<
  HoldRequest,
  'apiKeyId' | 'user' | 'recipient' | 'originChainId' | 'destinationChainId' | 'amountMicroUsd' | 'components'
>

/** Operations on policies: one implementation behind the command line and the admin listener. */
export interface PolicyAdministration {
  /** Replaces the rules of a key. @returns the version @throws ApiKeyNotFoundError, ApiKeyRevokedError, InvalidPolicyError */
  set(args: { actor: string; apiKeyId: string; rules: unknown }): Promise<number>
  /** Removes all rules, so that the key may sponsor everything. @returns the version @throws ApiKeyNotFoundError, ApiKeyRevokedError */
  remove(args: { actor: string; apiKeyId: string }): Promise<number>
  /** @throws ApiKeyNotFoundError */
  show(apiKeyId: string): Promise<{
    readonly policy: StoredPolicy | undefined
    readonly usage: readonly PolicyUsage[]
  }>
  /** Tells what a hold for the request would be answered now; changes nothing. @throws ApiKeyNotFoundError, ApiKeyRevokedError, WalletNotLinkedError */
  explain(request: HypotheticalRequest): Promise<PolicyExplanation>
}

/** Lifetime of the hold that `explainPolicy` tries; it stores none. */
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
        // No stored hold has this id, so that none counts as an earlier one of this request.
        const unusedId = `0x${randomBytes(32).toString('hex')}`
        return explainPolicy(tx, {
          ...request,
          sponsor: wallet,
          requestId: unusedId,
          requoteKey: unusedId,
          lifetimeSeconds,
        })
      }),
  }
}
